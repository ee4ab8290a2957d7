//! Finding the few bytes that need work among the many that do not, sixteen at a time.
//!
//! Most of a document is text that is copied as it stands; what decides the speed is how quickly the
//! exceptions are found. A sandboxed loop also pays for its interruption at every turn, so a loop over
//! single bytes costs there several times what it costs natively. LLVM does not turn such loops into
//! vector instructions for WebAssembly, so they are spelt out there; natively the plain loops compile
//! to them.

/// How many bytes are looked at together.
const WIDTH: usize = 16;
/// How many are passed over together where there is most likely nothing.
const STRIDE: usize = 4 * WIDTH;

/// The first place from `from` on that `classify` marks.
#[inline]
pub(crate) fn find(bytes: &[u8], from: usize, classify: impl Fn(Lanes) -> Lanes) -> Option<usize> {
    let rest = bytes.get(from..)?;
    // Mostly among the first sixteen, and finding it there takes no loop.
    let Some(first) = chunk(rest, 0) else {
        // What a short text is filled up with may be marked.
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
    // What the last sixteen share with those before them is not marked.
    let (start, last) = tail(bytes);
    let marked = classify(last).mask();
    (marked != 0).then(|| start + first_of(marked))
}

/// The place that `ends` marks if it is among the first sixteen.
#[inline]
pub(crate) fn find_at_once(bytes: &[u8], ends: impl Fn(Lanes) -> Lanes) -> Option<usize> {
    let end = ends(Lanes::load(chunk(bytes, 0)?)).mask();
    (end != 0).then(|| first_of(end))
}

/// The place that `ends` marks if it is among the first thirty-two, and the first place before it that
/// `classify` marks.
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

/// The place that `ends` marks if it is among the first sixty-four, and whether nothing before it is
/// marked by `classify` and no `twice` stands behind another there.
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

/// The first place from `from` on that `classify` marks, or where `twice` stands behind another `twice`.
/// Neither may be `x`, which short texts are filled up with.
#[inline]
pub(crate) fn find_or_twice(
    bytes: &[u8],
    from: usize,
    classify: impl Fn(Lanes) -> Lanes,
    twice: u8,
) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let mut at = 0;
    // Mostly there is nothing for long. One byte more, for a pair that begins with the last.
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

/// Whether two pieces are equal; to be preferred to `==` where names are compared, which in
/// WebAssembly calls a function that goes byte by byte.
#[inline]
pub(crate) fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    if one.len() > WIDTH {
        return one == other;
    }
    // Both ends, which overlap or meet.
    if let (Some(a), Some(b)) = (one.first_chunk::<8>(), other.first_chunk::<8>()) {
        return a == b && one.last_chunk::<8>() == other.last_chunk();
    }
    if let (Some(a), Some(b)) = (one.first_chunk::<4>(), other.first_chunk::<4>()) {
        return a == b && one.last_chunk::<4>() == other.last_chunk();
    }
    match (one, other) {
        ([a, more @ ..], [b, rest @ ..]) => {
            let middle = |bytes: &[u8]| bytes.first().copied();
            a == b && middle(more) == middle(rest) && more.last() == rest.last()
        }
        _ => true,
    }
}

/// As [`find`], for what most likely is not there or far away.
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

/// A text of fewer than sixteen bytes, filled up, if it is one and `classify` marks nothing in it. It
/// must not mark `x`, which it is filled up with.
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

/// The last sixteen bytes and where they start; of fewer, all of them, filled up.
#[inline]
fn tail(bytes: &[u8]) -> (usize, Lanes) {
    match bytes.last_chunk::<WIDTH>() {
        Some(last) => (bytes.len() - WIDTH, Lanes::load(*last)),
        None => (0, Lanes::of(short(bytes))),
    }
}

