//! Pages of results → results. Pure but for [`search`].
//!
//! ```text
//! html   <div class="result …"> <a class="result__a" href=LINK>TITLE</a> <span>TIME</span>
//!        <a class="result__snippet">SNIPPET</a>      advertisements have "result--ad"
//! lite   <tr> <a class='result-link' href=LINK>TITLE</a> <td class='result-snippet'>SNIPPET</td>
//!        <span class='timestamp'>TIME</span>         advertisements have "result-sponsored"
//! LINK   //duckduckgo.com/l/?uddg=URL&…, or the URL
//! empty  an element of the class "no-results"
//! wall   elements of classes "anomaly-modal…", a form "challenge-form"; status 202
//! ```

use carrel_pdk::text::{decode_entities, excerpt};
use carrel_pdk::{Error, Host, report};
use carrel_websearch::{Raw, Results, Search, Service, Trouble, address, answer, plain};

use crate::request;
use crate::tags::{Tag, Tags};

/// The provider.
pub const SERVICE: Service =
    Service { name: "DuckDuckGo", key: None, account: "https://duckduckgo.com" };

/// Searches.
///
/// # Errors
///
/// The failure, if there is no response; `upstream_error` for a challenge; `upstream_invalid` for a
/// page that cannot be read.
pub fn search(search: &Search, host: &dyn Host) -> Result<Results, Error> {
    let (request, unapplied) = request::search(search);
    let response = host.fetch(request).map_err(|failure| SERVICE.failure(failure))?;
    if matches!(response.status, 202 | 403) {
        return Err(SERVICE.error(Trouble::Challenge, ""));
    }
    let mut found = answer::read(&SERVICE, &response, results)?;
    found.unapplied = unapplied;
    Ok(found)
}

/// A result that is being read.
#[derive(Debug, Default)]
struct Item {
    title: String,
    url: String,
    snippet: String,
    time: Option<String>,
}

/// The results in a page.
///
/// # Errors
///
/// `upstream_error` for a challenge; `invalid_document` for other texts.
pub fn results(page: &str) -> Result<Results, Error> {
    let mut items: Vec<Item> = Vec::new();
    let mut is_empty = false;
    let mut is_advertisement = false;
    // Whether texts belong to the latest result.
    let mut is_open = false;
    let mut tags = Tags::new(page);
    while let Some(tag) = tags.next() {
        if tag.is_end {
            continue;
        }
        if tag.has_class_prefix("anomaly-modal")
            || tag.attribute("id").as_deref() == Some("challenge-form")
        {
            return Err(SERVICE.error(Trouble::Challenge, ""));
        }
        is_empty |= tag.has_class_prefix("no-results") || tag.has_class("result--no-result");
        match tag.name.as_str() {
            "tr" => is_advertisement = tag.has_class("result-sponsored"),
            "div" if tag.has_class("result") => {
                is_advertisement = tag.has_class("result--ad");
                is_open = false;
            }
            "a" if tag.has_class("result__a") || tag.has_class("result-link") => {
                let title = plain(tags.until_end_of("a"));
                let url = link(&tag);
                is_open = !is_advertisement && url.is_some();
                if let (true, Some(url)) = (is_open, url) {
                    items.push(Item { title, url, ..Item::default() });
                }
            }
            _ if tag.has_class("result__snippet") || tag.has_class("result-snippet") => {
                let snippet = plain(tags.until_end_of(&tag.name));
                if let (true, Some(item)) = (is_open, items.last_mut()) {
                    item.snippet = snippet;
                }
            }
            "span" if is_open => {
                let text = plain(tags.peek_until_end_of("span"));
                let is_time =
                    text.len() >= 10 && text.as_bytes()[..4].iter().all(u8::is_ascii_digit);
                if let (true, Some(item)) = (is_time, items.last_mut()) {
                    item.time.get_or_insert(text);
                }
            }
            _ => {}
        }
    }
    if items.is_empty() && !is_empty && !says_no_results(page) {
        return Err(other_page(page));
    }
    let mut found = Results::default();
    for item in &items {
        found.push(Raw {
            title: Some(&item.title),
            url: Some(&item.url),
            snippet: Some(&item.snippet),
            published: item.time.as_deref(),
            source: None,
        });
    }
    Ok(found)
}

/// The URL of a result; `None` for a link within the site, such as an advertisement's.
fn link(tag: &Tag<'_>) -> Option<String> {
    let href = tag.attribute("href")?;
    let href = href.trim();
    let whole = match href.strip_prefix('/') {
        Some(rest) if !rest.starts_with('/') => format!("https://duckduckgo.com{href}"),
        _ => href.to_owned(),
    };
    let url = address(&whole)?.into_owned();
    // What stays an address of the site was no redirect.
    let host = |url: &str| url.split("//").nth(1)?.split(['/', '?', '#']).next().map(str::to_owned);
    let is_own = |url: &str| host(url).is_some_and(|host| host.ends_with("duckduckgo.com"));
    (!is_own(&url) || whole.contains("uddg=")).then_some(url)
}

/// Whether a page says in words that nothing was found.
fn says_no_results(page: &str) -> bool {
    let is_own = page.contains("duckduckgo") || page.contains("DuckDuckGo");
    is_own
        && ["No results.", "No results found", "No more results"]
            .iter()
            .any(|words| page.contains(words))
}

fn other_page(page: &str) -> Error {
    let start = page.trim_start_matches('\u{feff}').trim_start();
    if let Some(error) = report::page(SERVICE.name, start) {
        return error;
    }
    let found =
        if start.is_empty() { "nothing".to_owned() } else { excerpt(&decode_entities(start)) };
    let offset = (page.len() - start.len()) as u64;
    Error::invalid_document(
        format!("expected a page of results of DuckDuckGo but found {found}"),
        offset,
        "",
    )
}
