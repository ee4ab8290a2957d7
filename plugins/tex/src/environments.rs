//! Handles environments: lists, floats, tables, theorems, verbatim text.

use carrel_pdk::document::{Block, Kind, Section};

use crate::builder::{Open, lines};
use crate::commands;
use crate::engine::{Anchor, Engine};
use crate::formulas::LONGEST;
use crate::token::{Token, written};

impl Engine<'_> {
    /// The tokens up to the end of an environment, with the document's macros expanded.
    pub(crate) fn environment(&mut self, name: &str) -> Vec<Token> {
        let mut out = Vec::new();
        let mut depth = 0_u32;
        while let Some(token) = self.next_expanded() {
            if let Token::Command(command) = &token
                && matches!(&**command, "begin" | "end")
            {
                let inner = self.argument();
                let same = written(&inner) == name;
                if &**command == "end" && same && depth == 0 {
                    break;
                }
                if same {
                    depth = if &**command == "begin" { depth + 1 } else { depth - 1 };
                }
                // A formula never contains the end of its environment.
                if &**command == "end" && written(&inner) == "document" {
                    self.push_tokens(
                        [vec![token, Token::Open], inner, vec![Token::Close]].concat(),
                    );
                    break;
                }
                out.push(token);
                out.push(Token::Open);
                out.extend(inner);
                out.push(Token::Close);
                continue;
            }
            out.push(token);
            if out.len() > LONGEST * 2 {
                break;
            }
        }
        out
    }

    pub(crate) fn begin(&mut self, name: &str) {
        let plain = name.trim_end_matches('*');
        if let Some((begin, _)) = self.environments.get(name).cloned() {
            return self.expand(&begin);
        }
        if commands::is_math(plain) {
            if matches!(plain, "alignat" | "xalignat" | "IEEEeqnarray" | "empheq") {
                self.optional();
                self.argument();
            } else if plain.starts_with('d') {
                self.optional();
            }
            let tokens = self.environment(name);
            return if plain == "math" {
                self.formula(&tokens)
            } else {
                self.equation(name, tokens)
            };
        }
        if commands::is_verbatim(name) {
            return self.verbatim(name);
        }
        match plain {
            "document" => {
                self.in_body = true;
            }
            "comment" | "filecontents" | "CCSXML" | "tikzpicture" | "picture" | "pspicture"
            | "tikzcd" | "pgfpicture" | "xy" | "feynman" | "fmffile" | "asy" => {
                self.skip_environment(name)
            }
            "abstract" | "onecolabstract" | "IEEEabstract" => {
                self.optional();
                let speaks = std::mem::replace(&mut self.in_body, true);
                self.open(name, Open::Abstract);
                if !speaks {
                    self.in_body = false;
                    // In the preamble it is read separately.
                    let tokens = self.environment(name);
                    let blocks = self.capture(tokens);
                    if let Some(frame) =
                        self.frames.last_mut().filter(|frame| matches!(frame.open, Open::Abstract))
                    {
                        frame.blocks = blocks;
                    }
                    self.close(name);
                }
            }
            "keywords" | "keyword" | "IEEEkeywords" | "classification" => {
                self.open(name, Open::Aside("keyword"))
            }
            "acknowledgments" | "acknowledgements" | "acknowledgement" | "acknowledgment"
            | "acks" | "ack" => {
                self.flush();
                if self.speaks() && self.frames.len() == 1 {
                    let heading = Some("Acknowledgments".to_owned());
                    let kind = Some("ack".to_owned());
                    self.sections.push(Section { heading, level: 2, kind, ..Section::default() });
                }
            }
            "appendices" | "appendix" | "subappendices" => {
                self.appendix = true;
                self.heads = [0; 8];
            }
            "itemize" | "compactitem" | "asparaitem" | "inparaitem" | "list" | "trivlist"
            | "itemize@" => {
                self.optional();
                if name == "list" {
                    self.argument();
                    self.argument();
                }
                self.list(name, false, None);
            }
            "enumerate" | "compactenum" | "inparaenum" | "asparaenum" | "enumerate@" => {
                self.optional();
                self.list(name, true, None);
            }
            "description" | "compactdesc" | "labeling" => {
                self.optional();
                self.list(name, false, Some("def-list"));
            }
            "figure" | "wrapfigure" | "SCfigure" | "sidewaysfigure" | "subfigure"
            | "teaserfigure" | "floatingfigure" | "marginfigure" | "figwindow" => {
                self.float(name, Kind::Figure)
            }
            "table" | "wraptable" | "sidewaystable" | "subtable" | "margintable" | "SCtable"
            | "threeparttable" => {
                if plain == "threeparttable"
                    && self.frames.iter().any(|frame| matches!(frame.open, Open::Float { .. }))
                {
                    return;
                }
                self.float(name, Kind::Table);
            }
            "algorithm" | "algorithm2e" => self.float(name, Kind::Code),
            "algorithmic" | "algorithmicx" => {
                self.optional();
                let role = Some("algorithm".to_owned());
                if !self.frames.iter().any(|frame| frame.name.starts_with("algorithm")) {
                    self.open(name, Open::Quote { role, label: None, caption: None });
                }
            }
            "tabular" | "tabularx" | "tabulary" | "longtable" | "supertabular" | "xtabular"
            | "tabular@" | "longtabu" | "tabu" | "mpsupertabular" | "NiceTabular" | "tblr"
            | "array" | "xltabular" | "deluxetable" | "longtblr" => {
                self.optional();
                if plain != name
                    && plain != "longtable"
                    && plain != "supertabular"
                    && plain != "deluxetable"
                    || matches!(plain, "tabularx" | "tabulary" | "xltabular")
                {
                    self.argument();
                }
                self.optional();
                self.argument();
                self.table(name);
            }
            "tabbing" => self.open(
                name,
                Open::Quote { role: Some("tabbing".to_owned()), label: None, caption: None },
            ),
            "quote" | "quotation" | "verse" | "displayquote" | "quoting" => {
                self.optional();
                self.open(name, Open::Quote { role: None, label: None, caption: None });
            }
            "proof" => {
                let tokens = self.optional();
                let caption = tokens.and_then(|tokens| self.capture_lines(tokens));
                let label = Some(caption.unwrap_or_else(|| "Proof".to_owned()));
                self.open(
                    name,
                    Open::Quote { role: Some("proof".to_owned()), label, caption: None },
                );
            }
            "thebibliography" | "references" | "biblist" => {
                if name == "thebibliography" {
                    self.argument();
                }
                self.begin_references(name);
            }
            "minipage" | "multicols" | "adjustbox" | "subequations" | "spacing"
            | "otherlanguage" | "paracol" | "tcolorbox" | "mdframed" | "framed" | "adjustwidth"
            | "textblock" | "column" | "columns" | "frame" | "resizebox" => {
                self.optional();
                self.optional();
                self.optional();
                if matches!(
                    plain,
                    "minipage"
                        | "multicols"
                        | "adjustbox"
                        | "spacing"
                        | "otherlanguage"
                        | "textblock"
                        | "column"
                ) {
                    self.argument();
                }
                self.optional();
                if plain == "frame"
                    && let Some(Token::Open) = self.peek()
                {
                    self.heading(2);
                }
            }
            _ => self.begin_theorem(name),
        }
    }

    pub(crate) fn peek(&mut self) -> Option<Token> {
        self.skip_spaces();
        let token = self.next()?;
        self.push_back(token.clone());
        Some(token)
    }

    pub(crate) fn end(&mut self, name: &str) {
        if let Some((_, end)) = self.environments.get(name).cloned() {
            return self.expand(&end);
        }
        match name.trim_end_matches('*') {
            "document" => self.end_document(),
            "thebibliography" | "references" | "biblist" => self.end_references(name),
            "center" | "flushleft" | "flushright" | "minipage" | "titlepage" | "multicols" => {
                if self.speaks() && !matches!(self.frame().open, Open::Table { .. }) {
                    self.frame().end_paragraph();
                }
            }
            "acknowledgments" | "acknowledgements" | "acknowledgement" | "acknowledgment"
            | "acks" | "ack" => self.flush(),
            _ => self.close(name),
        }
    }

    pub(crate) fn list(&mut self, name: &str, ordered: bool, role: Option<&'static str>) {
        self.open(name, Open::List { ordered, role, items: Vec::new(), label: None, begun: false });
    }

    pub(crate) fn float(&mut self, name: &str, kind: Kind) {
        self.optional();
        let plain = name.trim_end_matches('*');
        match plain {
            "wrapfigure" | "wraptable" => {
                self.argument();
                self.optional();
                self.argument();
            }
            "subfigure" | "subtable" | "floatingfigure" => {
                self.optional();
                self.argument();
            }
            "SCfigure" | "SCtable" => {
                self.optional();
            }
            _ => {}
        }
        self.open(name, Open::Float { kind, label: None, captions: Vec::new(), files: Vec::new() });
    }

    pub(crate) fn table(&mut self, name: &str) {
        let open = Open::Table {
            rows: Vec::new(),
            row: Vec::new(),
            spans: Vec::new(),
            header_rows: 0,
            ruled: false,
            caption: None,
            cell: (1, 1),
        };
        self.open(name, open);
    }

    pub(crate) fn begin_theorem(&mut self, name: &str) {
        let plain = name.trim_end_matches('*');
        let known = self.theorems.get(plain).cloned();
        let known =
            known.or_else(|| theorem(plain).map(|title| (title.to_owned(), plain.to_owned())));
        let Some((title, counter)) = known else {
            if !self.speaks() {
                return;
            }
            // An unknown environment: its text is read, its options are not.
            if !matches!(self.frame().open, Open::Table { .. })
                && !matches!(name, "center" | "flushleft" | "flushright")
            {
                self.optional();
            }
            return;
        };
        let tokens = self.optional();
        let caption = tokens.and_then(|tokens| self.capture_lines(tokens));
        let label = if counter.is_empty() || plain != name {
            title.clone()
        } else if self.speaks() {
            let number = self.count(&counter);
            self.anchor = Anchor { kind: title.clone(), number: number.clone() };
            format!("{title} {number}")
        } else {
            title.clone()
        };
        self.open(name, Open::Quote { role: Some(plain.to_owned()), label: Some(label), caption });
    }

    pub(crate) fn verbatim(&mut self, name: &str) {
        let end = format!("\\end{{{name}}}");
        let mut text = match self.source() {
            Some(source) => source.raw_until(&end),
            None => written(&self.environment(name)),
        };
        let mut role = None;
        let mut caption = None;
        if matches!(name, "lstlisting" | "minted" | "Verbatim" | "verbatim*" | "lstlisting*") {
            let mut rest = text.as_str();
            if let Some(options) = rest.trim_start_matches([' ', '\n']).strip_prefix('[')
                && let Some((options, behind)) = options.split_once(']')
            {
                for option in options.split(',') {
                    let value =
                        option.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
                    match value {
                        Some(("language", value)) => role = Some(value.replace(['{', '}'], "")),
                        Some(("caption", value)) => caption = lines(&value.replace(['{', '}'], "")),
                        _ => {}
                    }
                }
                rest = behind;
            }
            if name == "minted"
                && let Some((language, behind)) =
                    rest.strip_prefix('{').and_then(|rest| rest.split_once('}'))
            {
                role = Some(language.to_owned());
                rest = behind;
            }
            text = rest.to_owned();
        }
        let text = text.trim_matches('\n').trim_end().to_owned();
        if !text.is_empty() {
            let role = role.filter(|role| !role.is_empty());
            self.block(Block { role, caption, ..Block::new(Kind::Code, text) });
        }
    }

    pub(crate) fn skip_environment(&mut self, name: &str) {
        let end = format!("\\end{{{name}}}");
        match self.source() {
            Some(source) => {
                source.raw_until(&end);
            }
            None => {
                self.environment(name);
            }
        }
        if matches!(
            name,
            "tikzpicture" | "picture" | "pspicture" | "tikzcd" | "pgfpicture" | "xy" | "feynman"
        ) && self.speaks()
        {
            self.warn("drawing", "a drawing in TeX is not read");
        }
    }
}

/// Undefined environments that are read as boxes, with their names.
pub(crate) fn theorem(name: &str) -> Option<&'static str> {
    Some(match name {
        "theorem" | "thm" => "Theorem",
        "lemma" | "lem" => "Lemma",
        "proposition" | "prop" => "Proposition",
        "corollary" | "cor" => "Corollary",
        "definition" | "defn" => "Definition",
        "remark" | "rem" => "Remark",
        "example" => "Example",
        "conjecture" => "Conjecture",
        "claim" => "Claim",
        "assumption" => "Assumption",
        _ => return None,
    })
}
