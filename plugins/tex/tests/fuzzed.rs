//! Reads mutated sources, and sources that a fuzzer found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_pdk::testing::damage::{Numbers, damage};

mod support;

const PAPER: &str = include_str!("paper.tex");

/// Fragments of TeX that are hard to parse.
const PIECES: &[&str] = &[
    "\\begin{",
    "\\end{",
    "{",
    "}",
    "$",
    "$$",
    "\\[",
    "\\(",
    "%",
    "&",
    "\\\\",
    "#1",
    "\\def\\a{\\a\\a}\\a",
    "\\newcommand{\\x}[2][y]{#1#2\\x}",
    "\\x",
    "\\iffalse",
    "\\fi",
    "\\else",
    "\\verb|",
    "\\item[",
    "\\cite{a}",
    "\\footnote{",
    "\\begin{tabular}{l}",
    "\\multicolumn{9}{c}{x}",
    "\\multirow{999}{*}{y}",
    "\\caption{",
    "\\begin{thebibliography}{9}\\bibitem{k}",
    "\\end{document}",
    "\\input{main}",
    "\\csname",
    "\\let\\b\\a",
    "\\section{",
    "\\author{",
    "\\and",
    "^^M",
    "\u{e000}",
    "\u{e001}",
    "\u{2028}",
    "\\ifnum1<2",
    "\\\"",
    "\\'",
];

#[test]
fn many_damaged_sources_give_a_document_or_an_error() {
    let mut numbers = Numbers::new(0x5EED_CA99_E112_3457);
    for _ in 0..2000 {
        let mut source = PAPER.to_owned();
        damage(&mut source, PIECES, &mut numbers);
        support::check("tex", source.as_bytes());
    }
}

#[test]
fn every_prefix_of_a_source_is_read() {
    for at in (0..PAPER.len()).filter(|&at| PAPER.is_char_boundary(at)) {
        support::check("tex", &PAPER.as_bytes()[..at]);
    }
}

#[test]
fn nesting_of_any_depth_is_read() {
    for (before, behind) in [
        ("{", "}"),
        ("\\begin{itemize}\\item ", "\\end{itemize}"),
        ("\\begin{quote}", "\\end{quote}"),
        ("\\footnote{", "}"),
        ("\\textsuperscript{", "}"),
        ("\\begin{tabular}{l}", "\\end{tabular}"),
        ("\\begin{figure}\\caption{", "}\\end{figure}"),
        ("\\iftrue ", "\\fi "),
        ("$", "$"),
        ("\\section{", "}"),
        ("\\begin{theorem}", "\\end{theorem}"),
    ] {
        for depth in [10, 50, 1000, 20_000] {
            let source = format!("{}word{}", before.repeat(depth), behind.repeat(depth));
            support::check("tex", source.as_bytes());
        }
    }
}

#[test]
fn macros_that_never_end_are_bounded() {
    for source in [
        "\\def\\a{\\a\\a}\\a",
        "\\def\\a{x\\a}\\a",
        "\\def\\a{\\b\\b}\\def\\b{\\c\\c}\\def\\c{\\a\\a}\\a",
        "\\newcommand{\\a}[1]{\\a{#1#1}}\\a{xxxxxxxx}",
        "\\newenvironment{e}{\\begin{e}}{\\end{e}}\\begin{e}",
        "\\let\\a\\b\\let\\b\\a\\a",
        "\\def\\a#1\\b{\\a#1#1\\b}\\a xx\\b",
        "$\\def\\a{\\a\\a}\\a$",
    ] {
        let read = carrel_tex::read("tex", source.as_bytes()).unwrap();
        assert!(read.to_json(0).len() < 20_000_000, "{source}");
        support::check("tex", source.as_bytes());
    }
}
