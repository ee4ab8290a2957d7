//! Any text parses to results, a report or an invalid document. Checks the invariants of the result:
//! plain texts without hidden characters, web addresses, each once. See `carrel_websearch::testing`.

#![no_main]

use carrel_brave::Brave;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|document: &str| carrel_websearch::testing::check::<Brave>(document));