/// Fewer than sixteen bytes as numbers, the first byte lowest, filled up with `x`. Read by pieces of
/// fixed size that overlap: in WebAssembly a copy of any other size is a call out of the module, and
/// most texts are that short.
#[inline]
fn short(bytes: &[u8]) -> [u64; 2] {
    const FILL: u64 = u64::from_le_bytes([b'x'; 8]);
    let bits = |bytes: usize| 8 * bytes as u32;
    if let (Some(low), Some(high)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let more = bits(bytes.len() - 8);
        let high = u64::from_le_bytes(*high).checked_shr(64 - more).unwrap_or(0);
        return [u64::from_le_bytes(*low), high | FILL << more];
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

/// All bits set at the places of the bits in `which`.
#[inline(always)]
fn table(which: u16) -> [u8; WIDTH] {
    std::array::from_fn(|at| if which >> at & 1 == 1 { 0xFF } else { 0 })
}

#[inline]
fn first_of(mask: Mask) -> usize {
    mask.trailing_zeros() as usize / LANE
}

#[cfg(all(target_family = "wasm", target_feature = "simd128"))]
mod lanes {
    use core::arch::wasm32::{
        i8x16_swizzle, u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, u8x16_sub, u64x2, v128,
        v128_and, v128_not, v128_or,
    };

    /// Which of sixteen lanes are marked, the first one lowest.
    pub(crate) type Mask = u32;
    /// Bits of a mask that stand for one lane.
    pub(super) const LANE: usize = 1;

    /// Sixteen bytes, or for each of them all bits set or none.
    #[derive(Clone, Copy)]
    pub(crate) struct Lanes(v128);

    impl Lanes {
        #[inline(always)]
        pub(super) fn load(bytes: [u8; super::WIDTH]) -> Self {
            let all = u128::from_le_bytes(bytes);
            Self(u64x2(all as u64, (all >> 64) as u64))
        }

        #[inline(always)]
        pub(super) fn of([low, high]: [u64; 2]) -> Self {
            Self(u64x2(low, high))
        }

        #[inline(always)]
        pub(super) fn mask(self) -> Mask {
            u8x16_bitmask(self.0).into()
        }

        #[inline(always)]
        pub(crate) fn is(self, byte: u8) -> Self {
            Self(u8x16_eq(self.0, u8x16_splat(byte)))
        }

        #[inline(always)]
        pub(crate) fn in_range(self, low: u8, count: u8) -> Self {
            Self(u8x16_lt(u8x16_sub(self.0, u8x16_splat(low)), u8x16_splat(count)))
        }

        #[inline(always)]
        pub(crate) fn with_bits(self, bits: u8) -> Self {
            Self(v128_or(self.0, u8x16_splat(bits)))
        }

        /// The bytes below sixteen whose bit is set in `which`.
        #[inline(always)]
        pub(crate) fn below_sixteen(self, which: u16) -> Self {
            let table = super::table(which);
            Self(i8x16_swizzle(Self::load(table).0, self.0))
        }

        /// Only the highest bit of a lane counts in a mask, and beyond ASCII it is set.
        #[inline(always)]
        pub(crate) fn beyond_ascii(self) -> Self {
            self
        }

        #[inline(always)]
        pub(crate) fn or(self, other: Self) -> Self {
            Self(v128_or(self.0, other.0))
        }

        #[inline(always)]
        pub(super) fn and(self, other: Self) -> Self {
            Self(v128_and(self.0, other.0))
        }

        #[inline(always)]
        pub(crate) fn not(self) -> Self {
            Self(v128_not(self.0))
        }
    }
}

#[cfg(not(all(target_family = "wasm", target_feature = "simd128")))]
mod lanes {
    use std::array;

    /// Which of sixteen lanes are marked, the first one lowest.
    pub(crate) type Mask = u128;
    /// Bits of a mask that stand for one lane.
    pub(super) const LANE: usize = 8;

    /// Sixteen bytes, or for each of them all bits set or none.
    #[derive(Clone, Copy)]
    pub(crate) struct Lanes([u8; super::WIDTH]);

    impl Lanes {
        #[inline(always)]
        pub(super) fn load(bytes: [u8; super::WIDTH]) -> Self {
            Self(bytes)
        }

        #[inline(always)]
        pub(super) fn of([low, high]: [u64; 2]) -> Self {
            Self((u128::from(low) | u128::from(high) << 64).to_le_bytes())
        }

        #[inline(always)]
        pub(super) fn mask(self) -> Mask {
            u128::from_le_bytes(self.0)
        }

        #[inline(always)]
        pub(crate) fn is(self, byte: u8) -> Self {
            self.each(|lane| lane == byte)
        }

        #[inline(always)]
        pub(crate) fn in_range(self, low: u8, count: u8) -> Self {
            self.each(|lane| lane.wrapping_sub(low) < count)
        }

        #[inline(always)]
        pub(crate) fn with_bits(self, bits: u8) -> Self {
            Self(self.0.map(|lane| lane | bits))
        }

        #[inline(always)]
        pub(crate) fn below_sixteen(self, which: u16) -> Self {
            let table = super::table(which);
            Self(self.0.map(|lane| table.get(usize::from(lane)).copied().unwrap_or(0)))
        }

        #[inline(always)]
        pub(crate) fn beyond_ascii(self) -> Self {
            self.each(|lane| lane >= 0x80)
        }

        #[inline(always)]
        pub(crate) fn or(self, other: Self) -> Self {
            Self(array::from_fn(|at| self.0[at] | other.0[at]))
        }

        #[inline(always)]
        pub(super) fn and(self, other: Self) -> Self {
            Self(array::from_fn(|at| self.0[at] & other.0[at]))
        }

        #[inline(always)]
        pub(crate) fn not(self) -> Self {
            Self(self.0.map(|lane| !lane))
        }

        #[inline(always)]
        fn each(self, holds: impl Fn(u8) -> bool) -> Self {
            Self(self.0.map(|lane| if holds(lane) { 0xFF } else { 0 }))
        }
    }
}

pub(crate) use lanes::Lanes;
use lanes::{LANE, Mask};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_marked_byte_is_found_wherever_it_stands() {
        for length in 0..70 {
            for at in 0..length {
                let mut bytes = vec![b'a'; length];
                bytes[at] = b'"';
                for from in 0..=at {
                    assert_eq!(find(&bytes, from, |here| here.is(b'"')), Some(at));
                }
                assert_eq!(find(&bytes, at + 1, |here| here.is(b'"')), None);
            }
        }
    }

    #[test]
    fn the_second_of_a_pair_is_found_wherever_it_stands() {
        for length in 2..70 {
            for at in 1..length {
                let mut bytes = vec![b'a'; length];
                bytes[at - 1..=at].fill(b' ');
                for from in 0..at {
                    assert_eq!(
                        find_or_twice(&bytes, from, |here| here.is(b'\n'), b' '),
                        Some(at),
                        "{length}"
                    );
                }
                assert_eq!(find_or_twice(&bytes, at, |here| here.is(b'\n'), b' '), None);
            }
        }
    }

    #[test]
    fn what_stands_before_a_near_end_is_noticed_and_what_stands_behind_it_is_not() {
        let found =
            |bytes: &[u8]| find_soon(bytes, |here| here.is(b'<'), |here| here.is(b'\n'), b' ');
        assert_eq!(found(b"aaaaaaaaaaaaaaa<a<"), Some((15, true)));
        assert_eq!(found(b"aaaaaaaaaaaaaaaa<"), None, "less than sixteen more");
        assert_eq!(found(b"a<"), None);
        for end in 0..4 * WIDTH {
            let mut bytes = vec![b'a'; 5 * WIDTH];
            bytes[end] = b'<';
            assert_eq!(found(&bytes), Some((end, true)));
            for at in (0..4 * WIDTH).filter(|at| *at != end) {
                bytes[at] = b'\n';
                assert_eq!(found(&bytes), Some((end, at > end)));
                bytes[at] = b' ';
                assert_eq!(found(&bytes), Some((end, true)));
                if at > 0 && at - 1 != end {
                    bytes[at - 1] = b' ';
                    assert_eq!(found(&bytes), Some((end, at > end)), "{end} {at}");
                    bytes[at - 1] = b'a';
                }
                bytes[at] = b'a';
            }
        }
        assert_eq!(found(&[b'a'; 5 * WIDTH]), None, "too far away");
    }

    #[test]
    fn a_mark_before_a_near_end_is_found_with_it() {
        let found =
            |bytes: &[u8]| find_with_first(bytes, |here| here.is(b'<'), |here| here.is(b':'));
        assert_eq!(found(&[b'a'; 3 * WIDTH]), None);
        assert_eq!(find_at_once(&[b'a'; 3 * WIDTH], |here| here.is(b'<')), None);
        for end in 0..2 * WIDTH {
            let mut bytes = vec![b'a'; 2 * WIDTH];
            bytes[end] = b'<';
            assert_eq!(found(&bytes), Some((end, None)));
            let at_once = find_at_once(&bytes, |here| here.is(b'<'));
            assert_eq!(at_once, (end < WIDTH).then_some(end));
            for at in 0..end {
                bytes[at..end].fill(b':');
                assert_eq!(found(&bytes), Some((end, Some(at))));
                bytes[at..end].fill(b'a');
            }
            bytes[end + 1..].fill(b':');
            assert_eq!(found(&bytes), Some((end, None)));
        }
    }

    #[test]
    fn single_spaces_are_no_pair_and_what_is_marked_is_found_among_them() {
        for length in 1..70 {
            let mut bytes: Vec<u8> = b" a".iter().copied().cycle().take(length).collect();
            assert_eq!(find_or_twice(&bytes, 0, |here| here.is(b'\n'), b' '), None);
            for at in 0..length {
                let byte = std::mem::replace(&mut bytes[at], b'\n');
                assert_eq!(find_or_twice(&bytes, 0, |here| here.is(b'\n'), b' '), Some(at));
                bytes[at] = byte;
            }
        }
    }

    #[test]
    fn pieces_are_the_same_when_every_byte_is() {
        for length in 0..50_u8 {
            let one: Vec<u8> = (0..length).collect();
            assert!(same(&one, &one.clone()));
            assert!(!same(&one, &[&one[..], b"x"].concat()));
            for at in 0..one.len() {
                let mut other = one.clone();
                other[at] ^= 0x80;
                assert!(!same(&one, &other), "{length} {at}");
            }
        }
    }

    #[test]
    fn ranges_include_both_ends_and_nothing_else() {
        for byte in 0..=255 {
            let found = find(&[byte], 0, |here| here.in_range(0xE1, 3)).is_some();
            assert_eq!(found, (0xE1..=0xE3).contains(&byte), "{byte}");
        }
    }
}
