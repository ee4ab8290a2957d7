//! Processes requests, one a line on standard input, and writes a result or an error a line.

#![allow(clippy::print_stdout, reason = "this is a program for the terminal")]

use std::io::BufRead;

use carrel_csl::Csl;
use carrel_pdk::Plugin;

fn main() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        match Csl::parse("process", &line) {
            Ok(result) => println!("{result}"),
            Err(error) => println!("{{\"error\":{}}}", error.to_json()),
        }
    }
}
