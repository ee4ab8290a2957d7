//! The tool `updates`: finds retractions, corrections and expressions of concern about a work.
//!
//! Crossref has them in two places: the work itself (`updated-by`), and the notices that name it
//! (`update-to`), found by the reverse filter. Neither is complete: `updated-by` was introduced
//! later than many notices, and a DOI with commas cannot be written in a filter. So both are
//! requested and merged.

use std::collections::BTreeSet;

use carrel_pdk::id::Doi;
use carrel_pdk::record::{Text, Update, Work};
use carrel_pdk::{Code, Error, Host};
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::works;
use crate::request;
use crate::response::{self, Asked};
use crate::tools::{arguments::DoiArguments, works::explained};

/// What is known about a work's later updates.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Updates<'d> {
    /// The DOI that was asked about.
    pub doi: String,
    /// Title of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text<'d>>,
    /// A retraction, withdrawal or removal is on record.
    pub is_retracted: bool,
    /// A correction, erratum or corrigendum is on record.
    pub is_corrected: bool,
    /// An expression of concern is on record.
    pub is_of_concern: bool,
    /// Every notice on record, oldest first.
    pub updates: Vec<Notice<'d>>,
    /// This work is itself a notice: about what.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notice_of: Vec<Update<'d>>,
    /// What the answer leaves open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// One statement about the work.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Notice<'d> {
    /// Such as retraction, correction, expression_of_concern, new_version.
    #[serde(rename = "type")]
    pub kind: Text<'d>,
    /// DOI of the notice.
    pub notice_doi: Text<'d>,
    /// Title of the notice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice_title: Option<Text<'d>>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<Text<'d>>,
    /// Who says so: publisher or retraction-watch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Text<'d>>,
    /// Where it stands: updated-by in the work, update-to in the notice, which can be the work itself.
    pub found_in: BTreeSet<&'static str>,
}

/// Runs the tool.
///
/// # Errors
///
/// `not_found` when Crossref has neither the work nor a notice about it; the error of either
/// request, since half an answer would look like a work without notices.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let doi = DoiArguments::parse(arguments)?;
    host.progress(0, 1, "asking Crossref");
    let reverse = request::notices(&doi);
    let mut notices = Vec::new();
    if reverse.is_none() {
        notices.push(
            "the DOI has a comma, so Crossref cannot be asked for notices that name it: only what \
             the work itself lists is here"
                .to_owned(),
        );
    }
    let requests = [request::work(&doi)].into_iter().chain(reverse).collect();
    let mut responses = host.fetch_all(requests).into_iter();
    let own = responses.next().ok_or_else(response::unanswered)??;
    let reverse = responses.next().transpose()?;

    let found = match &reverse {
        Some(response) => response::read(response, Asked::ForMatches, works::works)?,
        None => crate::formats::page::Page::default(),
    };
    if found.total_results.is_some_and(|total| total > found.works.len() as u64) {
        notices.push(format!(
            "only the first {} of {} works that name it were read",
            found.works.len(),
            found.total_results.unwrap_or_default()
        ));
    }
    let work = match response::read(&own, Asked::ForWork, works::work) {
        Ok(single) => single.work,
        Err(error) if error.code == Code::NotFound && !found.works.is_empty() => {
            notices.push("Crossref has notices about the work, but not the work itself".to_owned());
            Work::default()
        }
        Err(error) => return Err(explained(error, &doi, host)),
    };
    let updates = Updates::new(&doi, work, found.works, notices);
    host.progress(1, 1, "done");
    // Plain data: serialization cannot fail.
    Ok(serde_json::to_string(&updates).unwrap_or_default())
}

impl<'d> Updates<'d> {
    /// Merges the statements of the work and of the notices.
    fn new(doi: &Doi, work: Work<'d>, notices: Vec<Work<'d>>, open: Vec<String>) -> Self {
        let mut updates = Vec::new();
        for update in work.updated_by {
            let Some(notice_doi) = update.doi.clone() else { continue };
            // A work that names itself is its own notice.
            let found_in = if is_same(&notice_doi, doi) { "update-to" } else { "updated-by" };
            merge(&mut updates, notice_doi, None, update, found_in);
        }
        for notice in notices {
            let Some(notice_doi) = notice.ids.doi else { continue };
            // The reverse filter also finds a work that names itself.
            let about = match is_same(&notice_doi, doi) {
                true => notice.updated_by,
                false => notice.updates,
            };
            for update in about {
                if update.doi.as_deref().is_some_and(|target| is_same(target, doi)) {
                    let title = notice.title.clone();
                    merge(&mut updates, notice_doi.clone(), title, update, "update-to");
                }
            }
        }
        updates.sort_by(|left, right| {
            let key = |notice: &Notice<'d>| {
                (notice.date.is_none(), notice.date.clone(), notice.notice_doi.to_lowercase())
            };
            key(left).cmp(&key(right)).then_with(|| left.kind.cmp(&right.kind))
        });
        let has = |is: fn(&Update<'d>) -> bool| {
            let kind =
                |notice: &Notice<'d>| Update { kind: notice.kind.clone(), ..Update::default() };
            updates.iter().any(|notice| is(&kind(notice)))
        };
        Self {
            doi: doi.to_string(),
            title: work.title,
            is_retracted: has(Update::is_retraction),
            is_corrected: has(Update::is_correction),
            is_of_concern: has(Update::is_concern),
            updates,
            notice_of: work.updates,
            notices: open,
        }
    }
}

