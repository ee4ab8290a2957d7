//! The tool `citation_match`: finds the work that a printed reference cites.
//!
//! Crossref's search proposes candidates, but its scores are comparable only within one answer. So
//! every candidate is compared with the reference word by word, and the score is computed from the
//! agreement alone.

use carrel_pdk::record::{Text, Update, Work};
use carrel_pdk::{Error, Host};
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::works;
use crate::request;
use crate::response::{self, Asked};
use crate::tools::{
    arguments::CitationArguments,
    compare::{Agreement, Reference},
};

/// The most candidates that are compared.
const COMPARED: u32 = 20;
/// Candidates with a lower score are left out.
const LEAST_SCORE: f64 = 0.5;

/// Works that the reference may mean.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Candidates<'d> {
    /// Best first; none when nothing agrees well enough.
    pub candidates: Vec<Candidate<'d>>,
    /// What the answer leaves open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// A work and how well it agrees with the reference.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Candidate<'d> {
    /// DOI.
    pub doi: Text<'d>,
    /// How much agrees, from 0.5 to 1.
    #[schemars(range(min = 0.5, max = 1.0))]
    pub score: f64,
    /// What agrees.
    pub agreed: Vec<Agreement>,
    /// Title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text<'d>>,
    /// First author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<Text<'d>>,
    /// Date of publication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued: Option<Text<'d>>,
    /// Journal or book.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_title: Option<Text<'d>>,
    /// CSL type.
    #[serde(rename = "type")]
    pub kind: Text<'d>,
    /// True when a retraction, withdrawal or removal is on record.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_retracted: bool,
    /// What corrected or retracted it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updated_by: Vec<Update<'d>>,
}

/// Runs the tool.
///
/// # Errors
///
/// As `works`. A result without matches is not an error.
pub(crate) fn run(arguments: &str, host: &dyn Host) -> Result<String, Error> {
    let arguments = CitationArguments::parse(arguments)?;
    host.progress(0, 1, "asking Crossref");
    let reference = Reference::new(&arguments.citation);
    let mut requests = vec![request::citation(&arguments.citation, COMPARED)];
    requests.extend(reference.doi().map(request::work));
    let mut outcomes = host.fetch_all(requests).into_iter();
    let search = outcomes.next().transpose()?;
    let named = outcomes.next().and_then(Result::ok);

    let mut works = match &search {
        Some(response) => response::read(response, Asked::ForMatches, works::works)?.works,
        None => Vec::new(),
    };
    let mut notices = Vec::new();
    if let Some(doi) = reference.doi() {
        match named.as_ref().map(|response| {
            response::read_part(host, &request::work(doi), response, Asked::ForWork, works::work)
        }) {
            // The search may return it too.
            Some(Ok(found)) if works.iter().all(|work| !reference.names(work)) => {
                works.push(found.work)
            }
            Some(Ok(_)) => {}
            _ => {
                notices.push(format!("the reference names {doi}, which Crossref could not confirm"))
            }
        }
    }
    let most = usize::try_from(arguments.max_candidates).unwrap_or(usize::MAX);
    let result = candidates(&reference, works, most, notices);
    host.progress(1, 1, "done");
    // Plain data: serialization cannot fail.
    Ok(serde_json::to_string(&result).unwrap_or_default())
}

/// The works that agree well enough, best first, equals in Crossref's order.
fn candidates<'d>(
    reference: &Reference,
    works: Vec<Work<'d>>,
    most: usize,
    mut notices: Vec<String>,
) -> Candidates<'d> {
    let mut candidates: Vec<Candidate<'d>> = works
        .into_iter()
        .filter_map(|work| {
            let (score, agreed) = reference.compare(&work);
            let author = work.authors.into_iter().next();
            Some(Candidate {
                doi: work.ids.doi?,
                score: (score * 1000.0).round() / 1000.0,
                agreed,
                title: work.title,
                author: author.and_then(|author| author.family.or(author.literal).or(author.given)),
                issued: work.issued,
                container_title: work.container_title,
                kind: work.kind,
                is_retracted: work.updated_by.iter().any(Update::is_retraction),
                updated_by: work.updated_by,
            })
        })
        .filter(|candidate| candidate.score >= LEAST_SCORE)
        .collect();
    candidates.sort_by(|left, right| {
        right.score.total_cmp(&left.score).then(right.agreed.len().cmp(&left.agreed.len()))
    });
    candidates.truncate(most);
    if candidates.is_empty() {
        notices.push(
            "nothing that Crossref proposed agrees with the reference; it may be registered \
             elsewhere or not at all"
                .to_owned(),
        );
    }
    Candidates { candidates, notices }
}
