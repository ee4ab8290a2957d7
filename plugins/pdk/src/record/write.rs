//! The record as JSON text. Written by hand for speed; a test compares it with what the derived
//! `Serialize` writes.

use crate::json::{Object, Writer};
use crate::record::{Agent, Update, Work};

impl Work<'_> {
    /// The record as JSON text.
    pub fn to_json(&self) -> String {
        let mut json = Writer::with_capacity(4096);
        let mut object = json.object();
        self.write(&mut object);
        object.end();
        json.finish()
    }

    /// Writes the record's members into an object: a document's only record, or one of a list.
    pub fn write(&self, object: &mut Object<'_>) {
        self.write_ids(object);
        object.string("type", &self.kind);
        object.optional("source_type", self.source_type.as_deref());
        object.optional("title", self.title.as_deref());
        object.optional("subtitle", self.subtitle.as_deref());
        object.optional("abstract", self.summary.as_deref());
        object.some_objects("authors", &self.authors, agent);
        object.some_objects("editors", &self.editors, agent);
        object.optional("container_title", self.container_title.as_deref());
        object.optional("publisher", self.publisher.as_deref());
        object.optional("issued", self.issued.as_deref());
        object.optional("volume", self.volume.as_deref());
        object.optional("issue", self.issue.as_deref());
        object.optional("pages", self.pages.as_deref());
        object.optional("article_number", self.article_number.as_deref());
        object.optional("language", self.language.as_deref());
        object.some_strings("subjects", &self.subjects);
        object.optional("url", self.url.as_deref());
        self.write_forms(object);
        self.write_citations(object);
        updates(object, "updates", &self.updates);
        updates(object, "updated_by", &self.updated_by);
        object.some_objects("relations", &self.relations, |relation, item| {
            item.string("type", &relation.kind);
            item.string("id_type", &relation.id_type);
            item.string("id", &relation.id);
        });
        object.string("source", &self.source);
    }

    fn write_ids(&self, object: &mut Object<'_>) {
        let mut ids = object.object("ids");
        ids.optional("doi", self.ids.doi.as_deref());
        ids.optional("arxiv", self.ids.arxiv.as_deref());
        ids.optional("pmid", self.ids.pmid.as_deref());
        ids.optional("pmcid", self.ids.pmcid.as_deref());
        ids.optional("openalex", self.ids.openalex.as_deref());
        ids.optional("s2", self.ids.s2.as_deref());
        for (key, values) in [("isbn", &self.ids.isbn), ("issn", &self.ids.issn)] {
            ids.some_strings(key, values);
        }
        ids.end();
    }

    /// Writes links, licences and funders.
    fn write_forms(&self, object: &mut Object<'_>) {
        object.some_objects("links", &self.links, |link, item| {
            item.string("url", &link.url);
            item.optional("content_type", link.content_type.as_deref());
            item.optional("version", link.version.as_deref());
            item.optional("application", link.application.as_deref());
        });
        object.some_objects("open_copies", &self.open_copies, |copy, item| {
            item.string("url", &copy.url);
            item.string("kind", &copy.kind);
            item.optional("host_type", copy.host_type.as_deref());
            item.optional("version", copy.version.as_deref());
            item.optional("license", copy.license.as_deref());
            item.optional("landing_url", copy.landing_url.as_deref());
        });
        if let Some(is_oa) = self.is_oa {
            object.boolean("is_oa", is_oa);
        }
        object.optional("oa_status", self.oa_status.as_deref());
        object.some_objects("licenses", &self.licenses, |licence, item| {
            item.string("url", &licence.url);
            item.optional("start", licence.start.as_deref());
            item.optional("version", licence.version.as_deref());
        });
        object.some_objects("funding", &self.funding, |funder, item| {
            item.string("name", &funder.name);
            item.optional("doi", funder.doi.as_deref());
            item.some_strings("awards", &funder.awards);
        });
    }

    fn write_citations(&self, object: &mut Object<'_>) {
        object.some_objects("references", &self.references, |reference, item| {
            item.optional("key", reference.key.as_deref());
            item.optional("doi", reference.doi.as_deref());
            item.optional("unstructured", reference.unstructured.as_deref());
            item.optional("title", reference.title.as_deref());
            item.optional("author", reference.author.as_deref());
            item.optional("year", reference.year.as_deref());
            item.optional("container_title", reference.container_title.as_deref());
        });
        for (key, value) in
            [("references_count", self.references_count), ("cited_by_count", self.cited_by_count)]
        {
            if let Some(value) = value {
                object.number(key, value);
            }
        }
    }
}

