//! Parses every fixture natively; `tests/plugins/test_golden.py` parses the same ones with the
//! component.

use carrel_duckduckgo::DuckDuckGo;
use carrel_pdk::Plugin;

mod support;

use support::fixtures;

#[test]
fn every_fixture_gives_what_is_expected() {
    fixtures().check_outcomes(4, DuckDuckGo::parse);
}

#[test]
fn every_fixture_keeps_what_holds_for_all_documents() {
    for (_, document) in fixtures().documents() {
        support::check(&document);
    }
}

#[test]
fn every_fixture_is_listed_with_its_reason() {
    fixtures().check_listed();
}
