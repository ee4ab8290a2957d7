//! The reserved tools `role:NAME`: a plugin's roles for tools that query several sources, as
//! defined by `contract/v1/roles.schema.json`.
//!
//! The role `open_copies` has the arguments and the result of [`lookup`](crate::lookup); its works
//! carry `open_copies`, `is_oa` and `oa_status`.

use serde::Deserialize;

use crate::json::{Object, Writer};
use crate::lookup::Id;
use crate::record::{Text, Work};
use crate::{Error, args};

/// The arguments of the role `search`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// Words, without any source's query syntax.
    pub query: String,
    /// Works wanted, at most the manifest's `max`.
    pub limit: u32,
    /// First year of publication.
    pub year_from: Option<i32>,
    /// Last year of publication.
    pub year_to: Option<i32>,
    /// Only works that are free to read.
    #[serde(default)]
    pub open_access: bool,
    /// The cursor of the previous answer.
    pub cursor: Option<String>,
}

/// The arguments of the role `full_text`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FullText {
    /// The work.
    pub id: Id,
}

/// The arguments of the roles `references` and `citations`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// The citing or cited work.
    pub id: Id,
    /// Works wanted, at most the manifest's `max`.
    pub limit: u32,
    /// The cursor of the previous answer.
    pub cursor: Option<String>,
}

macro_rules! arguments {
    ($($name:ident),*) => {$(
        impl $name {
            /// Reads the arguments.
            ///
            /// # Errors
            ///
            /// `invalid_arguments` when they are not those of the contract.
            pub fn read(arguments: &str) -> Result<Self, Error> {
                args::arguments(arguments)
            }
        }
    )*};
}

arguments!(Search, FullText, Links);

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found<'d> {
    /// The total number of works, by the source.
    pub total: Option<u64>,
    /// The works, the most relevant first.
    pub works: Vec<Work<'d>>,
    /// The cursor of the next page; None at the end.
    pub next_cursor: Option<Text<'d>>,
}

impl Found<'_> {
    /// The answer as JSON text.
    pub fn to_json(&self) -> String {
        let mut json = Writer::with_capacity(4096 * self.works.len() + 256);
        let mut answer = json.object();
        let mut works = answer.array("works");
        for work in &self.works {
            let mut item = works.object();
            work.write(&mut item);
            item.end();
        }
        works.end();
        write_rest(&mut answer, self.total, self.next_cursor.as_deref());
        answer.end();
        json.finish()
    }
}

/// The form of a full text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JATS XML.
    Jats,
    /// An HTML page.
    Html,
    /// The source of an e-print.
    Tex,
    /// PDF.
    Pdf,
}

impl Form {
    /// The form as the contract spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Jats => "jats",
            Self::Html => "html",
            Self::Tex => "tex",
            Self::Pdf => "pdf",
        }
    }
}

/// The address of a full text in one form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy<'d> {
    /// An https address at one of the plugin's hosts.
    pub url: Text<'d>,
    /// What it is.
    pub form: Form,
    /// Such as acceptedVersion.
    pub version: Option<Text<'d>>,
    /// Licence, in the source's word or by URL.
    pub license: Option<Text<'d>>,
    /// The page that leads to it.
    pub landing_url: Option<Text<'d>>,
}

impl<'d> Copy<'d> {
    /// A copy with only its address and form.
    pub fn new(url: impl Into<Text<'d>>, form: Form) -> Self {
        Self { url: url.into(), form, version: None, license: None, landing_url: None }
    }
}

/// The answer of the role `full_text`: the copies, the best form first, as JSON text.
pub fn copies_to_json(copies: &[Copy<'_>]) -> String {
    let mut json = Writer::with_capacity(256);
    let mut answer = json.object();
    let mut list = answer.array("copies");
    for copy in copies {
        let mut item = list.object();
        item.string("url", &copy.url);
        item.string("format", copy.form.as_str());
        item.optional("version", copy.version.as_deref());
        item.optional("license", copy.license.as_deref());
        item.optional("landing_url", copy.landing_url.as_deref());
        item.end();
    }
    list.end();
    answer.end();
    json.finish()
}

/// A cited or citing work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link<'d> {
    /// The work; identifiers or a title may be all that is known.
    pub work: Work<'d>,
    /// Sentences that cite it.
    pub contexts: Vec<Text<'d>>,
    /// Why it is cited, in the source's word.
    pub intents: Vec<Text<'d>>,
    /// Whether the source counts the citation as influential.
    pub influential: Option<bool>,
}

