//! Reads files and prints one JSON object a line: the file, the milliseconds, the document.

#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a program for developers")]

fn main() {
    let mut arguments = std::env::args().skip(1);
    let format = arguments.next().unwrap();
    for file in arguments {
        let bytes = std::fs::read(&file).unwrap();
        let start = std::time::Instant::now();
        let read = carrel_page::read(&format, &bytes, &carrel_page::Options::default());
        let json = match read {
            Ok(read) => read.to_json(bytes.len()),
            Err(error) => error.to_json(),
        };
        let took = start.elapsed().as_secs_f64() * 1000.0;
        println!("{{\"file\":{file:?},\"ms\":{took:.3},\"document\":{json}}}");
    }
}
