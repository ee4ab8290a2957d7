//! Finding the few bytes that need work among the many that do not, sixteen at a time.
//!
//! Most of a feed is text that is copied as it stands; what decides the speed is how quickly the
//! exceptions are found. LLVM does not turn such loops into vector instructions for WebAssembly, so
//! they are spelt out there; natively the plain loops compile to them.

/// How many bytes are looked at together.
const WIDTH: usize = 16;

/// The first place from `from` on that `classify` marks. It is given the bytes there and, for the
/// pairs that matter, the bytes one further on.
pub(crate) fn find(
    bytes: &[u8],
    from: usize,
    classify: impl Fn(Lanes, Lanes) -> Lanes,
) -> Option<usize> {
    let mut at = from;
    let mut rest = bytes.get(from..)?;
    while let (Some(here), Some((_, next))) = (rest.first_chunk::<WIDTH>(), rest.split_first()) {
        let Some(after) = next.first_chunk::<WIDTH>() else { break };
        if let Some(lane) = classify(Lanes::load(*here), Lanes::load(*after)).first() {
            return Some(at + lane);
        }
        at += WIDTH;
        rest = rest.get(WIDTH..)?;
    }
    // What is left, up to sixteen bytes, padded with a letter that no class marks.
    let last = padded(rest);
    let (here, after) = (last.first_chunk::<WIDTH>()?, last.last_chunk::<WIDTH>()?);
    classify(Lanes::load(*here), Lanes::load(*after)).first().map(|lane| at + lane)
}

/// Up to sixteen bytes and the padding behind them. Copied by pieces of fixed size: in WebAssembly a
/// copy of any other size is a call out of the module, and most texts are that short.
fn padded(bytes: &[u8]) -> [u8; WIDTH + 1] {
    let mut last = [b'x'; WIDTH + 1];
    let (mut rest, mut at) = (bytes, 0);
    if let Some((piece, more)) = rest.split_first_chunk::<16>() {
        last[..16].copy_from_slice(piece);
        (rest, at) = (more, 16);
    }
    if let Some((piece, more)) = rest.split_first_chunk::<8>() {
        last[at..at + 8].copy_from_slice(piece);
        (rest, at) = (more, at + 8);
    }
    if let Some((piece, more)) = rest.split_first_chunk::<4>() {
        last[at..at + 4].copy_from_slice(piece);
        (rest, at) = (more, at + 4);
    }
    if let Some((piece, more)) = rest.split_first_chunk::<2>() {
        last[at..at + 2].copy_from_slice(piece);
        (rest, at) = (more, at + 2);
    }
    if let (Some(byte), Some(place)) = (rest.first(), last.get_mut(at)) {
        *place = *byte;
    }
    last
}

#[cfg(all(target_family = "wasm", target_feature = "simd128"))]
mod lanes {
    use core::arch::wasm32::{
        u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, u8x16_sub, u64x2, v128, v128_and, v128_or,
    };

    /// Sixteen bytes, or for each of them all bits set or none.
    #[derive(Clone, Copy)]
    pub(crate) struct Lanes(v128);

    impl Lanes {
        pub(super) fn load(bytes: [u8; super::WIDTH]) -> Self {
            let all = u128::from_le_bytes(bytes);
            Self(u64x2(all as u64, (all >> 64) as u64))
        }

        pub(super) fn first(self) -> Option<usize> {
            let mask = u8x16_bitmask(self.0);
            (mask != 0).then(|| mask.trailing_zeros() as usize)
        }

        pub(crate) fn is(self, byte: u8) -> Self {
            Self(u8x16_eq(self.0, u8x16_splat(byte)))
        }

        pub(crate) fn in_range(self, low: u8, count: u8) -> Self {
            Self(u8x16_lt(u8x16_sub(self.0, u8x16_splat(low)), u8x16_splat(count)))
        }

        pub(crate) fn or(self, other: Self) -> Self {
            Self(v128_or(self.0, other.0))
        }

        pub(crate) fn and(self, other: Self) -> Self {
            Self(v128_and(self.0, other.0))
        }
    }
}

#[cfg(not(all(target_family = "wasm", target_feature = "simd128")))]
mod lanes {
    use std::array;

    /// Sixteen bytes, or for each of them all bits set or none.
    #[derive(Clone, Copy)]
    pub(crate) struct Lanes([u8; super::WIDTH]);

    impl Lanes {
        pub(super) fn load(bytes: [u8; super::WIDTH]) -> Self {
            Self(bytes)
        }

        pub(super) fn first(self) -> Option<usize> {
            let mask = u128::from_le_bytes(self.0);
            (mask != 0).then(|| mask.trailing_zeros() as usize / 8)
        }

        pub(crate) fn is(self, byte: u8) -> Self {
            self.each(|lane| lane == byte)
        }

        pub(crate) fn in_range(self, low: u8, count: u8) -> Self {
            self.each(|lane| lane.wrapping_sub(low) < count)
        }

        pub(crate) fn or(self, other: Self) -> Self {
            Self(array::from_fn(|at| self.0[at] | other.0[at]))
        }

        pub(crate) fn and(self, other: Self) -> Self {
            Self(array::from_fn(|at| self.0[at] & other.0[at]))
        }

        fn each(self, holds: impl Fn(u8) -> bool) -> Self {
            Self(self.0.map(|lane| if holds(lane) { 0xFF } else { 0 }))
        }
    }
}

pub(crate) use lanes::Lanes;

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
                    assert_eq!(find(&bytes, from, |here, _| here.is(b'"')), Some(at));
                }
                assert_eq!(find(&bytes, at + 1, |here, _| here.is(b'"')), None);
            }
        }
    }

    #[test]
    fn pairs_are_found_across_the_borders_of_the_lanes() {
        for at in 0..69 {
            let mut bytes = vec![b'a'; 70];
            bytes[at..at + 2].fill(b' ');
            let found = find(&bytes, 0, |here, after| here.is(b' ').and(after.is(b' ')));
            assert_eq!(found, Some(at));
        }
    }

    #[test]
    fn ranges_include_both_ends_and_nothing_else() {
        for byte in 0..=255 {
            let found = find(&[byte], 0, |here, _| here.in_range(0xE1, 3)).is_some();
            assert_eq!(found, (0xE1..=0xE3).contains(&byte), "{byte}");
        }
    }
}
