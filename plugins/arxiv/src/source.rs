//! Which entries have a source bundle: one HEAD for each, all at once, at the host's pace.

use carrel_pdk::id::ArxivId;
use carrel_pdk::{FailureKind, Host, Request};

use crate::entry::Entry;

/// Gives every entry whose bundle arXiv confirms its `source_url`. Returns a notice when some could
/// not be asked about: those are left without, which says nothing about them.
pub fn verify(entries: &mut [Entry<'_>], host: &dyn Host) -> Option<String> {
    let mut places = Vec::new();
    let mut requests = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        // An id that is none would make an address of its own choosing.
        if let Some(Ok(id)) = entry.id.as_deref().map(ArxivId::parse) {
            places.push(place);
            requests.push(Request::head(id.source_url()));
        }
    }
    if requests.is_empty() {
        return None;
    }
    let urls: Vec<String> = requests.iter().map(|request| request.url.clone()).collect();
    let asked = urls.len();
    let outcomes = host.fetch_all(requests);
    let mut unchecked = 0;
    let mut reason = None;
    for ((place, url), outcome) in places.into_iter().zip(urls).zip(outcomes) {
        match outcome {
            Ok(response) if response.is_success() => entries[place].source_url = Some(url),
            // Busy or broken is not an answer about the bundle; 404 and its like are.
            Ok(response) if response.status == 429 || response.status >= 500 => {
                unchecked += 1;
                reason.get_or_insert_with(|| format!("arXiv answered with {}", response.status));
            }
            Ok(_) => {}
            Err(failure) => {
                unchecked += 1;
                reason.get_or_insert_with(|| why(&failure.kind));
            }
        }
    }
    reason.map(|reason| {
        format!("source_url was not checked for {unchecked} of {asked} entries: {reason}")
    })
}

fn why(kind: &FailureKind) -> String {
    match kind {
        FailureKind::Denied { .. } => "requests to arxiv.org are not granted".to_owned(),
        FailureKind::Timeout { .. } => "the call's time was up".to_owned(),
        FailureKind::RateLimited { seconds } => {
            format!("arXiv's pace leaves no time; ask again in {} s", seconds.ceil().max(0.0))
        }
        FailureKind::TooLarge { .. } | FailureKind::Undecodable => {
            "arXiv's answer could not be read".to_owned()
        }
        FailureKind::Unreachable { .. } => "arXiv could not be reached".to_owned(),
    }
}
