//! Reads labels, references, citations and links, and resolves them at the end.

use carrel_pdk::id::Doi;

use crate::bib;
use crate::builder::{CITATION, END, REFERENCE, one_line};
use crate::engine::Engine;
use crate::people::AND;
use crate::token::{Token, written};

impl Engine<'_> {
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

    /// A URL, in which characters have no meaning to TeX.
    pub(crate) fn address(&mut self) -> String {
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
                while let Some(character) = source.raw_char() {
                    match character {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        _ => {}
                    }
                    out.push(character);
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
        text.retain(|character| !character.is_whitespace());
        text
    }

    pub(crate) fn cite(&mut self, name: &str) {
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
        // The text around numbers is decided when they are known.
        let (left, right) = if parentheses { ("\u{E004}", "\u{E005}") } else { ("", "") };
        self.text(&format!("{left}{text}{right}"));
        self.cited.extend(keys);
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

    pub(crate) fn label_of(&self, key: &str) -> Option<&str> {
        let at = *self.reference_index.get(key)?;
        self.document.references.get(at)?.label.as_deref()
    }

    pub(crate) fn number_of(&self, kind: char, key: &str) -> String {
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

    pub(crate) fn citation(&self, kind: char, key: &str, in_brackets: bool, out: &mut String) {
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
}

/// Author and year of a label such as `Doe et al.(2019)`.
pub(crate) fn author_year(label: Option<&str>) -> Option<(&str, &str)> {
    let (author, rest) = label?.split_once('(')?;
    let (year, _) = rest.split_once(')')?;
    (year.starts_with(|first: char| first.is_ascii_digit()) && !author.is_empty())
        .then(|| (author.trim(), year))
}

pub(crate) fn is_citation(name: &str) -> bool {
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
