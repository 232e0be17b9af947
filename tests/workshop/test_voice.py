"""The voice check finds what it is for, at its line, and leaves code alone."""

import voice


def found(path: str, source: str) -> list[tuple[int, str]]:
    passages = voice.passages(path, source)
    return [(line, what) for text, at, longest in passages for line, what, _ in voice.findings(text, at, longest)]


def test_markdown_words_openings_and_length():
    long = "one " * voice.LONGEST + "more."
    source = f"# Title\n\nGood. All is\ntold here.\n\n- What is so is so.\n- What now?\n\n{long}\n"
    assert found("a.md", source) == [(4, '"told"'), (6, 'opens with "What"'), (9, "a sentence of 31 words")]


def test_markdown_leaves_code_and_output_alone():
    source = "Say `it was told`.\n\n    Of this nothing is told.\n\n```\nmend\n```\n\n> anew\n\n| `told` | a thing |\n"
    assert found("a.md", source) == []
    assert found("a.md", "| `told` | taken back |\n") == [(1, '"taken back"')]


def test_a_phrase_across_two_lines():
    assert found("a.md", "It was changed behind\nEos.\n") == [(1, '"behind Eos"')]


def test_words_within_names_are_free():
    assert found("a.md", "They recommend told_at, mend.rs and a told-off amendment.\n") == []


def test_rust_strings_outside_of_comments_and_tests():
    source = """\
// This was told and is told here.
let a = "Of it there is nothing \\
         left: mend it, then";
let short = "told";
let quote = '"';
let raw = r#"the "plan" starts anew here"#;
#[cfg(test)]
mod tests { const A: &str = "all of this is told here"; }
"""
    expected = [(2, 'opens with "Of"'), (3, '"mend"'), (6, '"anew"')]
    assert sorted(found("crates/eos-core/src/a.rs", source)) == expected


def test_help_is_read_in_commands_alone():
    source = "    /// Give it\n    /// a name, anew\n    name: String,\n"
    assert found("crates/eos/src/commands/a.rs", source) == [(2, '"anew"')]
    assert found("crates/eos/src/store.rs", source) == []


def test_formula_strings_and_docstrings_of_tests():
    source = '"""Whether it is told."""\nx = f"Minion {x} is away and will not answer"\n'
    assert found("formula/_modules/a.py", source) == [(2, '"is away"')]
    assert found("tests/a.py", source) == [(1, '"told"'), (1, 'opens with "Whether"')]


def test_transcripts_without_their_commands():
    source = "$ eos create told\nerror: That is not so\nhint: Take it back\n"
    expected = [(2, 'opens with "That"'), (3, '"Take it back"')]
    assert found("crates/eos/tests/transcripts/a.txt", source) == expected
