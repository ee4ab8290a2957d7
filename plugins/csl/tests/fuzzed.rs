//! Processes damaged requests, and styles that would cost too much.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use std::time::{Duration, Instant};

use carrel_csl::Csl;
use carrel_pdk::Plugin;
use serde_json::json;

mod support;

use support::fixtures;

/// Fragments of requests that are hard to process.
const PIECES: &[&str] = &[
    "null",
    "[]",
    "{}",
    "\"\"",
    "-1",
    "1e308",
    "true",
    "\"id\":",
    "\"author\":[{\"family\":",
    "‘",
    "“",
    "”",
    "<i>",
    "</i>",
    "<span class=\\\"nocase\\\">",
    "\\\"",
    "'",
    "\\u0000",
    "–",
    "-",
    "&",
    ", ",
    "{:DOI:x}",
    "<text macro=\\\"author\\\"/>",
    "<group>",
    "</group>",
    "<names variable=\\\"author\\\"/>",
    "<substitute>",
    "et-al-min=\\\"0\\\"",
    "et-al-use-first=\\\"99999999999\\\"",
    "٣",
    "ǅ",
    "ß",
    "İ",
    "毛",
    "\\ud83d\\ude00",
    "9999999999999999999",
    "date-parts",
    "\\n",
    "quotes=\\\"true\\\"",
];

#[test]
fn two_thousand_damaged_requests_give_a_result_or_an_error() {
    fixtures().check_damaged(2000, PIECES, |_, document| support::check(document));
}

#[test]
fn every_prefix_of_a_title_is_processed() {
    let title =
        "“A ‘b’” \"c 'd' e\" <i>f <b>g</b></i>: <span class=\"nocase\">h</span>?! l'été, '90s";
    let style =
        style("<text variable=\"title\" quotes=\"true\" text-case=\"title\" suffix=\".\"/>");
    let ends = title.char_indices().map(|(at, _)| at);
    let items: Vec<_> = ends
        .map(
            |end| json!({"id": end, "type": "book", "title": &title[..end], "page": &title[..end]}),
        )
        .collect();
    support::check(&json!({"style": style, "items": items, "format": "html"}).to_string());
}

#[test]
fn nesting_of_values_is_bounded() {
    let style = style("<text variable=\"title\" text-case=\"title\"/>");
    for (open, close) in [("<i>", "</i>"), ("\"a ", " b\""), ("“", "”"), ("<sup>", ""), ("'", "'")]
    {
        let title = open.repeat(3000) + "word" + &close.repeat(3000);
        let items = json!([{"id": "x", "type": "book", "title": title}]);
        support::check(&json!({"style": style, "items": items}).to_string());
    }
}

#[test]
fn macros_that_multiply_end_in_time() {
    let mut macros = String::new();
    for level in 0..60 {
        let call = format!("<text macro=\"m{}\"/>", level + 1).repeat(3);
        macros.push_str(&format!("<macro name=\"m{level}\">{call}</macro>"));
    }
    macros.push_str("<macro name=\"m60\"><text value=\"x\"/></macro>");
    let style = style("<text macro=\"m0\"/>").replace("<citation", &format!("{macros}<citation"));
    let items = json!([{"id": "x", "type": "book", "title": "t"}]);
    let start = Instant::now();
    support::check(&json!({"style": style, "items": items}).to_string());
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn the_time_grows_with_the_number_of_items() {
    let style = "<style xmlns=\"http://purl.org/net/xbiblio/csl\" version=\"1.0\"><citation \
        disambiguate-add-names=\"true\" disambiguate-add-givenname=\"true\" et-al-min=\"3\" \
        et-al-use-first=\"1\" disambiguate-add-year-suffix=\"true\"><layout><names variable=\"author\">\
        <name form=\"short\" initialize-with=\".\"/></names><date variable=\"issued\" form=\"text\"/>\
        </layout></citation><bibliography><sort><key variable=\"author\"/></sort><layout>\
        <names variable=\"author\"/><text variable=\"title\"/></layout></bibliography></style>";
    let time = |count: usize| {
        let name =
            |n: usize| json!({"family": format!("Family{}", n % 40), "given": format!("G{n}")});
        let items: Vec<_> = (0..count)
            .map(|n| {
                json!({"id": n, "type": "book", "title": format!("T{n}"),
                "author": [name(n), name(n * 7 + 1), name(n * 3 + 2), name(n + 9)]})
            })
            .collect();
        let request = json!({"style": style, "items": items}).to_string();
        let start = Instant::now();
        Csl::parse("process", &request).unwrap();
        start.elapsed()
    };
    // The least of up to nine: other programs use the processors too.
    let (mut small, mut large) = (Duration::MAX, Duration::MAX);
    let linear = (0..9).any(|_| {
        small = small.min(time(200));
        large = large.min(time(1600));
        // Eight times the items: a quadratic processor would take 64 times as long.
        large < small * 30 + Duration::from_millis(400)
    });
    assert!(linear, "{small:?}, {large:?}");
}

fn style(bibliography: &str) -> String {
    format!(
        "<style xmlns=\"http://purl.org/net/xbiblio/csl\" version=\"1.0\"><citation><layout>\
         <text variable=\"title\"/></layout></citation><bibliography><layout>{bibliography}</layout>\
         </bibliography></style>"
    )
}
