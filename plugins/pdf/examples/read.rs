//! Reads PDF files natively: `read FILE… [--json]`; `read --bench FILE…` says how long each took.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a program for developers"
)]

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.iter().any(|argument| argument == "--json");
    let markdown = arguments.iter().any(|argument| argument == "--markdown");
    let into = arguments.iter().find_map(|argument| argument.strip_prefix("--into="));
    let pages =
        arguments.iter().find_map(|argument| argument.strip_prefix("--options=")).unwrap_or("");
    for file in arguments.iter().filter(|argument| !argument.starts_with("--")) {
        let bytes = std::fs::read(file).expect("the file can be read");
        let begin = std::time::Instant::now();
        let text = match carrel_pdf::read(&bytes, pages) {
            Ok(document) if json => document.to_json(bytes.len()),
            Ok(document) if markdown => document.to_markdown(),
            Ok(document) => document.to_text(),
            Err(error) => format!("ERROR {error}"),
        };
        let took = begin.elapsed().as_secs_f64() * 1000.0;
        match into {
            None => println!("{text}"),
            Some(folder) => {
                let name = file.replace('/', "__");
                std::fs::write(format!("{folder}/{name}.txt"), &text)
                    .expect("the folder can be written");
                println!("{took:.1}\t{file}");
            }
        }
    }
}
