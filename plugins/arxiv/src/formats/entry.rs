//! The results: a page and its entries, in arXiv's terms.
//!
//! Everything borrows from the feed where it can. A field that the feed lacks is absent: no empty
//! strings, no nulls.

use std::borrow::Cow;

use carrel_pdk::json::{Object, Writer};
use schemars::JsonSchema;
use serde::Serialize;

/// Results of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Page<'d> {
    /// Matches of the query in all, not just on this page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_results: Option<u64>,
    /// 0-based index of the first returned result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_index: Option<u64>,
    /// Results in one page, as arXiv states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items_per_page: Option<u64>,
    /// The articles.
    pub entries: Vec<Entry<'d>>,
    /// The `start` that continues this page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_start: Option<u64>,
    /// Ids of `id_list` that arXiv does not have, on whichever page they would be. Absent when that is
    /// not known: a search filtered the ids, or their list could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    pub not_found: Option<Vec<String>>,
    /// What a reader of the result should know: versions without metadata, links left unchecked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// One version of one article.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Entry<'d> {
    /// arXiv identifier with its version, such as 2301.00001v1 or hep-ex/0307015v1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Cow<'d, str>>,
    /// Title on one line, TeX as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Cow<'d, str>>,
    /// Abstract on one line, TeX as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Cow<'d, str>>,
    /// When version 1 was submitted, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<Cow<'d, str>>,
    /// When this version was submitted, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<Cow<'d, str>>,
    /// Authors in order; a collaboration is one author.
    pub authors: Vec<Author<'d>>,
    /// Primary subject, such as cs.DL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_category: Option<Cow<'d, str>>,
    /// All subjects: arXiv, ACM and MSC classes.
    pub categories: Vec<Cow<'d, str>>,
    /// The authors' comment: pages, figures, where it appeared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<Cow<'d, str>>,
    /// Where it was published, as the authors wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal_ref: Option<Cow<'d, str>>,
    /// DOIs of the published article and its errata.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dois: Vec<Doi<'d>>,
    /// Abstract page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "uri"))]
    pub abstract_url: Option<Cow<'d, str>>,
    /// PDF.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "uri"))]
    pub pdf_url: Option<Cow<'d, str>>,
    /// Source bundle; present only when arXiv answered that there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "uri"))]
    pub source_url: Option<String>,
}

/// An author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Author<'d> {
    /// The name as arXiv prints it.
    pub name: Cow<'d, str>,
    /// Affiliations, when stated. hep-ex/0406020 has authors with several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub affiliations: Vec<Cow<'d, str>>,
}

/// A DOI and where it resolves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Doi<'d> {
    /// The DOI as given.
    pub doi: Cow<'d, str>,
    /// The entry's own link to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "uri"))]
    pub url: Option<Cow<'d, str>>,
}

impl Page<'_> {
    /// The page as JSON text; `hint` is its approximate size in bytes.
    ///
    /// Written by hand for speed; a test compares it with what the derived `Serialize` writes.
    pub fn to_json(&self, hint: usize) -> String {
        let mut json = Writer::with_capacity(hint);
        let mut page = json.object();
        for (key, value) in [
            ("total_results", self.total_results),
            ("start_index", self.start_index),
            ("items_per_page", self.items_per_page),
        ] {
            if let Some(value) = value {
                page.number(key, value);
            }
        }
        let mut entries = page.array("entries");
        for entry in &self.entries {
            let mut object = entries.object();
            entry.write(&mut object);
            object.end();
        }
        entries.end();
        if let Some(next_start) = self.next_start {
            page.number("next_start", next_start);
        }
        if let Some(not_found) = &self.not_found {
            strings(&mut page, "not_found", not_found);
        }
        if !self.notices.is_empty() {
            strings(&mut page, "notices", &self.notices);
        }
        page.end();
        json.finish()
    }
}

impl Entry<'_> {
    fn write(&self, object: &mut Object<'_>) {
        object.optional("id", self.id.as_deref());
        object.optional("title", self.title.as_deref());
        object.optional("summary", self.summary.as_deref());
        object.optional("published", self.published.as_deref());
        object.optional("updated", self.updated.as_deref());
        let mut authors = object.array("authors");
        for author in &self.authors {
            let mut item = authors.object();
            item.string("name", &author.name);
            if !author.affiliations.is_empty() {
                strings(&mut item, "affiliations", &author.affiliations);
            }
            item.end();
        }
        authors.end();
        object.optional("primary_category", self.primary_category.as_deref());
        strings(object, "categories", &self.categories);
        object.optional("comment", self.comment.as_deref());
        object.optional("journal_ref", self.journal_ref.as_deref());
        if !self.dois.is_empty() {
            let mut dois = object.array("dois");
            for doi in &self.dois {
                let mut item = dois.object();
                item.string("doi", &doi.doi);
                item.optional("url", doi.url.as_deref());
                item.end();
            }
            dois.end();
        }
        object.optional("abstract_url", self.abstract_url.as_deref());
        object.optional("pdf_url", self.pdf_url.as_deref());
        object.optional("source_url", self.source_url.as_deref());
    }
}

fn strings(object: &mut Object<'_>, key: &'static str, values: &[impl AsRef<str>]) {
    let mut array = object.array(key);
    for value in values {
        array.string(value.as_ref());
    }
    array.end();
}
