//! Windows fonts that are not embedded and whose text is encoded as glyph ids.
//!
//! Their first 258 glyphs are those of the `post` table's format 1, in its order.

use hayro_syntax::object::{Dict, Name, Object};

/// Fonts with the standard glyph order.
const FONTS: [&str; 9] = [
    "arial",
    "timesnewroman",
    "couriernew",
    "verdana",
    "tahoma",
    "georgia",
    "trebuchet",
    "comicsans",
    "impact",
];

/// Glyphs 98 to 257; those from 3 to 97 are ASCII.
const BEYOND_ASCII: &str = concat!(
    "\u{c4}\u{c5}\u{c7}\u{c9}\u{d1}\u{d6}\u{dc}áàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…",
    "\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄¤‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇŁłŠšŽž¦ÐðÝýÞþ−×¹²³½¼¾₣ĞğİŞşĆćČčđ",
);

/// The first of the Cyrillic letters, in their alphabet's order, of Arial and Times New Roman.
const CYRILLIC: u32 = 570;

/// The glyph orders of fonts that are not embedded.
pub(super) struct GlyphOrder {
    has_cyrillic: bool,
}

impl GlyphOrder {
    /// The order of a composite font's glyphs; none if it is embedded or unknown.
    pub(super) fn of(
        font: &Dict<'_>,
        descendant: &Dict<'_>,
        descriptor: &Dict<'_>,
        name: &str,
    ) -> Option<Self> {
        let is_embedded = [b"FontFile".as_slice(), b"FontFile2", b"FontFile3"]
            .iter()
            .any(|key| descriptor.contains_key(key));
        let subtype = descendant.get::<Name<'_>>(b"Subtype")?;
        let encoding = font.get::<Object<'_>>(b"Encoding")?;
        let is_identity = matches!(&encoding, Object::Name(name)
            if matches!(name.as_ref(), b"Identity-H" | b"Identity-V"));
        let name: String = name.chars().filter(char::is_ascii_alphabetic).collect();
        let is_known = FONTS.iter().any(|font| name.starts_with(font));
        if is_embedded || subtype.as_ref() != b"CIDFontType2" || !is_identity || !is_known {
            return None;
        }
        // Other styles of the family have another order.
        let has_cyrillic = (name.starts_with("arial") || name.starts_with("timesnewroman"))
            && !["black", "narrow", "unicode"].iter().any(|cut| name.contains(cut));
        Some(Self { has_cyrillic })
    }

    /// The character of a glyph.
    pub(super) fn character(&self, glyph: u32) -> Option<char> {
        match glyph {
            3..=97 => char::from_u32(glyph + 29),
            98..=257 => BEYOND_ASCII.chars().nth(glyph as usize - 98),
            CYRILLIC..=633 if self.has_cyrillic => char::from_u32(0x410 + glyph - CYRILLIC),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyph_ids_follow_the_standard_order() {
        assert_eq!(BEYOND_ASCII.chars().count(), 160);
        let order = GlyphOrder { has_cyrillic: true };
        for (glyph, character) in
            [(3, ' '), (36, 'A'), (97, '~'), (98, 'Ä'), (137, 'ß'), (179, '—')]
        {
            assert_eq!(order.character(glyph), Some(character));
        }
        for (glyph, character) in
            [(182, '‘'), (210, '\u{f8ff}'), (226, 'Ł'), (257, 'đ'), (570, 'А')]
        {
            assert_eq!(order.character(glyph), Some(character));
        }
        assert_eq!(order.character(300), None);
    }
}
