//! Inflates streams within a limit.

use std::io::Read;

use flate2::read::{DeflateDecoder, ZlibDecoder};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream};

/// The most bytes of one stream.
pub(crate) const LARGEST: usize = 128 << 20;

/// An upper bound of the expansion by PDF's filters: deflate 1,032, LZW 1,365, run length 64.
const RATIO: usize = 1400;

/// Names of a stream's filters.
fn filters(stream: &Stream<'_>) -> Vec<Vec<u8>> {
    for key in [b"F".as_slice(), b"Filter"] {
        match stream.dict().get::<Object<'_>>(key) {
            Some(Object::Name(name)) => return vec![name.as_ref().to_vec()],
            Some(Object::Array(names)) => {
                return names.iter::<Name<'_>>().map(|name| name.as_ref().to_vec()).collect();
            }
            _ => {}
        }
    }
    Vec::new()
}

fn is_flate(filter: &[u8]) -> bool {
    matches!(filter, b"FlateDecode" | b"Fl")
}

/// Whether a filter can expand its data; an unknown filter gives no data.
fn grows(filter: &[u8]) -> bool {
    is_flate(filter) || matches!(filter, b"LZWDecode" | b"LZW" | b"RunLengthDecode" | b"RL")
}

/// The data of a stream; none if it is an image, broken from its first byte, or too large.
pub(crate) fn data(stream: &Stream<'_>) -> Option<Vec<u8>> {
    let filters = filters(stream);
    if filters.iter().all(|filter| is_flate(filter)) && !has_predictor(stream.dict()) {
        let mut data = stream.raw_data().into_owned();
        for _ in filters {
            data = inflate(&data)?;
        }
        return Some(data);
    }
    if !is_bounded(stream) {
        return None;
    }
    stream.decoded_data().ok().map(std::borrow::Cow::into_owned)
}

/// Whether a stream that hayro-syntax decodes without a limit stays within ours.
pub(crate) fn is_bounded(stream: &Stream<'_>) -> bool {
    let filters = filters(stream);
    let growing = filters.iter().filter(|filter| grows(filter)).count();
    let largest = LARGEST.checked_div(RATIO.saturating_pow(u32::try_from(growing).unwrap_or(9)));
    let length = stream.raw_data().len();
    if length <= largest.unwrap_or(0) {
        return true;
    }
    let first_flate = filters.first().is_some_and(|filter| is_flate(filter));
    first_flate && growing == 1 && inflate(&stream.raw_data()).is_some()
}

fn has_predictor(dict: &Dict<'_>) -> bool {
    let predicts =
        |params: &Dict<'_>| params.get::<u32>(b"Predictor").is_some_and(|number| number > 1);
    for key in [b"DecodeParms".as_slice(), b"DP"] {
        match dict.get::<Object<'_>>(key) {
            Some(Object::Dict(params)) => return predicts(&params),
            Some(Object::Array(all)) => return any_predicts(&all, predicts),
            _ => {}
        }
    }
    false
}

fn any_predicts(all: &Array<'_>, predicts: impl Fn(&Dict<'_>) -> bool) -> bool {
    all.iter::<Object<'_>>()
        .any(|params| params.into_dict().is_some_and(|params| predicts(&params)))
}

/// Inflates as much as possible; none if there is no data, or too much.
pub(crate) fn inflate(raw: &[u8]) -> Option<Vec<u8>> {
    let zlib = bounded(ZlibDecoder::new(raw), raw.len());
    match zlib {
        Some(data) if !data.is_empty() || raw.len() < 16 => Some(data),
        Some(_) => {
            // Some producers omit the header or write a wrong one.
            let bare = bounded(DeflateDecoder::new(raw), raw.len())?;
            if !bare.is_empty() {
                return Some(bare);
            }
            bounded(DeflateDecoder::new(raw.get(2..)?), raw.len())
        }
        None => None,
    }
}

fn bounded(decoder: impl Read, raw: usize) -> Option<Vec<u8>> {
    let mut data = Vec::with_capacity(raw.saturating_mul(4).min(1 << 20));
    let mut decoder = decoder.take(LARGEST as u64 + 1);
    let mut chunk = [0_u8; 8192];
    // Data inflated before an error is kept.
    while let Ok(count @ 1..) = decoder.read(&mut chunk) {
        data.extend_from_slice(chunk.get(..count)?);
    }
    (data.len() <= LARGEST).then_some(data)
}
