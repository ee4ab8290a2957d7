//! Options of a call: `{"pages": "3-7"}`.

use std::collections::BTreeSet;

use carrel_pdk::Error;
use carrel_pdk::args::arguments;
use serde::Deserialize;

use crate::open::wrong_option;

/// Options of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    pages: Option<String>,
}

impl Options {
    /// Reads options; the empty text has none.
    pub(crate) fn read(json: &str) -> Result<Self, Error> {
        if json.trim().is_empty() { Ok(Self::default()) } else { arguments(json) }
    }

    /// The selected page numbers of a document with `count` pages.
    pub(crate) fn pages(&self, count: u64) -> Result<BTreeSet<u64>, Error> {
        let Some(ranges) = &self.pages else { return Ok((1..=count).collect()) };
        let wrong = || {
            wrong_option(format!(
                "options: pages {ranges:?} is no range; write pages from 1 such as \"3\", \"3-7\", \"3-\" or \"1,4-6\""
            ))
        };
        let mut selected = BTreeSet::new();
        for range in ranges.split(',') {
            let number = |text: &str, default: u64| match text.trim() {
                "" => Ok(default),
                text => text.parse::<u64>().ok().filter(|number| *number > 0).ok_or_else(wrong),
            };
            let (first, last) = match range.split_once('-') {
                Some((first, last)) if !(first.trim().is_empty() && last.trim().is_empty()) => {
                    (number(first, 1)?, number(last, u64::MAX)?)
                }
                Some(_) => return Err(wrong()),
                None if range.trim().is_empty() => return Err(wrong()),
                None => (number(range, 1)?, number(range, 1)?),
            };
            if first > last {
                return Err(wrong());
            }
            selected.extend(first..=last.min(count));
        }
        if selected.is_empty() {
            return Err(wrong_option(format!(
                "options: pages {ranges:?} are not in the document, which has {count}"
            )));
        }
        Ok(selected)
    }
}
