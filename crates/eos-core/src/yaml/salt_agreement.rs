//! What Eos accepts, Salt reads as the same value: random texts, read by both.
//!
//! Needs a Python that has Salt, so it runs on demand:
//! `EOS_SALT_PYTHON=<python> cargo test -p eos-core salt_agreement -- --ignored`.

use super::tests::any_value;
use super::{Value, inline, parse, print};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Reads a JSON string a line and answers its value as Salt's YAML renderer sees it in a list, or why there is none.
const SALT: &str = r#"
import collections, json, struct, sys
import yaml
from salt.utils.yamlloader import SaltYamlSafeLoader
class Loader(SaltYamlSafeLoader):
    def __init__(self, stream):
        super().__init__(stream, dictclass=collections.OrderedDict)
def plain(value):
    if isinstance(value, dict):
        assert all(isinstance(key, str) for key in value), "key"
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, float):
        return "float %d" % struct.unpack("q", struct.pack("d", value))
    assert value is None or type(value) in (bool, int, str), type(value)
    return value
for line in sys.stdin:
    try:
        value = yaml.load(json.loads(line), Loader=Loader)
        answer = [plain(value)]
    except Exception as error:
        answer = str(error)
    print(json.dumps(answer), flush=True)
"#;

struct Salt {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Salt {
    fn start() -> Self {
        let python = std::env::var("EOS_SALT_PYTHON").expect("EOS_SALT_PYTHON names a Python that has Salt");
        let mut child = Command::new(python)
            .args(["-c", SALT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, input, output }
    }

    /// The value, or the words of the refusal.
    fn read(&mut self, text: &str) -> Result<serde_json::Value, String> {
        let question = serde_json::to_string(text).expect("text is JSON");
        writeln!(self.input, "{question}").expect("Python reads");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("Python answers");
        match serde_json::from_str(&answer).expect("Python answers JSON") {
            serde_json::Value::Array(mut value) => Ok(value.remove(0)),
            refusal => Err(refusal.to_string()),
        }
    }
}

impl Drop for Salt {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The value as JSON, numbers with a point as their bits: decimal digits would be rounded on the way.
fn plain(value: &Value) -> serde_json::Value {
    match value {
        Value::Float(number) => format!("float {}", number.to_bits() as i64).into(),
        Value::List(nodes) => nodes.iter().map(|node| plain(&node.value)).collect(),
        Value::Map(entries) => {
            let entries = entries
                .iter()
                .map(|entry| (entry.key.clone(), plain(&entry.value.value)));
            serde_json::Value::Object(entries.collect())
        }
        other => other.to_json(),
    }
}

fn disagreement(salt: &mut Salt, text: &str) -> Option<String> {
    let ours = plain(&parse("random.sls", text.as_bytes()).ok()?.value);
    match salt.read(text) {
        Ok(theirs) if theirs == ours => None,
        theirs => Some(format!("{text:?}\n  Eos:  {ours}\n  Salt: {theirs:?}")),
    }
}

/// The text with every character left out that the disagreement does not need.
fn shortest(salt: &mut Salt, mut text: String) -> String {
    let mut index = 0;
    while let Some((at, char)) = text.char_indices().nth(index) {
        let mut shorter = text.clone();
        shorter.replace_range(at..at + char.len_utf8(), "");
        if disagreement(salt, &shorter).is_some() {
            text = shorter;
            index = 0;
        } else {
            index += 1;
        }
    }
    text
}

fn cases() -> usize {
    std::env::var("EOS_SALT_CASES").map_or(20_000, |cases| cases.parse().expect("a number"))
}

/// Reads random texts of these fragments with both.
fn compare(fragments: &[&'static str], least_accepted: usize) {
    let document = prop::collection::vec(prop::sample::select(fragments.to_vec()), 1..16);
    let mut runner = TestRunner::default();
    let mut salt = Salt::start();
    let mut accepted = 0;
    let mut found = BTreeSet::new();
    for _ in 0..cases() {
        let text = document.new_tree(&mut runner).expect("a text").current().concat();
        accepted += usize::from(parse("random.sls", text.as_bytes()).is_ok());
        if disagreement(&mut salt, &text).is_some() {
            found.insert(shortest(&mut salt, text));
        }
    }
    let told: Vec<String> = found
        .iter()
        .filter_map(|text| disagreement(&mut salt, text))
        .collect();
    assert!(
        told.is_empty(),
        "{} disagreements:\n{}",
        told.len(),
        told.join("\n")
    );
    assert!(
        accepted * 100 > cases() * least_accepted,
        "only {accepted} texts were accepted"
    );
}

#[test]
#[ignore = "needs a Python that has Salt: set EOS_SALT_PYTHON"]
fn random_texts_mean_the_same_to_salt() {
    compare(
        &[
            "a",
            "b",
            "a: ",
            "b: ",
            "- ",
            ": ",
            ":",
            "-",
            "\n",
            "\n ",
            "\n  ",
            "\n    ",
            "{",
            "}",
            "[",
            "]",
            ", ",
            ",",
            "'",
            "\"",
            "#",
            " #",
            " ",
            "|",
            ">",
            "|-\n  ",
            "|+\n  ",
            ">\n  ",
            "|2\n",
            "1",
            "0x1",
            "0o1",
            "01",
            "~",
            "null",
            "&a",
            "*a",
            "!x",
            "\t",
            "?",
            "? ",
            "%",
            "@",
            "`",
            "\\n",
            "\\x41",
            "\\u2028",
            "\\ud83d\\ude00",
            "\\",
            "\r\n",
            "\u{e9}",
            "\u{1f600}",
            "\u{85}",
            "\u{a0}",
            "---",
            "...",
            "<<",
            "=",
            "yes",
            "true",
            "1:30",
            "1_0",
            ".5",
            "1.5",
            "1e3",
            "1.5e+3",
            ".inf",
            "2001-01-01",
            "\n\n",
            "/",
            "{{",
            "}}",
            "x: y\n",
            "- z\n",
            "''",
            "\"\"",
            "\"q\"",
        ],
        5,
    );
}

#[test]
#[ignore = "needs a Python that has Salt: set EOS_SALT_PYTHON"]
fn random_flow_collections_mean_the_same_to_salt() {
    compare(
        &[
            "{", "}", "[", "]", "{", "}", "[", "]", ", ", ",", ":", ": ", " :", "a", "b", "c: 1", "'k'",
            "\"v\"", "\n", " ", "-", "?", "#", " # c\n", "1", "http://x", "a:b", "{a: 1}", "[x, y]", "{}",
            "[]", "\t", "\\", "!", "&", "*", "|", ">",
        ],
        2,
    );
}

#[test]
#[ignore = "needs a Python that has Salt: set EOS_SALT_PYTHON"]
fn random_blocks_mean_the_same_to_salt() {
    compare(
        &[
            "a:",
            "b:",
            "c: 1",
            "d: x y",
            "\n",
            "\n",
            "\n",
            "\n  ",
            "\n  ",
            "\n    ",
            "\n ",
            "- ",
            "-",
            "|",
            ">",
            "|-",
            ">+",
            "|1",
            " # c",
            "# c",
            "text",
            " ",
            "\t",
            "'q r'",
            "\"s\\n\"",
            "\r\n",
            "\r\n  ",
            "e: [1]",
            "f: {g: h}",
            "x: |\n    l\n",
            "\n\n",
            ": ",
            "? ",
        ],
        5,
    );
}

/// Plain scalars over the characters of which numbers, dates and truths are made.
#[test]
#[ignore = "needs a Python that has Salt: set EOS_SALT_PYTHON"]
fn random_scalars_mean_the_same_to_salt() {
    compare(
        &[
            "0",
            "1",
            "2",
            "7",
            "9",
            "0",
            "1",
            "_",
            ".",
            ":",
            "-",
            "+",
            "e",
            "E",
            "x",
            "o",
            "b",
            "f",
            "inf",
            "nan",
            "NaN",
            "T",
            "Z",
            "2001-01-01",
            "yes",
            "No",
            "on",
            "OFF",
            "true",
            "Null",
            "~",
            "=",
            "<<",
            "y",
            "n",
            " ",
        ],
        20,
    );
}

#[test]
#[ignore = "needs a Python that has Salt: set EOS_SALT_PYTHON"]
fn salt_reads_back_what_is_written() {
    let mut runner = TestRunner::default();
    let mut salt = Salt::start();
    for _ in 0..cases() {
        let value = any_value().new_tree(&mut runner).expect("a value").current();
        let text = print(&value).expect("a value that can be written");
        assert_eq!(salt.read(&text), Ok(plain(&value)), "{text}");
        let on_one_line = inline(&value);
        assert_eq!(salt.read(&on_one_line), Ok(plain(&value)), "{on_one_line}");
    }
}