fn agent(agent: &Agent<'_>, item: &mut Object<'_>) {
    item.optional("family", agent.family.as_deref());
    item.optional("given", agent.given.as_deref());
    item.optional("literal", agent.literal.as_deref());
    item.optional("orcid", agent.orcid.as_deref());
    item.some_strings("affiliations", &agent.affiliations);
}

fn updates(object: &mut Object<'_>, key: &'static str, values: &[Update<'_>]) {
    object.some_objects(key, values, |update, item| {
        item.string("type", &update.kind);
        item.optional("doi", update.doi.as_deref());
        item.optional("pmid", update.pmid.as_deref());
        item.optional("date", update.date.as_deref());
        item.optional("source", update.source.as_deref());
    });
}

#[cfg(test)]
mod tests {
    use crate::record::{
        Agent, Funder, Ids, Licence, Link, OpenCopy, Reference, Relation, Text, Update, Work,
    };

    /// A record with a value in every member.
    fn full() -> Work<'static> {
        let some = |text: &'static str| Some(Text::from(text));
        let agent = Agent {
            family: some("Öz\u{1f418}"),
            given: some("\"A\""),
            literal: some("A \\ B"),
            orcid: some("0000-0001-2345-6789"),
            affiliations: vec!["One".into(), "Two".into()],
        };
        let update = Update {
            kind: "retraction".into(),
            doi: some("10.5555/n"),
            pmid: some("2"),
            date: some("2024-01"),
            source: some("publisher"),
        };
        Work {
            ids: Ids {
                doi: some("10.5555/x"),
                arxiv: some("2401.00001v1"),
                pmid: some("1"),
                pmcid: some("PMC1"),
                openalex: some("W1"),
                s2: some("0123456789abcdef0123456789abcdef01234567"),
                isbn: vec!["9780000000000".into()],
                issn: vec!["0000-000X".into(), "1111-1111".into()],
            },
            kind: "article-journal".into(),
            source_type: some("journal-article"),
            title: some("Title"),
            subtitle: some("Subtitle"),
            summary: some("Line\tbreak"),
            authors: vec![agent.clone(), Agent { affiliations: vec![], ..agent.clone() }],
            editors: vec![agent],
            container_title: some("Container"),
            publisher: some("Publisher"),
            issued: some("2024"),
            volume: some("1"),
            issue: some("2"),
            pages: some("3-4"),
            article_number: some("e5"),
            language: some("en"),
            subjects: vec!["One".into()],
            url: some("https://example.org/"),
            links: vec![Link {
                url: "https://example.org/pdf".into(),
                content_type: some("application/pdf"),
                version: some("vor"),
                application: some("text-mining"),
            }],
            open_copies: vec![OpenCopy {
                url: "https://example.org/open".into(),
                kind: "pdf".into(),
                host_type: some("repository"),
                version: some("acceptedVersion"),
                license: some("cc-by"),
                landing_url: some("https://example.org/landing"),
            }],
            is_oa: Some(true),
            oa_status: some("green"),
            licenses: vec![Licence {
                url: "https://example.org/licence".into(),
                start: some("2024-01-01"),
                version: some("vor"),
            }],
            funding: vec![Funder {
                name: "Funder".into(),
                doi: some("10.5555/f"),
                awards: vec!["A1".into()],
            }],
            references: vec![Reference {
                key: some("r1"),
                doi: some("10.5555/r"),
                unstructured: some("All in one"),
                title: some("Cited"),
                author: some("Writer"),
                year: some("1999a"),
                container_title: some("Held"),
            }],
            references_count: Some(1),
            cited_by_count: Some(u64::MAX),
            updates: vec![update.clone()],
            updated_by: vec![update],
            relations: vec![Relation {
                kind: "is-preprint-of".into(),
                id_type: "doi".into(),
                id: "10.5555/y".into(),
            }],
            source: "test".into(),
        }
    }

    #[test]
    fn both_writers_agree() {
        let bare = Work { kind: "article".into(), source: "test".into(), ..Work::default() };
        for work in [full(), bare] {
            assert_eq!(work.to_json(), serde_json::to_string(&work).unwrap());
        }
    }
}
