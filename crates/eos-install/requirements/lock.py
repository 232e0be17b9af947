"""Writes the requirements of one environment with a hash for every file that Linux may take: lock.py INDEX NAME==VERSION...

INDEX is a package index with the simple API. Wheels of other systems are left out; where there is none, the source counts.
"""

import html
import re
import sys
import urllib.request

PYTHONS = r"cp311|cp312|cp313|cp314|abi3|none"
WHEEL = re.compile(rf"-({PYTHONS})-(any|(manylinux|musllinux|linux)\S*(x86_64|aarch64))\.whl$")


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def files(index, name):
    """Name and sha256 of all that the index has of a package."""
    with urllib.request.urlopen(f"{index.rstrip('/')}/{normal(name)}/", timeout=60) as answer:
        page = answer.read().decode()
    for link, file in re.findall(r'<a\s[^>]*href="([^"]+)"[^>]*>([^<]+)</a>', page):
        digest = re.search(r"#sha256=([0-9a-f]{64})", html.unescape(link))
        if digest:
            yield file.strip(), digest[1]


def of_version(index, name, version):
    """The hashes of the wheels of this version, else of its source."""
    wheels, sources = [], []
    for file, digest in files(index, name):
        package, found = (re.sub(r"\.tar\.gz$", "", file).rsplit("-", 1) + [""])[:2]
        if file.endswith(".whl"):
            package, found = file.split("-")[:2]
            if (normal(package), found) == (normal(name), version) and WHEEL.search(file):
                wheels.append(digest)
        elif file.endswith(".tar.gz") and (normal(package), found) == (normal(name), version):
            sources.append(digest)
    return sorted(wheels) or sources


def main():
    index, *wanted = sys.argv[1:]
    for requirement in sorted(wanted, key=str.lower):
        name, version = requirement.split("==")
        digests = of_version(index, name, version)
        if not digests:
            sys.exit(f"no file of {requirement}")
        print(" \\\n    ".join([requirement, *(f"--hash=sha256:{digest}" for digest in digests)]))


if __name__ == "__main__":
    main()
