//! Finds bytes of a class in a text, sixteen at a time (SIMD).
//!
//! Most of a document is text that is copied unchanged, so the speed depends on how fast the
//! exceptions are found. In the sandbox, every loop iteration includes an interruption check, so a
//! loop over single bytes costs several times its native cost. LLVM does not vectorize such loops
//! for WebAssembly, so vector instructions are written out there; natively the plain loops compile
//! to them.

mod lanes;
#[cfg(test)]
mod tests;

pub(crate) use lanes::Lanes;
use lanes::{LANE, Mask};

/// The number of bytes per vector.
const WIDTH: usize = 16;
/// The number of bytes per step where a match is unlikely.
const STRIDE: usize = 4 * WIDTH;

/// The first position from `from` on that `classify` marks.
#[inline]
pub(crate) fn find(bytes: &[u8], from: usize, classify: impl Fn(Lanes) -> Lanes) -> Option<usize> {
    let rest = bytes.get(from..)?;
    // Usually among the first sixteen, where no loop is needed.
    let Some(first) = chunk(rest, 0) else {
        // The padding of a short text may be marked.
        let lane = first_of(classify(Lanes::of(short(rest))).mask());
        return (lane < rest.len()).then_some(from + lane);
    };
    let marked = classify(Lanes::load(first)).mask();
    if marked != 0 {
        return Some(from + first_of(marked));
    }
    find_behind(rest, WIDTH, classify).map(|at| from + at)
}

/// `find` from `at` on, which is sixteen or more.
#[inline(never)]
fn find_behind(bytes: &[u8], at: usize, classify: impl Fn(Lanes) -> Lanes) -> Option<usize> {
    let mut at = at;
    while let Some(here) = chunk(bytes, at) {
        let marked = classify(Lanes::load(here)).mask();
        if marked != 0 {
            return Some(at + first_of(marked));
        }
        at += WIDTH;
    }
    if at == bytes.len() {
        return None;
    }
    // The bytes that the last sixteen share with those before are not marked.
    let (start, last) = tail(bytes);
    let marked = classify(last).mask();
    (marked != 0).then(|| start + first_of(marked))
}

/// The position that `ends` marks if it is among the first sixteen.
#[inline]
pub(crate) fn find_at_once(bytes: &[u8], ends: impl Fn(Lanes) -> Lanes) -> Option<usize> {
    let end = ends(Lanes::load(chunk(bytes, 0)?)).mask();
    (end != 0).then(|| first_of(end))
}

/// The position that `ends` marks if it is among the first thirty-two, and the first position
/// before it that `classify` marks.
#[inline]
pub(crate) fn find_with_first(
    bytes: &[u8],
    ends: impl Fn(Lanes) -> Lanes,
    classify: impl Fn(Lanes) -> Lanes,
) -> Option<(usize, Option<usize>)> {
    let mut first = None;
    for at in [0, WIDTH] {
        let here = Lanes::load(chunk(bytes, at)?);
        let end = ends(here).mask();
        let marked = classify(here).mask();
        let before = if end == 0 { marked } else { marked & before_first(end) };
        if before != 0 {
            first = first.or(Some(at + first_of(before)));
        }
        if end != 0 {
            return Some((at + first_of(end), first));
        }
    }
    None
}

/// The position that `ends` marks if it is among the first sixty-four, and whether nothing before
/// it is marked by `classify` and no two `twice` are adjacent there.
#[inline]
pub(crate) fn find_soon(
    bytes: &[u8],
    ends: impl Fn(Lanes) -> Lanes,
    classify: impl Fn(Lanes) -> Lanes,
    twice: u8,
) -> Option<(usize, bool)> {
    let (mut before, mut clean): (Mask, bool) = (0, true);
    for at in [0, WIDTH, 2 * WIDTH, 3 * WIDTH] {
        let here = Lanes::load(chunk(bytes, at)?);
        let end = ends(here).mask();
        let single = here.is(twice).mask();
        let marked = classify(here).mask() | (single & (single << LANE | before));
        if end != 0 {
            return Some((at + first_of(end), clean && marked & before_first(end) == 0));
        }
        clean &= marked == 0;
        before = single >> (LANE * (WIDTH - 1));
    }
    None
}

/// The first position from `from` on that `classify` marks, or where `twice` follows another
/// `twice`. Neither may be `x`, with which short texts are padded.
#[inline]
pub(crate) fn find_or_twice(
    bytes: &[u8],
    from: usize,
    classify: impl Fn(Lanes) -> Lanes,
    twice: u8,
) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let mut at = 0;
    // Usually there is no match for long. One byte more, for a pair that begins with the last byte.
    while let Some(stride) = rest.get(at..).and_then(<[u8]>::first_chunk::<{ STRIDE + 1 }>) {
        let marked = stride[..STRIDE].as_chunks().0.iter().zip(stride[1..].as_chunks().0).map(
            |(here, next)| {
                let here = Lanes::load(*here);
                classify(here).or(here.is(twice).and(Lanes::load(*next).is(twice)))
            },
        );
        if marked.reduce(Lanes::or).is_some_and(|marked| marked.mask() != 0) {
            break;
        }
        at += STRIDE;
    }
    let mut before: Mask = 0;
    while let Some(here) = chunk(rest, at) {
        let here = Lanes::load(here);
        let single = here.is(twice).mask();
        let marked = classify(here).mask() | (single & (single << LANE | before));
        if marked != 0 {
            return Some(from + at + first_of(marked));
        }
        before = single >> (LANE * (WIDTH - 1));
        at += WIDTH;
    }
    if at == rest.len() {
        return None;
    }
    let (start, last) = tail(rest);
    // The last sixteen begin before `at`, or with the text: no pair is cut in two.
    let single = last.is(twice).mask();
    let marked = classify(last).mask() | (single & (single << LANE));
    (marked != 0).then(|| from + start + first_of(marked))
}

