//! Small blocks of memory: a freed one waits in the list of its size for the next of that size.
//!
//! A parser makes tens of thousands of short texts and lists, and frees them at the end of a call,
//! after which its memory is thrown away whole. Looking for the best hole and merging it with its
//! neighbours, as an allocator for long lives does, was 6 % of parsing Crossref's answers.
//! What is taken for a size stays with that size, so this is for small blocks alone.

use std::alloc::Layout;
use std::ptr::null_mut;

/// Sizes are rounded up to so many bytes, which is also how blocks are aligned.
const STEP: usize = 8;
/// The largest block, in bytes.
const LARGEST: usize = 512;
/// Blocks are cut from pieces of so many bytes; with its own mark in front, dlmalloc makes one of
/// half a page of WebAssembly.
const SLAB: usize = 32 * 1024 - 16;

/// A block that nobody uses.
struct Free {
    next: *mut Free,
}

/// Blocks by their size. One thread at a time uses it.
pub(crate) struct Blocks {
    /// By size in steps; the first is never used.
    free: [*mut Free; LARGEST / STEP + 1],
    /// What is left of the last slab.
    rest: *mut u8,
    rest_size: usize,
}

impl Blocks {
    pub(crate) const fn new() -> Self {
        Self { free: [null_mut(); LARGEST / STEP + 1], rest: null_mut(), rest_size: 0 }
    }

    /// Whether such a block is one of these.
    #[inline]
    pub(crate) const fn takes(layout: Layout) -> bool {
        layout.size() <= LARGEST && layout.align() <= STEP
    }

    /// Whether a block that was taken for one size is one for another, too.
    #[inline]
    pub(crate) const fn alike(size: usize, other: usize) -> bool {
        size.div_ceil(STEP) == other.div_ceil(STEP)
    }

    /// A block, or null when there is no more memory.
    ///
    /// # Safety
    ///
    /// `size` is one to [`LARGEST`]. `more` returns null or memory of the layout it is given, which
    /// is nobody else's from then on.
    #[inline]
    pub(crate) unsafe fn take(
        &mut self,
        size: usize,
        more: impl FnOnce(Layout) -> *mut u8,
    ) -> *mut u8 {
        let steps = size.div_ceil(STEP);
        // SAFETY: no size is above the largest; what is in the list was given back, so it is as large
        // as a `Free` at least, and `give` wrote one there.
        unsafe {
            let first = self.free.get_unchecked_mut(steps);
            let block = *first;
            if !block.is_null() {
                *first = (*block).next;
                return block.cast();
            }
        }
        let bytes = steps * STEP;
        if self.rest_size < bytes {
            self.refill(more);
            if self.rest_size < bytes {
                return null_mut();
            }
        }
        let block = self.rest;
        // SAFETY: so many bytes are left.
        self.rest = unsafe { block.add(bytes) };
        self.rest_size -= bytes;
        block
    }

    /// Takes a block back.
    ///
    /// # Safety
    ///
    /// It came from `take` for a size that is `alike`, and nobody uses it any more.
    #[inline]
    pub(crate) unsafe fn give(&mut self, block: *mut u8, size: usize) {
        let block: *mut Free = block.cast();
        // SAFETY: as in `take`; a block is aligned for a pointer, and as large at least.
        unsafe {
            let first = self.free.get_unchecked_mut(size.div_ceil(STEP));
            block.write(Free { next: *first });
            *first = block;
        }
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self, more: impl FnOnce(Layout) -> *mut u8) {
        let Ok(slab) = Layout::from_size_align(SLAB, STEP) else { return };
        let memory = more(slab);
        if !memory.is_null() {
            self.rest = memory;
            self.rest_size = SLAB;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::{GlobalAlloc, System};

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn size(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, 1).unwrap()
    }

    #[test]
    fn small_ones_alone() {
        assert!(Blocks::takes(size(1)) && Blocks::takes(size(LARGEST)));
        assert!(!Blocks::takes(size(LARGEST + 1)));
        assert!(!Blocks::takes(Layout::from_size_align(16, 16).unwrap()));
        assert!(Blocks::alike(17, 24) && !Blocks::alike(24, 25));
    }

    #[test]
    fn the_one_given_back_last_is_the_next() {
        let mut blocks = Blocks::new();
        // SAFETY: the sizes are small, and every block is given back once.
        unsafe {
            let more = |slab| System.alloc(slab);
            let (one, other) = (blocks.take(20, more), blocks.take(24, more));
            blocks.give(one, 20);
            blocks.give(other, 24);
            assert_eq!(blocks.take(17, more), other);
            assert_ne!(blocks.take(16, more), one);
            assert_eq!(blocks.take(24, more), one);
        }
    }

    #[test]
    fn no_more_memory_is_null_and_nothing_is_lost() {
        let mut blocks = Blocks::new();
        // SAFETY: as above.
        unsafe {
            assert!(blocks.take(8, |_| null_mut()).is_null());
            let block = blocks.take(8, |slab| System.alloc(slab));
            blocks.give(block, 8);
            assert_eq!(blocks.take(8, |_| null_mut()), block);
        }
    }

    proptest! {
        /// Blocks in use keep what was written to them, whatever else is taken and given back.
        #[test]
        fn nobody_writes_into_a_block_in_use(
            steps in vec((1..=LARGEST, any::<prop::sample::Index>(), any::<bool>()), 1..2000)
        ) {
            let mut blocks = Blocks::new();
            let mut used: Vec<(*mut u8, usize, u8)> = Vec::new();
            for (number, (size, which, giving)) in steps.into_iter().enumerate() {
                // SAFETY: sizes are within bounds; what is given back leaves `used`.
                unsafe {
                    if giving && !used.is_empty() {
                        let (block, size, mark) = used.swap_remove(which.index(used.len()));
                        let bytes = std::slice::from_raw_parts(block, size);
                        prop_assert!(bytes.iter().all(|byte| *byte == mark));
                        blocks.give(block, size);
                    } else {
                        let block = blocks.take(size, |slab| System.alloc(slab));
                        prop_assert!(block.cast::<u64>().is_aligned());
                        let mark = (number % 251) as u8;
                        block.write_bytes(mark, size);
                        used.push((block, size, mark));
                    }
                }
            }
            for (block, size, mark) in used {
                // SAFETY: it is in use.
                let bytes = unsafe { std::slice::from_raw_parts(block, size) };
                prop_assert!(bytes.iter().all(|byte| *byte == mark));
            }
        }
    }
}
