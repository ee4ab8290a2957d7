//! Title, authors, labels, citations, definitions.

use carrel_pdk::document::Metadatum;
use carrel_pdk::id::Doi;

use crate::builder::{LINE, flatten, one_line};
use crate::engine::Engine;
use crate::people::AND;
use crate::token::{Token, written};

impl Engine<'_> {
    /// Adds a statement about the document, unless it is blank.
    pub(crate) fn state(&mut self, name: &str, value: &str, from: &str) {
        let Some(value) = one_line(value) else { return };
        let (name, from) = (name.to_owned(), from.to_owned());
        let metadatum = Metadatum { name, value, from, ..Metadatum::default() };
        if !self.document.metadata.contains(&metadatum) && self.document.metadata.len() < 5000 {
            self.document.metadata.push(metadatum);
        }
    }

    /// Handles the front matter: title, authors, abstract and other statements.
    #[inline(never)]
    pub(crate) fn front(&mut self, name: &str) -> bool {
        if self.in_style() {
            return false;
        }
        match name {
            "title" | "icmltitle" | "Title" => {
                self.optional();
                let tokens = self.argument();
                let before = std::mem::replace(&mut self.in_author, false);
                let title =
                    self.capture_lines(tokens).and_then(|text| one_line(&text.replace(AND, " ")));
                self.in_author = before;
                if self.document.title.is_none() || name == "title" && !self.speaks() {
                    self.document.title = title.or(self.document.title.take());
                }
            }
            "subtitle" => {
                let text = self.argument_text().unwrap_or_default();
                self.state("subtitle", &text, "\\subtitle");
            }
            "author" | "Author" | "icmlauthor" | "spauthor" => {
                let marks = self.marks();
                let tokens = self.argument();
                let text = self.names(tokens);
                self.people.authors(&text, &marks);
                if name == "icmlauthor" {
                    self.argument();
                }
            }
            "and" | "And" | "AND" | "ANDS" => {
                if self.in_author {
                    self.text(&AND.to_string());
                } else {
                    self.text(" ");
                }
            }
            "IEEEauthorblockN" => {
                self.text(&AND.to_string());
                let tokens = self.argument();
                self.push_tokens(tokens);
            }
            "IEEEauthorblockA" => {
                self.text(&LINE.to_string());
                let tokens = self.argument();
                self.push_tokens(tokens);
            }
            "affiliation" | "affil" | "address" | "institute" | "institution"
            | "icmlaffiliation" | "aff" | "altaffiliation" | "affiliations" => {
                if self.in_author {
                    self.text(&LINE.to_string());
                    return true;
                }
                let mut marks = self.marks();
                if name == "icmlaffiliation" {
                    marks = vec![self.argument_name()];
                }
                let tokens = self.argument();
                let text = self.names(tokens);
                let text = text.replace(AND, &LINE.to_string());
                self.people.affiliation(&text, &marks);
            }
            "city" | "country" | "department" | "state" | "postcode" | "streetaddress"
            | "orgname" | "orgdiv" | "orgaddress" | "organization" | "addressline"
                if self.in_author =>
            {
                self.text(", ");
            }
            "email" | "ead" | "emailAdd" => {
                self.optional();
                let tokens = self.argument();
                let text = self.names(tokens);
                let text = one_line(&text).unwrap_or_default();
                if self.in_author {
                    self.text(&format!("{LINE}{text}"))
                } else {
                    self.people.email(&text)
                }
            }
            "abstract" if self.peek_is_group() => {
                let tokens = self.argument();
                let blocks = self.capture(tokens);
                self.abstracts.push(blocks);
            }
            "keywords" | "keyword" | "pacs" | "subjclass" | "amscode" | "jel" | "kwd" => {
                self.optional();
                let tokens = self.argument();
                let before = std::mem::replace(&mut self.in_author, true);
                let text = self.capture_lines(tokens).unwrap_or_default();
                self.in_author = before;
                let kind =
                    if matches!(name, "keywords" | "keyword" | "kwd") { "keyword" } else { name };
                self.aside(kind, &text);
            }
            // Notes to the title and the authors, printed under the first page.
            "fntext" | "cortext" | "tnotetext" | "nonumnote" => {
                self.optional();
                let text = self.argument_text().unwrap_or_default();
                self.state("author_note", &text, &format!("\\{name}"));
            }
            "sep" => self.text(", "),
            "date" | "journal" | "volume" | "dedicated" | "conference" | "journalname" | "note"
            | "dateline" => {
                let from = format!("\\{name}");
                let tokens = self.argument();
                if !self.speaks() || name != "note" {
                    let text = self.capture_lines(tokens).unwrap_or_default();
                    self.state(name, &text, &from);
                } else {
                    self.push_tokens(tokens);
                }
            }
            "acmDOI" | "articledoi" => {
                let text = self.argument_name();
                if let Ok(doi) = Doi::parse(&text) {
                    self.document.identifiers.doi.get_or_insert(doi.as_str().to_owned());
                }
            }
            _ => return false,
        }
        true
    }

    pub(crate) fn peek_is_group(&mut self) -> bool {
        self.skip_spaces();
        match self.next() {
            Some(token) => {
                let group = token == Token::Open;
                self.push_back(token);
                group
            }
            None => false,
        }
    }

    /// The marks in an option, such as `[1,2]`.
    fn marks(&mut self) -> Vec<String> {
        let option = self.optional().map(|tokens| written(&tokens)).unwrap_or_default();
        option
            .split(',')
            .map(|mark| mark.trim().to_owned())
            .filter(|mark| !mark.is_empty())
            .collect()
    }

    /// Reads names and affiliations, whose marks are left out.
    fn names(&mut self, tokens: Vec<Token>) -> String {
        let before = std::mem::replace(&mut self.in_author, true);
        let blocks = self.capture(tokens);
        self.in_author = before;
        let mut text = String::new();
        flatten(blocks, &mut text, &mut Vec::new());
        text
    }
}