/// Whether two pieces are equal; for names, faster than `==`, which in WebAssembly calls a function
/// that compares byte by byte.
#[inline]
pub(crate) fn same(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    if left.len() > WIDTH {
        return left == right;
    }
    // Both ends, which overlap or meet.
    if let (Some(a), Some(b)) = (left.first_chunk::<8>(), right.first_chunk::<8>()) {
        return a == b && left.last_chunk::<8>() == right.last_chunk();
    }
    if let (Some(a), Some(b)) = (left.first_chunk::<4>(), right.first_chunk::<4>()) {
        return a == b && left.last_chunk::<4>() == right.last_chunk();
    }
    match (left, right) {
        ([a, a_tail @ ..], [b, b_tail @ ..]) => {
            let middle = |bytes: &[u8]| bytes.first().copied();
            a == b && middle(a_tail) == middle(b_tail) && a_tail.last() == b_tail.last()
        }
        _ => true,
    }
}

/// As [`find`], for a match that is unlikely or far away.
#[inline]
pub(crate) fn find_rare(
    bytes: &[u8],
    from: usize,
    classify: impl Fn(Lanes) -> Lanes,
) -> Option<usize> {
    let mut at = from;
    while let Some(stride) = bytes.get(at..).and_then(<[u8]>::first_chunk::<STRIDE>) {
        let any = stride
            .as_chunks::<WIDTH>()
            .0
            .iter()
            .map(|here| classify(Lanes::load(*here)))
            .reduce(Lanes::or);
        if any.is_some_and(|any| any.mask() != 0) {
            break;
        }
        at += STRIDE;
    }
    find(bytes, at, classify)
}

/// A text of fewer than sixteen bytes, padded, if `classify` marks nothing in it. `classify` must
/// not mark `x`, the padding.
#[inline]
pub(crate) fn short_without(
    bytes: &[u8],
    classify: impl Fn(Lanes) -> Lanes,
) -> Option<[u8; WIDTH]> {
    if bytes.len() >= WIDTH {
        return None;
    }
    let [low, high] = short(bytes);
    let whole = u128::from(low) | u128::from(high) << 64;
    (classify(Lanes::of([low, high])).mask() == 0).then(|| whole.to_le_bytes())
}

#[inline]
fn chunk(bytes: &[u8], at: usize) -> Option<[u8; WIDTH]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// The last sixteen bytes and their offset; a shorter text is padded.
#[inline]
fn tail(bytes: &[u8]) -> (usize, Lanes) {
    match bytes.last_chunk::<WIDTH>() {
        Some(last) => (bytes.len() - WIDTH, Lanes::load(*last)),
        None => (0, Lanes::of(short(bytes))),
    }
}

/// Fewer than sixteen bytes as numbers, the first byte lowest, padded with `x`. Read in overlapping
/// pieces of fixed size: in WebAssembly a copy of any other size is a call out of the module, and
/// most texts are that short.
#[inline]
fn short(bytes: &[u8]) -> [u64; 2] {
    const FILL: u64 = u64::from_le_bytes([b'x'; 8]);
    let bits = |bytes: usize| 8 * bytes as u32;
    if let (Some(low), Some(high)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let extra_bits = bits(bytes.len() - 8);
        let high = u64::from_le_bytes(*high).checked_shr(64 - extra_bits).unwrap_or(0);
        return [u64::from_le_bytes(*low), high | FILL << extra_bits];
    }
    let known = bits(bytes.len());
    if let (Some(low), Some(high)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (low, high) = (u32::from_le_bytes(*low), u32::from_le_bytes(*high));
        let both = u64::from(low) | u64::from(high) << bits(bytes.len() - 4);
        return [both | FILL << known, FILL];
    }
    let low = match *bytes {
        [a, b, c, ..] => u32::from_le_bytes([a, b, c, 0]),
        [a, b] => u32::from_le_bytes([a, b, 0, 0]),
        [a] => u32::from(a),
        [] => 0,
    };
    [u64::from(low) | FILL << known, FILL]
}

/// Marks all lanes before the first one that is marked.
#[inline]
fn before_first(mask: Mask) -> Mask {
    (mask & mask.wrapping_neg()) - 1
}

#[inline]
fn first_of(mask: Mask) -> usize {
    mask.trailing_zeros() as usize / LANE
}
