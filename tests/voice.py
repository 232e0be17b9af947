"""One voice: finds private words, free relatives as subjects and long sentences in every text for a person.

Reads Markdown, help texts, strings of the program and the formula, transcripts, and docstrings of tests. Skips code.
`python3 tests/voice.py [PATH...]` checks the files of the repository, or those below the paths.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

WORDS = {
    r"fore(?:told|tells?|telling)": "predicted",
    r"told": "reported, shown",
    r"anew": "again (starts anew: restarts)",
    r"mend(?:s|ed|ing)?": "fix",
    r"nobody's": "unmanaged",
    r"behind (?:Eos|Terraform)": "outside Eos",
    r"st(?:ands?|ood) for itself": "standalone",
    r"ha(?:d|ve|s) back": "recovered",
    r"(?:is|are|was|were|be) away": "is down",
    r"carr(?:y|ies|ied|ying) (?:it |them )?out": "apply",
    r"t(?:ak(?:e|es|en|ing)|ook)[ -](?:it |them )?back": "roll back",
    r"for a look": "for inspection",
}
WORD = {re.compile(rf"(?<![\w./-]){word}(?![\w/(]|[.-]\w)", re.I): better for word, better in WORDS.items()}
# Written to disk by earlier versions, so they stay.
KEPT = ("operation being taken back", '"mend":')
OPENING = re.compile(r"(What|That|Of|Who|Whether|Those)\b")
SENTENCE = re.compile(r"\S.*?(?:[.!?](?=[\s\"')]|$)|$)", re.S)
RUST = re.compile(
    r"#\[cfg\(test\)\]\s*(?:pub )?mod(?P<tests>)|//[^\n]*|'(?:\\[^']+|[^'\\])'"
    r'|r(?P<fence>#*)"(?P<raw>.*?)"(?P=fence)|"(?P<text>(?:\\.|[^"\\])*)"',
    re.S,
)
LONGEST = 30


def findings(text: str, line: int, longest: int | None = None):
    """(line, what was found, what to write) of one paragraph or string that begins at this line."""

    def at(offset: int) -> int:
        return line + text.count("\n", 0, offset)

    for kept in KEPT:
        text = text.replace(kept, "_" * len(kept))
    for pattern, better in WORD.items():
        for found in pattern.finditer(re.sub(r"\s", " ", text)):
            yield at(found.start()), f'"{found[0]}"', better
    for found in SENTENCE.finditer(re.sub(r"^(?:error|hint|warning|note): ", lambda label: " " * len(label[0]), text)):
        sentence = found[0].lstrip("\"'(")
        opening, words = OPENING.match(sentence), [word for word in sentence.split() if re.search(r"\w", word)]
        if opening and len(words) > 1 and not sentence.endswith("?"):
            yield at(found.start()), f'opens with "{opening[0]}"', "name the actor: subject, verb, object"
        if longest and len(words) > longest:
            yield at(found.start()), f"a sentence of {len(words)} words", "two sentences, of twenty at most"


def markdown(source: str):
    """Paragraphs, list items, headings and table cells; code and quoted output are left out."""

    def blank(found: re.Match) -> str:
        return "\n" * found[0].count("\n")

    source = re.sub(r"^ *```.*?^ *```[^\n]*|^>[^\n]*", blank, source, flags=re.S | re.M)
    source = re.sub(r"(?<=\n\n)(?: {4}[^\n]*\n|\n)+", blank, source)
    source = re.sub(r"(`+)(?!`)(?:(?!\n\n).)+?\1", lambda found: "X" + blank(found), source, flags=re.S)
    source = re.sub(r"\]\([^)]*\)|[\[*]", "", source)
    paragraph: list[str] = []
    for number, line in enumerate([*source.splitlines(), ""], 1):
        begins = re.match(r"\s*(?:$|#+ |[-*] |\d+\. |\|)", line)
        if begins and paragraph:
            yield "\n".join(paragraph), number - len(paragraph), LONGEST
            paragraph = []
        if line.lstrip().startswith(("|", "#")):
            yield from ((cell.strip(), number, LONGEST) for cell in line.strip(" |#").split(" | "))
        elif line.strip():
            paragraph.append(line[begins.end() :] if begins else line)


def rust(source: str, is_help: bool):
    """String literals of four words and more; the lines of `///` where clap makes help of them."""
    for found in RUST.finditer(source):
        if found["tests"] is not None:
            break
        text = re.sub(r"\\\n\s*", "\n", found["raw"] or found["text"] or "").replace('\\"', '"')
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= 4:
            yield text, source.count("\n", 0, found.start()) + 1, None
    if is_help:
        for found in re.finditer(r"(?:^ *///[^\n]*\n)+", source, re.M):
            help_text = re.sub(r"^ */// ?", "", found[0], flags=re.M)
            yield help_text, source.count("\n", 0, found.start()) + 1, None


def python(source: str, docstring_only: bool):
    """The module's docstring, or all strings of four words and more that are no docstrings."""
    tree = ast.parse(source)
    if docstring_only:
        yield ast.get_docstring(tree) or "", 1, None
        return
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            if len(re.findall(r"[A-Za-z]{2,}", node.value)) >= 4:
                yield node.value, node.lineno, None


def passages(path: str, source: str):
    """What a person reads of this file, as (text, line, longest sentence); nothing of a file of another kind."""
    if path.endswith(".md"):
        yield from markdown(source)
    elif re.match(r"crates/eos(-core|-engine|-lab)?/src/.*\.rs", path) and "/tests" not in path:
        yield from rust(source, is_help=bool(re.match(r"crates/eos/src/(args|commands/)", path)))
    elif re.match(r"(formula/_|tests/|benches/).*\.py", path):
        yield from python(source, docstring_only=not path.startswith("formula/"))
    elif re.match(r"crates/eos/tests/transcripts/.*\.txt", path):
        yield from (
            (line.strip(), number, None) for number, line in enumerate(source.splitlines(), 1) if line[:1] != "$"
        )


def main(paths: list[str]) -> int:
    """Prints every finding as file:line: found -> better; 1 if there is any."""
    root = Path(__file__).resolve().parents[1]
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--", *(str(Path(path).resolve()) for path in paths)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    count = 0
    for path in filter(None, listed.split("\0")):
        if not re.search(r"\.(md|rs|py|txt)$", path) or path == "tests/test_voice.py" or not (root / path).exists():
            continue
        for text, line, longest in passages(path, (root / path).read_text()):
            for where, found, better in findings(text, line, longest):
                print(f"{path}:{where}: {found} -> {better}")
                count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
