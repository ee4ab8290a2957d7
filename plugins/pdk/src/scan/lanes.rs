//! A vector of sixteen bytes: vector instructions in WebAssembly, plain loops natively.

use super::WIDTH;

pub(crate) use here::Lanes;
pub(super) use here::{LANE, Mask};

#[cfg(all(target_family = "wasm", target_feature = "simd128"))]
mod here {
    use core::arch::wasm32::{
        i8x16_swizzle, u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, u8x16_sub, u64x2, v128,
        v128_and, v128_not, v128_or,
    };

    /// A bit mask of the marked lanes, the first lane lowest.
    pub(crate) type Mask = u32;
    /// Bits of a mask that stand for one lane.
    pub(in crate::scan) const LANE: usize = 1;

    /// Sixteen bytes, or for each of them all bits set or none.
    #[derive(Clone, Copy)]
    pub(crate) struct Lanes(v128);

    impl Lanes {
        #[inline(always)]
        pub(in crate::scan) fn load(bytes: [u8; super::WIDTH]) -> Self {
            let all = u128::from_le_bytes(bytes);
            Self(u64x2(all as u64, (all >> 64) as u64))
        }

        #[inline(always)]
        pub(in crate::scan) fn of([low, high]: [u64; 2]) -> Self {
            Self(u64x2(low, high))
        }

        #[inline(always)]
        pub(in crate::scan) fn mask(self) -> Mask {
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
        pub(in crate::scan) fn and(self, other: Self) -> Self {
            Self(v128_and(self.0, other.0))
        }

        #[inline(always)]
        pub(crate) fn not(self) -> Self {
            Self(v128_not(self.0))
        }
    }
}

#[cfg(not(all(target_family = "wasm", target_feature = "simd128")))]
mod here {
    use std::array;

    /// A bit mask of the marked lanes, the first lane lowest.
    pub(crate) type Mask = u128;
    /// Bits of a mask that stand for one lane.
    pub(in crate::scan) const LANE: usize = 8;

    /// Sixteen bytes, or for each of them all bits set or none.
    #[derive(Clone, Copy)]
    pub(crate) struct Lanes([u8; super::WIDTH]);

    impl Lanes {
        #[inline(always)]
        pub(in crate::scan) fn load(bytes: [u8; super::WIDTH]) -> Self {
            Self(bytes)
        }

        #[inline(always)]
        pub(in crate::scan) fn of([low, high]: [u64; 2]) -> Self {
            Self((u128::from(low) | u128::from(high) << 64).to_le_bytes())
        }

        #[inline(always)]
        pub(in crate::scan) fn mask(self) -> Mask {
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
        pub(in crate::scan) fn and(self, other: Self) -> Self {
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

/// All bits set at the positions of the bits in `which`.
#[inline(always)]
fn table(which: u16) -> [u8; WIDTH] {
    std::array::from_fn(|at| if which >> at & 1 == 1 { 0xFF } else { 0 })
}
