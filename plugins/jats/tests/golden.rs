//! Every fixture natively; `tests/plugins/test_golden.py` runs the same ones through the component.

use carrel_jats::Jats;
use carrel_pdk::Plugin;
use carrel_pdk::testing::fixtures::check_listed;

mod support;

use support::{fixtures, format_of};

#[test]
fn every_fixture_gives_what_is_expected() {
    let cases = fixtures();
    assert!(cases.len() >= 25, "only {} fixtures found", cases.len());
    for case in cases {
        case.check(Jats::parse(&format_of(&case), &case.document()));
    }
}

#[test]
fn every_fixture_keeps_what_holds_for_all_documents() {
    for case in fixtures() {
        support::check(&format_of(&case), &case.document());
    }
}

#[test]
fn every_fixture_is_listed_with_its_reason() {
    check_listed(support::LIST, &fixtures());
}
