//! The arguments of the tools.

use carrel_pdk::args::Part;
use carrel_pdk::id::Doi;
use carrel_pdk::{Code, Error, args};
use schemars::JsonSchema;
use serde::Deserialize;

/// Works of one page.
pub const MOST_ROWS: u32 = 100;
/// The largest `offset`; further results need a cursor.
pub const MOST_OFFSET: u32 = 10_000;
/// Characters of a citation.
pub const LONGEST_CITATION: usize = 2000;

/// What to search for. All given conditions hold at once; without any, all works match.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "every client pays for a description; some names say enough")]
pub struct WorksArguments {
    /// Words anywhere.
    #[serde(default)]
    #[schemars(with = "String")]
    pub query: Option<String>,
    // Words of the title; likewise below, of what each name says.
    #[serde(default)]
    #[schemars(with = "String")]
    pub query_title: Option<String>,
    #[serde(default)]
    #[schemars(with = "String")]
    pub query_author: Option<String>,
    #[serde(default)]
    #[schemars(with = "String")]
    pub query_container_title: Option<String>,
    /// Words of a reference: title, authors, year.
    #[serde(default)]
    #[schemars(with = "String")]
    pub query_bibliographic: Option<String>,
    /// YYYY, YYYY-MM or YYYY-MM-DD.
    #[serde(default)]
    #[schemars(with = "String")]
    pub from_pub_date: Option<String>,
    /// As from_pub_date.
    #[serde(default)]
    #[schemars(with = "String")]
    pub until_pub_date: Option<String>,
    /// Such as journal-article, book-chapter, posted-content, dataset.
    #[serde(default, rename = "type")]
    #[schemars(with = "String")]
    pub kind: Option<String>,
    #[serde(default)]
    #[schemars(with = "String")]
    pub issn: Option<String>,
    #[serde(default)]
    #[schemars(with = "String")]
    pub isbn: Option<String>,
    #[serde(default)]
    #[schemars(with = "String")]
    pub orcid: Option<String>,
    /// DOI of a funder, such as 10.13039/100000001.
    #[serde(default)]
    #[schemars(with = "String")]
    pub funder: Option<String>,
    /// Of DOIs, such as 10.1371.
    #[serde(default)]
    #[schemars(with = "String")]
    pub prefix: Option<String>,
    /// Number of a Crossref member.
    #[serde(default, deserialize_with = "optional_number")]
    #[schemars(with = "u32")]
    pub member: Option<u32>,
    #[serde(default)]
    #[schemars(with = "String")]
    pub license_url: Option<String>,
    /// Such as retraction, correction, expression_of_concern.
    #[serde(default)]
    #[schemars(with = "String")]
    pub update_type: Option<String>,
    /// Notices that update another work only, or none.
    #[serde(default)]
    #[schemars(with = "bool")]
    pub is_update: Option<bool>,
    // True selects works that have it, false works that do not; the same for the next two.
    #[serde(default)]
    #[schemars(with = "bool")]
    pub has_abstract: Option<bool>,
    #[serde(default)]
    #[schemars(with = "bool")]
    pub has_full_text: Option<bool>,
    #[serde(default)]
    #[schemars(with = "bool")]
    pub has_references: Option<bool>,
    /// Relevance when absent.
    #[serde(default)]
    #[schemars(with = "Sort")]
    pub sort: Option<Sort>,
    /// desc when absent.
    #[serde(default)]
    #[schemars(with = "Order")]
    pub order: Option<Order>,
    /// Works of a page.
    #[serde(default = "twenty", deserialize_with = "args::whole_number")]
    #[schemars(range(min = 1, max = 100))]
    pub rows: u32,
    /// Matches to skip.
    #[serde(default, deserialize_with = "args::whole_number")]
    #[schemars(range(min = 0, max = 10_000))]
    pub offset: u32,
    /// `*` for the first of all pages, then the last page's next_cursor.
    #[serde(default)]
    #[schemars(with = "String")]
    pub cursor: Option<String>,
    /// Members to return, such as DOI, title, author, issued; all but reference when absent.
    #[serde(default)]
    pub select: Vec<String>,
    /// Fields to count values of: type-name (the first 10), published:20.
    #[serde(default)]
    pub facets: Vec<String>,
    // Parts to leave out. This is no doc comment: in the schema, the name and its values suffice.
    #[serde(default)]
    pub omit: Vec<Part>,
}

