//! Any bytes are a LaTeX source, an e-print or an error, and what comes out keeps its promises. See
//! `plugins/tex/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/tex/tests/support/mod.rs"]
mod support;

fuzz_target!(|document: &[u8]| {
    support::check("tex", document);
    support::check("tar", document);
});
