//! The formats: a document in, links out. Pure.

use carrel_pdk::Error;
use carrel_pdk::json::{Object, Writer};
use carrel_pdk::record::fields::{date, plain};
use schemars::JsonSchema;
use serde::Serialize;

use super::answer::{self, Row};
use super::ids::Ids;

/// Links between works.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Links {
    /// The links.
    pub links: Vec<Link>,
}

/// One citation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Link {
    /// The citing work: a DOI, else another identifier with its kind in front, such as pmid:31857888.
    pub citing: String,
    /// The cited work, likewise.
    pub cited: String,
    /// When the citing work appeared: YYYY, YYYY-MM or YYYY-MM-DD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// All identifiers of the citing work, when it has more than a DOI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citing_ids: Option<Ids>,
    /// All identifiers of the cited work, when it has more than a DOI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cited_ids: Option<Ids>,
    /// Open Citation Identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oci: Option<String>,
    /// Time between both publications, as a duration of ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timespan: Option<String>,
    /// Whether both works share an author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author_self_citation: Option<bool>,
    /// Whether both works are of one journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal_self_citation: Option<bool>,
}

/// The links of a document. A row whose works have no known identifier is left out.
///
/// # Errors
///
/// `invalid_document` for text that is not JSON or has no citations; else the API's error report.
pub fn links(document: &str) -> Result<Links, Error> {
    Ok(Links { links: answer::read(document)?.into_iter().filter_map(link).collect() })
}

fn link(row: Row<'_>) -> Option<Link> {
    let ids =
        |text: &Option<std::borrow::Cow<'_, str>>| Ids::read(text.as_deref().unwrap_or_default());
    let (citing, cited) = (ids(&row.citing.0), ids(&row.cited.0));
    let own = |text: Option<std::borrow::Cow<'_, str>>| Some(plain(text?)?.into_owned());
    let flag = |text: Option<std::borrow::Cow<'_, str>>| match text?
        .trim()
        .to_ascii_lowercase()
        .as_str()
    {
        "yes" | "true" => Some(true),
        "no" | "false" => Some(false),
        _ => None,
    };
    Some(Link {
        citing: citing.name()?,
        cited: cited.name()?,
        date: row.creation.0.as_deref().and_then(date).map(std::borrow::Cow::into_owned),
        citing_ids: citing.has_others().then_some(citing),
        cited_ids: cited.has_others().then_some(cited),
        oci: own(row.oci.0),
        timespan: own(row.timespan.0),
        author_self_citation: flag(row.author_self_citation.0),
        journal_self_citation: flag(row.journal_self_citation.0),
    })
}

impl Links {
    /// The result as JSON text; `hint` is its approximate size in bytes.
    pub fn to_json(&self, hint: usize) -> String {
        let mut json = Writer::with_capacity(hint);
        let mut object = json.object();
        object.objects("links", &self.links, |link, object| link.write(object));
        object.end();
        json.finish()
    }
}

impl Link {
    fn write(&self, object: &mut Object<'_>) {
        object.string("citing", &self.citing);
        object.string("cited", &self.cited);
        object.optional("date", self.date.as_deref());
        for (key, ids) in [("citing_ids", &self.citing_ids), ("cited_ids", &self.cited_ids)] {
            if let Some(ids) = ids {
                let mut member = object.object(key);
                member.optional("doi", ids.doi.as_deref());
                member.optional("pmid", ids.pmid.as_deref());
                member.optional("pmcid", ids.pmcid.as_deref());
                member.optional("openalex", ids.openalex.as_deref());
                member.optional("omid", ids.omid.as_deref());
                member.end();
            }
        }
        object.optional("oci", self.oci.as_deref());
        object.optional("timespan", self.timespan.as_deref());
        if let Some(flag) = self.author_self_citation {
            object.boolean("author_self_citation", flag);
        }
        if let Some(flag) = self.journal_self_citation {
            object.boolean("journal_self_citation", flag);
        }
    }
}
