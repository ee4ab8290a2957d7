//! The allocator: Rust's own, which logs a failed allocation.
//!
//! At its memory limit, a guest's allocation fails and the guest aborts; the trap has no reason. A
//! line in the log tells the host to report the limit instead of a bug.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::bindings::carrel::plugin::log;

/// Whether the guest's own code runs. While the host passes values, the guest must not call it.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Sets whether the guest's own code runs.
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
        // The text of Rust's own message on standard error.
        log::write(log::Level::Error, "memory allocation failed");
    }
}

// SAFETY: every call is forwarded unchanged to `System`, whose contract the caller upholds.
// `reported` neither allocates nor touches the memory.
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
