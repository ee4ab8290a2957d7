//! Answers of the API → results, or its report. Pure but for [`search`].
//!
//! ```text
//! answer   {"type": "search", "query": {"more_results_available"}, "web": {"results": [RESULT…]}}   no "web" when nothing matches
//! RESULT   {"title", "url", "description", "extra_snippets": [TEXT…], "page_age": TIME, "age": TEXT, "profile": {"name"}}
//! failure  {"type": "ErrorResponse", "error": {"status", "code", "detail", "meta": {"errors": [{"msg"}]}}}
//! limit    … "meta": {"rate_limit", "rate_current", "quota_limit", "quota_current"}
//! ```

use carrel_pdk::json::document;
use carrel_pdk::json::lenient::{Count, Flag, List, Members, Object, Text, object, read_object};
use carrel_pdk::{Error, Host};
use carrel_websearch::answer::{self, present};
use carrel_websearch::{Raw, Results, Search, Service, Trouble, Words, day};

use serde::de::MapAccess;

use crate::request;

/// The provider.
pub const SERVICE: Service = Service {
    name: "Brave Search",
    key: Some("CARREL_SECRET_BRAVE_API_KEY"),
    account: "https://brave.com/search/api/",
};

object! {
    /// An answer.
    Answer {
        "type" => kind: Text<'d>,
        "query" => query: Members<'d, Flag>,
        "web" => web: Web<'d>,
        "error" => error: Report<'d>,
    }
}

object! {
    /// The results of one kind.
    Web {
        "results" => results: List<Item<'d>>,
    }
}

object! {
    /// A result.
    Item {
        "title" => title: Text<'d>,
        "url" => url: Text<'d>,
        "description" => description: Text<'d>,
        "extra_snippets" => extra: Text<'d>,
        "page_age" => page_age: Text<'d>,
        "age" => age: Text<'d>,
        "profile" => profile: Profile<'d>,
    }
}

object! {
    /// A site.
    Profile {
        "name" => name: Text<'d>,
    }
}

object! {
    /// A report.
    Report {
        "status" => status: Count,
        "code" => code: Text<'d>,
        "detail" => detail: Text<'d>,
        "meta" => meta: Meta,
    }
}

/// What a report is about.
#[derive(Debug, Default, Clone)]
pub(crate) struct Meta {
    errors: Words,
    quota: Option<u64>,
    used: Option<u64>,
}

impl<'de> Object<'de> for Meta {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "errors" => self.errors = map.next_value()?,
            "quota_limit" => self.quota = map.next_value::<Count>()?.0,
            "quota_current" => self.used = map.next_value::<Count>()?.0,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'de> serde::Deserialize<'de> for Meta {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_object(deserializer)
    }
}

impl Meta {
    /// Whether the requests of the plan's period are used up.
    fn is_used_up(&self) -> bool {
        matches!((self.quota, self.used), (Some(quota @ 1..), Some(used)) if used >= quota)
    }
}

/// Searches.
///
/// # Errors
///
/// The failure, if there is no response; the report of the API; `upstream_invalid` for an answer that
/// cannot be read.
pub fn search(search: &Search, host: &dyn Host) -> Result<Results, Error> {
    let (request, unapplied) = request::search(search);
    let response = host.fetch(request).map_err(|failure| SERVICE.failure(failure))?;
    let page = search.page(9).unwrap_or(0);
    let (mut found, has_more) = answer::read(&SERVICE, &response, read)?;
    found.unapplied = unapplied;
    found.next = (has_more && page < 9).then(|| (page + 1).to_string());
    Ok(found)
}

/// The results in a document.
///
/// # Errors
///
/// `invalid_document` for other texts; the report of the API.
pub fn results(text: &str) -> Result<Results, Error> {
    Ok(read(text)?.0)
}

/// The results, and whether there are more.
fn read(text: &str) -> Result<(Results, bool), Error> {
    let expected = "an answer of Brave Search";
    let answer: Answer<'_> = document::read(SERVICE.name, expected, text)?;
    let kind = answer.kind.0.as_deref().unwrap_or_default();
    let code = answer.error.code.0.as_deref().unwrap_or_default();
    let detail = answer.error.detail.0.as_deref().unwrap_or_default();
    if kind == "ErrorResponse" || !code.is_empty() || !detail.is_empty() {
        let meta = &answer.error.meta;
        if meta.is_used_up() {
            return Err(SERVICE.error(Trouble::Quota, detail));
        }
        let fault = meta.errors.0.trim();
        let words = if fault.is_empty() { detail.to_owned() } else { format!("{detail}: {fault}") };
        return Err(SERVICE.report(answer.error.status.0, code, &words));
    }
    if kind != "search" && answer.web.results.0.is_empty() {
        return Err(document::unexpected(expected, "an object of another type", text));
    }
    let mut found = Results::default();
    for item in &answer.web.results.0 {
        found.push(Raw {
            title: item.title.0.as_deref(),
            url: item.url.0.as_deref(),
            snippet: present(&item.description).or(present(&item.extra)),
            published: present(&item.page_age)
                .filter(|text| day(text).is_some())
                .or(present(&item.age)),
            source: item.profile.name.0.as_deref(),
        });
    }
    let flag = answer.query.0.iter().find(|(key, _)| key == "more_results_available");
    Ok((found, flag.is_some_and(|(_, value)| value.0 == Some(true))))
}
