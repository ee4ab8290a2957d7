//! Any text parses to an answer of any other utility, an error report or an invalid document. The
//! first byte chooses the utility. See `plugins/eutils/tests/support`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../plugins/eutils/tests/support/mod.rs"]
mod support;

fuzz_target!(|input: (u8, &str)| {
    let (number, document) = input;
    let format = support::FORMATS[usize::from(number) % support::FORMATS.len()];
    support::check(format, document);
});
