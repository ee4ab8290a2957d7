//! Waits, by WASI's `poll_oneoff`, the only clock that a module without a standard library has.

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn poll_oneoff(subscriptions: *const u8, events: *mut u8, count: u32, ready: *mut u32) -> u32;
}

/// Waits for some milliseconds.
pub fn pause(milliseconds: u64) {
    // One subscription to a timeout of the monotonic clock, and room for its event.
    let mut subscription = [0_u64; 6];
    subscription[2] = 1;
    subscription[3] = milliseconds * 1_000_000;
    let mut event = [0_u64; 4];
    let mut ready = 0_u32;
    // SAFETY: the host reads 48 bytes and writes 32 and 4, which live on this stack frame.
    unsafe {
        poll_oneoff(subscription.as_ptr().cast(), event.as_mut_ptr().cast(), 1, &raw mut ready);
    }
}
