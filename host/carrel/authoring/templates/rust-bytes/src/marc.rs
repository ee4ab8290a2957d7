//! The parser: a file of MARC 21 records in, JSON or an error with its place out.
//!
//! A record is a leader of 24 bytes, a directory of its fields, and the fields. The leader and the
//! directory say in decimal digits where everything is, so each number is checked before it is used.

use carrel_pdk::Error;
use schemars::JsonSchema;
use serde::Serialize;

const LEADER: usize = 24;
/// A directory entry: a tag of three digits, a length of four and a start of five.
const ENTRY: usize = 12;
const SUBFIELD: u8 = 0x1f;
const END_OF_FIELD: u8 = 0x1e;

/// Records of a file.
#[derive(Serialize, JsonSchema)]
pub struct Records {
    /// In the order of the file.
    records: Vec<Record>,
}

/// One record.
#[derive(Serialize, JsonSchema)]
pub struct Record {
    /// The library's identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Title and subtitle.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The main author and the others, as the library writes their names.
    authors: Vec<String>,
}

/// The first records of a file, as JSON text.
pub fn read(document: &[u8], most: usize) -> Result<String, Error> {
    let (mut records, mut at) = (Vec::new(), 0);
    while at < document.len() && records.len() < most {
        let length = number(document, at, 5)?;
        if length <= LEADER {
            return Err(wrong("a record is shorter than its leader", at));
        }
        let record = part(document, at, length)?;
        records.push(read_record(record, at)?);
        at += length;
    }
    Ok(serde_json::json!(Records { records }).to_string())
}

/// Reads a record that begins at byte `start` of the file.
fn read_record(record: &[u8], start: usize) -> Result<Record, Error> {
    // Offsets in a record are relative to it; errors report the offset in the file.
    let in_file = |error: Error| match error.position {
        Some(position) => wrong(&error.message, start + position.offset as usize),
        None => error,
    };
    let base = number(record, 12, 5).map_err(in_file)?;
    let mut found = Record { id: None, title: None, authors: Vec::new() };
    let mut at = LEADER;
    while part(record, at, 1).map_err(in_file)?[0] != END_OF_FIELD {
        let tag = part(record, at, 3).map_err(in_file)?;
        let length = number(record, at + 3, 4).map_err(in_file)?;
        let place = base + number(record, at + 7, 5).map_err(in_file)?;
        let field = part(record, place, length).map_err(in_file)?;
        match tag {
            b"001" => found.id = Some(text(field)),
            b"100" | b"700" => found.authors.extend(subfields(field, b"a")),
            b"245" => found.title = Some(subfields(field, b"ab").join(" ")),
            _ => {}
        }
        at += ENTRY;
    }
    Ok(found)
}

/// The texts of the subfields with these codes.
fn subfields(field: &[u8], codes: &[u8]) -> Vec<String> {
    let parts = field.split(|&byte| byte == SUBFIELD).skip(1);
    let named = parts.filter_map(|part| part.split_first());
    named.filter(|(code, _)| codes.contains(code)).map(|(_, rest)| text(rest)).collect()
}

/// Text without the marks that end a field, a title or a name; what is not UTF-8 becomes U+FFFD.
fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.trim_end_matches(['\u{1e}', ' ', '/', ',', ':']).to_owned()
}

/// The bytes at a place, if the document is that long.
fn part(document: &[u8], at: usize, length: usize) -> Result<&[u8], Error> {
    let end = at.checked_add(length);
    let found = end.and_then(|end| document.get(at..end));
    found.ok_or_else(|| wrong("expected more bytes but found the end", at.min(document.len())))
}

/// The decimal number at a place.
fn number(document: &[u8], at: usize, digits: usize) -> Result<usize, Error> {
    let found = str::from_utf8(part(document, at, digits)?).ok();
    let number = found.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    number.and_then(|text| text.parse().ok()).ok_or_else(|| wrong("expected a number", at))
}

fn wrong(message: &str, at: usize) -> Error {
    Error::invalid_document(message, at as u64, "")
}
