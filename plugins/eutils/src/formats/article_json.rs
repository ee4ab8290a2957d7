//! Articles as JSON text. Written by hand for speed; a test compares it with what the derived
//! `Serialize` writes.

use carrel_pdk::json::{Object, Writer};

use crate::formats::{
    article::{Article, Articles, Author, Concept, JournalInfo, PublicationDate, Section},
    book::BookInfo,
};

impl Articles<'_> {
    /// The records as JSON text; `hint` is its approximate size in bytes.
    pub fn to_json(&self, hint: usize) -> String {
        let mut json = Writer::with_capacity(hint);
        let mut object = json.object();
        object.objects("articles", &self.articles, Article::write);
        object.strings("not_found", &self.not_found);
        object.strings("errors", &self.errors);
        object.some_strings("deleted", &self.deleted);
        object.end();
        json.finish()
    }
}

impl Article<'_> {
    /// Writes the article's members into an object.
    pub fn write(&self, object: &mut Object<'_>) {
        object.optional("pmid", self.pmid.as_deref());
        for (key, is) in
            [("is_retracted", self.is_retracted), ("is_of_concern", self.is_of_concern)]
        {
            if is {
                object.boolean(key, true);
            }
        }
        object.optional("title", self.title.as_deref());
        object.optional("vernacular_title", self.vernacular_title.as_deref());
        object.optional("abstract_text", self.abstract_text.as_deref());
        object.some_objects("abstract_sections", &self.abstract_sections, section);
        object.optional("copyright", self.copyright.as_deref());
        object.some_objects("other_abstracts", &self.other_abstracts, |other_abstract, item| {
            item.optional("type", other_abstract.kind.as_deref());
            item.optional("language", other_abstract.language.as_deref());
            item.objects("sections", &other_abstract.sections, section);
        });
        object.some_objects("authors", &self.authors, author);
        if let Some(complete) = self.authors_complete {
            object.boolean("authors_complete", complete);
        }
        object.some_objects("investigators", &self.investigators, author);
        if let Some(journal) = &self.journal_info {
            write_journal(object, journal);
        }
        if let Some(book) = &self.book_info {
            write_book(object, book);
        }
        object.optional("issued", self.issued.as_deref());
        object.optional("electronic_date", self.electronic_date.as_deref());
        object.some_strings("publication_types", &self.publication_types);
        object.some_strings("keywords", &self.keywords);
        self.write_indexing(object);
        object.some_objects("grant_list", &self.grant_list, |grant, item| {
            item.optional("grant_id", grant.grant_id.as_deref());
            item.optional("acronym", grant.acronym.as_deref());
            item.optional("agency", grant.agency.as_deref());
            item.optional("country", grant.country.as_deref());
        });
        object.optional("doi", self.doi.as_deref());
        object.optional("pmcid", self.pmcid.as_deref());
        object.optional("pii", self.pii.as_deref());
        object.some_strings("languages", &self.languages);
        self.write_relations(object);
        object.optional("coi_statement", self.coi_statement.as_deref());
        object.some_strings("notes", &self.notes);
        object.some_strings("space_flight_missions", &self.space_flight_missions);
        object.some_objects("other_ids", &self.other_ids, |other_id, item| {
            item.optional("source", other_id.source.as_deref());
            item.string("id", &other_id.id);
        });
        object.optional("status", self.status.as_deref());
        object.optional("publication_status", self.publication_status.as_deref());
        object.some_objects("history", &self.history, |event, item| {
            item.optional("status", event.status.as_deref());
            item.string("date", &event.date);
        });
    }

    fn write_indexing(&self, object: &mut Object<'_>) {
        object.some_objects("mesh_terms", &self.mesh_terms, |term, item| {
            item.string("descriptor_name", &term.descriptor_name);
            item.optional("ui", term.ui.as_deref());
            item.boolean("is_major_topic", term.is_major_topic);
            item.some_objects("qualifiers", &term.qualifiers, |qualifier, item| {
                item.string("name", &qualifier.name);
                item.optional("ui", qualifier.ui.as_deref());
                item.boolean("is_major_topic", qualifier.is_major_topic);
            });
        });
        object.some_objects("supplementary_concepts", &self.supplementary_concepts, concept);
        object.some_objects("chemicals", &self.chemicals, concept);
        object.some_strings("gene_symbols", &self.gene_symbols);
        object.some_objects("personal_name_subjects", &self.personal_name_subjects, author);
        object.some_objects("data_banks", &self.data_banks, |bank, item| {
            item.optional("name", bank.name.as_deref());
            item.some_strings("accession_numbers", &bank.accession_numbers);
        });
    }

    fn write_relations(&self, object: &mut Object<'_>) {
        object.some_objects(
            "comments_corrections",
            &self.comments_corrections,
            |correction, item| {
                item.optional("ref_type", correction.ref_type.as_deref());
                item.optional("pmid", correction.pmid.as_deref());
                item.optional("ref_source", correction.ref_source.as_deref());
                item.optional("note", correction.note.as_deref());
            },
        );
        object.some_objects("references", &self.references, |reference, item| {
            item.optional("citation", reference.citation.as_deref());
            item.optional("pmid", reference.pmid.as_deref());
            item.optional("doi", reference.doi.as_deref());
            item.optional("pmcid", reference.pmcid.as_deref());
        });
        if let Some(count) = self.number_of_references {
            object.number("number_of_references", count);
        }
    }
}

