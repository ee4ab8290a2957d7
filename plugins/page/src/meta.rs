//! Reads a page's metadata tags: `citation_*`, JSON-LD, PRISM, Dublin Core, Open Graph, microdata,
//! in this order of preference.

use carrel_pdk::document::{Abstract, Block, Document, Kind, Metadatum, Person, Section};
use carrel_pdk::id::{ArxivId, Doi, Pmcid, Pmid};

use crate::dom::{Id, Tree};
use crate::json::{self, Json};
use crate::vocabulary::{Source, known, normalise, snake};

/// The most statements that are kept.
const MOST: usize = 2000;
/// The most characters of one statement.
const LONGEST: usize = 20_000;

struct Statement {
    source: Source,
    name: String,
    value: String,
    language: Option<String>,
    from: String,
}

/// The statements of tags, and conclusions from them.
#[derive(Default)]
pub(crate) struct Meta {
    statements: Vec<Statement>,
    /// Types of things by schema.org and Open Graph, in lower case.
    pub(crate) types: Vec<String>,
    /// Whether the page marks its text as not free.
    pub(crate) not_free: bool,
    /// Whether JSON-LD was broken.
    pub(crate) broken: bool,
    /// The article's text, as JSON-LD repeats it.
    pub(crate) body: Option<String>,
    citing: Vec<Person>,
}

/// Reads a page's tags.
pub(crate) fn read(tree: &Tree) -> Meta {
    let mut meta = Meta::default();
    for id in tree.descendants(0) {
        match tree.name(id) {
            "meta" => meta.tag(tree, id),
            "link" => meta.link(tree, id),
            "script" if is_json_ld(tree, id) => {
                let text: String = tree.children(id).filter_map(|inner| tree.text(inner)).collect();
                let (value, broken) = json::parse(&text);
                meta.broken |= broken;
                meta.json_ld(&value);
            }
            _ => {}
        }
        if tree.is_element(id) && tree.attribute(id, "itemprop").is_some() {
            meta.property(tree, id);
        }
        if let Some(kind) = tree.attribute(id, "itemtype") {
            meta.types.extend(kind.split_ascii_whitespace().map(last_word));
        }
    }
    meta
}

fn is_json_ld(tree: &Tree, id: Id) -> bool {
    tree.attribute(id, "type")
        .is_some_and(|kind| kind.trim().to_ascii_lowercase().starts_with("application/ld+json"))
}

fn last_word(address: &str) -> String {
    address.rsplit(['/', '#', ':']).next().unwrap_or(address).to_ascii_lowercase()
}

impl Meta {
    fn add(&mut self, source: Source, name: &str, value: &str, from: String) {
        let value = carrel_pdk::text::collapse(value);
        if value.is_empty() || name.is_empty() || self.statements.len() >= MOST {
            return;
        }
        let mut value = value.into_owned();
        if let Some((cut, _)) = value.char_indices().nth(LONGEST) {
            value.truncate(cut);
        }
        let name = name.to_owned();
        self.statements.push(Statement { source, name, value, language: None, from });
    }

    fn tag(&mut self, tree: &Tree, id: Id) {
        let Some(content) = tree.attribute(id, "content") else { return };
        for attribute in ["name", "property", "http-equiv"] {
            let Some(tags) = tree.attribute(id, attribute) else { continue };
            for tag in tags.split_ascii_whitespace() {
                let lower = tag.to_ascii_lowercase();
                if attribute == "http-equiv" && lower != "content-language" {
                    continue;
                }
                let Some((source, name)) = normalise(&lower) else { continue };
                if lower == "og:type" {
                    self.types.push(last_word(content.trim()));
                }
                self.author_detail(&lower, content);
                self.add(source, &name, content, format!("meta {tag}"));
                let language = tree.attribute(id, "lang").or(tree.attribute(id, "xml:lang"));
                if let (Some(last), Some(language)) = (self.statements.last_mut(), language) {
                    last.language = Some(language.trim().to_owned()).filter(|s| !s.is_empty());
                }
            }
        }
    }

