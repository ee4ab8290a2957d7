//! Searches → requests. Pure.

use carrel_pdk::{Action, Code, Error, Host, Request, percent};
use carrel_websearch::operators::{Operators, compose};
use carrel_websearch::{Accepts, Filter, Safe, Search};

/// What the API takes.
pub const ACCEPTS: Accepts = Accepts {
    query: 500,
    count: 10,
    // A query has at most 32 words.
    sites: 10,
    filters: &[
        Filter::TimeRange,
        Filter::Safe,
        Filter::Language,
        Filter::Country,
        Filter::ExactTerms,
        Filter::ExcludeTerms,
        Filter::Engine,
        Filter::Next,
    ],
};

/// The setting with the search engine's identifier.
const SETTING: &str = "cx";
/// The largest index of a first result.
pub const LAST: u32 = 91;
/// Languages that are not called by their ISO code alone.
const RENAMED: &[(&str, &str)] = &[("zh", "zh-CN"), ("he", "iw"), ("nb", "no")];

/// The search engine to ask: that of the call, else that of the plugin's settings.
///
/// # Errors
///
/// `upstream_error` for the operator if neither names one.
pub fn engine(search: &Search, host: &dyn Host) -> Result<String, Error> {
    if let Some(engine) = &search.engine {
        return Ok(engine.clone());
    }
    let set = host.setting(SETTING).and_then(|json| serde_json::from_str::<String>(&json).ok());
    set.map(|engine| engine.trim().to_owned()).filter(|engine| !engine.is_empty()).ok_or_else(|| {
        Error::new(
            Code::UpstreamError,
            "no search engine is configured; create one at https://programmablesearchengine.google.com and set \
             plugins.google.settings.cx to its identifier",
        )
        .action(Action::AskOperator)
    })
}

/// The request to the search engine `engine`.
pub fn search(search: &Search, engine: &str) -> Request {
    let count = search.count.clamp(1, ACCEPTS.count);
    // Several hosts are operators; a single one is a parameter.
    let single_site = search.sites.len() == 1;
    let words = compose(search, Operators { sites: !single_site, ..Operators::default() });
    let mut url = format!(
        "https://www.googleapis.com/customsearch/v1?cx={}&q={}&num={count}",
        percent::query(engine),
        percent::query(&words)
    );
    let mut add = |name: &str, value: &str| {
        url.push_str(&format!("&{name}={}", percent::query(value)));
    };
    if let (true, Some(site)) = (single_site, search.sites.first()) {
        add("siteSearch", site);
        add("siteSearchFilter", "i");
    }
    if let Some(phrase) = &search.exact_terms {
        add("exactTerms", phrase);
    }
    if let Some(terms) = &search.exclude_terms {
        add("excludeTerms", terms);
    }
    if let Some(range) = search.time_range {
        add("dateRestrict", range.of(["d1", "w1", "m1", "y1"]));
    }
    if let Some(safe) = search.safe {
        add("safe", if safe == Safe::Off { "off" } else { "active" });
    }
    if let Some(language) = search.language.as_deref() {
        let renamed = RENAMED.iter().find(|(usual, _)| *usual == language);
        let language = renamed.map_or(language, |(_, own)| own);
        add("lr", &format!("lang_{language}"));
    }
    if let Some(country) = &search.country {
        add("gl", &country.to_ascii_lowercase());
    }
    if let Some(start) = search.page(LAST) {
        add("start", &start.to_string());
    }
    Request::get(url)
}
