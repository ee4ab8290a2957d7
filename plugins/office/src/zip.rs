//! Zip archives: the directory at the end, entries that are stored or deflated, with limits on the
//! inflated size.
//!
//! The directory is authoritative, as in every office program. If it is missing or broken, the
//! reader searches for local file headers, so that a truncated file gives its remaining entries.
//! Declared sizes are ignored: inflating stops at the limit.

use std::collections::HashMap;

use carrel_pdk::text::excerpt;
use carrel_pdk::{Code, Error};
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

/// Entries of one archive.
const MAX_ENTRIES: usize = 50_000;
/// Bytes of one entry after inflating.
const MAX_ENTRY: usize = 64 << 20;
/// Bytes of all entries together that are read from one archive.
const MAX_TOTAL: usize = 192 << 20;
/// The largest expansion factor of an entry of more than [`SMALL`] bytes.
const MAX_RATIO: usize = 400;
/// The inflated size up to which any expansion factor is accepted.
const SMALL: usize = 8 << 20;

const LOCAL: &[u8] = b"PK\x03\x04";
const CENTRAL: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";

#[derive(Debug, Clone)]
struct Entry {
    /// Offset of its local file header.
    header: usize,
    compressed: usize,
    method: u16,
    encrypted: bool,
}

/// An archive.
#[derive(Debug)]
pub(crate) struct Zip<'d> {
    bytes: &'d [u8],
    entries: HashMap<String, Entry>,
    /// Names in the order of the directory.
    names: Vec<String>,
    /// The directory could not be read; entries were searched for.
    pub(crate) damaged: bool,
    /// Bytes that may still be read.
    left: std::cell::Cell<usize>,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes([pair[0], pair[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_le_bytes([four[0], four[1], four[2], four[3]])).ok()
}

fn u64_at(bytes: &[u8], at: usize) -> Option<usize> {
    let low = u32_at(bytes, at)?;
    let high = u32_at(bytes, at.checked_add(4)?)?;
    if high == 0 { Some(low) } else { None }
}

/// A normalized name: forward slashes, no leading slash.
fn tidy(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name).replace('\\', "/");
    name.trim_start_matches('/').to_owned()
}

impl<'d> Zip<'d> {
    /// Reads the directory.
    ///
    /// # Errors
    ///
    /// `invalid_document` when there is no archive; `too_large` when it has too many entries.
    pub(crate) fn open(bytes: &'d [u8]) -> Result<Self, Error> {
        let mut zip = Self {
            bytes,
            entries: HashMap::new(),
            names: Vec::new(),
            damaged: false,
            left: std::cell::Cell::new(MAX_TOTAL),
        };
        if zip.directory()?.is_none() {
            zip.damaged = true;
            zip.entries.clear();
            zip.names.clear();
            zip.salvage()?;
        }
        if zip.entries.is_empty() {
            let message = "expected a zip archive but found no entries of one";
            return Err(Error::invalid_document(message, 0, String::new()));
        }
        Ok(zip)
    }

    fn add(&mut self, name: String, entry: Entry) -> Result<(), Error> {
        if self.names.len() >= MAX_ENTRIES {
            let message = format!("the archive has more than {MAX_ENTRIES} entries");
            return Err(Error::new(Code::TooLarge, message));
        }
        if self.entries.insert(name.clone(), entry).is_none() {
            self.names.push(name);
        }
        Ok(())
    }

    /// Reads the directory at the end; `None` if it is missing or incomplete.
    fn directory(&mut self) -> Result<Option<()>, Error> {
        let bytes = self.bytes;
        // A comment of at most 64 KiB may follow.
        let from = bytes.len().saturating_sub(65_557);
        let ends = bytes.get(from..).unwrap_or_default();
        let Some(end) = memory_rfind(ends, END).map(|at| at + from) else { return Ok(None) };
        let (Some(mut count), Some(mut at)) =
            (u16_at(bytes, end + 10).map(usize::from), u32_at(bytes, end + 16))
        else {
            return Ok(None);
        };
        let size = u32_at(bytes, end + 12).unwrap_or(0);
        if count == 0xFFFF || at == 0xFFFF_FFFF {
            let Some(large) = end.checked_sub(20).and_then(|locator| u64_at(bytes, locator + 8))
            else {
                return Ok(None);
            };
            let (Some(entries), Some(start)) = (
                large.checked_add(32).and_then(|offset| u64_at(bytes, offset)),
                large.checked_add(48).and_then(|offset| u64_at(bytes, offset)),
            ) else {
                return Ok(None);
            };
            (count, at) = (entries, start);
        }
        // Other bytes may precede the archive: offsets count from its own start.
        let shift = end.checked_sub(size).and_then(|start| start.checked_sub(at)).unwrap_or(0);
        let shift =
            if bytes.get(at..).is_some_and(|rest| rest.starts_with(CENTRAL)) { 0 } else { shift };
        at = at.saturating_add(shift);
        for _ in 0..count {
            let Some((name, mut entry, next)) = self.central(at) else { return Ok(None) };
            entry.header = entry.header.saturating_add(shift);
            at = next;
            if !name.ends_with('/') {
                self.add(name, entry)?;
            }
        }
        Ok(Some(()))
    }

