//! Maps glyphs to characters, by the embedded file and by glyph names.

use std::collections::HashMap;

use hayro_syntax::object::{Array, Dict, Object};

/// The character of each glyph of a TrueType or OpenType file.
pub(super) fn characters(data: &[u8]) -> HashMap<u32, char> {
    use skrifa::MetadataProvider;
    let mut found: HashMap<u32, char> = HashMap::new();
    let Ok(font) = skrifa::FontRef::new(data) else { return found };
    for (character, glyph) in font.charmap().mappings().take(70_000) {
        let Some(character) = char::from_u32(character) else { continue };
        let is_private = |c: char| matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..);
        let entry = found.entry(glyph.to_u32()).or_insert(character);
        // Of several characters with one glyph, the most basic one.
        if is_private(*entry) && !is_private(character) {
            *entry = character;
        }
    }
    // Variants of letters, as Arabic has them, are named after the letter.
    for (glyph, name) in font.glyph_names().iter().take(70_000) {
        let name = name.as_str();
        let base = name.split(['.', '_']).next().unwrap_or_default();
        let hex = base
            .strip_prefix("uni")
            .or_else(|| base.strip_prefix('u'))
            .filter(|hex| hex.len() >= 4);
        let named =
            hex.and_then(|hex| u32::from_str_radix(hex.get(..4.max(hex.len().min(6)))?, 16).ok());
        if let Some(character) = named.and_then(char::from_u32) {
            found.entry(glyph.to_u32()).or_insert(character);
        }
    }
    found.retain(|glyph, character| *glyph != 0 && !character.is_control());

    found
}

/// Glyph names by code, from the encoding of a simple font.
pub(super) fn differences(dict: &Dict<'_>) -> HashMap<u32, String> {
    let mut names = HashMap::new();
    let differences = dict
        .get::<Dict<'_>>(b"Encoding")
        .and_then(|encoding| encoding.get::<Array<'_>>(b"Differences"));
    let mut code = 0_u32;
    for item in differences.into_iter().flat_map(|all| all.iter::<Object<'_>>()) {
        match item {
            Object::Number(number) => code = u32::try_from(number.as_i64()).unwrap_or(256),
            Object::Name(name) if code < 256 => {
                names.insert(code, name.as_str().to_owned());
                code += 1;
            }
            _ => {}
        }
    }
    names
}

/// The code in a made-up name such as `g65`, `c101` or `uni0041`-like `G41`.
pub(super) fn number_in(name: &str, hex: bool) -> Option<u32> {
    let digits = name
        .trim_start_matches(|c: char| c.is_ascii_alphabetic() && !(hex && c.is_ascii_hexdigit()));
    let letters = name.len() - digits.len();
    if hex && name.len() == 3 {
        let digits = name.get(1..)?;
        return u32::from_str_radix(digits, 16).ok();
    }
    if letters > 2 || digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|number| (32..256).contains(number))
}

/// Whether a name is a letter and two hexadecimal digits, one of them above nine.
pub(super) fn hex_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() == 3
        && bytes.iter().skip(1).all(u8::is_ascii_hexdigit)
        && bytes.iter().skip(1).any(u8::is_ascii_alphabetic)
        && bytes.iter().skip(1).any(u8::is_ascii_digit)
}
