//! The tool `works`: a search in OpenAlex's query language.

use carrel_pdk::args::Part;
use carrel_pdk::json::Writer;
use carrel_pdk::record::{Text, Work};
use carrel_pdk::{Error, Host};
use schemars::JsonSchema;
use serde::Serialize;

use crate::response::Budget;
use crate::tools::arguments::WorksArguments;
use crate::{request, response};

/// A page of works, and what is worth knowing of the budget.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Matches<'d> {
    /// Matches in all, not just on this page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_results: Option<u64>,
    /// What to pass as cursor for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Text<'d>>,
    /// The works, without references.
    pub works: Vec<Work<'d>>,
    /// That the day's budget is nearly spent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl Matches<'_> {
    fn to_json(&self) -> String {
        let mut json = Writer::with_capacity(4096 * self.works.len() + 256);
        let mut page = json.object();
        if let Some(total) = self.total_results {
            page.number("total_results", total);
        }
        page.optional("next_cursor", self.next_cursor.as_deref());
        page.objects("works", &self.works, |work, object| work.write(object));
        page.some_strings("notices", &self.notices);
        page.end();
        json.finish()
    }
}

/// Runs the tool.
///
/// # Errors
///
/// Invalid arguments, OpenAlex's error report, or a failed request.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let arguments = WorksArguments::parse(arguments)?;
    let parameters: Vec<(&str, String)> =
        [("search", arguments.search), ("filter", arguments.filter), ("sort", arguments.sort)]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect();
    host.progress(0, 1, "asking OpenAlex");
    let request = request::list(&parameters, arguments.per_page, arguments.cursor.as_deref());
    let response = response::ask(host, request)?;
    let page = response::page(host, &response)?;
    let mut works = page.works;
    for work in &mut works {
        if arguments.omit.contains(&Part::Abstracts) {
            work.summary = None;
        }
        if arguments.omit.contains(&Part::Affiliations) {
            work.authors.iter_mut().for_each(|agent| agent.affiliations.clear());
        }
    }
    host.progress(1, 1, "done");
    let matches = Matches {
        total_results: page.total_results,
        next_cursor: page.next_cursor.filter(|_| !works.is_empty()),
        works,
        notices: Budget::of(&response).notice().into_iter().collect(),
    };
    Ok(matches.to_json())
}
