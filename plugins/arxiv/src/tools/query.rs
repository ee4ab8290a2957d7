//! The tool `query` from end to end: arguments → requests → page → checked links.

use carrel_pdk::args::Part;
use carrel_pdk::{Code, Error, Host, Level, Request, Response, discard};

use crate::formats::entry::{Entry, Page};
use crate::request::{self, Plan};
use crate::response;
use crate::tools::{arguments::QueryArguments, ids, source_links};

/// Retries for an empty page in the middle of the results.
const EMPTY_PAGE_RETRIES: u32 = 2;

/// Runs the tool.
///
/// # Errors
///
/// Invalid arguments, arXiv's error report, or a failed request. A source link that could not be
/// checked is a notice, not an error.
pub fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let arguments = QueryArguments::parse(arguments)?;
    let (plan, ids) = request::plan(&arguments)?;
    match plan {
        Plan::One(request) => {
            let steps = 1 + u64::from(arguments.verify_source_url);
            host.progress(0, steps, "asking arXiv");
            // For ids an empty page is valid: ids that do not exist are only missing.
            let response = if ids.is_empty() { ask(host, request)? } else { host.fetch(request)? };
            let page = response::page(&response)?;
            let absence = if asks_by_id_alone(&arguments) {
                if holds_all(&page, &arguments) {
                    Absence::of(&ids, std::slice::from_ref(&page))
                } else {
                    ask_for_absence(&ids, &page, host)
                }
            } else {
                Absence::default()
            };
            finish(page, absence, &arguments, steps, host)
        }
        Plan::Groups(requests) => {
            let groups = requests.len() as u64;
            let steps = groups + u64::from(arguments.verify_source_url);
            host.progress(0, steps, &format!("asking arXiv in {groups} requests"));
            let responses: Vec<Response> =
                host.fetch_all(requests).into_iter().collect::<Result<_, _>>()?;
            let mut pages = Vec::with_capacity(responses.len());
            for response in &responses {
                pages.push(response::page(response)?);
            }
            let absence = if asks_by_id_alone(&arguments) {
                Absence::of(&ids, &pages)
            } else {
                Absence::default()
            };
            finish(response::whole(pages, &arguments), absence, &arguments, steps, host)
        }
    }
}

/// Requests a page of a search, and retries if it is empty and should not be.
///
/// # Errors
///
/// arXiv's report; `upstream_invalid` when the page stays empty; the host's failure.
pub(crate) fn ask(host: &dyn Host, request: Request) -> Result<Response, Error> {
    let mut response = host.fetch(request.clone())?;
    let mut again = 0;
    loop {
        // A page with an entry is complete: no need to parse it twice.
        if response.is_success() && response.body.contains("<entry") {
            return Ok(response);
        }
        let Some((start, total)) = gap(&response::page(&response)?) else {
            return Ok(response);
        };
        let problem = format!("an empty page at {start} of {total} results");
        if again == EMPTY_PAGE_RETRIES {
            let message = format!("arXiv answered with {problem}");
            return Err(Error::new(Code::UpstreamInvalid, message));
        }
        again += 1;
        host.log(Level::Warn, &format!("{problem}, asking again"));
        response = host.fetch(request.clone().refreshed())?;
    }
}

/// The page's start and the number of results, when it is empty and should not be. This is a known
/// fault of arXiv, and a retry usually succeeds; it is never reported as "no results".
pub(crate) fn gap(page: &Page<'_>) -> Option<(u64, u64)> {
    let (start, total) = (page.start_index.unwrap_or(0), page.total_results?);
    (page.entries.is_empty() && start < total).then_some((start, total))
}

/// Whether every id that the answer leaves out does not exist: with a search, it also leaves out
/// ids that do not match.
fn asks_by_id_alone(arguments: &QueryArguments) -> bool {
    arguments.id_list.is_some() && arguments.search_query.is_none()
}

/// Whether the page is the complete answer.
fn holds_all(page: &Page<'_>, arguments: &QueryArguments) -> bool {
    let here = page.entries.len() as u64;
    arguments.start == 0
        && page.total_results.map_or(here < u64::from(arguments.max_results), |total| total <= here)
}

