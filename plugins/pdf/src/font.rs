//! Fonts: from the bytes of a shown string to characters and advances.

mod glyphs;
mod order;
mod table;
mod texts;

use std::collections::HashMap;
use std::sync::Arc;

use hayro_cmap::{BfString, CMap, CMapName, CidFamily};
use hayro_font::{CMapResolverFn, Font as Program, FontCache, FontGlyph, FontResolverFn};
use hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Stream};

use crate::stream;

use glyphs::{characters, differences, hex_name, number_in};
use order::GlyphOrder;
use table::{is_no_text, table_entries};
pub(crate) use texts::{Text, Texts};

/// The meaning of a font's code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Code {
    /// None if the font does not state it.
    pub(crate) text: Option<Text>,
    /// Advance in text space for a font size of 1.
    pub(crate) advance: f32,
}

/// A font of the document.
pub(crate) struct Font<'a> {
    program: Program<'a>,

    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) fixed: bool,
    pub(crate) vertical: bool,
    /// Height of the font's em in glyph space; 1 except for Type 3 fonts.
    pub(crate) em: f32,
    composite: bool,
    /// Caches of decoded codes: of one byte, and longer ones.
    bytes: Vec<Option<Code>>,
    codes: HashMap<u32, Code>,
    /// Whether it is a Windows font that is not embedded and is addressed by glyph ids.
    order: Option<GlyphOrder>,
    differences: HashMap<u32, String>,
    names_are_hex: bool,
    collection: Option<Collection>,
    /// The embedded font file, and, on first use, the character of each of its glyphs.
    file: Option<Stream<'a>>,
    characters: Option<HashMap<u32, char>>,
    /// The font's ToUnicode table, and its readable entries if it is broken.
    table: Option<Stream<'a>>,
    entries: Option<HashMap<u32, String>>,
}

/// How codes of a composite font without its own table become characters.
enum Collection {
    /// Codes are UTF-16.
    Utf16,
    /// Through the character collection: code to CID, CID to character.
    Numbers(Box<CMap>, Box<CMap>),
}

/// Loads the fonts of a document and caches them.
pub(crate) struct Fonts<'a> {
    cache: FontCache<'a>,
    resolver: FontResolverFn,
    cmaps: CMapResolverFn,
    pub(crate) all: Vec<Font<'a>>,
    numbers: HashMap<FontKey, Option<usize>>,
    references: HashMap<ObjectIdentifier, Option<usize>>,
    pub(crate) texts: Texts,
}

/// A font object by its number; an inline one by its offset in the file.
#[derive(PartialEq, Eq, Hash)]
struct FontKey(Option<(u32, i32)>, usize, usize);

impl<'a> Fonts<'a> {
    pub(crate) fn new() -> Self {
        Self {
            cache: FontCache::new(),
            resolver: Arc::new(|query| match query {
                hayro_font::FontQuery::Standard(font) => Some(font.get_font_data()),
                hayro_font::FontQuery::Fallback(query) => {
                    Some(query.pick_standard_font().get_font_data())
                }
            }),
            cmaps: Arc::new(hayro_cmap::load_embedded),
            all: Vec::new(),
            numbers: HashMap::new(),
            references: HashMap::new(),
            texts: Texts::default(),
        }
    }

    /// The number of the font that resources have under a name.
    pub(crate) fn named(&mut self, fonts: &Dict<'a>, name: &Name<'_>) -> Option<usize> {
        let id: Option<ObjectIdentifier> = fonts.get_ref(name).map(Into::into);
        if let Some(known) = id.and_then(|id| self.references.get(&id)) {
            return *known;
        }
        let number = fonts.get::<Dict<'a>>(name).and_then(|dict| self.load(&dict));
        if let Some(id) = id {
            self.references.insert(id, number);
        }
        number
    }

    /// The number of the font that a dictionary describes.
    pub(crate) fn load(&mut self, dict: &Dict<'a>) -> Option<usize> {
        let id = dict.obj_id().map(|id| (id.obj_number, id.gen_number));
        let key = FontKey(id, dict.data().as_ptr().addr(), dict.data().len());
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = self.read(dict).map(|font| {
            self.all.push(font);
            self.all.len() - 1
        });
        self.numbers.insert(key, number);
        number
    }

