"""Hostile strings that some reader on the way might misread, and random mixtures of them."""

import random
import unicodedata

# Each of these alone has once meant something to a shell, a template, YAML, JSON, HCL, a terminal or a file system.
PIECES = [
    *(
        "../",
        '"',
        "'",
        "\\",
        "\\n",
        "\n",
        "\r",
        "\r\n",
        "\t",
        "$",
        "%",
        "{",
        "}",
        "$$",
        "%%",
        "%{",
        "%%{",
        "%{ if true }",
    ),
    *(
        "{{",
        "}}",
        "{{ a }}",
        "{%",
        "{# a #}",
        "$(id)",
        "`id`",
        ";",
        "&&",
        "|",
        "<",
        ">",
        "*",
        "?",
        "~",
        "#",
        " #",
        ": ",
    ),
    *("- ", "!", "&a", "*a", "[", "]", ",", "@", "=", "<<", "null", "yes", "0123", "1e3", "0x1", "2001-01-01", "1:30"),
    *(
        ".inf",
        "true",
        "***",
        "%s",
        "%00",
        "<script>",
        "\x1b[31m",
        "\x07",
        "\x08",
        "\x7f",
        "\x85",
        "\x9b",
        "\xa0",
        "\xad",
    ),
    *("\u200b", "\u200d", "\u202e", "\u2028", "\u2029", "\ufeff", "\ufffd", "\ufffe", "\uffff", "\U0010ffff", "\u0430"),
    *("é", "\U0001f980", "\U0001f468\u200d\U0001f469", " ", "  ", "/", ".", "\u3000", "ß", "\u2126", "e\u0301"),
]
WHOLE = [
    *(
        "",
        " ",
        "-",
        "-x",
        "--yes",
        "null",
        "~",
        "yes",
        "0123",
        "1e3",
        "true",
        "***",
        "\n",
        "\ttab first",
        "last\n",
        " both ",
    ),
    *(
        'it\'s "quoted" \\ back',
        "a\nb\r\nc\rd",
        "$ {x} % {y} {{ z }}",
        "%{ if true }%{ endif }",
        "%%{x}",
        "$$",
        "{% raw %}",
    ),
    *(
        "ünïcödé 🦀",
        "$(id) `id` ; rm -rf / && :",
        "\x1b[31mred\x1b[0m",
        "\u202egnirts",
        "\ufeffmark",
        "\u2028\u2029\x85",
    ),
    *(
        "#!yaml\na: b",
        "a: b # c",
        "- a",
        "{a: b}",
        "[a]",
        '"',
        "'",
        "\\",
        "\\u0041",
        "|",
        ">",
        "&a",
        "*a",
        "!!python/none",
    ),
    *("x" * 4000, "é" * 2000),
]


def strings(seed: int, count: int) -> list[str]:
    """The fixed ones, then random mixtures."""
    chosen = random.Random(seed)
    mixed = ["".join(chosen.choices(PIECES, k=chosen.randint(1, 8))) for _ in range(count)]
    return WHOLE + mixed


def is_carried(text: str) -> bool:
    """Whether Eos promises to carry it: else it must refuse it."""
    return "${" not in text and "\0" not in text and unicodedata.normalize("NFC", text) == text


def refused(seed: int, count: int) -> list[str]:
    """Strings that some engine would change, and so must be refused."""
    chosen = random.Random(seed)
    reasons = ["${", "${node.unique.name}", "$${", "e\u0301", "\u2126", "A\u030a"]
    mixed = ["".join([*chosen.choices(PIECES, k=3), chosen.choice(reasons)]) for _ in range(count)]
    return reasons + mixed


def as_yaml(text: str) -> str:
    """A double-quoted YAML scalar, made without Eos and without a YAML library."""

    def written(char: str) -> str:
        code = ord(char)
        if char in '"\\':
            return "\\" + char
        if " " <= char <= "~":
            return char
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

    return '"' + "".join(map(written, text)) + '"'


def as_path(number: int, text: str) -> str:
    """The text as part of a path that Eos takes: parts of at most 60 characters, none of them empty or dots.

    Texts that differ in what is left out would else be one path.
    """
    kept = "".join(char for char in text if char != "/" and unicodedata.category(char) != "Cc")[:60]
    return f"/srv/{number}/x{kept}x/data"