/// The result of the roles `references` and `citations`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Linked<'d> {
    /// The total number of works, by the source.
    pub total: Option<u64>,
    /// The works.
    pub links: Vec<Link<'d>>,
    /// The cursor of the next page; None at the end.
    pub next_cursor: Option<Text<'d>>,
}

impl Linked<'_> {
    /// The answer as JSON text.
    pub fn to_json(&self) -> String {
        let mut json = Writer::with_capacity(1024 * self.links.len() + 256);
        let mut answer = json.object();
        let mut links = answer.array("links");
        for link in &self.links {
            let mut item = links.object();
            let mut work = item.object("work");
            link.work.write(&mut work);
            work.end();
            item.some_strings("contexts", &link.contexts);
            item.some_strings("intents", &link.intents);
            if let Some(influential) = link.influential {
                item.boolean("influential", influential);
            }
            item.end();
        }
        links.end();
        write_rest(&mut answer, self.total, self.next_cursor.as_deref());
        answer.end();
        json.finish()
    }
}

fn write_rest(answer: &mut Object<'_>, total: Option<u64>, next_cursor: Option<&str>) {
    if let Some(total) = total {
        answer.number("total", total);
    }
    answer.optional("next_cursor", next_cursor);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use crate::lookup::Kind;

    fn work() -> Work<'static> {
        Work { kind: "article".into(), source: "test".into(), ..Work::default() }
    }

    #[test]
    fn arguments_are_read_and_others_refused() {
        let search = Search::read(r#"{"query": "desks", "limit": 5, "year_from": 1990}"#).unwrap();
        assert_eq!(
            (search.query.as_str(), search.limit, search.year_from),
            ("desks", 5, Some(1990))
        );
        assert!(!search.open_access);
        let links = Links::read(r#"{"id": {"type": "s2", "id": "0"}, "limit": 1, "cursor": "9"}"#);
        let links = links.unwrap();
        assert_eq!((links.id.kind, links.cursor.as_deref()), (Kind::S2, Some("9")));
        let text = FullText::read(r#"{"id": {"type": "pmcid", "id": "PMC1"}}"#).unwrap();
        assert_eq!(text.id.id, "PMC1");
        let error = Search::read(r#"{"query": "desks", "limit": 5, "sort": "x"}"#).unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments);
    }

    #[test]
    fn answers_are_written_as_the_contract_fixes_them() {
        let record = r#"{"ids":{},"type":"article","source":"test"}"#;
        let found = Found { total: Some(9), works: vec![work()], next_cursor: Some("next".into()) };
        let expected = format!(r#"{{"works":[{record}],"total":9,"next_cursor":"next"}}"#);
        assert_eq!(found.to_json(), expected);
        let link = Link {
            work: work(),
            contexts: vec!["As shown [1].".into()],
            intents: vec!["background".into()],
            influential: Some(false),
        };
        let linked = Linked { links: vec![link], ..Linked::default() };
        let expected = format!(
            r#"{{"links":[{{"work":{record},"contexts":["As shown [1]."],{}"influential":false}}]}}"#,
            r#""intents":["background"],"#
        );
        assert_eq!(linked.to_json(), expected);
        let copy = Copy {
            license: Some("cc-by".into()),
            ..Copy::new("https://example.org/x.xml", Form::Jats)
        };
        assert_eq!(
            copies_to_json(&[copy]),
            r#"{"copies":[{"url":"https://example.org/x.xml","format":"jats","license":"cc-by"}]}"#
        );
        assert_eq!(copies_to_json(&[]), r#"{"copies":[]}"#);
    }
}