    fn read(&self, dict: &Dict<'a>) -> Option<Font<'a>> {
        let descendant = dict
            .get::<Array<'_>>(b"DescendantFonts")
            .and_then(|fonts| fonts.iter::<Dict<'_>>().next());
        let inner = descendant.as_ref().unwrap_or(dict);
        let descriptor = inner.get::<Dict<'_>>(b"FontDescriptor").unwrap_or_default();
        for key in [b"FontFile".as_slice(), b"FontFile2", b"FontFile3"] {
            let file = descriptor.get::<Stream<'_>>(key);
            if file.is_some_and(|file| !stream::is_bounded(&file)) {
                return None;
            }
        }
        if dict.get::<Stream<'_>>(b"ToUnicode").is_some_and(|map| !stream::is_bounded(&map)) {
            return None;
        }
        let program = self.cache.font(dict, &self.resolver, &self.cmaps)?;
        let subtype = dict.get::<Name<'_>>(b"Subtype");
        let is = |name: &[u8]| subtype.as_ref().is_some_and(|subtype| subtype.as_ref() == name);
        let name = dict.get::<Name<'_>>(b"BaseFont").map(|name| name.as_str().to_owned());
        let name = name.unwrap_or_default();
        let name = match name.split_once('+') {
            Some((prefix, rest)) if prefix.len() == 6 => rest.to_owned(),
            _ => name,
        };
        let flags = descriptor.get::<u32>(b"Flags").unwrap_or(0);
        let lower = name.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let weight = descriptor.get::<f32>(b"FontWeight").unwrap_or(0.0);
        let differences = differences(dict);
        let composite = is(b"Type0");
        Some(Font {
            vertical: !program.is_horizontal(),
            bold: flags & (1 << 18) != 0
                || weight >= 600.0
                || says(&["bold", "black", "heavy", "semibold", "demi"])
                || is_bold_of_tex(&lower),
            italic: flags & (1 << 6) != 0
                || says(&["italic", "oblique"])
                || lower.starts_with("cmti"),
            fixed: flags & 1 != 0 || says(&["courier", "mono", "cmtt", "typewriter", "consol"]),
            em: if is(b"Type3") { em_of_type_3(dict) } else { 1.0 },
            collection: if composite { self.collection(dict, inner) } else { None },
            names_are_hex: differences.values().any(|name| hex_name(name)),
            file: descriptor
                .get::<Stream<'_>>(b"FontFile2")
                .or_else(|| descriptor.get(b"FontFile3")),
            characters: None,
            table: dict.get::<Stream<'_>>(b"ToUnicode"),
            entries: None,
            program,

            composite,
            bytes: vec![None; 256],
            codes: HashMap::new(),
            order: if composite { GlyphOrder::of(dict, inner, &descriptor, &lower) } else { None },
            differences,
        })
    }

    fn collection(&self, dict: &Dict<'a>, descendant: &Dict<'a>) -> Option<Collection> {
        // Some fonts name an identity mapping.
        if dict.get::<Name<'_>>(b"ToUnicode").is_some() {
            return Some(Collection::Utf16);
        }
        if dict.contains_key(b"ToUnicode") {
            return None;
        }
        let encoding = dict.get::<Object<'_>>(b"Encoding")?;
        let cmap = match encoding {
            Object::Name(name) => match name.as_ref() {
                b"Identity-H" => CMap::identity_h(),
                b"Identity-V" => CMap::identity_v(),
                name => {
                    let text = String::from_utf8_lossy(name);
                    if text.contains("UTF16") || text.contains("UCS2") {
                        return Some(Collection::Utf16);
                    }
                    let cmaps = Arc::clone(&self.cmaps);
                    let data = cmaps(CMapName::from_bytes(name))?;
                    CMap::parse(data, move |name| cmaps(name))?
                }
            },
            Object::Stream(map) => {
                let cmaps = Arc::clone(&self.cmaps);
                CMap::parse(&stream::data(&map)?, move |name| cmaps(name))?
            }
            _ => return None,
        };
        let of_map =
            cmap.metadata().character_collection.as_ref().map(|found| found.family.clone());
        let family = of_map.filter(|family| *family != CidFamily::AdobeIdentity).or_else(|| {
            let info = descendant.get::<Dict<'_>>(b"CIDSystemInfo")?;
            let registry = info.get::<hayro_syntax::object::String<'_>>(b"Registry")?;
            let ordering = info.get::<hayro_syntax::object::String<'_>>(b"Ordering")?;
            Some(CidFamily::from_registry_ordering(registry.as_bytes(), ordering.as_bytes()))
        })?;
        let cmaps = Arc::clone(&self.cmaps);
        let to_unicode = CMap::parse(cmaps(family.ucs2_cmap()?)?, move |name| cmaps(name))?;
        Some(Collection::Numbers(Box::new(cmap), Box::new(to_unicode)))
    }

