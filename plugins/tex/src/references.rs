//! The list of references: `thebibliography`, `.bbl`, and the cited entries of the `.bib`.

use carrel_pdk::document::{Reference, Section};

use crate::bib;
use crate::builder::{Open, flatten, one_line};
use crate::engine::{Cited, Engine};
use crate::headings::is_references;

impl Engine<'_> {
    /// Begins the list of references.
    pub(crate) fn begin_references(&mut self, name: &str) {
        if !self.speaks() && !self.in_body {
            return;
        }
        self.references_section();
        self.open(name, Open::Aside("bibliography"));
    }

    /// Marks the position of the references.
    pub(crate) fn references_section(&mut self) {
        self.close_frames(1);
        self.flush();
        let kind = Some("references".to_owned());
        if self.sections.iter().any(|section| section.kind == kind && !section.blocks.is_empty()) {
            return;
        }
        match self.sections.last_mut() {
            Some(last) if last.kind == kind => {}
            Some(last)
                if last.blocks.is_empty() && last.heading.as_deref().is_some_and(is_references) =>
            {
                last.kind = kind
            }
            _ => self.sections.push(Section { level: 2, kind, ..Section::default() }),
        }
    }

    pub(crate) fn bib_item(&mut self) {
        self.end_reference();
        let label = self.optional();
        let label =
            label.and_then(|tokens| self.capture_lines(tokens)).and_then(|text| one_line(&text));
        let key = self.argument_name();
        if self.frames.iter().any(|frame| matches!(frame.open, Open::Aside("bibliography"))) {
            self.citing = Some(Cited { key, label, links: Vec::new() });
        }
    }

    /// Ends the reference that is being read.
    pub(crate) fn end_reference(&mut self) {
        let at =
            self.frames.iter().rposition(|frame| matches!(frame.open, Open::Aside("bibliography")));
        let Some(at) = at else { return };
        self.close_frames(at + 1);
        let frame = self.frame();
        frame.end_paragraph();
        let blocks = std::mem::take(&mut frame.blocks);
        let Some(cited) = self.citing.take() else { return };
        let mut text = String::new();
        flatten(blocks, &mut text, &mut Vec::new());
        let Some(text) = one_line(&text) else {
            return self
                .warn("empty_reference", &format!("the reference {} has no text", cited.key));
        };
        let mut reference = Reference::of_text(text);
        for link in &cited.links {
            let found = Reference::of_text(link.as_str());
            reference.doi = reference.doi.take().or(found.doi);
            reference.arxiv = reference.arxiv.take().or(found.arxiv);
            reference.url = reference.url.take().or(found.url);
        }
        reference.id = Some(cited.key).filter(|key| !key.is_empty());
        let label = match cited.label {
            Some(label) => label,
            None => (self.document.references.len() + 1).to_string(),
        };
        if reference.year.is_none() {
            let year =
                label.rsplit('(').next().map(|rest| rest.chars().take(4).collect::<String>());
            let printed =
                |year: &String| year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit());
            reference.year =
                year.filter(printed).filter(|year| reference.text.contains(year.as_str()));
        }
        reference.label = Some(label);
        self.document.references.push(reference);
    }

    pub(crate) fn end_references(&mut self, name: &str) {
        self.end_reference();
        self.close(name);
    }

    /// Reads the references from the `.bbl`, else from the `.bib` files.
    pub(crate) fn place_references(&mut self) {
        if !self.in_body || !self.document.references.is_empty() {
            return;
        }
        let main = self.main_stem();
        let files = self.files();
        let own = files.iter().find(|file| file.path == format!("{main}.bbl"));
        let all: Vec<_> = files.iter().filter(|file| file.path.ends_with(".bbl")).collect();
        let bbl = own.or_else(|| all.iter().copied().max_by_key(|file| file.bytes.len()));
        self.references_section();
        if let Some(bbl) = bbl.filter(|bbl| bbl.bytes.len() > 50) {
            let text = self.text_of(bbl);
            if text.contains("\\entry{") {
                let entries = bib::biblatex(&text);
                for entry in entries {
                    let reference = self.reference_of(&entry);
                    self.document.references.push(reference);
                }
            } else {
                self.input(bbl, false);
            }
            return;
        }
        let mut entries = Vec::new();
        for name in self.bibliographies.clone() {
            match self.find(&name, &[".bib", ""]) {
                Some(file) => {
                    let text = self.text_of(file);
                    entries.extend(bib::bibtex(&text));
                }
                None => {
                    let message = format!(
                        "the bibliography {name} is not in the e-print, and there is no .bbl"
                    );
                    self.warn("missing_bibliography", &message);
                }
            }
        }
        // Later citations count too, so entries are chosen at the end.
        self.pending = entries;
    }

    /// Takes the cited entries from the `.bib` files.
    pub(crate) fn resolve_bibliography(&mut self) {
        let entries = std::mem::take(&mut self.pending);
        // The values are read after the end of the document.
        self.done = false;
        if entries.is_empty() {
            return;
        }
        let cited: std::collections::HashSet<String> =
            self.cited.iter().map(|key| key.to_lowercase()).collect();
        for entry in entries {
            if self.cites_all || cited.contains(&entry.key.to_lowercase()) {
                let reference = self.reference_of(&entry);
                self.document.references.push(reference);
            }
        }
    }

    /// The reference of an entry of a database.
    pub(crate) fn reference_of(&mut self, entry: &bib::Entry) -> Reference {
        let mut read = |name: &str| -> Option<String> {
            let value = entry.fields.iter().find(|(own, _)| own == name).map(|(_, value)| value)?;
            let tokens = bib::tokens(value);
            self.capture_lines(tokens).and_then(|text| one_line(&text))
        };
        let mut first = |names: &[&str]| names.iter().find_map(|name| read(name));
        let authors = first(&["author"]).or_else(|| first(&["editor"]));
        let authors: Vec<String> = authors.map(|names| bib::names(&names)).unwrap_or_default();
        let year = first(&["year", "date"])
            .map(|year| year.chars().take_while(|character| *character != '-').collect::<String>());
        let eprint = first(&["eprint", "arxivid"]);
        let mut reference = Reference {
            id: Some(entry.key.clone()).filter(|key| !key.is_empty()),
            kind: Some(entry.kind.to_lowercase()).filter(|kind| !kind.is_empty()),
            title: first(&["title"]),
            container_title: first(&["journal", "journaltitle", "booktitle", "series"]),
            volume: first(&["volume"]),
            issue: first(&["number", "issue"]),
            pages: first(&["pages"]),
            publisher: first(&["publisher", "institution", "school", "organization"]),
            isbn: first(&["isbn"]),
            url: entry
                .raw("url")
                .or_else(|| entry.raw("howpublished").filter(|how| how.starts_with("http"))),
            year: year.filter(|year| !year.is_empty()),
            authors,
            ..Reference::default()
        };
        let note = first(&["note", "howpublished"]);
        let words = [
            Some(reference.authors.join(", ")).filter(|names| !names.is_empty()),
            reference.title.clone(),
            reference.container_title.clone(),
            reference.volume.as_ref().map(|volume| match &reference.issue {
                Some(issue) => format!("{volume}({issue})"),
                None => volume.clone(),
            }),
            reference.pages.clone(),
            reference.publisher.clone(),
            reference.year.clone(),
            note,
            eprint.clone().map(|id| {
                if id.to_lowercase().contains("arxiv") { id } else { format!("eprint {id}") }
            }),
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        reference.text = words.join(". ");
        if reference.text.is_empty() {
            reference.text.clone_from(&entry.key);
        }
        let stated = Reference::of_text(
            [
                entry.raw("doi"),
                entry.raw("url"),
                reference.container_title.clone(),
                Some(reference.text.clone()),
            ]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ; "),
        );
        reference.doi = stated.doi;
        let by_eprint = eprint.and_then(|id| Reference::of_text(format!("arXiv:{id}")).arxiv);
        reference.arxiv = by_eprint.or(stated.arxiv);
        reference.pmid = entry
            .raw("pmid")
            .filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()) && !id.starts_with('0'));
        reference
    }

    /// The index of each reference, by its key.
    pub(crate) fn index_references(&mut self) {
        let keys = self.document.references.iter().enumerate();
        self.reference_index = keys.filter_map(|(i, entry)| Some((entry.id.clone()?, i))).collect();
    }
}
