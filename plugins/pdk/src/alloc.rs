//! The allocator: small blocks come from [`Blocks`], the rest from Rust's own. It says when there is
//! no more memory.
//!
//! A guest that passes its memory limit sees an allocation fail and aborts, and an abort tells the host
//! nothing. One line in the log does: the host then reports the limit instead of a bug.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::bindings::carrel::plugin::log;
use crate::blocks::Blocks;

/// Whether the guest's own code runs. While the host hands values over it may not be called.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Marks that the guest's own code runs from here on, or that the host takes over.
pub(crate) fn running(now: bool) {
    RUNNING.store(now, Ordering::Relaxed);
}

struct Allocator(UnsafeCell<Blocks>);

// SAFETY: a guest has one thread.
unsafe impl Sync for Allocator {}

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(UnsafeCell::new(Blocks::new()));

impl Allocator {
    #[allow(clippy::mut_from_ref)]
    fn blocks(&self) -> &mut Blocks {
        // SAFETY: a guest has one thread, and no function of `Blocks` is called within another.
        unsafe { &mut *self.0.get() }
    }
}

/// Memory of Rust's own allocator. Not inlined: it is rare, and large.
#[inline(never)]
fn more(layout: Layout) -> *mut u8 {
    // SAFETY: the size is not zero: it is a slab's, or came with `GlobalAlloc`'s contract.
    reported(unsafe { System.alloc(layout) })
}

fn reported(memory: *mut u8) -> *mut u8 {
    if memory.is_null() && RUNNING.load(Ordering::Relaxed) {
        // The words of Rust's own message where there is a standard error stream.
        log::write(log::Level::Error, "memory allocation failed");
    }
    memory
}

// SAFETY: a layout says alone which of the two a block belongs to, `Blocks` or `System`, and each is
// handed what it gave. `reported` neither allocates nor touches the memory.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !Blocks::takes(layout) {
            return more(layout);
        }
        // SAFETY: the size is not zero by `GlobalAlloc`'s contract, and not too large; what `more`
        // returns is ours.
        unsafe { self.blocks().take(layout.size(), more) }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if Blocks::takes(layout) {
            // SAFETY: it came from `alloc` with this layout, by `GlobalAlloc`'s contract.
            unsafe { self.blocks().give(memory, layout.size()) }
        } else {
            // SAFETY: as above.
            unsafe { System.dealloc(memory, layout) }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !Blocks::takes(layout) {
            // SAFETY: the caller upholds `GlobalAlloc`'s contract, which is `System`'s.
            return reported(unsafe { System.alloc_zeroed(layout) });
        }
        // SAFETY: as for `alloc`; what is there has that many bytes.
        unsafe {
            let memory = self.alloc(layout);
            if !memory.is_null() {
                memory.write_bytes(0, layout.size());
            }
            memory
        }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: by `GlobalAlloc`'s contract it is a layout.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (Blocks::takes(layout), Blocks::takes(wanted)) {
            // SAFETY: it came from `System`, with this layout.
            (false, false) => reported(unsafe { System.realloc(memory, layout, size) }),
            (true, true) if Blocks::alike(layout.size(), size) => memory,
            // SAFETY: both blocks have as many bytes as are copied, and only the new one is in use.
            _ => unsafe {
                let moved = self.alloc(wanted);
                if !moved.is_null() {
                    moved.copy_from_nonoverlapping(memory, layout.size().min(size));
                    self.dealloc(memory, layout);
                }
                moved
            },
        }
    }
}
