//! Searches → requests. Pure.

use carrel_pdk::{Header, Request, percent};
use carrel_websearch::operators::{Operators, compose};
use carrel_websearch::{Accepts, Filter, Search};

/// What Brave takes.
pub const ACCEPTS: Accepts = Accepts {
    query: 400,
    count: 20,
    // A query has at most 400 characters and 50 words.
    sites: 10,
    filters: &[
        Filter::TimeRange,
        Filter::Safe,
        Filter::Language,
        Filter::Country,
        Filter::ExactTerms,
        Filter::ExcludeTerms,
        Filter::Next,
    ],
};

/// The last page.
const PAGES: u32 = 9;
/// The countries that the API knows; it refuses requests with others.
const COUNTRIES: &[&str] = &[
    "AR", "AT", "AU", "BE", "BR", "CA", "CH", "CL", "CN", "DE", "DK", "ES", "FI", "FR", "GB", "GR",
    "HK", "ID", "IN", "IT", "JP", "KR", "MX", "MY", "NL", "NO", "NZ", "PH", "PL", "PT", "RU", "SA",
    "SE", "TR", "TW", "US", "ZA",
];
/// The languages that the API knows under their usual codes.
const LANGUAGES: &[&str] = &[
    "ar", "bn", "bg", "ca", "hr", "cs", "da", "de", "en", "es", "et", "eu", "fi", "fr", "gl", "gu",
    "he", "hi", "hu", "is", "it", "kn", "ko", "lt", "lv", "ml", "mr", "ms", "nl", "pa", "pl", "ro",
    "ru", "sk", "sl", "sr", "sv", "ta", "te", "th", "tr", "uk", "vi",
];
/// Those that it calls differently.
const RENAMED: &[(&str, &str)] =
    &[("ja", "jp"), ("zh", "zh-hans"), ("pt", "pt-pt"), ("no", "nb"), ("nb", "nb")];

/// The request, and the filters that it leaves out.
pub fn search(search: &Search) -> (Request, Vec<&'static str>) {
    let mut unapplied = Vec::new();
    let query = percent::query(&compose(search, Operators::ALL));
    let mut url = format!(
        "https://api.search.brave.com/res/v1/web/search?q={query}&count={}&result_filter=web&text_decorations=false",
        search.count.min(ACCEPTS.count)
    );
    let mut add = |name: &str, value: &str| {
        url.push_str(&format!("&{name}={value}"));
    };
    if let Some(range) = search.time_range {
        add("freshness", range.of(["pd", "pw", "pm", "py"]));
    }
    if let Some(safe) = search.safe {
        add("safesearch", safe.of(["off", "moderate", "strict"]));
    }
    if let Some(country) = search.country.as_deref() {
        if COUNTRIES.contains(&country) {
            add("country", country);
        } else {
            unapplied.push("country");
        }
    }
    if let Some(language) = search.language.as_deref() {
        let renamed = RENAMED.iter().find(|(usual, _)| *usual == language);
        match renamed.map(|(_, own)| *own).or(LANGUAGES.contains(&language).then_some(language)) {
            Some(own) => add("search_lang", own),
            None => unapplied.push("language"),
        }
    }
    if let Some(page) = search.page(PAGES) {
        add("offset", &page.to_string());
    }
    let mut request = Request::get(url);
    request.headers =
        vec![Header { name: "accept".to_owned(), value: "application/json".to_owned() }];
    (request, unapplied)
}
