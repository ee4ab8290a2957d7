//! The formats `citations` and `references`: a document in, a result out. Pure.

use carrel_pdk::Error;
use carrel_pdk::json::{Object, Writer, document};
use carrel_pdk::record::fields::text;
use carrel_pdk::record::{Text, Work};
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::document::{self as answers, Document, Entry};
use crate::formats::item::Item;
use crate::formats::next::Next;
use crate::record;

/// The direction of a list of links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The citing papers.
    Citing,
    /// The cited papers.
    Cited,
}

impl Side {
    fn expected(self) -> &'static str {
        match self {
            Self::Citing => "citations of Semantic Scholar",
            Self::Cited => "references of Semantic Scholar",
        }
    }

    /// The paper of an entry on this side.
    fn paper<'d>(self, entry: &mut Entry<'d>) -> Option<Box<Item<'d>>> {
        match self {
            Self::Citing => entry.citing.take(),
            Self::Cited => entry.cited.take(),
        }
    }
}

/// A page of links.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Links<'d> {
    /// The papers, each with what is known of the citation.
    pub works: Vec<Link<'d>>,
    /// What asks for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Next<'d>>,
}

/// A paper, and how it is cited or cites.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Link<'d> {
    /// The paper.
    #[serde(flatten)]
    pub work: Work<'d>,
    /// Sentences around the citation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contexts: Vec<Text<'d>>,
    /// Such as background, methodology, result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intents: Vec<Text<'d>>,
    /// Whether the citing paper builds on the cited one, as the source judges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub influential: Option<bool>,
}

impl Link<'_> {
    fn write(&self, object: &mut Object<'_>) {
        self.work.write(object);
        object.some_strings("contexts", &self.contexts);
        object.some_strings("intents", &self.intents);
        if let Some(influential) = self.influential {
            object.boolean("influential", influential);
        }
    }
}

impl Links<'_> {
    /// The page as JSON text; `hint` is its approximate size in bytes.
    pub fn to_json(&self, hint: usize) -> String {
        let mut json = Writer::with_capacity(hint);
        let mut page = json.object();
        page.objects("works", &self.works, |link, object| link.write(object));
        if let Some(next) = &self.next {
            next.write(&mut page);
        }
        page.end();
        json.finish()
    }
}

/// The links in a document. Entries without a paper are left out.
///
/// # Errors
///
/// `invalid_document` for text that is not JSON or is a list of something else; the API's error
/// report, as for papers.
pub fn links(side: Side, text: &str) -> Result<Links<'_>, Error> {
    let listing = match answers::read(side.expected(), text)? {
        Document::Listing(listing) => listing,
        Document::Paper(_) => {
            return Err(document::unexpected(side.expected(), "one paper", text));
        }
    };
    let mut page = Links { next: listing.next.0, ..Links::default() };
    for mut entry in listing.entries.into_iter().filter_map(|entry| entry.0) {
        let Some(item) = side.paper(&mut entry) else {
            if !entry.is_link || entry.citing.is_some() || entry.cited.is_some() {
                let found = if entry.is_link || entry.item.is_paper() {
                    "a list of other papers"
                } else {
                    "a list of others"
                };
                return Err(document::unexpected(side.expected(), found, text));
            }
            continue;
        };
        if !item.is_paper() {
            continue;
        }
        page.works.push(Link {
            work: record::work(*item),
            contexts: entry.contexts.0.into_iter().filter_map(self::text).collect(),
            intents: entry.intents.0.into_iter().filter_map(self::text).collect(),
            influential: entry.influential.0,
        });
    }
    Ok(page)
}
