//! The allocator: Rust's own, which says when there is no more memory.
//!
//! A guest that passes its memory limit sees an allocation fail and aborts, and an abort tells the host
//! nothing. One line in the log does: the host then reports the limit instead of a bug.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::bindings::carrel::plugin::log;

/// Whether the guest's own code runs. While the host hands values over it may not be called.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Marks that the guest's own code runs from here on, or that the host takes over.
pub(crate) fn running(now: bool) {
    RUNNING.store(now, Ordering::Relaxed);
}

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

#[inline]
fn reported(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        report();
    }
    memory
}

#[cold]
#[inline(never)]
fn report() {
    if RUNNING.load(Ordering::Relaxed) {
        // The words of Rust's own message where there is a standard error stream.
        log::write(log::Level::Error, "memory allocation failed");
    }
}

// SAFETY: every call is handed to `System` as it is, whose contract the caller upholds. `reported`
// neither allocates nor touches the memory.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        reported(unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        reported(unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        reported(unsafe { System.realloc(memory, layout, size) })
    }
}
