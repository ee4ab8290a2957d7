//! The reserved tool `lookup`: identifiers in, records out, as `contract/v1/lookup.schema.json` fixes
//! it. The host calls it for every plugin whose manifest names the kinds of identifier it resolves.

use serde::{Deserialize, Serialize};

use crate::json::{Object, Writer};
use crate::record::Work;
use crate::{Code, Error, Host, Request, Response, args};

/// Kinds of identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Digital object identifier.
    Doi,
    /// arXiv identifier.
    Arxiv,
    /// PubMed identifier.
    Pmid,
    /// PubMed Central identifier.
    Pmcid,
    /// OpenAlex identifier of a work.
    Openalex,
    /// Semantic Scholar's paper identifier.
    S2,
    /// Number of a book, in thirteen digits.
    Isbn,
}

impl Kind {
    /// The kind as the contract spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Doi => "doi",
            Self::Arxiv => "arxiv",
            Self::Pmid => "pmid",
            Self::Pmcid => "pmcid",
            Self::Openalex => "openalex",
            Self::S2 => "s2",
            Self::Isbn => "isbn",
        }
    }
}

/// An identifier, canonical, without prefix or resolver.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Id {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Its text.
    pub id: String,
}

/// The requested identifiers: at most as many as the manifest's `batch`.
///
/// # Errors
///
/// `invalid_arguments` when the arguments are not a list of identifiers.
pub fn ids(arguments: &str) -> Result<Vec<Id>, Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        ids: Vec<Id>,
    }
    Ok(args::arguments::<Arguments>(arguments)?.ids)
}

/// The answer. Every requested identifier is in exactly one of the lists.
#[derive(Debug, Default)]
pub struct Answer<'d> {
    /// Records, each with its requested identifier.
    pub works: Vec<(Id, Work<'d>)>,
    /// Identifiers that the source does not have.
    pub not_found: Vec<Id>,
    /// Identifiers whose request failed, with the error.
    pub failed: Vec<(Id, Error)>,
}

impl Answer<'_> {
    /// The answer as JSON text.
    pub fn to_json(&self) -> String {
        let mut json = Writer::with_capacity(4096 * self.works.len() + 256);
        let mut answer = json.object();
        let mut works = answer.array("works");
        for (id, work) in &self.works {
            let mut item = works.object();
            write_id(item.object("id"), id);
            let mut object = item.object("work");
            work.write(&mut object);
            object.end();
            item.end();
        }
        works.end();
        let mut not_found = answer.array("not_found");
        for id in &self.not_found {
            write_id(not_found.object(), id);
        }
        not_found.end();
        if !self.failed.is_empty() {
            let mut failed = answer.array("failed");
            for (id, error) in &self.failed {
                let mut item = failed.object();
                write_id(item.object("id"), id);
                item.string("code", error.code.as_str());
                item.string("message", &error.message);
                if let Some(seconds) = error.retry_after_seconds {
                    item.float("retry_after_seconds", seconds.max(0.0));
                }
                item.end();
            }
            failed.end();
        }
        answer.end();
        json.finish()
    }
}

/// Runs the tool `lookup`, or the role `open_copies`, with one request for each identifier, all
/// concurrently: `request` makes it, `read` finds the record in its response.
///
/// # Errors
///
/// Only for invalid arguments. The failure of a single identifier is part of the answer.
pub fn one_by_one(
    arguments: &str,
    host: &dyn Host,
    request: impl Fn(&Id) -> Result<Request, Error>,
    read: impl for<'r> Fn(&Request, &'r Response) -> Result<Work<'r>, Error>,
) -> Result<String, Error> {
    let mut answer = Answer::default();
    let (mut pending, mut requests) = (Vec::new(), Vec::new());
    for id in ids(arguments)? {
        match request(&id) {
            Ok(request) => {
                pending.push(id);
                requests.push(request);
            }
            Err(error) => answer.failed.push((id, error)),
        }
    }
    let outcomes = if requests.is_empty() { Vec::new() } else { host.fetch_all(requests.clone()) };
    let mut responses = Vec::new();
    for ((id, request), outcome) in pending.into_iter().zip(requests).zip(outcomes) {
        match outcome {
            Ok(response) => responses.push((id, request, response)),
            Err(failure) => answer.failed.push((id, failure.into())),
        }
    }
    for (id, request, response) in &responses {
        match read(request, response) {
            Ok(work) => answer.works.push((id.clone(), work)),
            Err(error) if error.code == Code::NotFound => answer.not_found.push(id.clone()),
            Err(error) => answer.failed.push((id.clone(), error)),
        }
    }
    Ok(answer.to_json())
}

/// The error for an invalid identifier or a kind that the plugin does not resolve; `expected` names
/// the kinds it does.
pub fn not_resolved(id: &Id, expected: &str) -> Error {
    let message = format!("expected {expected} but found {:?} as {}", id.id, id.kind.as_str());
    Error::new(Code::InvalidArguments, message)
}

fn write_id(mut object: Object<'_>, id: &Id) {
    object.string("type", id.kind.as_str());
    object.string("id", &id.id);
    object.end();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(kind: Kind, id: &str) -> Id {
        Id { kind, id: id.to_owned() }
    }

    #[test]
    fn identifiers_of_every_kind_are_read() {
        let requested =
            ids(r#"{"ids": [{"type": "doi", "id": "10.5555/x"}, {"type": "pmcid", "id": "PMC1"},
                {"type": "arxiv", "id": "2401.00001"}, {"type": "pmid", "id": "1"},
                {"type": "openalex", "id": "W1"}, {"type": "s2", "id": "0"},
                {"type": "isbn", "id": "9780306406157"}]}"#);
        let kinds: Vec<&str> = requested.unwrap().iter().map(|id| id.kind.as_str()).collect();
        assert_eq!(kinds, ["doi", "pmcid", "arxiv", "pmid", "openalex", "s2", "isbn"]);
        for invalid in [r#"{"ids": [{"type": "issn", "id": "x"}]}"#, r#"{"ids": "x"}"#, "{}"] {
            assert_eq!(ids(invalid).unwrap_err().code, Code::InvalidArguments);
        }
    }

    #[test]
    fn an_answer_is_written_as_the_contract_fixes_it() {
        let work = Work { kind: "article".into(), source: "test".into(), ..Work::default() };
        let pause = Error::new(Code::RateLimited, "a pause").retry_after(1.5);
        let answer = Answer {
            works: vec![(id(Kind::Doi, "10.5555/x"), work)],
            not_found: vec![id(Kind::Pmid, "7")],
            failed: vec![(id(Kind::Pmid, "8"), pause)],
        };
        assert_eq!(
            answer.to_json(),
            concat!(
                r#"{"works":[{"id":{"type":"doi","id":"10.5555/x"},"#,
                r#""work":{"ids":{},"type":"article","source":"test"}}],"#,
                r#""not_found":[{"type":"pmid","id":"7"}],"#,
                r#""failed":[{"id":{"type":"pmid","id":"8"},"code":"rate_limited","#,
                r#""message":"a pause","retry_after_seconds":1.5}]}"#
            )
        );
        assert_eq!(Answer::default().to_json(), r#"{"works":[],"not_found":[]}"#);
    }
}
