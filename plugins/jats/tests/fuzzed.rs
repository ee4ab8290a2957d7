//! Parses mutated documents, and documents that a fuzzer found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use carrel_jats::Jats;
use carrel_pdk::Plugin;
use carrel_pdk::testing::damage::check_every_prefix;

mod support;

use support::fixtures;

/// Fragments of articles that are hard to parse.
const PIECES: &[&str] = &[
    "<p>",
    "</p>",
    "<sec><title>",
    "<list><list-item>",
    "<table-wrap><table><tr>",
    "<td rowspan='9' colspan='99'>",
    "<ref-list><ref>",
    "<fn><p>note</p></fn>",
    "<boxed-text>",
    "<mml:math>",
    "<disp-formula><tex-math>$x$</tex-math></disp-formula>",
    "<alternatives>",
    "<sub-article>",
    "<xref ref-type='aff' rid='a'/>",
    "<name><surname>A</surname></name>",
    "<figure><head/>",
    "<listBibl><biblStruct>",
    "<head n='1.2'>",
];

#[test]
fn many_damaged_articles_give_a_document_or_an_error() {
    fixtures().check_damaged(2000, PIECES, support::check);
}

#[test]
fn every_prefix_of_an_article_is_truncated_and_says_where() {
    for (name, format) in [("blocks", "jats"), ("tei_training", "tei")] {
        check_every_prefix(&fixtures().document(name), 0, |document| Jats::parse(format, document));
    }
}

#[test]
fn nesting_of_any_depth_is_read_or_refused() {
    for (before, behind) in [
        ("<sec><title>t</title>", "</sec>"),
        ("<list><list-item><p>x</p>", "</list-item></list>"),
        ("<boxed-text>", "</boxed-text>"),
        ("<p><fn><p>n", "</p></fn></p>"),
        ("<italic>", "</italic>"),
        ("<table-wrap><table><tr><td>", "</td></tr></table></table-wrap>"),
        ("<sub-article><body>", "</body></sub-article>"),
        ("<ref-list>", "</ref-list>"),
        ("<alternatives>", "</alternatives>"),
        ("<alternatives><table/>", "</alternatives>"),
        ("<fig>", "</fig>"),
        ("<fn-group><fn>", "</fn></fn-group>"),
        ("<made-up><p>", "</p></made-up>"),
        ("<inline-formula><alternatives>", "</alternatives></inline-formula>"),
        ("<fig><caption><p>", "</p></caption></fig>"),
    ] {
        for depth in [10, 30, 60, 120, 5000] {
            let inner = before.repeat(depth) + "word" + &behind.repeat(depth);
            let document = format!("<article><body>{inner}</body></article>");
            support::check("jats", &document);
            if let Ok(json) = Jats::parse("jats", &document) {
                assert!(json.contains("word"), "{before} {depth}: {json}");
            }
            support::check("tei", &format!("<TEI><text>{inner}</text></TEI>"));
        }
    }
}