fn section(section: &Section<'_>, item: &mut Object<'_>) {
    item.optional("label", section.label.as_deref());
    item.optional("nlm_category", section.nlm_category.as_deref());
    item.string("text", &section.text);
}

fn author(author: &Author<'_>, item: &mut Object<'_>) {
    item.optional("last_name", author.last_name.as_deref());
    item.optional("first_name", author.first_name.as_deref());
    item.optional("initials", author.initials.as_deref());
    item.optional("suffix", author.suffix.as_deref());
    item.optional("collective_name", author.collective_name.as_deref());
    item.optional("orcid", author.orcid.as_deref());
    item.some_strings("affiliations", &author.affiliations);
}

fn concept(concept: &Concept<'_>, item: &mut Object<'_>) {
    item.string("name", &concept.name);
    item.optional("ui", concept.ui.as_deref());
    item.optional("type", concept.kind.as_deref());
    item.optional("registry_number", concept.registry_number.as_deref());
}

fn write_date(object: &mut Object<'_>, date: &PublicationDate<'_>) {
    let mut item = object.object("publication_date");
    if let Some(year) = date.year {
        item.number("year", u64::from(year));
    }
    item.optional("month", date.month.as_deref());
    if let Some(day) = date.day {
        item.number("day", u64::from(day));
    }
    item.optional("season", date.season.as_deref());
    item.optional("medline_date", date.medline_date.as_deref());
    item.end();
}

fn write_journal(object: &mut Object<'_>, journal: &JournalInfo<'_>) {
    let mut item = object.object("journal_info");
    item.optional("title", journal.title.as_deref());
    item.optional("iso_abbreviation", journal.iso_abbreviation.as_deref());
    item.optional("medline_ta", journal.medline_ta.as_deref());
    item.optional("issn", journal.issn.as_deref());
    item.optional("issn_linking", journal.issn_linking.as_deref());
    item.optional("nlm_unique_id", journal.nlm_unique_id.as_deref());
    item.optional("country", journal.country.as_deref());
    item.optional("volume", journal.volume.as_deref());
    item.optional("issue", journal.issue.as_deref());
    item.optional("pages", journal.pages.as_deref());
    write_date(&mut item, &journal.publication_date);
    item.end();
}

fn write_book(object: &mut Object<'_>, book: &BookInfo<'_>) {
    let mut item = object.object("book_info");
    item.optional("title", book.title.as_deref());
    item.optional("collection_title", book.collection_title.as_deref());
    item.some_objects("authors", &book.authors, author);
    item.some_objects("editors", &book.editors, author);
    item.optional("publisher", book.publisher.as_deref());
    item.optional("publisher_location", book.publisher_location.as_deref());
    write_date(&mut item, &book.publication_date);
    item.optional("beginning_date", book.beginning_date.as_deref());
    item.optional("ending_date", book.ending_date.as_deref());
    item.optional("contribution_date", book.contribution_date.as_deref());
    item.optional("date_revised", book.date_revised.as_deref());
    item.optional("volume", book.volume.as_deref());
    item.optional("volume_title", book.volume_title.as_deref());
    item.optional("edition", book.edition.as_deref());
    item.optional("report_number", book.report_number.as_deref());
    item.optional("medium", book.medium.as_deref());
    item.optional("pages", book.pages.as_deref());
    item.some_strings("location_labels", &book.location_labels);
    item.some_strings("isbns", &book.isbns);
    item.optional("accession", book.accession.as_deref());
    item.some_objects("sections", &book.sections, |section, item| {
        item.optional("label", section.label.as_deref());
        item.optional("title", section.title.as_deref());
        item.number("level", u64::from(section.level));
    });
    item.end();
}
