//! The formats `record` and `search`: a document in, a result out. Pure.

use carrel_pdk::Error;
use carrel_pdk::json::{Object, Writer, document};
use carrel_pdk::record::{OpenCopy, Text, Work};
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::document::{self as answers, Document};
use crate::record;

/// A work and its open copies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Record<'d> {
    /// The work.
    pub work: Work<'d>,
    /// Whether it is free to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_oa: Option<bool>,
    /// Such as gold, green or closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oa_status: Option<Text<'d>>,
    /// Copies that anyone may read, the best first.
    pub open_copies: Vec<OpenCopy<'d>>,
}

/// The records of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Records<'d> {
    /// The records, the best match first.
    pub records: Vec<Record<'d>>,
}

impl<'d> From<Work<'d>> for Record<'d> {
    fn from(work: Work<'d>) -> Self {
        Self {
            is_oa: work.is_oa,
            oa_status: work.oa_status.clone(),
            open_copies: work.open_copies.clone(),
            work,
        }
    }
}

impl Record<'_> {
    /// The result as JSON text; `hint` is its approximate size in bytes.
    pub fn to_json(&self, hint: usize) -> String {
        let mut json = Writer::with_capacity(hint);
        let mut object = json.object();
        self.write(&mut object);
        object.end();
        json.finish()
    }

    fn write(&self, object: &mut Object<'_>) {
        let mut work = object.object("work");
        self.work.write(&mut work);
        work.end();
        if let Some(is_oa) = self.is_oa {
            object.boolean("is_oa", is_oa);
        }
        object.optional("oa_status", self.oa_status.as_deref());
        object.objects("open_copies", &self.open_copies, |copy, item| {
            item.string("url", &copy.url);
            item.string("kind", &copy.kind);
            item.optional("host_type", copy.host_type.as_deref());
            item.optional("version", copy.version.as_deref());
            item.optional("license", copy.license.as_deref());
            item.optional("landing_url", copy.landing_url.as_deref());
        });
    }
}

impl Records<'_> {
    /// The result as JSON text; `hint` is its approximate size in bytes.
    pub fn to_json(&self, hint: usize) -> String {
        let mut json = Writer::with_capacity(hint);
        let mut object = json.object();
        object.objects("records", &self.records, |record, item| record.write(item));
        object.end();
        json.finish()
    }
}

/// The record in a document.
///
/// # Errors
///
/// As [`search`]; `invalid_document` for the results of a search.
pub fn record(text: &str) -> Result<Record<'_>, Error> {
    match answers::read(text)? {
        Document::Record(item) => Ok(record::work(*item).into()),
        Document::Records(items) => {
            let found = format!("a list of {}, which the format search reads", items.len());
            Err(document::unexpected("one record", &found, text))
        }
    }
}

/// The records in a document; one record is a list of one.
///
/// # Errors
///
/// `invalid_document` for text that is not JSON or has no records; the API's error report:
/// `not_found`, `rate_limited`, `upstream_unavailable`, else `upstream_error`.
pub fn search(text: &str) -> Result<Records<'_>, Error> {
    let items = match answers::read(text)? {
        Document::Record(item) => vec![*item],
        Document::Records(items) => items,
    };
    Ok(Records { records: items.into_iter().map(|item| record::work(item).into()).collect() })
}