    /// Authors of `citation_author`, each with the tags that follow it.
    fn author_detail(&mut self, tag: &str, content: &str) {
        let content = carrel_pdk::text::collapse(content).into_owned();
        if content.is_empty() {
            return;
        }
        match tag {
            "citation_author" | "bepress_citation_author" => {
                self.citing.extend(people(&content));
            }
            "citation_authors" if self.citing.is_empty() => {
                self.citing.extend(content.split(';').flat_map(people));
            }
            "citation_author_institution" | "citation_author_affiliation" => {
                if let Some(last) = self.citing.last_mut()
                    && !last.affiliations.contains(&content)
                {
                    last.affiliations.push(content);
                }
            }
            "citation_author_email" => {
                if let Some(last) = self.citing.last_mut() {
                    last.email = Some(content.trim_start_matches("mailto:").to_owned());
                }
            }
            "citation_author_orcid" => {
                if let Some(last) = self.citing.last_mut() {
                    last.orcid = orcid(&content);
                }
            }
            _ => {}
        }
    }

    fn link(&mut self, tree: &Tree, id: Id) {
        let (Some(rels), Some(href)) = (tree.attribute(id, "rel"), tree.attribute(id, "href"))
        else {
            return;
        };
        for rel in rels.to_ascii_lowercase().split_ascii_whitespace() {
            let name = match rel {
                "canonical" => "url",
                "license" => "licence_url",
                "shortlink" => "short_url",
                "schema.dc" | "schema.dcterms" => continue,
                _ => continue,
            };
            self.add(Source::Other, name, href, format!("link {rel}"));
        }
    }

    fn property(&mut self, tree: &Tree, id: Id) {
        let Some(names) = tree.attribute(id, "itemprop") else { return };
        if tree.attribute(id, "itemscope").is_some() {
            return;
        }
        let item = tree.ancestors(id).find(|&outer| tree.attribute(outer, "itemscope").is_some());
        let kind = item.and_then(|item| tree.attribute(item, "itemtype")).unwrap_or_default();
        let kind = kind.trim().rsplit(['/', '#']).next().unwrap_or_default();
        let value = ["content", "datetime", "href", "src", "data", "value"]
            .iter()
            .find_map(|name| tree.attribute(id, name))
            .map_or_else(|| tree.all_text(id), str::to_owned);
        if value.chars().count() > 1000 {
            return;
        }
        for name in names.split_ascii_whitespace() {
            if name == "isAccessibleForFree" && value.eq_ignore_ascii_case("false") {
                self.not_free = true;
            }
            let from = format!("microdata {kind}.{name}").replace(" .", " ");
            self.add(Source::Microdata, &known(name), &value, from);
        }
    }

    fn json_ld(&mut self, value: &Json) {
        for object in value.each() {
            let Json::Object(_) = object else { continue };
            if let Some(graph) = object.get("@graph") {
                for inner in graph.each() {
                    self.thing(inner, "", 0);
                }
            }
            self.thing(object, "", 0);
        }
    }

