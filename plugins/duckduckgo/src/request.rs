//! Searches → requests. Pure.

use carrel_pdk::{Header, Request, percent};
use carrel_websearch::operators::{Operators, compose};
use carrel_websearch::{Accepts, Filter, Search};

/// What DuckDuckGo takes.
pub const ACCEPTS: Accepts = Accepts {
    query: 490,
    count: 20,
    sites: 4,
    filters: &[
        Filter::TimeRange,
        Filter::Safe,
        Filter::Language,
        Filter::Country,
        Filter::ExactTerms,
        Filter::ExcludeTerms,
    ],
};

/// The regions that the site knows, each a country and a language; the first of a country is its
/// usual one.
const REGIONS: &str = "ar-es at-de au-en be-nl be-fr bg-bg br-pt ca-en ca-fr ch-de ch-fr ch-it cl-es cn-zh co-es \
cz-cs de-de dk-da ee-et es-es fi-fi fr-fr gr-el hk-tzh hr-hr hu-hu id-id ie-en il-he in-en it-it jp-jp kr-kr lt-lt \
lv-lv mx-es my-en nl-nl no-no nz-en pe-es ph-en pk-en pl-pl pt-pt ro-ro ru-ru sa-ar se-sv sg-en sk-sk sl-sl th-th \
tr-tr tw-tzh ua-uk uk-en us-en us-es vn-vi za-en";
/// ISO codes that the site calls differently.
const COUNTRIES: &[(&str, &str)] = &[("gb", "uk"), ("si", "sl")];
const LANGUAGES: &[(&str, &str)] = &[("ja", "jp"), ("ko", "kr"), ("nb", "no")];

/// The request, and the filters that it leaves out.
pub fn search(search: &Search) -> (Request, Vec<&'static str>) {
    let mut unapplied = Vec::new();
    let words = compose(search, Operators::ALL);
    let mut url = format!("https://html.duckduckgo.com/html/?q={}", percent::query(&words));
    let mut add = |name: &str, value: &str| {
        url.push_str(&format!("&{name}={value}"));
    };
    if let Some(range) = search.time_range {
        add("df", range.of(["d", "w", "m", "y"]));
    }
    if let Some(safe) = search.safe {
        add("kp", safe.of(["-2", "-1", "1"]));
    }
    let country = search.country.as_deref().map(|code| own(COUNTRIES, &code.to_ascii_lowercase()));
    let language = search.language.as_deref().map(|code| own(LANGUAGES, code));
    match (country, language) {
        (Some(country), language) => {
            let of_country: Vec<&str> = REGIONS
                .split(' ')
                .filter(|region| region.starts_with(&format!("{country}-")))
                .collect();
            let spoken = language.as_deref().and_then(|language| {
                of_country.iter().find(|region| region.ends_with(&format!("-{language}")))
            });
            match spoken.or(of_country.first()) {
                Some(region) => {
                    add("kl", region);
                    if language.is_some() && spoken.is_none() {
                        unapplied.push("language");
                    }
                }
                None => {
                    unapplied.push("country");
                    unapplied.extend(language.map(|_| "language"));
                }
            }
        }
        // A language alone is no region.
        (None, Some(_)) => unapplied.push("language"),
        (None, None) => {}
    }
    let mut request = Request::get(url);
    request.headers = vec![Header { name: "accept".to_owned(), value: "text/html".to_owned() }];
    (request, unapplied)
}

fn own(names: &[(&str, &str)], code: &str) -> String {
    names.iter().find(|(usual, _)| *usual == code).map_or(code, |(_, own)| own).to_owned()
}