/// What results are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
#[allow(missing_docs, reason = "Crossref's words; described one by one they would make no enum")]
pub enum Sort {
    Relevance,
    Published,
    PublishedPrint,
    PublishedOnline,
    Issued,
    Created,
    Deposited,
    Indexed,
    Updated,
    IsReferencedByCount,
    ReferencesCount,
}

impl Sort {
    /// Crossref's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Relevance => "relevance",
            Self::Published => "published",
            Self::PublishedPrint => "published-print",
            Self::PublishedOnline => "published-online",
            Self::Issued => "issued",
            Self::Created => "created",
            Self::Deposited => "deposited",
            Self::Indexed => "indexed",
            Self::Updated => "updated",
            Self::IsReferencedByCount => "is-referenced-by-count",
            Self::ReferencesCount => "references-count",
        }
    }
}

/// Which way results are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[allow(missing_docs, reason = "Crossref's words; described one by one they would make no enum")]
pub enum Order {
    Asc,
    Desc,
}

impl Order {
    /// Crossref's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asc => "asc",
            Self::Desc => "desc",
        }
    }
}

/// Which work, and how much of it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "every client pays for a description; some names say enough")]
pub struct WorkArguments {
    /// With or without `doi:` or resolver.
    #[schemars(length(min = 1, max = 2048))]
    pub doi: String,
    // Parts to leave out. This is no doc comment: in the schema, the name and its values suffice.
    #[serde(default)]
    pub omit: Vec<Part>,
}

impl WorkArguments {
    /// The DOI and the parts to leave out.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` when the text is no DOI.
    pub fn parse(json: &str) -> Result<(Doi, Vec<Part>), Error> {
        let arguments: Self = carrel_pdk::arguments(json)?;
        Ok((doi(&arguments.doi)?, arguments.omit))
    }
}

/// Which work.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DoiArguments {
    /// With or without `doi:` or resolver.
    #[schemars(length(min = 1, max = 2048))]
    pub doi: String,
}

impl DoiArguments {
    /// The DOI.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` when the text is none.
    pub fn parse(json: &str) -> Result<Doi, Error> {
        let arguments: Self = carrel_pdk::arguments(json)?;
        doi(&arguments.doi)
    }
}

fn doi(text: &str) -> Result<Doi, Error> {
    Doi::parse(text).map_err(|error| invalid(format!("doi: {error}")))
}

/// Which reference.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CitationArguments {
    /// As printed, in any style.
    #[schemars(length(min = 1, max = 2000))]
    pub citation: String,
    /// At most.
    #[serde(default = "five", deserialize_with = "args::whole_number")]
    #[schemars(range(min = 1, max = 20))]
    pub max_candidates: u32,
}

impl CitationArguments {
    /// Reads and checks the arguments.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` when they do not fit their schema.
    pub fn parse(json: &str) -> Result<Self, Error> {
        let mut arguments: Self = carrel_pdk::arguments(json)?;
        arguments.citation = carrel_pdk::text::collapse(&arguments.citation).into_owned();
        let length = arguments.citation.chars().count();
        if !(1..=LONGEST_CITATION).contains(&length) {
            return Err(invalid(format!(
                "citation: expected 1 to {LONGEST_CITATION} characters but found {length}"
            )));
        }
        let most = arguments.max_candidates;
        if !(1..=20).contains(&most) {
            return Err(invalid(format!("max_candidates: expected 1 to 20 but found {most}")));
        }
        Ok(arguments)
    }
}

