//! Every fixture natively; `tests/plugins/test_golden.py` runs the same ones through the component.

use carrel_eutils::Eutils;
use carrel_pdk::Plugin;
use carrel_pdk::testing::fixtures::check_listed;

mod support;

use support::fixtures;

#[test]
fn every_fixture_gives_what_is_expected() {
    let cases = fixtures();
    assert!(cases.len() >= 60, "only {} fixtures found", cases.len());
    for case in cases {
        case.check(Eutils::parse(&case.format().unwrap_or_default(), &case.document()));
    }
}

#[test]
fn every_fixture_keeps_what_holds_for_all_documents_in_every_format() {
    for case in fixtures() {
        for format in support::FORMATS {
            support::check(format, &case.document());
        }
    }
}

#[test]
fn every_fixture_is_listed_with_its_reason() {
    check_listed(support::LIST, &fixtures());
}
