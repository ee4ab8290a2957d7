//! The document as JSON text. Written by hand for size and speed; a test compares it with what the
//! derived `Serialize` writes.

use super::{Abstract, Block, Document, Item, Person, Reference, Section};
use crate::json::{Array, Object, Writer};

impl Document {
    /// The document as JSON text; `hint` is its approximate size in bytes.
    pub fn to_json(&self, hint: usize) -> String {
        let mut json = Writer::with_capacity(hint);
        let mut object = json.object();
        object.optional("kind", self.kind.as_deref());
        object.optional("title", self.title.as_deref());
        object.some_objects("authors", &self.authors, person);
        object.optional("language", self.language.as_deref());
        let mut identifiers = object.object("identifiers");
        identifiers.optional("doi", self.identifiers.doi.as_deref());
        identifiers.optional("arxiv", self.identifiers.arxiv.as_deref());
        identifiers.optional("pmid", self.identifiers.pmid.as_deref());
        identifiers.optional("pmcid", self.identifiers.pmcid.as_deref());
        identifiers.some_strings("isbn", &self.identifiers.isbn);
        identifiers.end();
        object.some_objects("metadata", &self.metadata, |property, item| {
            item.string("name", &property.name);
            item.optional("type", property.kind.as_deref());
            item.string("value", &property.value);
            item.optional("language", property.language.as_deref());
            item.string("from", &property.from);
        });
        object.optional("abstract", self.summary.as_deref());
        object.some_objects("abstracts", &self.abstracts, summary);
        object.objects("sections", &self.sections, section);
        object.some_objects("references", &self.references, reference);
        if let Some(pages) = self.pages {
            object.number("pages", pages);
        }
        object.some_strings("page_labels", &self.page_labels);
        object.some_objects("outline", &self.outline, |heading, item| {
            item.string("title", &heading.title);
            item.number("level", u64::from(heading.level));
            if let Some(page) = heading.page {
                item.number("page", page);
            }
        });
        object.some_objects("links", &self.links, |link, item| {
            item.string("href", &link.href);
            item.optional("text", link.text.as_deref());
        });
        object.some_objects("warnings", &self.warnings, |warning, item| {
            item.string("code", &warning.code);
            item.string("message", &warning.message);
            item.optional("place", warning.place.as_deref());
        });
        object.string("quality", self.quality.as_str());
        object.optional("quality_reason", self.quality_reason.map(super::Reason::as_str));
        object.end();
        json.finish()
    }
}

fn person(person: &Person, item: &mut Object<'_>) {
    item.optional("family", person.family.as_deref());
    item.optional("given", person.given.as_deref());
    item.optional("suffix", person.suffix.as_deref());
    item.optional("literal", person.literal.as_deref());
    item.optional("orcid", person.orcid.as_deref());
    item.optional("email", person.email.as_deref());
    item.some_strings("roles", &person.roles);
    item.some_strings("affiliations", &person.affiliations);
}

fn summary(summary: &Abstract, item: &mut Object<'_>) {
    item.optional("kind", summary.kind.as_deref());
    item.optional("language", summary.language.as_deref());
    item.objects("sections", &summary.sections, section);
}

fn section(section: &Section, item: &mut Object<'_>) {
    item.optional("heading", section.heading.as_deref());
    item.number("level", u64::from(section.level));
    item.optional("label", section.label.as_deref());
    item.optional("kind", section.kind.as_deref());
    item.optional("language", section.language.as_deref());
    if let Some(page) = section.page {
        item.number("page", page);
    }
    item.objects("blocks", &section.blocks, block);
}

fn block(block: &Block, item: &mut Object<'_>) {
    item.string("kind", block.kind.as_str());
    item.optional("role", block.role.as_deref());
    item.optional("label", block.label.as_deref());
    item.optional("text", block.text.as_deref());
    item.optional("caption", block.caption.as_deref());
    item.optional("tex", block.tex.as_deref());
    item.optional("href", block.href.as_deref());
    if block.ordered {
        item.boolean("ordered", true);
    }
    item.some_objects("items", &block.items, entry);
    if !block.rows.is_empty() {
        rows(&block.rows, item.array("rows"));
    }
    if block.header_rows > 0 {
        item.number("header_rows", block.header_rows);
    }
    item.some_objects("spans", &block.spans, |span, item| {
        item.number("row", span.row);
        item.number("column", span.column);
        item.number("rows", span.rows);
        item.number("columns", span.columns);
    });
    item.some_objects("blocks", &block.blocks, self::block);
}

fn rows(rows: &[Vec<String>], mut array: Array<'_>) {
    for row in rows {
        let mut cells = array.array();
        row.iter().for_each(|cell| cells.string(cell));
        cells.end();
    }
    array.end();
}

fn entry(entry: &Item, item: &mut Object<'_>) {
    item.optional("label", entry.label.as_deref());
    item.optional("text", entry.text.as_deref());
    item.some_objects("blocks", &entry.blocks, block);
}

fn reference(reference: &Reference, item: &mut Object<'_>) {
    item.optional("id", reference.id.as_deref());
    item.optional("label", reference.label.as_deref());
    item.string("text", &reference.text);
    item.optional("kind", reference.kind.as_deref());
    item.optional("doi", reference.doi.as_deref());
    item.optional("pmid", reference.pmid.as_deref());
    item.optional("pmcid", reference.pmcid.as_deref());
    item.optional("arxiv", reference.arxiv.as_deref());
    item.optional("isbn", reference.isbn.as_deref());
    item.optional("url", reference.url.as_deref());
    item.optional("title", reference.title.as_deref());
    item.some_strings("authors", &reference.authors);
    item.optional("year", reference.year.as_deref());
    item.optional("container_title", reference.container_title.as_deref());
    item.optional("volume", reference.volume.as_deref());
    item.optional("issue", reference.issue.as_deref());
    item.optional("pages", reference.pages.as_deref());
    item.optional("publisher", reference.publisher.as_deref());
}
