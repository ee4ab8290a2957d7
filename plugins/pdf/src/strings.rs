//! Text strings of PDF: UTF-16, UTF-8 and PDFDocEncoding.

/// PDFDocEncoding's characters in place of Latin-1's control characters, from 0x18 and from 0x80.
const LOW: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
const HIGH: [char; 33] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™',
    'ﬁ', 'ﬂ', 'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
];

/// Decodes a text string.
pub(crate) fn decode(bytes: &[u8]) -> String {
    let utf16 = |rest: &[u8], from: fn([u8; 2]) -> u16| {
        let units =
            rest.chunks_exact(2).filter_map(|pair| <[u8; 2]>::try_from(pair).ok().map(from));
        let text: String = char::decode_utf16(units)
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        without_language(&text)
    };
    match bytes {
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        // Not in the standard, but some producers write it.
        _ if !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok() => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        _ => bytes.iter().map(|byte| of_document_encoding(*byte)).collect(),
    }
}

fn of_document_encoding(byte: u8) -> char {
    let at = |table: &[char], first: u8| table.get(usize::from(byte - first)).copied();
    match byte {
        0x18..=0x1F => at(&LOW, 0x18).unwrap_or(' '),
        0x80..=0xA0 => at(&HIGH, 0x80).unwrap_or(' '),
        _ => char::from(byte),
    }
}

/// Removes the escape sequences that name a language.
fn without_language(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut out = parts.next().unwrap_or_default().to_owned();
    let mut inside = true;
    for part in parts {
        if !inside {
            out.push_str(part);
        }
        inside = !inside;
    }
    if inside { out } else { text.replace('\u{1b}', "") }
}