    fn central(&self, at: usize) -> Option<(String, Entry, usize)> {
        let bytes = self.bytes;
        if !bytes.get(at..)?.starts_with(CENTRAL) {
            return None;
        }
        let name_length = usize::from(u16_at(bytes, at + 28)?);
        let extra = usize::from(u16_at(bytes, at + 30)?);
        let comment = usize::from(u16_at(bytes, at + 32)?);
        let name = tidy(bytes.get(at + 46..at + 46 + name_length)?);
        let mut entry = Entry {
            header: u32_at(bytes, at + 42)?,
            compressed: u32_at(bytes, at + 20)?,
            method: u16_at(bytes, at + 10)?,
            encrypted: u16_at(bytes, at + 8)? & 1 == 1,
        };
        let uncompressed = u32_at(bytes, at + 24)?;
        let mut field = at + 46 + name_length;
        let end = field + extra;
        while field + 4 <= end {
            let length = usize::from(u16_at(bytes, field + 2)?);
            if u16_at(bytes, field)? == 1 {
                let mut value = field + 4;
                if uncompressed == 0xFFFF_FFFF {
                    value += 8;
                }
                if entry.compressed == 0xFFFF_FFFF {
                    entry.compressed = u64_at(bytes, value)?;
                    value += 8;
                }
                if entry.header == 0xFFFF_FFFF {
                    entry.header = u64_at(bytes, value)?;
                }
            }
            field += 4 + length;
        }
        Some((name, entry, end + comment))
    }

    /// Searches for entries by their local file headers.
    fn salvage(&mut self) -> Result<(), Error> {
        let bytes = self.bytes;
        let mut at = 0;
        while let Some(found) = memory_find(bytes.get(at..).unwrap_or_default(), LOCAL) {
            let header = at + found;
            at = header + 4;
            let Some(length) = u16_at(bytes, header + 26).map(usize::from) else { break };
            let Some(name) = bytes.get(header + 30..header + 30 + length) else { break };
            let (Some(flags), Some(method), Some(mut compressed)) =
                (u16_at(bytes, header + 6), u16_at(bytes, header + 8), u32_at(bytes, header + 18))
            else {
                break;
            };
            if flags & 8 != 0 && compressed == 0 {
                // The size follows the data; the deflate stream marks its own end.
                compressed = usize::MAX;
            }
            let name = tidy(name);
            if !name.ends_with('/') && !name.is_empty() {
                let encrypted = flags & 1 == 1;
                self.add(name, Entry { header, compressed, method, encrypted })?;
            }
        }
        Ok(())
    }

    /// The names of the entries in their order.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The entry's own spelling.
    fn find(&self, name: &str) -> Option<&str> {
        if let Some((own, _)) = self.entries.get_key_value(name) {
            return Some(own);
        }
        self.names.iter().find(|own| own.eq_ignore_ascii_case(name)).map(String::as_str)
    }

    /// Whether an entry needs a password.
    pub(crate) fn is_encrypted(&self, name: &str) -> bool {
        let entry = self.find(name).and_then(|name| self.entries.get(name));
        entry.is_some_and(|entry| entry.encrypted)
    }

    /// The content of an entry; `None` when there is no such entry.
    ///
    /// # Errors
    ///
    /// `invalid_document` when it cannot be inflated, `too_large` when it exceeds the limits.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(entry) = self.find(name).and_then(|name| self.entries.get(name)) else {
            return Ok(None);
        };
        let fail = |what: &str| {
            let message = format!("{}: {what}", excerpt(name));
            let offset = entry.header.min(self.bytes.len()) as u64;
            Err(Error::invalid_document(message, offset, excerpt(name)))
        };
        let large =
            |what: &str| Err(Error::new(Code::TooLarge, format!("{}: {what}", excerpt(name))));
        if entry.encrypted {
            return fail("the entry needs a password");
        }
        let header = self.bytes.get(entry.header..).unwrap_or_default();
        if !header.starts_with(LOCAL) {
            return fail("expected an entry of the archive but found other bytes");
        }
        let (Some(name_length), Some(extra)) = (u16_at(header, 26), u16_at(header, 28)) else {
            return fail("the archive ends inside an entry's header");
        };
        let start = 30 + usize::from(name_length) + usize::from(extra);
        let end = start.saturating_add(entry.compressed).min(header.len());
        let data = header.get(start..end).unwrap_or_default();
        let bound = MAX_ENTRY.min(self.left.get());
        let content = match entry.method {
            0 if data.len() > bound => return large("more bytes than are read of one document"),
            0 => data.to_vec(),
            8 => {
                let bound = bound.min(SMALL.max(data.len().saturating_mul(MAX_RATIO)));
                match decompress_to_vec_with_limit(data, bound) {
                    Ok(content) => content,
                    Err(failure) if failure.status == TINFLStatus::HasMoreOutput => {
                        return large("inflates to more bytes than are read");
                    }
                    Err(failure) if failure.output.is_empty() => {
                        return fail("the entry's bytes cannot be inflated");
                    }
                    // The bytes before the damage are returned; the reader of the part decides
                    // about them.
                    Err(failure) => failure.output,
                }
            }
            _ => return fail("the entry is packed in a way that is not read (only deflate is)"),
        };
        self.left.set(self.left.get() - content.len());
        Ok(Some(content))
    }
}

fn memory_find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

fn memory_rfind(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).rposition(|window| window == needle)
}