    /// Reads one object of JSON-LD, and its nested objects for people and places.
    fn thing(&mut self, thing: &Json, path: &str, depth: u32) {
        let Json::Object(members) = thing else { return };
        let kinds: Vec<String> = match thing.get("@type").map(Json::each) {
            Some(kinds) => kinds.iter().filter_map(Json::text).collect(),
            None => Vec::new(),
        };
        let kind =
            kinds.first().map(|kind| kind.rsplit(['/', '#']).next().unwrap_or(kind).to_owned());
        let path = match (&kind, path.is_empty()) {
            (Some(kind), true) => kind.clone(),
            _ => path.to_owned(),
        };
        if depth == 0 {
            self.types.extend(kinds.iter().map(|kind| last_word(kind)));
        }
        for (name, value) in members {
            if name.starts_with('@') && name != "@id" {
                continue;
            }
            if name == "isAccessibleForFree" {
                let free =
                    value.text().is_none_or(|text| !text.to_ascii_lowercase().contains("false"));
                self.not_free |= depth == 0 && (*value == Json::False || !free);
            }
            let here = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            if name == "articleBody" || name == "reviewBody" || (name == "text" && depth == 0) {
                if depth == 0 {
                    self.body = self.body.take().or_else(|| value.text());
                }
                continue;
            }
            for item in value.each() {
                match item {
                    Json::Text(text) => {
                        let known = if depth == 0 {
                            known(name)
                        } else {
                            snake(here.split_once('.').map_or(here.as_str(), |(_, inner)| inner))
                        };
                        self.add(Source::JsonLd, &known, text, format!("json-ld {here}"));
                    }
                    Json::Object(_) if depth < 4 => {
                        let names = matches!(
                            name.as_str(),
                            "author"
                                | "creator"
                                | "publisher"
                                | "isPartOf"
                                | "editor"
                                | "contributor"
                        );
                        if let Some(text) = item.text().filter(|_| names && depth == 0) {
                            let name = match name.as_str() {
                                "isPartOf" => "part_of".to_owned(),
                                other => known(other),
                            };
                            self.add(Source::JsonLd, &name, &text, format!("json-ld {here}"));
                        }
                        if name == "mainEntity" && depth == 0 {
                            self.thing(item, "", 0);
                        } else {
                            self.thing(item, &here, depth + 1);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// The first value of a name, by preference.
    pub(crate) fn first(&self, names: &[&str]) -> Option<&str> {
        self.best(names).map(|statement| statement.value.as_str())
    }

    fn best(&self, names: &[&str]) -> Option<&Statement> {
        self.statements
            .iter()
            .filter(|statement| names.contains(&statement.name.as_str()))
            .min_by_key(|statement| statement.source)
    }

    /// Whether one of the types is among some.
    pub(crate) fn is_a(&self, kinds: &[&str]) -> bool {
        self.types.iter().any(|kind| kinds.contains(&kind.as_str()))
    }

    /// The title that tags give.
    pub(crate) fn title(&self) -> Option<String> {
        let titles = self.statements.iter().filter(|statement| {
            statement.name == "title"
                && (statement.source != Source::JsonLd
                    || statement.from.ends_with(".headline")
                    || ["Article", "Posting", "Book", "Thesis", "Report", "Product", "Dataset"]
                        .iter()
                        .any(|kind| statement.from.contains(kind)))
                && statement.source != Source::Microdata
        });
        titles.min_by_key(|statement| statement.source).map(|statement| statement.value.clone())
    }

    /// Stores everything in a document.
    pub(crate) fn state(mut self, document: &mut Document) {
        if self.broken {
            let message = "JSON-LD is broken: what stands before the fault was read";
            document.warn("broken_json_ld", message, Some("script application/ld+json".to_owned()));
        }
        self.identify(document);
        if !self.citing.is_empty() {
            document.authors = std::mem::take(&mut self.citing);
        }
        if document.authors.is_empty() {
            document.authors = self.authors();
        }
        if let Some(text) =
            self.statements.iter().filter(|s| s.name == "abstract").min_by_key(|s| s.source)
        {
            let text = crate::plain_words(&text.value);
            if !text.is_empty() && document.abstracts.is_empty() {
                let blocks = vec![Block::new(Kind::Paragraph, text)];
                let sections = vec![Section { level: 1, blocks, ..Section::default() }];
                document.abstracts.push(Abstract { sections, ..Abstract::default() });
            }
        }
        let mut seen = std::collections::HashSet::new();
        for statement in self.statements {
            if seen.insert((statement.from.clone(), statement.value.clone())) {
                document.metadata.push(Metadatum {
                    name: statement.name,
                    kind: None,
                    value: statement.value,
                    language: statement.language,
                    from: statement.from,
                });
            }
        }
    }

    fn authors(&self) -> Vec<Person> {
        let of = |source: Source| -> Vec<Person> {
            let mut people: Vec<Person> = Vec::new();
            for statement in &self.statements {
                let address =
                    statement.value.starts_with("http") || statement.value.starts_with('/');
                if statement.name == "author" && statement.source == source && !address {
                    let person = person(&statement.value);
                    if !people.contains(&person) {
                        people.push(person);
                    }
                }
            }
            people
        };
        let order = [
            Source::Citation,
            Source::JsonLd,
            Source::Prism,
            Source::DublinCore,
            Source::OpenGraph,
            Source::Other,
            Source::Microdata,
        ];
        order.into_iter().map(of).find(|people| !people.is_empty()).unwrap_or_default()
    }

    fn identify(&self, document: &mut Document) {
        let mut sorted: Vec<&Statement> = self.statements.iter().collect();
        sorted.sort_by_key(|statement| statement.source);
        let ids = &mut document.identifiers;
        for statement in sorted {
            let value = statement.value.trim();
            match statement.name.as_str() {
                "doi" => ids.doi = ids.doi.take().or_else(|| doi(value)),
                "identifier" | "id" if statement.source != Source::Microdata => {
                    let marked = [
                        "doi:",
                        "https://doi.org/",
                        "http://doi.org/",
                        "http://dx.doi.org/",
                        "https://dx.doi.org/",
                        "10.",
                    ];
                    let lower = value.to_ascii_lowercase();
                    // Identifiers of quoted works are not the page's: only the page's own objects
                    // count.
                    let own = statement.source != Source::JsonLd
                        || statement.from.matches('.').count() == 1;
                    if own && marked.iter().any(|mark| lower.starts_with(mark)) {
                        ids.doi = ids.doi.take().or_else(|| doi(value));
                    }
                }
                "pmid" => {
                    let found = || Pmid::parse(value).ok().map(|pmid| pmid.to_string());
                    ids.pmid = ids.pmid.take().or_else(found);
                }
                "pmcid" => {
                    let found = || Pmcid::parse(value).ok().map(|pmcid| pmcid.to_string());
                    ids.pmcid = ids.pmcid.take().or_else(found);
                }
                "arxiv" => {
                    let found = || ArxivId::parse(value).ok().map(|arxiv| arxiv.to_string());
                    ids.arxiv = ids.arxiv.take().or_else(found);
                }
                "isbn" => {
                    let digits: String =
                        value.chars().filter(char::is_ascii_alphanumeric).collect();
                    let fits = matches!(digits.len(), 10 | 13)
                        && digits.bytes().take(digits.len() - 1).all(|byte| byte.is_ascii_digit());
                    if fits && !ids.isbn.contains(&digits) {
                        ids.isbn.push(digits);
                    }
                }
                _ => {}
            }
        }
    }
}

fn doi(value: &str) -> Option<String> {
    Doi::parse(value).ok().map(|doi| doi.as_str().to_owned())
}

fn orcid(value: &str) -> Option<String> {
    let id = value.trim().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let digits = id.bytes().filter(u8::is_ascii_digit).count();
    let form = id.len() == 19
        && id.bytes().enumerate().all(|(at, byte)| match at {
            4 | 9 | 14 => byte == b'-',
            18 => byte.is_ascii_digit() || byte == b'X',
            _ => byte.is_ascii_digit(),
        });
    (form && digits >= 15).then(|| id.to_owned())
}

/// The people of one tag; some pages put all of them in one.
fn people(content: &str) -> Vec<Person> {
    let content = content.trim();
    if content.is_empty() {
        return Vec::new();
    }
    if content.contains(';') {
        return content
            .split(';')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(person)
            .collect();
    }
    vec![person(content)]
}

/// `Family, Given` is split; any other name is not.
fn person(name: &str) -> Person {
    let name = name.trim().trim_matches(',').trim();
    let mut parts = name.splitn(2, ',').map(str::trim);
    match (parts.next(), parts.next()) {
        (Some(family), Some(given))
            if !given.is_empty() && !given.contains(',') && !family.contains(" and ") =>
        {
            Person {
                family: Some(family.to_owned()),
                given: Some(given.to_owned()),
                ..Person::default()
            }
        }
        _ => Person { literal: Some(name.to_owned()), ..Person::default() },
    }
}
