//! Every fixture natively; `tests/plugins/test_golden.py` runs the same ones through the component.

use carrel_page::Page;
use carrel_pdk::Plugin;
use carrel_pdk::testing::fixtures::check_listed;

mod support;

use support::fixtures;

#[test]
fn every_fixture_gives_what_is_expected() {
    let cases = fixtures();
    assert!(cases.len() >= 25, "only {} fixtures found", cases.len());
    for one in cases {
        one.case.check(Page::parse_bytes(&one.format, &one.document, &one.options));
    }
}

#[test]
fn every_fixture_keeps_what_holds_for_all_documents() {
    for one in fixtures() {
        support::check(&one.format, &one.document);
    }
}

#[test]
fn every_fixture_is_listed_with_its_reason() {
    let cases: Vec<_> = fixtures().into_iter().map(|one| one.case).collect();
    check_listed(support::LIST, &cases);
}