/// The ids that arXiv does not have, and a notice about them.
#[derive(Default)]
struct Absence {
    /// None when unknown.
    not_found: Option<Vec<String>>,
    notices: Vec<String>,
}

impl Absence {
    /// Compares the ids with the entries of `pages`, which together are the complete answer. A
    /// version for which arXiv returns only links is absent too.
    fn of(ids: &[String], pages: &[Page<'_>]) -> Self {
        let entries: Vec<&Entry<'_>> = pages.iter().flat_map(|page| &page.entries).collect();
        let here = entries.len() as u64;
        let count = |page: &Page<'_>| page.total_results.unwrap_or(page.entries.len() as u64);
        let total = pages.iter().map(count).sum();
        if here < total {
            let reason = format!("it returned {here} of {total} entries");
            return Self::unknown(ids, total, &reason);
        }
        let (hollow, found): (Vec<&Entry<'_>>, Vec<&Entry<'_>>) =
            entries.into_iter().partition(|entry| entry.title.is_none() && entry.summary.is_none());
        let found: Vec<&str> = found.iter().filter_map(|entry| entry.id.as_deref()).collect();
        let hollow: Vec<&str> = hollow.iter().filter_map(|entry| entry.id.as_deref()).collect();
        let notice = (!hollow.is_empty()).then(|| {
            let hollow = ids::named(&hollow);
            format!("arXiv returned no metadata for {hollow}; there may be no such version")
        });
        Self {
            not_found: Some(ids::missing(ids, &found).into_iter().map(str::to_owned).collect()),
            notices: notice.into_iter().collect(),
        }
    }

    /// Notes how many ids are absent when it is unknown which. arXiv has `total` of them.
    fn unknown(ids: &[String], total: u64, reason: &str) -> Self {
        match (ids.len() as u64).saturating_sub(total) {
            0 => Self { not_found: Some(Vec::new()), notices: Vec::new() },
            absent => Self {
                not_found: None,
                notices: vec![format!(
                    "arXiv has no entry for {absent} of the ids; which, is not known: {reason}"
                )],
            },
        }
    }
}

/// Finds the absent ids when the page holds only a part of the answer. When arXiv's total is less
/// than the number of ids, it requests all of them once, without paging.
fn ask_for_absence(ids: &[String], page: &Page<'_>, host: &dyn Host) -> Absence {
    let Some(total) = page.total_results else {
        return Absence::default();
    };
    if total >= ids.len() as u64 {
        return Absence { not_found: Some(Vec::new()), notices: Vec::new() };
    }
    let request = request::of_ids(ids);
    let response = match host.fetch(request.clone()) {
        Ok(response) => response,
        Err(failure) => return Absence::unknown(ids, total, &Error::from(failure).message),
    };
    let absence = match response::page(&response) {
        Ok(all) => Absence::of(ids, &[all]),
        Err(error) => Absence::unknown(ids, total, &error.message),
    };
    if absence.not_found.is_none() {
        discard(host, &request);
    }
    absence
}

fn finish(
    mut page: Page<'_>,
    absence: Absence,
    arguments: &QueryArguments,
    steps: u64,
    host: &dyn Host,
) -> Result<String, Error> {
    page.not_found = absence.not_found;
    page.notices = absence.notices;
    omit(&mut page, &arguments.omit);
    // The number of results in this page, not the page size.
    page.items_per_page = Some(page.entries.len() as u64);
    let next = page.start_index.unwrap_or(u64::from(arguments.start)) + page.entries.len() as u64;
    if !page.entries.is_empty() && page.total_results.is_some_and(|total| next < total) {
        page.next_start = Some(next);
    }
    if arguments.verify_source_url {
        let count = page.entries.len();
        host.progress(steps - 1, steps, &format!("checking {count} source links"));
        page.notices.extend(source_links::verify(&mut page.entries, host));
    }
    host.progress(steps, steps, "done");
    Ok(page.to_json(page.entries.len() * 2048))
}

/// Removes the parts that the caller leaves out.
fn omit(page: &mut Page<'_>, parts: &[Part]) {
    for entry in &mut page.entries {
        if parts.contains(&Part::Abstracts) {
            entry.summary = None;
        }
        if parts.contains(&Part::Affiliations) {
            entry.authors.iter_mut().for_each(|author| author.affiliations.clear());
        }
    }
}
