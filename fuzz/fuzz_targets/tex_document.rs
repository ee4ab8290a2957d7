//! Any bytes parse to a LaTeX source, an e-print or an error. Checks the invariants of the result.
//! See `plugins/tex/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/tex/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &[u8]| {
    support::check("tex", document);
    support::check("tar", document);
});
