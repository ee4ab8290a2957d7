//! Upstream's oddities and other parsers' bugs, one test each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail loudly")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use carrel_arxiv::formats::feed;
use carrel_pdk::Code;

const OPEN: &str =
    r#"<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom">"#;

fn feed_of(entries: &str) -> String {
    format!("{OPEN}{entries}</feed>")
}

/// Seconds that parsing takes, the shortest of three.
fn time(document: &str) -> Duration {
    let run = || {
        let start = Instant::now();
        let _ = feed::parse(document);
        start.elapsed()
    };
    (0..3).map(|_| run()).min().unwrap()
}

/// gr-qc/9910091 has five DOIs; arxiv.py keeps the first.
#[test]
fn no_doi_of_several_is_lost() {
    let dois: String = (1..=5).map(|n| format!("<arxiv:doi>10.5555/{n}</arxiv:doi>")).collect();
    let document = feed_of(&format!("<entry>{dois}</entry>"));
    assert_eq!(feed::parse(&document).unwrap().entries[0].dois.len(), 5);
}

/// theoj's capture of 1401.0001v9: arxiv.py drops entries without dates.
#[test]
fn an_entry_without_dates_is_not_lost() {
    let document = feed_of("<entry><id>http://arxiv.org/abs/1401.0001v9</id></entry>");
    let page = feed::parse(&document).unwrap();
    assert_eq!(page.entries[0].id.as_deref(), Some("1401.0001v9"));
    assert_eq!(page.entries[0].published, None);
}

/// The API manual's error feed has `http`, the present API's has `https`.
#[test]
fn both_addresses_of_the_error_page_are_known() {
    for scheme in ["http", "https"] {
        let id = format!("<id>{scheme}://arxiv.org/api/errors#bad</id><summary>bad</summary>");
        let error = feed::parse(&feed_of(&format!("<entry>{id}</entry>"))).unwrap_err();
        assert_eq!(error.code, Code::UpstreamError);
        assert_eq!(error.message, "arXiv reports: bad (bad)");
    }
}

/// Elements are matched by namespace: a `title` of another namespace is not a title.
#[test]
fn a_strangers_element_of_the_same_name_does_not_count() {
    let entry = r#"<entry><title xmlns="urn:x">no</title><title>yes</title></entry>"#;
    let document = feed_of(entry);
    assert_eq!(feed::parse(&document).unwrap().entries[0].title.as_deref(), Some("yes"));
}

/// `xmlns=""` applies up to the end of its element.
#[test]
fn a_namespace_ends_with_the_element_that_declares_it() {
    let entry = r#"<entry><x xmlns=""><title>no</title></x><title>yes</title></entry>"#;
    let document = feed_of(entry);
    assert_eq!(feed::parse(&document).unwrap().entries[0].title.as_deref(), Some("yes"));
}

/// Found by fuzzing: a space behind the address became part of the identifier.
#[test]
fn an_identifier_has_no_space_in_front() {
    let document = feed_of("<entry><id>http://arxiv.org/abs/ astro-ph/0601001v1</id></entry>");
    let page = feed::parse(&document).unwrap();
    assert_eq!(page.entries[0].id.as_deref(), Some("astro-ph/0601001v1"));
}

/// An id that is only the prefix of all abstract pages names no article and is kept unchanged.
#[test]
fn an_address_without_identifier_is_not_emptied() {
    let document = feed_of("<entry><id>http://arxiv.org/abs/</id></entry>");
    let page = feed::parse(&document).unwrap();
    assert_eq!(page.entries[0].id.as_deref(), Some("http://arxiv.org/abs/"));
}

#[test]
fn thousands_of_links_and_dois_in_one_entry_cost_linear_time() {
    let entry = |count: usize| {
        let mut entry = String::from("<entry>");
        for number in 0..count {
            write!(entry, "<arxiv:doi>10.5555/{number}</arxiv:doi>").unwrap();
            let href = format!("https://doi.org/10.5555/{}", count - number);
            write!(entry, r#"<link title="doi" href="{href}"/>"#).unwrap();
        }
        feed_of(&(entry + "</entry>"))
    };
    let (small, large) = (time(&entry(2_000)), time(&entry(32_000)));
    // Sixteen times the size; a quadratic pairing would take 256 times as long.
    assert!(large < small * 64, "{small:?} against {large:?}");
}

#[test]
fn thousands_of_attributes_are_refused_before_they_are_compared() {
    let attributes: String = (0..50_000).map(|number| format!(" a{number}=''")).collect();
    let document = feed_of(&format!("<entry><link{attributes}/></entry>"));
    let error = feed::parse(&document).unwrap_err();
    assert_eq!(error.message, "more than 64 attributes in one element");
}

#[test]
fn thousands_of_namespaces_are_refused_before_they_are_searched() {
    let mut document = String::from(OPEN);
    for depth in 0..100 {
        write!(document, "<x xmlns:a{depth}='b'>").unwrap();
    }
    let error = feed::parse(&document).unwrap_err();
    assert_eq!(error.message, "too many namespace declarations");
}

#[test]
fn nesting_inside_a_title_is_bounded_too() {
    let (open, close) = ("<sup>".repeat(100_000), "</sup>".repeat(100_000));
    let document = feed_of(&format!("<entry><title>{open}x{close}</title></entry>"));
    let error = feed::parse(&document).unwrap_err();
    assert_eq!(error.message, "elements nested deeper than 128");
}
