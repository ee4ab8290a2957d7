//! Title, authors, labels, citations, definitions.

use carrel_pdk::document::{Metadatum, Reference, Section};
use carrel_pdk::id::Doi;

use crate::bib;
use crate::builder::{CITATION, END, LINE, Open, REFERENCE, flatten, one_line};
use crate::engine::{Cited, Engine};
use crate::people::AND;
use crate::structure::is_references;
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

    /// Title, authors, abstract and what else is said in front.
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

    fn peek_is_group(&mut self) -> bool {
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

    /// Labels, references to them, citations, links.
    #[inline(never)]
    pub(crate) fn cross_reference(&mut self, name: &str) -> bool {
        match name {
            "label" => {
                let key = self.argument_name();
                if !self.labels.contains_key(&key) && self.labels.len() < 100_000 {
                    self.labels.insert(key, self.anchor.clone());
                }
            }
            "ref" | "eqref" | "cref" | "Cref" | "autoref" | "vref" | "subref" | "fref" | "Fref"
            | "sref" | "labelcref" | "zcref" | "figref" | "secref" | "nameref" | "pageref" => {
                self.star();
                let keys = self.argument_name();
                let kind = match name {
                    "eqref" => 'e',
                    "cref" | "zcref" => 'c',
                    "Cref" | "autoref" => 'C',
                    _ => 'r',
                };
                let marks: Vec<String> = keys
                    .split(',')
                    .map(|key| format!("{REFERENCE}{kind}{}{END}", key.trim()))
                    .collect();
                self.text(&marks.join(", "));
            }
            "nocite" => {
                let keys = self.argument_name();
                self.cites_all |= keys.trim() == "*";
                self.cited.extend(keys.split(',').map(|key| key.trim().to_owned()));
            }
            _ if is_citation(name) => self.cite(name),
            "url" | "nolinkurl" | "path" | "burl" => {
                let href = self.address();
                if let Some(cited) = &mut self.citing {
                    cited.links.push(href.clone());
                }
                if name != "path" && href.contains("://") && !self.in_style() {
                    self.document.link(&href, None);
                }
                self.text(&href);
            }
            "href" | "href@noop" | "Hhref" => {
                self.optional();
                let href = self.address();
                let text = self.argument_text().unwrap_or_default();
                if name == "href" && href.contains("://") {
                    self.document.link(&href, Some(&text));
                }
                if let Some(cited) = &mut self.citing {
                    cited.links.push(href);
                }
                self.text(&text);
            }
            "doi" | "dodoi" | "bibdoi" => {
                let doi = self.address();
                if let Some(cited) = &mut self.citing {
                    cited.links.push(format!("https://doi.org/{doi}"));
                    let text = if doi.contains("doi") { doi } else { format!("doi:{doi}") };
                    self.text(&text);
                } else if self.speaks() {
                    self.text(&doi);
                } else if let Ok(doi) = Doi::parse(&doi) {
                    self.document.identifiers.doi.get_or_insert(doi.as_str().to_owned());
                }
            }
            "eprint" | "Eprint" | "arxiv" | "arXiv" if self.citing.is_some() => {
                if name == "Eprint" {
                    let href = self.address();
                    if let Some(cited) = &mut self.citing {
                        cited.links.push(href);
                    }
                }
                let text = self.argument_text().unwrap_or_default();
                let plain = !text.to_lowercase().contains("arxiv");
                let prefix = if plain && name != "Eprint" { "arXiv:" } else { "" };
                self.text(&format!("{prefix}{text}"));
            }
            "bibitem" | "bibitemdeclare" => {
                if name == "bibitemdeclare" {
                    self.argument();
                    self.argument();
                    return true;
                }
                self.bib_item();
            }
            "newblock" => self.text(" "),
            "bibliography" | "putbib" | "bibliographyfile" => {
                let names = self.argument_name();
                self.bibliographies.extend(names.split(',').map(|name| name.trim().to_owned()));
                self.place_references();
            }
            "addbibresource" | "addglobalbib" => {
                self.optional();
                let name = self.argument_name();
                self.bibliographies.push(name.trim_end_matches(".bib").to_owned());
            }
            "printbibliography" => {
                self.optional();
                self.place_references();
            }
            "bib" if self.peek_is_group() => {
                let (key, kind) = (self.argument_name(), self.argument_name());
                let fields = self.argument();
                let entry = bib::Entry { key, kind, fields: bib::amsrefs(&written(&fields)) };
                let reference = self.reference_of(&entry);
                self.document.references.push(reference);
            }
            _ => return false,
        }
        true
    }

    /// An address, whose signs mean nothing to TeX.
    fn address(&mut self) -> String {
        self.skip_spaces();
        match self.next() {
            Some(Token::Open) => {}
            Some(Token::Char(end)) => {
                return match self.source() {
                    Some(source) => source.raw_until(&end.to_string()),
                    None => written(&self.until(&[Token::Char(end)])),
                };
            }
            other => {
                if let Some(token) = other {
                    self.push_back(token);
                }
                return String::new();
            }
        }
        let text = match self.source() {
            Some(source) => {
                let mut out = String::new();
                let mut depth = 0;
                while let Some(one) = source.raw_char() {
                    match one {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        _ => {}
                    }
                    out.push(one);
                    if out.len() > 10_000 {
                        break;
                    }
                }
                out
            }
            None => written(&self.group()),
        };
        let mut text =
            text.replace("\\%", "%").replace("\\_", "_").replace("\\#", "#").replace("\\&", "&");
        text = text.replace("\\~", "~").replace("\\textasciitilde", "~").replace(['{', '}'], "");
        text.retain(|one| !one.is_whitespace());
        text
    }

    fn cite(&mut self, name: &str) {
        self.star();
        let first = self.optional();
        let second = self.optional();
        let keys = self.argument_name();
        let mut read = |tokens: Option<Vec<Token>>| {
            tokens.and_then(|tokens| self.capture_lines(tokens)).and_then(|text| one_line(&text))
        };
        let (before, behind) = match second {
            Some(second) => (read(first), read(Some(second))),
            None => (None, read(first)),
        };
        let keys: Vec<String> = keys
            .split(',')
            .map(|key| key.trim().to_owned())
            .filter(|key| !key.is_empty())
            .collect();
        if !self.speaks() || self.in_author {
            return;
        }
        let kind = match name {
            "citet" | "textcite" | "Citet" | "cite" | "Textcite" | "newcite" | "citeN"
            | "citealt" | "citealp" | "shortcite" => 't',
            "citeauthor" | "Citeauthor" => 'a',
            "citeyear" | "citeyearpar" | "citedate" => 'y',
            _ => 'p',
        };
        let marks: Vec<String> =
            keys.iter().map(|key| format!("{CITATION}{kind}{key}{END}")).collect();
        let mut text = marks.join("; ");
        if let Some(behind) = behind {
            text = format!("{text}, {behind}");
        }
        if let Some(before) = before {
            text = format!("{before} {text}");
        }
        let parentheses = matches!(kind, 'p') && !matches!(name, "footcite" | "footfullcite");
        // What stands around numbers is decided when they are known.
        let (left, right) = if parentheses { ("\u{E004}", "\u{E005}") } else { ("", "") };
        self.text(&format!("{left}{text}{right}"));
        self.cited.extend(keys);
    }

    /// Begins the list of references.
    pub(crate) fn begin_references(&mut self, name: &str) {
        if !self.speaks() && !self.in_body {
            return;
        }
        self.references_section();
        self.open(name, Open::Aside("bibliography"));
    }

    /// Marks where the references stand.
    fn references_section(&mut self) {
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

    fn bib_item(&mut self) {
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
    fn end_reference(&mut self) {
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

    /// Puts the references here: from the `.bbl`, else from the `.bib` files.
    fn place_references(&mut self) {
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
        // Citations behind this place count too: the choice is made at the end.
        self.pending = entries;
    }

    /// Takes what is cited out of the `.bib` files.
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
    fn reference_of(&mut self, entry: &bib::Entry) -> Reference {
        let mut read = |name: &str| -> Option<String> {
            let value = entry.fields.iter().find(|(own, _)| own == name).map(|(_, value)| value)?;
            let tokens = bib::tokens(value);
            self.capture_lines(tokens).and_then(|text| one_line(&text))
        };
        let mut first = |names: &[&str]| names.iter().find_map(|name| read(name));
        let authors = first(&["author"]).or_else(|| first(&["editor"]));
        let authors: Vec<String> = authors.map(|names| bib::names(&names)).unwrap_or_default();
        let year = first(&["year", "date"])
            .map(|year| year.chars().take_while(|one| *one != '-').collect::<String>());
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

    /// Definitions and what else the preamble has.
    #[inline(never)]
    pub(crate) fn definition(&mut self, name: &str) -> bool {
        match name {
            "newcommand" | "renewcommand" | "DeclareRobustCommand" => self.new_command(false),
            "providecommand" => self.new_command(true),
            "def" | "gdef" | "edef" | "xdef" => self.define_plain(),
            "let" => self.let_command(),
            "futurelet" => {
                self.next();
                self.next();
            }
            "DeclareMathOperator" => self.operator(),
            "newenvironment" | "renewenvironment" | "provideenvironment" => self.new_environment(),
            "NewDocumentCommand"
            | "RenewDocumentCommand"
            | "DeclareDocumentCommand"
            | "ProvideDocumentCommand" => {
                self.document_command();
            }
            "newtheorem" | "spnewtheorem" | "declaretheorem" => self.new_theorem(name),
            "newif" => {
                if let Some(Token::Command(name)) = self.next() {
                    self.flags.insert(name.to_string(), false);
                }
            }
            "fi" | "else" | "or" => {
                if name == "else" || name == "or" {
                    self.skip_branch(false);
                }
            }
            "ifthenelse" => {
                let test = self.argument();
                let (yes, no) = (self.argument(), self.argument());
                let test = written(&test);
                let flag = test.split_once("\\boolean{").and_then(|(_, rest)| rest.split_once('}'));
                let holds = flag
                    .is_some_and(|(flag, _)| self.flags.get(&format!("if{flag}")) == Some(&true));
                let holds = holds != test.starts_with("\\not");
                self.push_tokens(if holds && flag.is_some() { yes } else { no });
            }
            "iftoggle" | "ifbool" => {
                let flag = self.argument_name();
                let (yes, no) = (self.argument(), self.argument());
                let holds = self.flags.get(&format!("if{flag}")) == Some(&true);
                self.push_tokens(if holds { yes } else { no });
            }
            "newtoggle" | "newbool" | "newboolean" => {
                let flag = self.argument_name();
                self.flags.insert(format!("if{flag}"), false);
            }
            "toggletrue" | "booltrue" | "togglefalse" | "boolfalse" => {
                let flag = self.argument_name();
                self.flags.insert(format!("if{flag}"), name.ends_with("true"));
            }
            "setboolean" | "setbool" | "settoggle" => {
                let (flag, value) = (self.argument_name(), self.argument_name());
                self.flags.insert(format!("if{flag}"), value.trim() == "true");
            }
            "numberwithin" => {
                self.optional();
                let counter = self.argument_name();
                let within = self.argument_name();
                self.numbered_within |= counter == "equation" && within == "section";
            }
            "makeatletter" => self.at_letter(true),
            "makeatother" => self.at_letter(false),
            "endinput" => self.end_input(),
            "usepackage" | "RequirePackage" | "documentclass" | "LoadClass" => self.packages(name),
            "csname" => {
                let mut name = String::new();
                while let Some(token) = self.next() {
                    match token {
                        Token::Command(end) if &*end == "endcsname" => break,
                        Token::Char(one) if name.len() < 200 => name.push(one),
                        Token::Space => {}
                        _ => break,
                    }
                }
                self.push_back(Token::Command(name.as_str().into()));
            }
            "expandafter" | "noexpand" | "protect" | "relax" => {}
            _ => {
                let flag = name.strip_suffix("true").or_else(|| name.strip_suffix("false"));
                match flag
                    .map(|flag| format!("if{flag}"))
                    .filter(|flag| self.flags.contains_key(flag))
                {
                    Some(flag) => {
                        self.flags.insert(flag, name.ends_with("true"));
                    }
                    None => return false,
                }
            }
        }
        true
    }

    fn new_theorem(&mut self, command: &str) {
        let star = self.star();
        if command == "declaretheorem" {
            let options = self.optional().map(|tokens| written(&tokens)).unwrap_or_default();
            let name = self.argument_name();
            let behind = self.optional().map(|tokens| written(&tokens)).unwrap_or_default();
            let all = format!("{options},{behind}");
            let title = all
                .split(',')
                .find_map(|part| part.trim().strip_prefix("name=").map(str::to_owned));
            let mut letters = name.chars();
            let usual = letters.next().map(|first| first.to_uppercase().chain(letters).collect());
            self.theorems.insert(name.clone(), (title.or(usual).unwrap_or_default(), name));
            return;
        }
        let name = self.argument_name();
        let shared = self.optional().map(|tokens| written(&tokens));
        let title = self.argument_text().unwrap_or_default();
        self.optional();
        if command == "spnewtheorem" {
            self.argument();
            self.argument();
        }
        let counter = if star { String::new() } else { shared.unwrap_or_else(|| name.clone()) };
        if !crate::commands::is_environment(&name)
            && self.theorems.len() < 1000
            && !title.is_empty()
        {
            self.theorems.insert(name, (title, counter));
        }
    }

    fn packages(&mut self, command: &str) {
        let options = self.optional().map(|tokens| written(&tokens)).unwrap_or_default();
        let names = self.argument_name();
        self.optional();
        for name in names.split(',').map(str::trim) {
            if name == "babel" || (command == "documentclass" && self.document.language.is_none()) {
                let last = options.split(',').map(str::trim).filter_map(language).next_back();
                self.document.language = last.map(str::to_owned).or(self.document.language.take());
            }
            // A class's own code is no text; a package of the authors has their macros.
            if command == "usepackage"
                && let Some(file) = self.find(name, &[".sty"])
                && file.bytes.len() < 60_000
            {
                self.input(file, true);
            }
        }
    }

    /// Replaces the marks of labels and citations in a text.
    pub(crate) fn resolve(&self, text: &mut String) {
        if !text.contains([REFERENCE, CITATION, END, AND, '\u{E004}', '\u{E005}']) {
            return;
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        let mut numeric = false;
        while let Some(at) = rest.find([REFERENCE, CITATION, END, AND, '\u{E004}', '\u{E005}']) {
            out.push_str(&rest[..at]);
            let mark = rest[at..].chars().next().unwrap_or(END);
            rest = &rest[at + mark.len_utf8()..];
            match mark {
                '\u{E004}' => {
                    let key = rest.split([CITATION, END]).nth(1).unwrap_or_default();
                    numeric =
                        author_year(self.label_of(key.get(1..).unwrap_or_default())).is_none();
                    out.push(if numeric { '[' } else { '(' });
                }
                '\u{E005}' => out.push(if numeric { ']' } else { ')' }),
                REFERENCE | CITATION => {
                    let (inner, behind) = rest.split_once(END).unwrap_or((rest, ""));
                    rest = behind;
                    let mut characters = inner.chars();
                    let kind = characters.next().unwrap_or('r');
                    let key = characters.as_str();
                    if mark == REFERENCE {
                        out.push_str(&self.number_of(kind, key));
                    } else {
                        self.citation(kind, key, numeric, &mut out);
                    }
                }
                AND => out.push(' '),
                _ => {}
            }
        }
        out.push_str(rest);
        *text = out;
    }

    fn label_of(&self, key: &str) -> Option<&str> {
        let at = *self.reference_index.get(key)?;
        self.document.references.get(at)?.label.as_deref()
    }

    fn number_of(&self, kind: char, key: &str) -> String {
        let Some(anchor) = self.labels.get(key).filter(|anchor| !anchor.number.is_empty()) else {
            return "??".to_owned();
        };
        let number = &anchor.number;
        match kind {
            'e' => format!("({number})"),
            'c' => format!("{} {number}", anchor.kind.to_lowercase()),
            'C' => format!("{} {number}", anchor.kind),
            _ => number.clone(),
        }
    }

    fn citation(&self, kind: char, key: &str, in_brackets: bool, out: &mut String) {
        let label = self.label_of(key);
        match (author_year(label), kind) {
            (Some((author, _)), 'a') => out.push_str(author),
            (Some((_, year)), 'y') => out.push_str(year),
            (Some((author, year)), 't') => out.push_str(&format!("{author} ({year})")),
            (Some((author, year)), _) => out.push_str(&format!("{author}, {year}")),
            (None, _) => {
                let shown = label.unwrap_or(key);
                if in_brackets { out.push_str(shown) } else { out.push_str(&format!("[{shown}]")) }
            }
        }
    }

    /// Where each reference is, by its key.
    pub(crate) fn index_references(&mut self) {
        let keys = self.document.references.iter().enumerate();
        self.reference_index = keys.filter_map(|(at, one)| Some((one.id.clone()?, at))).collect();
    }
}

/// Author and year of a label such as `Doe et al.(2019)`.
pub(crate) fn author_year(label: Option<&str>) -> Option<(&str, &str)> {
    let (author, rest) = label?.split_once('(')?;
    let (year, _) = rest.split_once(')')?;
    (year.starts_with(|one: char| one.is_ascii_digit()) && !author.is_empty())
        .then(|| (author.trim(), year))
}

fn is_citation(name: &str) -> bool {
    matches!(
        name,
        "cite"
            | "citep"
            | "citet"
            | "citealt"
            | "citealp"
            | "citeauthor"
            | "citeyear"
            | "citeyearpar"
            | "Citet"
            | "Citep"
            | "parencite"
            | "textcite"
            | "autocite"
            | "Textcite"
            | "Parencite"
            | "footcite"
            | "footfullcite"
            | "fullcite"
            | "supercite"
            | "onlinecite"
            | "citenum"
            | "newcite"
            | "shortcite"
            | "citeN"
            | "citeA"
            | "shortciteA"
            | "cites"
            | "citetext"
            | "Citeauthor"
            | "citedate"
            | "smartcite"
            | "Autocite"
            | "citen"
            | "citeasnoun"
            | "possessivecite"
            | "shortciteN"
            | "citeNP"
    )
}

/// The tag of a language by babel's name.
fn language(name: &str) -> Option<&'static str> {
    Some(match name {
        "english" | "british" | "american" | "USenglish" | "UKenglish" | "australian" => "en",
        "french" | "francais" | "frenchb" | "acadian" => "fr",
        "german" | "ngerman" | "austrian" | "naustrian" => "de",
        "spanish" => "es",
        "italian" => "it",
        "portuguese" | "brazil" | "brazilian" | "portuges" => "pt",
        "russian" => "ru",
        "dutch" => "nl",
        "polish" => "pl",
        "czech" => "cs",
        "greek" => "el",
        "turkish" => "tr",
        "ukrainian" => "uk",
        "swedish" => "sv",
        "danish" => "da",
        "finnish" => "fi",
        "norsk" => "no",
        "hungarian" | "magyar" => "hu",
        _ => return None,
    })
}