impl WorksArguments {
    /// Reads the arguments and checks their ranges. Blank texts count as absent.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` when they do not fit their schema or each other.
    pub fn parse(json: &str) -> Result<Self, Error> {
        let mut arguments: Self = carrel_pdk::arguments(json)?;
        for text in [
            &mut arguments.query,
            &mut arguments.query_title,
            &mut arguments.query_author,
            &mut arguments.query_container_title,
            &mut arguments.query_bibliographic,
            &mut arguments.from_pub_date,
            &mut arguments.until_pub_date,
            &mut arguments.kind,
            &mut arguments.issn,
            &mut arguments.isbn,
            &mut arguments.orcid,
            &mut arguments.funder,
            &mut arguments.prefix,
            &mut arguments.license_url,
            &mut arguments.update_type,
            &mut arguments.cursor,
        ] {
            *text = text.take().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        }
        for list in [&mut arguments.select, &mut arguments.facets] {
            list.iter_mut().for_each(|text| *text = text.trim().to_owned());
            list.retain(|text| !text.is_empty());
        }
        let rows = arguments.rows;
        if !(1..=MOST_ROWS).contains(&rows) {
            return Err(invalid(format!("rows: expected 1 to {MOST_ROWS} but found {rows}")));
        }
        let offset = arguments.offset;
        if offset > MOST_OFFSET {
            return Err(invalid(format!(
                "offset: expected 0 to {MOST_OFFSET} but found {offset}; use a cursor"
            )));
        }
        if offset > 0 && arguments.cursor.is_some() {
            return Err(invalid("offset: a cursor already says where to go on; leave it out"));
        }
        Ok(arguments)
    }
}

/// An error about the arguments.
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::InvalidArguments, message)
}

fn optional_number<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u32>, D::Error> {
    args::whole_number(deserializer).map(Some)
}

fn twenty() -> u32 {
    20
}

fn five() -> u32 {
    5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_texts_are_absent() {
        let arguments =
            WorksArguments::parse(r#"{"query": " ", "select": ["", " DOI "], "issn": ""}"#)
                .unwrap();
        assert_eq!((arguments.query, arguments.issn, arguments.rows), (None, None, 20));
        assert_eq!(arguments.select, ["DOI"]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for json in [
            r#"{"rows": 0}"#,
            r#"{"rows": 101}"#,
            r#"{"offset": 10001}"#,
            r#"{"offset": 1, "cursor": "*"}"#,
            r#"{"sort": "size"}"#,
            r#"{"order": "up"}"#,
            r#"{"member": -1}"#,
            r#"{"has_abstract": "yes"}"#,
            r#"{"queri": "x"}"#,
        ] {
            assert_eq!(
                WorksArguments::parse(json).unwrap_err().code,
                Code::InvalidArguments,
                "{json}"
            );
        }
        for json in [
            r#"{"citation": " "}"#.to_owned(),
            r#"{"citation": "x", "max_candidates": 0}"#.to_owned(),
            r#"{"citation": "x", "max_candidates": 21}"#.to_owned(),
            format!(r#"{{"citation": "{}"}}"#, "x".repeat(2001)),
            "{}".to_owned(),
        ] {
            assert_eq!(CitationArguments::parse(&json).unwrap_err().code, Code::InvalidArguments);
        }
        assert_eq!(
            DoiArguments::parse(r#"{"doi": "no"}"#).unwrap_err().code,
            Code::InvalidArguments
        );
    }

    #[test]
    fn words_are_those_of_the_schema() {
        for sort in carrel_pdk::schema::input::<Sort>()["enum"].as_array().unwrap() {
            let read: Sort = serde_json::from_value(sort.clone()).unwrap();
            assert_eq!(read.as_str(), sort);
        }
    }
}
