//! The arguments of the tool `query`.

use carrel_pdk::args::Part;
use carrel_pdk::{Code, Error, args};
use schemars::JsonSchema;
use serde::Deserialize;

/// Results one call may ask for, which is what one page of arXiv's API may hold.
pub const MAX_RESULTS: u32 = 2000;

/// What to ask arXiv for. At least one of search_query and id_list is needed; with both, the result
/// is the articles of id_list that also match search_query.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "every client pays for a description; some names say enough")]
pub struct QueryArguments {
    /// arXiv's syntax, not URL-encoded: all:electron, ti:"quantum criticality" AND au:del_maestro,
    /// cat:cs.DL ANDNOT abs:survey, submittedDate:[202401010000 TO 202402010000].
    #[serde(default)]
    #[schemars(with = "String")]
    pub search_query: Option<String>,
    /// Comma-separated arXiv ids or addresses, at most 2000: 2301.00001,hep-ex/0307015v1.
    #[serde(default)]
    #[schemars(with = "String")]
    pub id_list: Option<String>,
    /// Results to skip.
    #[serde(default, deserialize_with = "args::whole_number")]
    pub start: u32,
    /// Results to return at most.
    #[serde(default = "ten", deserialize_with = "args::whole_number")]
    #[schemars(range(min = 1, max = 2000))]
    pub max_results: u32,
    /// Relevance when absent.
    #[serde(default, rename = "sortBy")]
    #[schemars(with = "SortBy")]
    pub sort_by: Option<SortBy>,
    /// Descending when absent.
    #[serde(default, rename = "sortOrder")]
    #[schemars(with = "SortOrder")]
    pub sort_order: Option<SortOrder>,
    /// Check that each entry's source bundle exists; set false for many results.
    #[serde(default = "yes")]
    pub verify_source_url: bool,
    // Parts to leave out. This is no doc comment: in the schema, the name and its values suffice.
    #[serde(default)]
    pub omit: Vec<Part>,
}

/// What results are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[allow(missing_docs, reason = "arXiv's words; described one by one they would make no plain enum")]
pub enum SortBy {
    Relevance,
    LastUpdatedDate,
    SubmittedDate,
}

/// Which way results are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[allow(missing_docs, reason = "arXiv's words; described one by one they would make no plain enum")]
pub enum SortOrder {
    Ascending,
    Descending,
}

impl SortBy {
    /// arXiv's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Relevance => "relevance",
            Self::LastUpdatedDate => "lastUpdatedDate",
            Self::SubmittedDate => "submittedDate",
        }
    }
}

impl SortOrder {
    /// arXiv's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ascending => "ascending",
            Self::Descending => "descending",
        }
    }
}

impl QueryArguments {
    /// Makes arguments for ids alone.
    pub(crate) fn for_ids() -> Self {
        Self {
            search_query: None,
            id_list: None,
            start: 0,
            max_results: MAX_RESULTS,
            sort_by: None,
            sort_order: None,
            verify_source_url: false,
            omit: Vec::new(),
        }
    }

    /// Reads and checks the arguments. Blank texts count as absent.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` when they do not fit their schema, or have neither query nor ids.
    pub fn parse(json: &str) -> Result<Self, Error> {
        let mut arguments: Self = carrel_pdk::arguments(json)?;
        arguments.search_query = present(arguments.search_query);
        arguments.id_list = present(arguments.id_list);
        if arguments.search_query.is_none() && arguments.id_list.is_none() {
            return Err(invalid("at least one of search_query and id_list is needed"));
        }
        if !(1..=MAX_RESULTS).contains(&arguments.max_results) {
            let found = arguments.max_results;
            return Err(invalid(format!(
                "max_results: expected 1 to {MAX_RESULTS} but found {found}"
            )));
        }
        Ok(arguments)
    }
}

/// An error about the arguments.
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::InvalidArguments, message)
}

fn present(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn ten() -> u32 {
    10
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_source_document() {
        let arguments = QueryArguments::parse(r#"{"search_query": "all:electron"}"#).unwrap();
        assert_eq!(arguments.start, 0);
        assert_eq!(arguments.max_results, 10);
        assert_eq!(arguments.sort_by, None);
        assert!(arguments.verify_source_url);
    }

    #[test]
    fn blank_texts_are_absent() {
        let arguments =
            QueryArguments::parse(r#"{"search_query": " ", "id_list": "2301.00001"}"#).unwrap();
        assert_eq!(arguments.search_query, None);
        let error = QueryArguments::parse(r#"{"search_query": " ", "id_list": ""}"#).unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments);
        assert_eq!(error.message, "at least one of search_query and id_list is needed");
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for json in [
            r#"{"search_query": "x", "max_results": 0}"#,
            r#"{"search_query": "x", "max_results": 2001}"#,
            r#"{"search_query": "x", "max_results": 1.5}"#,
            r#"{"search_query": "x", "start": -1}"#,
            r#"{"search_query": "x", "start": "5"}"#,
            r#"{"search_query": "x", "sortBy": "date"}"#,
            r#"{"search_query": "x", "sort_by": "relevance"}"#,
        ] {
            let error = QueryArguments::parse(json).unwrap_err();
            assert_eq!(error.code, Code::InvalidArguments, "{json}");
        }
    }

    #[test]
    fn a_whole_number_may_be_written_as_a_float() {
        let arguments =
            QueryArguments::parse(r#"{"search_query": "x", "start": 20.0, "max_results": 5.0}"#);
        let arguments = arguments.unwrap();
        assert_eq!((arguments.start, arguments.max_results), (20, 5));
    }
}