    /// The next code of a shown string: its text and advance, its length in bytes, and whether word
    /// spacing applies to it.
    pub(crate) fn next(
        &mut self,
        font: usize,
        bytes: &[u8],
        at: usize,
    ) -> Option<(Code, usize, bool)> {
        let font = self.all.get_mut(font)?;
        let (code, length) = font.program.read_code(bytes, at);
        let length = length.max(1);
        let is_space = length == 1 && bytes.get(at) == Some(&b' ');
        let slot = if length == 1 { code as usize } else { usize::MAX };
        let known = match font.bytes.get(slot) {
            Some(known) => known.as_ref(),
            None => font.codes.get(&code),
        };
        if let Some(known) = known {
            return Some((*known, length, is_space));
        }
        let raw = bytes.get(at..(at + length).min(bytes.len()))?;
        let text = font.text(code, raw).map(|text| self.texts.add(&text));
        let advance = font.program.code_advance(code);
        let advance = if font.vertical { advance.y } else { advance.x } as f32 / 1000.0;
        let advance = if advance.is_finite() { advance } else { 0.0 };
        let known = Code { text, advance };
        match font.bytes.get_mut(slot) {
            Some(slot) => *slot = Some(known),
            None => drop(font.codes.insert(code, known)),
        }
        Some((known, length, is_space))
    }
}

impl Font<'_> {
    /// The text of a code: by the font's tables, else by the characters of its file's glyphs.
    fn text(&mut self, code: u32, raw: &[u8]) -> Option<String> {
        if let Some(text) = self.stated_text(code, raw) {
            return Some(text);
        }
        let table = &self.table;
        let entries = self.entries.get_or_insert_with(|| {
            table
                .as_ref()
                .and_then(stream::data)
                .map(|data| table_entries(&data))
                .unwrap_or_default()
        });
        if let Some(text) = entries.get(&code) {
            return Some(text.clone());
        }
        let glyph = self.program.map_code(code).to_u32();
        let file = &self.file;
        let characters = self.characters.get_or_insert_with(|| {
            file.as_ref().and_then(stream::data).map(|data| characters(&data)).unwrap_or_default()
        });
        if let Some(character) = characters.get(&glyph) {
            return Some(character.to_string());
        }
        if self.composite {
            return self.order.as_ref()?.character(code).map(String::from);
        }
        let number = match self.differences.get(&code) {
            Some(name) => number_in(name, self.names_are_hex)?,
            None => code,
        };
        char::from_u32(number).filter(|c| !c.is_control() && *c != '\u{ad}').map(String::from)
    }

    fn stated_text(&self, code: u32, raw: &[u8]) -> Option<String> {
        let glyph = self.program.glyph(self.program.map_code(code), code);
        let found = match &glyph {
            FontGlyph::Outline(glyph) => glyph.as_unicode(),
            FontGlyph::Type3(glyph) => glyph.as_unicode(),
        };
        let found = found.map(|found| match found {
            BfString::Char(character) => character.to_string(),
            BfString::String(text) => text,
        });
        if let Some(found) = found.filter(|found| found.chars().any(|c| !is_no_text(c))) {
            return Some(found);
        }
        match &self.collection {
            Some(Collection::Utf16) => {
                let units: Vec<u16> = raw
                    .chunks_exact(2)
                    .filter_map(|pair| <[u8; 2]>::try_from(pair).ok().map(u16::from_be_bytes))
                    .collect();
                return String::from_utf16(&units).ok().filter(|text| !text.is_empty());
            }
            Some(Collection::Numbers(numbers, characters)) => {
                let cid = (1..=4).find_map(|length| numbers.lookup_cid_code(code, length))?;
                return characters.lookup_bf_string(cid).map(|found| match found {
                    BfString::Char(character) => character.to_string(),
                    BfString::String(text) => text,
                });
            }
            None => {}
        }
        None
    }
}

/// Whether a font of the Computer Modern families is bold.
fn is_bold_of_tex(lower: &str) -> bool {
    ["cmbx", "cmssbx", "cmb10", "sfbx", "ecbx", "lmbx", "cmbsy"]
        .iter()
        .any(|name| lower.starts_with(name))
        || lower.ends_with("-bd")
        || lower.ends_with("-medi")
}

/// Height of a type 3 font's em in text space at size 1.
fn em_of_type_3(dict: &Dict<'_>) -> f32 {
    let matrix = dict.get::<[f32; 6]>(b"FontMatrix").unwrap_or([0.001, 0.0, 0.0, 0.001, 0.0, 0.0]);
    let scale = matrix[3].abs().max(matrix[0].abs());
    let bbox = dict.get::<[f32; 4]>(b"FontBBox").unwrap_or_default();
    let height = (bbox[3] - bbox[1]).abs() * scale;
    if (0.2..5.0).contains(&height) {
        return height;
    }
    let widths = dict.get::<Array<'_>>(b"Widths");
    let widths: Vec<f32> = widths
        .into_iter()
        .flat_map(|widths| widths.iter::<f32>())
        .filter(|width| *width > 0.0)
        .take(256)
        .collect();
    let mean = widths.iter().sum::<f32>() / widths.len().max(1) as f32 * scale;
    if mean > 0.0 && mean.is_finite() { mean * 2.0 } else { 1.0 }
}
