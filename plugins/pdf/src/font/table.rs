//! Recovers entries of broken ToUnicode tables.

use std::collections::HashMap;

/// The entries of a broken ToUnicode table: everything between the keywords that begin and end
/// them.
pub(super) fn table_entries(data: &[u8]) -> HashMap<u32, String> {
    let mut entries = HashMap::new();
    let text = String::from_utf8_lossy(data);
    let code = |hex: &str| u32::from_str_radix(hex, 16).ok();
    let units = |hex: &str| -> Vec<u16> {
        let digits: Vec<char> = hex.chars().collect();
        digits
            .chunks(4)
            .filter_map(|unit| u16::from_str_radix(&unit.iter().collect::<String>(), 16).ok())
            .collect()
    };
    let mut insert = |code: u32, units: &[u16]| {
        let text = String::from_utf16_lossy(units);
        if entries.len() < 70_000 && text.chars().any(|c| !is_no_text(c)) {
            entries.insert(code, text);
        }
    };
    for (begin, end, count) in [("beginbfchar", "endbfchar", 2), ("beginbfrange", "endbfrange", 3)]
    {
        for part in text.split(begin).skip(1) {
            let part = part.split(end).next().unwrap_or_default();
            let words: Vec<&str> = part
                .split('<')
                .skip(1)
                .filter_map(|word| word.split('>').next())
                .map(str::trim)
                .collect();
            for entry in words.chunks(count) {
                match entry {
                    [from, to] => {
                        if let Some(from) = code(from) {
                            insert(from, &units(to));
                        }
                    }
                    [from, until, to] => {
                        let (Some(from), Some(until)) = (code(from), code(until)) else { continue };
                        let mut to = units(to);
                        for code in (from..=until).take(70_000) {
                            insert(code, &to);
                            if let Some(last) = to.last_mut() {
                                *last = last.wrapping_add(1);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    entries
}

/// Whether a table's character is a placeholder.
pub(super) fn is_no_text(character: char) -> bool {
    matches!(character, '\0'..='\u{8}' | '\u{e}'..='\u{1f}' | '\u{fffd}' | '\u{fffe}' | '\u{ffff}')
}
