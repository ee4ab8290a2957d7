//! Checks the streams that hayro-syntax inflates when it opens a file.

use carrel_pdk::{Code, Error};
use memchr::memmem;

use crate::stream;

/// Shorter streams cannot inflate beyond the limit for one stream.
const SMALL: usize = 48 << 10;
/// Bytes that the object and cross-reference streams of a document may have together.
const LARGEST: usize = 512 << 20;

/// Refuses a file whose object or cross-reference streams inflate beyond the limit.
pub(crate) fn check(bytes: &[u8]) -> Result<(), Error> {
    let mut whole = 0_usize;
    let mut from = 0;
    while let Some(found) = memmem::find(bytes.get(from..).unwrap_or_default(), b"stream") {
        let at = from + found;
        from = at + 6;
        let before = bytes.get(at.saturating_sub(600)..at).unwrap_or_default();
        if before.ends_with(b"end") {
            continue;
        }
        let dict = before
            .windows(4)
            .rposition(|window| window == b" obj")
            .map_or(before, |start| before.get(start..).unwrap_or_default());
        if memmem::find(dict, b"ObjStm").is_none() && memmem::find(dict, b"XRef").is_none() {
            continue;
        }
        let mut data = bytes.get(from..).unwrap_or_default();
        let line = data.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).take(2).count();
        data = data.get(line..).unwrap_or_default();
        let length = memmem::find(data, b"endstream").unwrap_or(data.len());
        data = data.get(..length).unwrap_or_default();
        from += length;
        // Valid object streams never have two inflating filters.
        let twice = memmem::find(dict, b"FlateDecode").is_some_and(|first| {
            let behind = dict.get(first + 11..).unwrap_or_default();
            memmem::find(behind, b"FlateDecode").is_some() || memmem::find(behind, b"/Fl").is_some()
        });
        whole = whole.saturating_add(match (length < SMALL, twice) {
            (true, false) => 0,
            (false, false) => stream::inflate(data).map_or(usize::MAX, |data| data.len()),
            (_, true) => usize::MAX,
        });
        if whole > LARGEST {
            let message = "the document's object streams inflate to more than can be read";
            return Err(Error::new(Code::TooLarge, message));
        }
    }
    Ok(())
}
