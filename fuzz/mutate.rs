//! Mutations of text: of bytes, of lines, and of what YAML and templates are made of. The same seed gives the same texts.

/// Pieces that mean something to a reader on the way.
const PIECES: &[&str] = &[
    "#!yaml\n",
    "components:",
    "hosts:",
    "recipe: hello",
    "options:",
    "greeting: ",
    "services:",
    "needs:",
    "outputs:",
    "{{ version }}",
    "{{",
    "}}",
    "{%",
    "${",
    "%{",
    "$${",
    "{",
    "}",
    "[",
    "]",
    ",",
    ": ",
    ":",
    "- ",
    "? ",
    "| ",
    "|\n",
    ">-\n",
    "|2+\n",
    "&a ",
    "*a",
    "!!str ",
    "!x",
    "<<: ",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "# ",
    " #",
    "\"",
    "'",
    "\\",
    "\\x1b",
    "\\u2028",
    "\\ud83d",
    "\\U0001f980",
    "\\0",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "  ",
    "    ",
    "null",
    "~",
    "true",
    "yes",
    "0123",
    "0x1",
    "1e3",
    ".inf",
    "1_000",
    "1:30",
    "-1",
    "9223372036854775808",
    "\u{feff}",
    "\u{2028}",
    "\u{85}",
    "\u{1b}[31m",
    "\u{0}",
    "\u{430}",
    "\u{e9}",
    "e\u{301}",
    "\u{1f980}",
    "\u{202e}",
    "../",
    "***",
    "",
];

/// SplitMix64: small, and good enough to choose mutations by.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; nought if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        match end {
            0 => 0,
            _ => (self.next() % end as u64) as usize,
        }
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// A text of the corpus after a few mutations.
pub fn mutated(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut text = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(6) {
        mutate(random, &mut text, corpus);
    }
    text.truncate(1 << 16);
    text
}

fn mutate(random: &mut Random, text: &mut Vec<u8>, corpus: &[Vec<u8>]) {
    let at = random.below(text.len() + 1);
    let end = (at + random.below(20)).min(text.len());
    match random.below(14) {
        0 if at < text.len() => text[at] ^= 1 << random.below(8),
        1 if at < text.len() => text[at] = random.next() as u8,
        2 => drop(text.drain(at..end)),
        3..=5 => drop(text.splice(at..at, random.pick(PIECES).bytes())),
        6 => drop(text.splice(at..end, random.pick(PIECES).bytes())),
        7 => {
            let many = random.pick(PIECES).repeat(1 + random.below(200));
            drop(text.splice(at..at, many.into_bytes()));
        }
        8 => drop(text.splice(at..at, text[at..end].to_vec().repeat(1 + random.below(4)))),
        9 => {
            let other = &corpus[random.below(corpus.len())];
            let from = random.below(other.len() + 1);
            let to = from + random.below(other.len() - from + 1);
            text.splice(at..end, other[from..to].iter().copied());
        }
        10 => on_lines(random, text, |random, lines| {
            let from = random.below(lines.len());
            let to = random.below(lines.len());
            lines.swap(from, to);
        }),
        11 => on_lines(random, text, |random, lines| {
            let line = lines[random.below(lines.len())].clone();
            lines.insert(random.below(lines.len()), line);
        }),
        12 => on_lines(random, text, |random, lines| {
            let line = random.below(lines.len());
            let spaces = lines[line].iter().take_while(|byte| **byte == b' ').count();
            lines[line].splice(..spaces, std::iter::repeat_n(b' ', random.below(9)));
        }),
        _ => on_lines(random, text, |random, lines| {
            // Another value for a key.
            let line = random.below(lines.len());
            if let Some(colon) = lines[line].iter().position(|byte| *byte == b':') {
                lines[line].truncate(colon + 1);
                lines[line].push(b' ');
                lines[line].extend(random.pick(PIECES).bytes());
                lines[line].push(b'\n');
            }
        }),
    }
}

fn on_lines(random: &mut Random, text: &mut Vec<u8>, change: impl FnOnce(&mut Random, &mut Vec<Vec<u8>>)) {
    let mut lines: Vec<Vec<u8>> = text
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    if !lines.is_empty() {
        change(random, &mut lines);
        *text = lines.concat();
    }
}

/// A text made of pieces, for keys and values.
pub fn text(random: &mut Random) -> String {
    (0..random.below(4)).map(|_| random.pick(PIECES)).collect()
}
