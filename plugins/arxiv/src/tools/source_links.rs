//! Checks which entries have a source bundle: one HEAD for each, all in one batch, at the host's
//! pace.

use carrel_pdk::id::ArxivId;
use carrel_pdk::{Failure, FailureKind, Host, Request};

use crate::formats::entry::Entry;
use crate::tools::ids;

/// Denial reasons that get their own notice.
const MOST_REASONS: usize = 8;
/// The reason that comes with a time to wait.
const NO_TIME: &str = "arXiv's pace leaves no time";

/// Sets `source_url` on every entry whose bundle arXiv confirms. Returns a notice for each reason
/// for which some could not be checked; those entries have no `source_url`, although a bundle may
/// exist.
pub fn verify(entries: &mut [Entry<'_>], host: &dyn Host) -> Vec<String> {
    let mut indices = Vec::new();
    let mut requests = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        // An invalid id could lead to any address.
        if let Some(Ok(id)) = entry.id.as_deref().map(ArxivId::parse) {
            indices.push(index);
            requests.push(Request::head(id.source_url()));
        }
    }
    if requests.is_empty() {
        return Vec::new();
    }
    let urls: Vec<String> = requests.iter().map(|request| request.url.clone()).collect();
    let total = urls.len();
    let outcomes = host.fetch_all(requests);
    // Reasons in the order of their first occurrence, each with the entries that could not be
    // checked.
    let mut unchecked: Vec<(String, Vec<String>)> = Vec::new();
    let (mut others, mut wait) = (Vec::new(), 0.0_f64);
    for ((index, url), outcome) in indices.into_iter().zip(urls).zip(outcomes) {
        let reason = match outcome {
            Ok(response) if response.is_success() => {
                entries[index].source_url = Some(url);
                continue;
            }
            // Only these are answers about the bundle.
            Ok(response) if matches!(response.status, 404 | 410) => continue,
            Ok(response) => format!("arXiv answered with status {}", response.status),
            Err(failure) => {
                if let FailureKind::RateLimited { seconds } = failure.kind {
                    wait = wait.max(seconds.ceil());
                }
                why(failure)
            }
        };
        let id = entries[index].id.as_deref().unwrap_or_default().to_owned();
        let known = unchecked.iter().position(|(known, _)| *known == reason);
        match known {
            Some(at) => unchecked[at].1.push(id),
            None if unchecked.len() < MOST_REASONS => unchecked.push((reason, vec![id])),
            None => others.push(id),
        }
    }
    if !others.is_empty() {
        unchecked.push(("other reasons".to_owned(), others));
    }
    let notice = |(reason, ids): (String, Vec<String>)| {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let after =
            if reason == NO_TIME { format!("; ask again in {wait} s") } else { String::new() };
        format!(
            "source_url was not checked for {} of {total} entries: {reason}{after} ({})",
            ids.len(),
            ids::named(&ids)
        )
    };
    unchecked.into_iter().map(notice).collect()
}

/// Why a bundle could not be checked.
fn why(failure: Failure) -> String {
    match failure.kind {
        // The host's message names the redirect's target and the grant that would allow it.
        FailureKind::Denied { .. } => failure.message,
        FailureKind::Timeout { .. } => "the call's time was up".to_owned(),
        FailureKind::RateLimited { .. } => NO_TIME.to_owned(),
        FailureKind::TooLarge { .. } | FailureKind::Undecodable => {
            "arXiv's answer could not be read".to_owned()
        }
        FailureKind::Unreachable { status: 0 } => "the connection failed or was dropped".to_owned(),
        FailureKind::Unreachable { status } => format!("arXiv answered with status {status}"),
    }
}
