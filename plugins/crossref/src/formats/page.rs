//! Results of the tools and formats: a work, a page of works.

use carrel_pdk::json::lenient::{Count, Members};
use carrel_pdk::json::{Object, Writer};
use carrel_pdk::record::{Text, Work, fields};
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::document::Listing;
use crate::record;

/// Bytes of JSON that a work makes without its references, for the first allocation.
const TYPICAL_WORK: usize = 2048;

/// One work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct OneWork<'d> {
    /// The work.
    pub work: Work<'d>,
}

/// A page of works.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Page<'d> {
    /// Matches in all, not just on this page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_results: Option<u64>,
    /// Works in one page, as Crossref states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items_per_page: Option<u64>,
    /// What to pass as cursor for the next page; it lives for five minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Text<'d>>,
    /// The works.
    pub works: Vec<Work<'d>>,
    /// Counts of values among all matches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facets: Vec<Facet<'d>>,
}

/// How often the values of a field occur.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Facet<'d> {
    /// The field, such as type-name.
    pub name: Text<'d>,
    /// How many values are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_count: Option<u64>,
    /// The values, most frequent first.
    pub values: Vec<FacetValue<'d>>,
}

/// A value of a field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FacetValue<'d> {
    /// The value.
    pub value: Text<'d>,
    /// Works that have it.
    pub count: u64,
}

impl OneWork<'_> {
    /// The result as JSON text; `hint` is its approximate size in bytes.
    pub fn to_json(&self, hint: usize) -> String {
        let mut json = Writer::with_capacity(hint);
        let mut object = json.object();
        let mut work = object.object("work");
        self.work.write(&mut work);
        work.end();
        object.end();
        json.finish()
    }
}

impl<'d> From<Listing<'d>> for Page<'d> {
    fn from(listing: Listing<'d>) -> Self {
        let items = listing.items.unwrap_or_default().0;
        Self {
            total_results: listing.total_results.0,
            items_per_page: listing.items_per_page.0,
            next_cursor: listing.next_cursor.0.filter(|cursor| !cursor.trim().is_empty()),
            works: items.into_iter().map(record::work).collect(),
            facets: listing.facets.0.into_iter().filter_map(facet).collect(),
        }
    }
}

fn facet<'d>((name, facet): (Text<'d>, crate::formats::document::Facet<'d>)) -> Option<Facet<'d>> {
    let Members(values) = facet.values;
    let value = |(value, Count(count)): (Text<'d>, Count)| {
        Some(FacetValue { value: fields::readable(value)?, count: count? })
    };
    Some(Facet {
        name: fields::readable(name)?,
        value_count: facet.value_count.0,
        values: values.into_iter().filter_map(value).collect(),
    })
}

impl Page<'_> {
    /// The page as JSON text; `hint` is its approximate size in bytes.
    pub fn to_json(&self, hint: usize) -> String {
        let mut json = Writer::with_capacity(hint.max(self.works.len() * TYPICAL_WORK));
        let mut page = json.object();
        for (key, value) in
            [("total_results", self.total_results), ("items_per_page", self.items_per_page)]
        {
            if let Some(value) = value {
                page.number(key, value);
            }
        }
        page.optional("next_cursor", self.next_cursor.as_deref());
        let mut works = page.array("works");
        for work in &self.works {
            let mut object = works.object();
            work.write(&mut object);
            object.end();
        }
        works.end();
        self.write_facets(&mut page);
        page.end();
        json.finish()
    }

    fn write_facets(&self, page: &mut Object<'_>) {
        if self.facets.is_empty() {
            return;
        }
        let mut facets = page.array("facets");
        for facet in &self.facets {
            let mut object = facets.object();
            object.string("name", &facet.name);
            if let Some(count) = facet.value_count {
                object.number("value_count", count);
            }
            let mut values = object.array("values");
            for value in &facet.values {
                let mut item = values.object();
                item.string("value", &value.value);
                item.number("count", value.count);
                item.end();
            }
            values.end();
            object.end();
        }
        facets.end();
    }
}