/// A kind in its canonical spelling.
fn plain(kind: &str) -> String {
    kind.to_lowercase().replace(['-', ' '], "_")
}

fn is_same(text: &str, doi: &Doi) -> bool {
    text.eq_ignore_ascii_case(doi.as_str())
}

/// Adds the statement of one place. The same statement from the other place fills gaps; a statement
/// of another source is added separately.
fn merge<'d>(
    updates: &mut Vec<Notice<'d>>,
    notice_doi: Text<'d>,
    notice_title: Option<Text<'d>>,
    update: Update<'d>,
    found_in: &'static str,
) {
    let known = updates.iter_mut().find(|known| {
        plain(&known.kind) == plain(&update.kind)
            && known.notice_doi.eq_ignore_ascii_case(&notice_doi)
            && (known.source == update.source || known.source.is_none() || update.source.is_none())
            // Notices of one kind with incompatible dates are different notices.
            && (known.date == update.date || !known.found_in.contains(found_in))
    });
    match known {
        Some(known) => {
            known.found_in.insert(found_in);
            known.source = known.source.take().or(update.source);
            known.notice_title = known.notice_title.take().or(notice_title);
            // The more exact date, and of two equally exact ones the notice's own.
            let length = |date: &Option<Text<'d>>| date.as_ref().map_or(0, |date| date.len());
            if length(&update.date) >= length(&known.date) {
                known.date = update.date;
            }
        }
        None => updates.push(Notice {
            kind: update.kind,
            notice_doi,
            notice_title,
            date: update.date,
            source: update.source,
            found_in: BTreeSet::from([found_in]),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(
        kind: &'static str,
        doi: &'static str,
        date: Option<&'static str>,
        source: Option<&'static str>,
    ) -> Update<'static> {
        Update {
            kind: kind.into(),
            doi: Some(doi.into()),
            pmid: None,
            date: date.map(Text::from),
            source: source.map(Text::from),
        }
    }

    fn notice(doi: &'static str, updates: Vec<Update<'static>>) -> Work<'static> {
        let mut work = Work { title: Some("Notice".into()), updates, ..Work::default() };
        work.ids.doi = Some(doi.into());
        work
    }

    fn updates(updated_by: Vec<Update<'static>>, notices: Vec<Work<'static>>) -> serde_json::Value {
        let doi = Doi::parse("10.5555/Work").unwrap();
        let work = Work { updated_by, ..Work::default() };
        serde_json::to_value(Updates::new(&doi, work, notices, Vec::new())).unwrap()
    }

    #[test]
    fn both_places_together_make_one_statement() {
        let found = updates(
            vec![update("retraction", "10.5555/n1", Some("2024"), Some("publisher"))],
            vec![notice(
                "10.5555/N1",
                vec![
                    update("retraction", "10.5555/work", Some("2024-03-01"), None),
                    update("retraction", "10.5555/another", None, None),
                ],
            )],
        );
        assert_eq!(
            found["updates"],
            serde_json::json!([{
                "type": "retraction", "notice_doi": "10.5555/n1", "notice_title": "Notice",
                "date": "2024-03-01", "source": "publisher",
                "found_in": ["update-to", "updated-by"]
            }])
        );
        assert_eq!(found["is_retracted"], true);
        assert_eq!(found["is_corrected"], false);
    }

    #[test]
    fn the_spelling_of_a_kind_makes_no_second_statement() {
        let found = updates(
            vec![update("expression_of_concern", "10.5555/n", None, Some("publisher"))],
            vec![notice(
                "10.5555/n",
                vec![update("Expression-of-Concern", "10.5555/work", None, None)],
            )],
        );
        assert_eq!(found["updates"].as_array().unwrap().len(), 1);
        assert_eq!(found["is_of_concern"], true);
    }

    #[test]
    fn each_source_is_a_statement_of_its_own_and_the_oldest_is_first() {
        let found = updates(
            vec![
                update("retraction", "10.5555/n", Some("2024-02-01"), Some("retraction-watch")),
                update("retraction", "10.5555/n", Some("2024-01-01"), Some("publisher")),
                update("expression_of_concern", "10.5555/e", None, Some("publisher")),
                update("erratum", "10.5555/c", Some("2023"), None),
            ],
            Vec::new(),
        );
        let updates = found["updates"].as_array().unwrap();
        let sources: Vec<_> = updates.iter().map(|update| update["source"].as_str()).collect();
        assert_eq!(sources, [None, Some("publisher"), Some("retraction-watch"), Some("publisher")]);
        for flag in ["is_retracted", "is_corrected", "is_of_concern"] {
            assert_eq!(found[flag], true, "{flag}");
        }
    }

    #[test]
    fn a_work_that_names_itself_is_retracted_by_itself() {
        let itself = update("retraction", "10.5555/work", Some("2022-10-15"), Some("publisher"));
        let mut again = notice("10.5555/WORK", Vec::new());
        again.updated_by = vec![itself.clone()];
        let found = updates(vec![itself], vec![again]);
        assert_eq!(
            found["updates"],
            serde_json::json!([{
                "type": "retraction", "notice_doi": "10.5555/work", "notice_title": "Notice",
                "date": "2022-10-15", "source": "publisher", "found_in": ["update-to"]
            }])
        );
        assert_eq!(found["is_retracted"], true);
    }

    #[test]
    fn a_clean_record_is_no_notice_at_all() {
        let found = updates(Vec::new(), vec![notice("10.5555/n", Vec::new())]);
        assert_eq!(found["updates"], serde_json::json!([]));
        assert_eq!(found["is_retracted"], false);
    }
}
