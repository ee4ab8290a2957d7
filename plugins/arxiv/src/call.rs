//! The tool `query` from end to end: arguments → requests → page → checked links.

use carrel_pdk::args::Part;
use carrel_pdk::{Code, Error, Host, Level, Response, discard};

use crate::arguments::QueryArguments;
use crate::entry::Page;
use crate::query::{self, Plan};
use crate::{ids, merge, source};

/// Times an empty page in the middle of the results is asked for again.
const EMPTY_PAGE_RETRIES: u32 = 2;

/// Runs the tool.
///
/// # Errors
///
/// What keeps the call from a page: arguments, arXiv's own report, or what went wrong on the way. A
/// source link that could not be checked is a notice, not an error.
pub fn query(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let arguments = QueryArguments::parse(arguments)?;
    let (plan, ids) = query::plan(&arguments)?;
    match plan {
        Plan::One(request) => {
            let steps = 1 + u64::from(arguments.verify_source_url);
            host.progress(0, steps, "asking arXiv");
            let mut response = host.fetch(request.clone())?;
            let mut again = 0;
            let page = loop {
                let page = merge::page(&response)?;
                // With ids an empty page says nothing: those that do not exist are just not there.
                let Some((start, total)) = gap(&page).filter(|_| ids.is_empty()) else {
                    break page;
                };
                let problem = format!("an empty page at {start} of {total} results");
                if again == EMPTY_PAGE_RETRIES {
                    let message = format!("arXiv answered with {problem}");
                    return Err(Error::new(Code::UpstreamInvalid, message));
                }
                again += 1;
                host.log(Level::Warn, &format!("{problem}, asking again"));
                response = host.fetch(request.clone().refreshed())?;
            };
            let complete = arguments.start == 0
                && page.total_results.is_some_and(|total| total <= page.entries.len() as u64);
            let notices = match complete || ids.is_empty() || arguments.search_query.is_some() {
                true => id_notices(&arguments, &ids, &page),
                false => absent(&arguments, &ids, &page, host),
            };
            finish(page, notices, &arguments, steps, host)
        }
        Plan::Groups(requests) => {
            let groups = requests.len() as u64;
            let steps = groups + u64::from(arguments.verify_source_url);
            host.progress(0, steps, &format!("asking arXiv in {groups} requests"));
            let responses: Vec<Response> =
                host.fetch_all(requests).into_iter().collect::<Result<_, _>>()?;
            let mut pages = Vec::with_capacity(responses.len());
            let mut notices = Vec::new();
            for response in &responses {
                pages.push(merge::page(response)?);
            }
            if arguments.search_query.is_none() {
                let all = Page {
                    entries: pages.iter().flat_map(|page| page.entries.iter().cloned()).collect(),
                    ..Page::default()
                };
                notices = id_notices(&arguments, &ids, &all);
            }
            finish(merge::whole(pages, &arguments), notices, &arguments, steps, host)
        }
    }
}

/// Where the page should begin and how many results there are, when it is empty and should not be.
/// arXiv is known for that fault, and asking again usually cures it; it is never passed on as "no
/// results".
pub(crate) fn gap(page: &Page<'_>) -> Option<(u64, u64)> {
    let (start, total) = (page.start_index.unwrap_or(0), page.total_results?);
    (page.entries.is_empty() && start < total).then_some((start, total))
}

/// What to say about ids that were asked for and not, or not fully, answered. Only when every id was
/// asked for and nothing but ids was.
fn id_notices(arguments: &QueryArguments, ids: &[String], page: &Page<'_>) -> Vec<String> {
    let mut notices = Vec::new();
    if ids.is_empty() || arguments.search_query.is_some() {
        return notices;
    }
    let found: Vec<&str> = page.entries.iter().filter_map(|entry| entry.id.as_deref()).collect();
    let missing = ids::missing(ids, &found);
    if !missing.is_empty() {
        notices.push(format!("arXiv has no entry for {}", ids::named(&missing)));
    }
    let hollow: Vec<&str> = page
        .entries
        .iter()
        .filter(|entry| entry.title.is_none() && entry.summary.is_none())
        .filter_map(|entry| entry.id.as_deref())
        .collect();
    if !hollow.is_empty() {
        notices.push(format!(
            "arXiv returned no metadata for {}; there may be no such version",
            ids::named(&hollow)
        ));
    }
    notices
}

/// What to say about ids that were asked for, when the page holds only a part of the answer. arXiv
/// counts what it has; when that is less than was asked for, one request for all of them, without
/// paging, tells which are absent.
fn absent(
    arguments: &QueryArguments,
    ids: &[String],
    page: &Page<'_>,
    host: &dyn Host,
) -> Vec<String> {
    if page.total_results.is_none_or(|total| total >= ids.len() as u64) {
        return Vec::new();
    }
    let request = query::of_ids(ids);
    let all = host.fetch(request.clone()).map_err(Error::from);
    let named = all.and_then(|response| {
        let page = merge::page(&response).inspect_err(|_| discard(host, &request))?;
        Ok(id_notices(arguments, ids, &page))
    });
    named.unwrap_or_else(|error| {
        let absent = ids.len() as u64 - page.total_results.unwrap_or_default();
        vec![format!(
            "arXiv has no entry for {absent} of the ids; which, is not known: {}",
            error.message
        )]
    })
}

fn finish(
    mut page: Page<'_>,
    notices: Vec<String>,
    arguments: &QueryArguments,
    steps: u64,
    host: &dyn Host,
) -> Result<String, Error> {
    page.notices = notices;
    omit(&mut page, &arguments.omit);
    // The number of results in this page, whatever its size could have been.
    page.items_per_page = Some(page.entries.len() as u64);
    let next = page.start_index.unwrap_or(u64::from(arguments.start)) + page.entries.len() as u64;
    if !page.entries.is_empty() && page.total_results.is_some_and(|total| next < total) {
        page.next_start = Some(next);
    }
    if arguments.verify_source_url {
        let count = page.entries.len();
        host.progress(steps - 1, steps, &format!("checking {count} source links"));
        page.notices.extend(source::verify(&mut page.entries, host));
    }
    host.progress(steps, steps, "done");
    Ok(page.to_json(page.entries.len() * 2048))
}

/// Takes out the parts that the caller does without.
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
