//! How wide a text stands in the picture, and as much of it as there is room for.

/// As much of a text as fits into so many pixels: its beginning and, since names often differ there, its end.
pub fn shortened(text: &str, room: i32, size: f64) -> String {
    let room = f64::from(room);
    if text_width(text, size) <= room {
        return text.to_owned();
    }
    let room = room - letter_width('…') * size;
    let end: String = fitting(text.chars().rev(), room / 3.0, size)
        .chars()
        .rev()
        .collect();
    let start = fitting(text.chars(), room - text_width(&end, size), size);
    format!("{}…{}", start.trim_end(), end.trim_start())
}

fn fitting(letters: impl Iterator<Item = char>, room: f64, size: f64) -> String {
    let mut left = room;
    letters
        .take_while(|letter| {
            left -= letter_width(*letter) * size;
            left >= 0.0
        })
        .collect()
}

pub fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(letter_width).sum::<f64>() * size
}

/// In parts of the size of the font. Fonts differ: letters are taken to be on the wide side.
fn letter_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '-' | '/' => 0.4,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.0,
        'A'..='Z' | '_' | '&' | '#' => 0.72,
        '…' => 1.0,
        letter if letter.is_ascii() => 0.64,
        _ => 1.3,
    }
}
