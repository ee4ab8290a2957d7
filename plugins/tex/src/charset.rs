//! Bytes of a source → text.

use encoding_rs::{Encoding, WINDOWS_1252};

/// A source as text: UTF-8 where it is that, else by its `inputenc`, else by Windows-1252. The
/// second value names an unknown charset.
pub(crate) fn decode(bytes: &[u8], stated: Option<&str>) -> (String, Option<String>) {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let stated = stated.filter(|name| !name.starts_with("utf"));
        // Except in seven-bit multibyte charsets, valid UTF-8 is never accidental.
        if stated.is_none() || !text.is_ascii() || !bytes.contains(&0x1B) {
            return (text.to_owned(), None);
        }
    }
    if let [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] = bytes {
        let (text, _, _) = WINDOWS_1252.decode(bytes);
        return (text.into_owned(), None);
    }
    let name = stated.unwrap_or("cp1252");
    let label = match name {
        "latin1" | "ansinew" | "cp1252" | "ascii" | "utf8" | "utf8x" => "windows-1252",
        "latin2" => "iso-8859-2",
        "latin3" => "iso-8859-3",
        "latin4" => "iso-8859-4",
        "latin5" => "iso-8859-9",
        "latin9" => "iso-8859-15",
        "latin10" => "iso-8859-16",
        "cp1250" => "windows-1250",
        "cp1251" => "windows-1251",
        "cp1257" => "windows-1257",
        "koi8-r" => "koi8-r",
        "koi8-u" => "koi8-u",
        "cp866" => "ibm866",
        "applemac" | "maccyr" => "macintosh",
        other => other,
    };
    let encoding = Encoding::for_label(label.as_bytes());
    let unknown = encoding.is_none().then(|| name.to_owned());
    let (text, _) = encoding.unwrap_or(WINDOWS_1252).decode_without_bom_handling(bytes);
    (text.into_owned(), unknown)
}

/// The charset that a source declares by `\usepackage[…]{inputenc}` or `\inputencoding{…}`.
pub(crate) fn stated(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(bytes.get(..bytes.len().min(64 << 10)).unwrap_or_default());
    for line in head.lines() {
        let line = line.split_once('%').map_or(line, |(line, _)| line);
        if let Some((before, _)) = line.split_once("]{inputenc}") {
            let options = before.rsplit('[').next().unwrap_or_default();
            return options.split(',').next_back().map(|name| name.trim().to_owned());
        }
        if let Some((_, rest)) = line.split_once("\\inputencoding{") {
            return rest.split('}').next().map(|name| name.trim().to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_charset_is_used_where_the_bytes_are_no_utf_8() {
        let source = b"\\usepackage[latin2]{inputenc}\n\xB1";
        assert_eq!(stated(source).as_deref(), Some("latin2"));
        assert!(decode(source, Some("latin2")).0.ends_with('ą'));
        assert!(decode(b"caf\xE9", None).0.ends_with('é'));
        assert!(decode("café".as_bytes(), Some("latin1")).0.ends_with('é'));
        assert_eq!(decode(b"\x82", Some("cp437")).1.as_deref(), Some("cp437"));
    }
}
