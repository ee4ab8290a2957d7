//! Reads files and prints a JSON object per line: the file, the milliseconds, the document.
//!
//! `cargo run --release -p carrel-page --example read -- html page.html …`; with `PAGE_OPTIONS` options of
//! the format.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for developers")]

use carrel_page::Page;
use carrel_pdk::Plugin;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let options = std::env::var("PAGE_OPTIONS").unwrap_or_else(|_| "{}".to_owned());
    let format = arguments.next().unwrap_or_default();
    for file in arguments {
        let bytes = std::fs::read(&file).unwrap();
        let start = std::time::Instant::now();
        let (name, json) = match Page::parse_bytes(&format, &bytes, &options) {
            Ok(json) => ("document", json),
            Err(error) => ("error", error.to_json()),
        };
        let took = start.elapsed().as_secs_f64() * 1000.0;
        println!("{{\"file\":{file:?},\"ms\":{took:.3},\"{name}\":{json}}}");
    }
}
