//! The arguments of the tools.

use carrel_pdk::args::{self, Part};
use carrel_pdk::{Code, Error};
use schemars::JsonSchema;
use serde::Deserialize;

/// Works of one page of the tool.
const MOST_ROWS: u32 = 100;

/// What to search for. Everything that is given holds at once; without any, all works match.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "every client pays for a description; some names say enough")]
pub struct WorksArguments {
    /// Words of title, abstract and full text; AND, OR, NOT and quotes count.
    #[serde(default)]
    #[schemars(with = "String")]
    pub search: Option<String>,
    /// OpenAlex's filters, such as cites:W2741809807,publication_year:2020-2024,type:review.
    #[serde(default)]
    #[schemars(with = "String")]
    pub filter: Option<String>,
    /// Such as cited_by_count:desc; relevance when words are given.
    #[serde(default)]
    #[schemars(with = "String")]
    pub sort: Option<String>,
    #[serde(default = "twenty", deserialize_with = "args::whole_number")]
    #[schemars(range(min = 1, max = 100))]
    pub per_page: u32,
    /// The last page's next_cursor.
    #[serde(default)]
    #[schemars(with = "String")]
    pub cursor: Option<String>,
    // Parts to leave out. This is no doc comment: in the schema, the name and its values suffice.
    #[serde(default)]
    pub omit: Vec<Part>,
}

fn twenty() -> u32 {
    20
}

impl WorksArguments {
    /// Reads the arguments; what is blank is absent.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` when they do not fit.
    pub(crate) fn parse(arguments: &str) -> Result<Self, Error> {
        let mut read: Self = args::arguments(arguments)?;
        for text in [&mut read.search, &mut read.filter, &mut read.sort, &mut read.cursor] {
            *text = text.take().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        }
        if !(1..=MOST_ROWS).contains(&read.per_page) {
            let message = format!("expected per_page from 1 to 100 but found {}", read.per_page);
            return Err(Error::new(Code::InvalidArguments, message));
        }
        Ok(read)
    }
}
