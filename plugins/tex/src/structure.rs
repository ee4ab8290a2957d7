//! Commands and environments that make the document's structure.

use carrel_pdk::document::{Block, Kind, Section};
use carrel_pdk::text::{Script, write_script};

use crate::builder::{LINE, Open, flatten, lines, one_line};
use crate::commands;
use crate::engine::{Anchor, Engine};
use crate::people::AND;
use crate::token::{Token, written};

/// Bytes of one formula.
const LONGEST: usize = 100_000;

/// Levels of headings: a part is 0.
fn level(name: &str) -> Option<usize> {
    Some(match name {
        "part" => 0,
        "chapter" => 1,
        "section" => 2,
        "subsection" => 3,
        "subsubsection" => 4,
        "paragraph" => 5,
        "subparagraph" => 6,
        _ => return None,
    })
}

/// Environments that are read as boxes when nobody defines them, with what they are called.
fn theorem(name: &str) -> Option<&'static str> {
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

impl Engine<'_> {
    /// Headings, lists, floats, text as it is.
    #[inline(never)]
    pub(crate) fn structure(&mut self, name: &str) -> bool {
        match name {
            "begin" => {
                let name = self.argument_name();
                self.begin(&name);
            }
            "end" => {
                let name = self.argument_name();
                self.end(&name);
            }
            "\\" | "newline" | "tabularnewline" | "cr" | "crcr" => {
                if name == "\\" || name == "newline" {
                    self.line_end()
                } else if matches!(self.frame().open, Open::Table { .. }) {
                    self.frame().end_row();
                }
            }
            "par" => {
                if self.speaks() {
                    self.frame().end_paragraph();
                }
            }
            "item" => self.item(),
            "caption" | "subcaption" | "captionof" | "tablecaption" | "topcaption"
            | "bottomcaption" | "figcaption" => {
                self.caption(name);
            }
            "subfloat" | "subfigure" | "subfig" => self.subfloat(),
            "includegraphics" | "plotone" | "epsfig" | "psfig" | "epsfbox" | "plottwo" => {
                self.picture(name)
            }
            "multicolumn" => {
                let columns = self.argument_name().parse().unwrap_or(1);
                self.argument();
                if let Open::Table { cell, .. } = &mut self.frame().open {
                    cell.0 = usize::min(columns, 200).max(1);
                }
            }
            "multirow" => {
                self.optional();
                let rows = self.argument_name().parse::<i64>().unwrap_or(1);
                self.optional();
                self.argument();
                self.optional();
                if let (Open::Table { cell, .. }, 1..=1000) = (&mut self.frame().open, rows) {
                    cell.1 = rows as usize;
                }
            }
            "hline" | "midrule" | "cmidrule" | "cline" | "endhead" | "Xhline" | "colrule"
            | "specialrule" => {
                self.optional();
                if matches!(name, "cmidrule") && self.next() == Some(Token::Char('(')) {
                    self.until(&[Token::Char(')')]);
                }
                match name {
                    "cline" | "Xhline" | "cmidrule" => {
                        self.argument();
                    }
                    "specialrule" => {
                        for _ in 0..3 {
                            self.argument();
                        }
                    }
                    _ => {}
                }
                if matches!(name, "hline" | "midrule" | "endhead" | "colrule") {
                    self.frame().rule();
                }
            }
            "footnote" | "footnotetext" | "endnote" | "tablefootnote" | "thanks"
            | "tablenotetext" => self.footnote(name),
            "verb" | "lstinline" | "Verb" | "mintinline" => self.verb(name),
            "(" => self.math_until(")"),
            "[" => self.math_until("]"),
            "ensuremath" => {
                let tokens = self.argument();
                let tokens = self.expanded(tokens);
                self.formula(&tokens);
            }
            "appendix" | "appendices" => {
                self.appendix = true;
                self.heads = [0; 8];
            }
            "textsuperscript" | "textsubscript" | "up" | "fup" | "textsu" => {
                if let Some(text) = self.argument_text().filter(|_| !self.in_author) {
                    let script = if name == "textsubscript" { Script::Sub } else { Script::Super };
                    let mut out = String::new();
                    write_script(script, &text, &mut out);
                    self.text(&out);
                }
            }
            "enquote" | "say" | "textquote" => {
                self.optional();
                self.star();
                let tokens = self.argument();
                let text = self.capture_lines(tokens).unwrap_or_default();
                self.text(&format!("“{text}”"));
            }
            "input" | "include" | "subfile" | "subfileinclude" | "import" | "subimport"
            | "InputIfFileExists" | "@input" => {
                self.take_in(name);
            }
            "xspace" => {
                let next = self.next();
                let joins = match &next {
                    Some(Token::Char(one)) => ".,'/?;:!~-)]".contains(*one),
                    Some(Token::Command(name)) => {
                        matches!(&**name, "/" | " " | "," | "-" | "xspace")
                    }
                    _ => true,
                };
                if let Some(token) = next {
                    self.push_back(token);
                }
                self.text(if joins { "" } else { " " });
            }
            "makecell" | "shortstack" | "thead" | "specialcell" | "Centerstack" | "makecell*" => {
                self.star();
                self.optional();
                let tokens = self.argument();
                let text = self.capture_lines(tokens).unwrap_or_default();
                self.text(&text.replace('\n', "\u{2028}"));
            }
            "vskip" | "hskip" | "kern" | "mkern" | "mskip" | "baselineskip" | "parskip"
            | "parindent" | "textwidth" | "textheight" | "topmargin" | "oddsidemargin"
            | "evensidemargin" | "headheight" | "headsep" | "footskip" | "hsize" | "vsize"
            | "voffset" | "hoffset" | "leftskip" | "rightskip" | "columnsep" | "tabcolsep"
            | "arraycolsep" | "topskip" | "raise" | "lower" | "moveleft" | "moveright"
            | "abovedisplayskip" | "belowdisplayskip" | "magnification" | "hangindent"
            | "unitlength" | "fboxsep" | "arrayrulewidth" | "marginparwidth" | "itemsep"
            | "parsep" | "topsep" | "leftmargin" | "widowpenalty" | "clubpenalty"
            | "interlinepenalty" | "advance" | "pageno" => {
                self.dimension();
            }
            "quad" | "qquad" | "hfill" | "hspace" if self.in_author => {
                if name == "hspace" {
                    self.star();
                    self.argument();
                }
                self.text(", ");
            }
            "colhead" => {
                let tokens = self.argument();
                self.push_tokens(tokens);
            }
            "startdata" => self.frame().rule(),
            "tablehead" | "tablefirsthead" => {
                let tokens = self.argument();
                self.push_tokens([tokens, vec![Token::Command("\\".into())]].concat());
            }
            "State" | "STATE" | "Statex" | "Require" | "Ensure" | "REQUIRE" | "ENSURE"
            | "Input" | "Output" | "INPUT" | "OUTPUT" | "KwIn" | "KwOut" | "KwData"
            | "KwResult" | "If" | "IF" | "ElsIf" | "ELSIF" | "Else" | "ELSE" | "EndIf"
            | "ENDIF" | "For" | "FOR" | "ForAll" | "EndFor" | "ENDFOR" | "While" | "WHILE"
            | "EndWhile" | "ENDWHILE" | "Return" | "RETURN" | "Function" | "EndFunction"
            | "Procedure" | "EndProcedure" => self.step_of_algorithm(name),
            _ => match level(name) {
                Some(level) => self.heading(level),
                None => return false,
            },
        }
        true
    }

    /// Passes over what is assigned to a length of plain TeX: `=1.5cm plus 2pt`.
    fn dimension(&mut self) {
        let mut letters = 0;
        let mut digits = false;
        for _ in 0..60 {
            let Some(token) = self.next() else { return };
            match &token {
                Token::Space if letters == 0 => {}
                Token::Char('=' | '-' | '+' | '.') if letters == 0 => {}
                Token::Char(one) if one.is_ascii_digit() && letters == 0 => digits = true,
                Token::Char(one) if one.is_ascii_lowercase() && digits && letters < 2 => {
                    letters += 1
                }
                Token::Command(name)
                    if letters == 0 && !crate::commands::is_structural(name) && name.len() > 3 =>
                {
                    if digits {
                        return;
                    }
                    digits = true;
                    letters = 2;
                }
                Token::Space => return self.stretch(),
                _ => return self.push_back(token),
            }
        }
    }

    /// Passes over ` plus 1pt minus 1pt`.
    fn stretch(&mut self) {
        for word in ["plus", "minus"] {
            let mut taken = Vec::new();
            for wanted in word.chars() {
                match self.next() {
                    Some(token) => {
                        let same = token == Token::Char(wanted);
                        taken.push(token);
                        if !same {
                            break;
                        }
                    }
                    None => break,
                }
            }
            let whole = taken.len() == word.len()
                && taken.last() == word.chars().last().map(Token::Char).as_ref();
            if !whole {
                return self.push_tokens(taken);
            }
            let mut letters = 0;
            for _ in 0..20 {
                match self.next() {
                    Some(Token::Space) if letters == 0 => {}
                    Some(Token::Char(one))
                        if letters == 0 && (one.is_ascii_digit() || ".-".contains(one)) => {}
                    Some(Token::Char(one)) if letters < 5 && one.is_ascii_lowercase() => {
                        letters += 1
                    }
                    Some(Token::Space) => break,
                    Some(other) => {
                        self.push_back(other);
                        break;
                    }
                    None => return,
                }
            }
        }
    }

    fn step_of_algorithm(&mut self, name: &str) {
        let inside = self.frames.iter().any(|frame| frame.name.starts_with("algorithm"));
        if !inside {
            return;
        }
        let word = match name {
            "State" | "STATE" | "Statex" => String::new(),
            other => format!(
                "{} ",
                other
                    .to_lowercase()
                    .trim_start_matches("kw")
                    .replace("endi", "end i")
                    .replace("endf", "end f")
                    .replace("endw", "end w")
            ),
        };
        self.text(&format!("{LINE}{word}"));
    }

    fn heading(&mut self, level: usize) {
        let star = self.star();
        self.optional();
        let tokens = self.argument();
        let heading = self.capture_lines(tokens).and_then(|text| one_line(&text));
        if !self.speaks() {
            return;
        }
        let mut label = None;
        if !star && level < 7 {
            let counter = &mut self.heads[level];
            *counter += 1;
            for deeper in &mut self.heads[level + 1..] {
                *deeper = 0;
            }
            if level <= 4 {
                label = Some(self.section_number(level));
                let kind = if self.appendix { "Appendix" } else { "Section" };
                let kind = if level == 1 && !self.appendix { "Chapter" } else { kind };
                self.anchor =
                    Anchor { kind: kind.to_owned(), number: label.clone().unwrap_or_default() };
            }
            if level <= 2 && self.numbered_within {
                for counter in ["equation", "figure", "table"] {
                    self.counters.remove(counter);
                }
            }
        }
        // A heading inside a box or an abstract that has no end.
        if self.frames.len() > 1 {
            let text = heading;
            return self.block(Block { text, ..Block::empty(Kind::Heading) });
        }
        self.flush();
        let level = level as u32;
        let kind = heading
            .as_deref()
            .filter(|heading| is_references(heading))
            .map(|_| "references".to_owned());
        self.sections.push(Section { heading, level, label, kind, ..Section::default() });
    }

    fn section_number(&self, level: usize) -> String {
        let first = if level == 0 {
            0
        } else if self.heads[1] > 0 {
            1
        } else {
            2
        };
        let mut parts = Vec::new();
        for at in first..=level {
            let number = self.heads[at];
            let outermost = at == first;
            parts.push(if self.appendix && outermost && (1..=26).contains(&number) {
                char::from(b'A' + (number as u8 - 1)).to_string()
            } else {
                number.to_string()
            });
        }
        parts.join(".")
    }

    /// The next number of a counter.
    pub(crate) fn count(&mut self, counter: &str) -> String {
        let number = self.counters.entry(counter.to_owned()).or_default();
        *number += 1;
        let number = *number;
        if self.numbered_within && counter == "equation" {
            let outer = if self.heads[1] > 0 { self.heads[1] } else { self.heads[2] };
            return format!("{outer}.{number}");
        }
        if self.heads[1] > 0 && matches!(counter, "equation" | "figure" | "table") {
            return format!("{}.{number}", self.heads[1]);
        }
        number.to_string()
    }

    fn item(&mut self) {
        let tokens = self.optional();
        let label =
            tokens.and_then(|tokens| self.capture_lines(tokens)).and_then(|text| one_line(&text));
        if !self.speaks() {
            return;
        }
        let base = self.frames.iter().rposition(|frame| frame.name.is_empty()).unwrap_or(0);
        let list = self.frames.iter().rposition(|frame| matches!(frame.open, Open::List { .. }));
        if let Some(at) = list.filter(|&at| at > base) {
            self.close_frames(at + 1);
            let frame = self.frame();
            frame.item(label);
            if let Open::List { ordered: true, items, .. } = &frame.open {
                let number = (items.len() + 1).to_string();
                self.anchor = Anchor { kind: "Item".to_owned(), number };
            }
        } else {
            self.text(&format!("{LINE}{} ", label.unwrap_or_default()));
        }
    }

    fn caption(&mut self, name: &str) {
        self.star();
        if name == "captionof" {
            self.argument();
        }
        self.optional();
        let tokens = self.argument();
        let Some(text) = self.capture_lines(tokens) else { return };
        if !self.speaks() {
            return;
        }
        let float = self
            .frames
            .iter()
            .rposition(|frame| matches!(frame.open, Open::Float { .. } | Open::Table { .. }));
        let Some(at) = float else {
            return self.block(Block {
                role: Some("caption".to_owned()),
                ..Block::new(Kind::Paragraph, text)
            });
        };
        let counter = match &self.frames[at].open {
            Open::Float { kind: Kind::Code, .. } => "algorithm",
            Open::Float { kind: Kind::Table, .. } | Open::Table { .. } => "table",
            _ => "figure",
        };
        let sub = self.frames[at].name.starts_with("sub") || name == "subcaption";
        let number = if sub { String::new() } else { self.count(counter) };
        let kind = match counter {
            "table" => "Table",
            "algorithm" => "Algorithm",
            _ => "Figure",
        };
        if !sub {
            self.anchor = Anchor { kind: kind.to_owned(), number: number.clone() };
        }
        let printed = (!sub).then(|| format!("{kind} {number}"));
        match &mut self.frames[at].open {
            Open::Float { label, captions, .. } => {
                if label.is_none() {
                    *label = printed;
                }
                captions.push(text);
            }
            Open::Table { caption, .. } => *caption = Some(text),
            _ => {}
        }
    }

    fn subfloat(&mut self) {
        let caption = self.optional();
        let tokens = self.argument();
        let blocks = self.capture(tokens);
        let text = caption.and_then(|caption| self.capture_lines(caption));
        if !self.speaks() {
            return;
        }
        let mut blocks = blocks;
        match blocks.iter_mut().find(|block| block.kind == Kind::Figure && block.caption.is_none())
        {
            Some(figure) => figure.caption = text,
            None => {
                if text.is_some() {
                    blocks.push(Block { caption: text, ..Block::empty(Kind::Figure) });
                }
            }
        }
        for block in blocks {
            self.block(block);
        }
    }

    fn picture(&mut self, name: &str) {
        self.star();
        self.optional();
        self.optional();
        let mut file = self.argument_name();
        if matches!(name, "epsfig" | "psfig") {
            let found = file.split(',').find_map(|part| {
                let (key, value) = part.split_once('=')?;
                matches!(key.trim(), "file" | "figure").then(|| value.trim().to_owned())
            });
            file = found.unwrap_or_default();
        }
        let file = file.replace(['{', '}'], "").trim().to_owned();
        if file.is_empty() || !self.speaks() {
            return;
        }
        let frame = self.frame();
        if let Open::Float { files, .. } = &mut frame.open {
            files.push(file);
        } else if !matches!(frame.open, Open::Table { .. }) {
            self.block(Block { href: Some(file), ..Block::empty(Kind::Figure) });
        }
    }

    fn footnote(&mut self, name: &str) {
        self.optional();
        let tokens = self.argument();
        let blocks = self.capture(tokens);
        if self.in_author || blocks.is_empty() || !self.speaks() {
            if name == "thanks" || self.in_author {
                let mut text = String::new();
                flatten(blocks, &mut text, &mut Vec::new());
                self.state("note", &text, "\\thanks");
            }
            return;
        }
        let label = (name != "thanks").then(|| self.count("footnote"));
        if let Some(label) = label.as_deref().filter(|_| name != "footnotetext") {
            let mut mark = String::new();
            write_script(Script::Super, label, &mut mark);
            self.text(&mark);
        }
        let mut blocks = blocks;
        let first = blocks.first();
        let plain =
            first.is_some_and(|first| first.kind == Kind::Paragraph && first.blocks.is_empty());
        let text = if plain { blocks.remove(0).text } else { None };
        self.frame().note(Block { label, text, blocks, ..Block::empty(Kind::Footnote) });
    }

    fn verb(&mut self, name: &str) {
        let text = match self.source() {
            Some(source) => {
                let mut end = source.raw_char();
                if end == Some('*') {
                    end = source.raw_char();
                }
                if end == Some('[') {
                    source.raw_until("]");
                    end = source.raw_char();
                }
                if name == "mintinline" && end == Some('{') {
                    source.raw_until("}");
                    end = source.raw_char();
                }
                match end {
                    Some('{') => source.raw_until("}"),
                    Some(end) => source.raw_until(&end.to_string()),
                    None => String::new(),
                }
            }
            None => {
                self.optional();
                if name == "mintinline" {
                    self.argument();
                }
                match self.next() {
                    Some(Token::Open) => written(&self.group()),
                    Some(end) => written(&self.until(&[end])),
                    None => String::new(),
                }
            }
        };
        self.text(&text.replace('\n', " "));
    }

    /// The tokens with the document's macros expanded.
    pub(crate) fn expanded(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        if tokens
            .iter()
            .all(|token| !matches!(token, Token::Command(name) if self.macros.contains_key(name)))
        {
            return tokens;
        }
        let count = tokens.len();
        let mark = Token::Command("carrel@end".into());
        self.push_tokens([tokens, vec![mark.clone()]].concat());
        let mut out = Vec::with_capacity(count);
        while let Some(token) = self.next_expanded() {
            if token == mark {
                break;
            }
            out.push(token);
            if out.len() > LONGEST * 4 {
                break;
            }
        }
        out
    }

    /// `\(` and `\[`.
    fn math_until(&mut self, end: &str) {
        let mut out = Vec::new();
        while let Some(token) = self.next_expanded() {
            if matches!(&token, Token::Command(name) if **name == *end) {
                break;
            }
            if token == Token::Paragraph && end == ")" {
                self.push_back(token);
                break;
            }
            out.push(token);
            if out.len() > LONGEST {
                break;
            }
        }
        if end == ")" { self.formula(&out) } else { self.equation("\\[", out) }
    }

    /// A formula of its own.
    pub(crate) fn equation(&mut self, name: &str, tokens: Vec<Token>) {
        let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
        let mut keys: Vec<(usize, String)> = Vec::new();
        let mut rows = 1_usize;
        let mut unnumbered = std::collections::HashSet::new();
        let mut tag = None;
        let mut several = false;
        let mut tokens = tokens.into_iter().peekable();
        let mut inner = 0_i32;
        let argument = |tokens: &mut std::iter::Peekable<std::vec::IntoIter<Token>>| {
            while tokens.next_if_eq(&Token::Space).is_some() {}
            let mut depth = 0;
            let mut out = Vec::new();
            for token in tokens.by_ref() {
                match token {
                    Token::Open => depth += 1,
                    Token::Close => depth -= 1,
                    _ => {}
                }
                out.push(token);
                if depth <= 0 {
                    break;
                }
            }
            let out = written(&out);
            out.trim_start_matches('{').trim_end_matches('}').to_owned()
        };
        while let Some(token) = tokens.next() {
            if let Token::Command(name) = &token {
                match &**name {
                    "label" => {
                        let key = argument(&mut tokens);
                        keys.push((rows, key));
                        continue;
                    }
                    "tag" => {
                        tag = Some(argument(&mut tokens).trim_start_matches("*{").to_owned());
                        unnumbered.insert(rows);
                        continue;
                    }
                    "nonumber" | "notag" => {
                        unnumbered.insert(rows);
                        continue;
                    }
                    "begin" => inner += 1,
                    "end" => inner -= 1,
                    "\\" if inner == 0 => {
                        rows += 1;
                        several = true;
                    }
                    _ => {}
                }
            }
            several |= token == Token::Align && inner == 0;
            out.push(token);
        }
        let mut tex = written(&out);
        if tex.ends_with("\\\\") {
            tex.truncate(tex.len() - 2);
            rows = rows.saturating_sub(1).max(1);
        }
        let tex = tex.trim().to_owned();
        if tex.is_empty() || tex.len() > LONGEST * 4 {
            return;
        }
        let plain = name.trim_end_matches('*');
        let counts =
            !name.ends_with('*') && !matches!(plain, "$$" | "\\[" | "displaymath" | "math");
        let single = matches!(plain, "equation" | "multline" | "dmath");
        let mut label = tag.map(|tag| format!("({tag})"));
        if counts && self.speaks() {
            let mut numbers = Vec::new();
            for row in 1..=(if single { 1 } else { rows }).min(500) {
                if unnumbered.contains(&row) && !(single && label.is_none()) {
                    continue;
                }
                if single && !unnumbered.is_empty() {
                    continue;
                }
                let number = self.count("equation");
                let of_row = |at: usize| if single { 1 } else { at };
                for (_, key) in keys.iter().filter(|(at, _)| of_row(*at) == row) {
                    let anchor = Anchor { kind: "Equation".to_owned(), number: number.clone() };
                    self.labels.insert(key.clone(), anchor);
                }
                numbers.push(number);
            }
            label = label.or(match numbers.as_slice() {
                [] => None,
                [one] => Some(format!("({one})")),
                [first, .., last] => Some(format!("({first})–({last})")),
            });
        }
        let inside = match plain {
            _ if !several => tex,
            "gather" => format!("\\begin{{gathered}}{tex}\\end{{gathered}}"),
            "$$" | "\\[" | "equation" | "displaymath" if !tex.contains('&') => tex,
            _ => format!("\\begin{{aligned}}{tex}\\end{{aligned}}"),
        };
        self.block(Block { tex: Some(inside), label, ..Block::empty(Kind::Equation) });
    }

    /// The tokens up to the end of an environment, with the document's macros expanded.
    fn environment(&mut self, name: &str) -> Vec<Token> {
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
                // A formula never holds the end of what it is in.
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

    fn begin(&mut self, name: &str) {
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
                    // In the preamble it is read by itself.
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

    fn peek(&mut self) -> Option<Token> {
        self.skip_spaces();
        let token = self.next()?;
        self.push_back(token.clone());
        Some(token)
    }

    fn end(&mut self, name: &str) {
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

    fn list(&mut self, name: &str, ordered: bool, role: Option<&'static str>) {
        self.open(name, Open::List { ordered, role, items: Vec::new(), label: None, begun: false });
    }

    fn float(&mut self, name: &str, kind: Kind) {
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

    fn table(&mut self, name: &str) {
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

    fn begin_theorem(&mut self, name: &str) {
        let plain = name.trim_end_matches('*');
        let known = self.theorems.get(plain).cloned();
        let known =
            known.or_else(|| theorem(plain).map(|title| (title.to_owned(), plain.to_owned())));
        let Some((title, counter)) = known else {
            if !self.speaks() {
                return;
            }
            // An environment that nobody knows: its text is read, its options are not.
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

    fn verbatim(&mut self, name: &str) {
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

    fn skip_environment(&mut self, name: &str) {
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

    fn take_in(&mut self, name: &str) {
        let folder = if matches!(name, "import" | "subimport") {
            self.star();
            format!("{}/", self.argument_name())
        } else {
            String::new()
        };
        let file = match self.peek() {
            Some(Token::Open) => self.argument_name(),
            // Plain TeX ends the name at a space.
            _ => {
                let mut file = String::new();
                while let Some(token) = self.next() {
                    match token {
                        Token::Char(one) if file.len() < 300 => file.push(one),
                        _ => break,
                    }
                }
                file
            }
        };
        let wanted = format!("{folder}{file}");
        match self.find(&wanted, &[".tex", "", ".ltx", ".TEX"]) {
            Some(found) => {
                let code = [
                    ".tex", ".ltx", ".bbl", ".txt", ".sty", ".cls", ".def", ".clo", ".tikz",
                    ".TEX", ".toc", ".aux",
                ];
                let other = !code.iter().any(|ending| found.path.ends_with(ending))
                    && found.path.contains('.');
                if other && found.bytes.contains(&0) {
                    return;
                }
                if found.path.ends_with(".tikz")
                    || found.path.ends_with(".aux")
                    || found.path.ends_with(".toc")
                {
                    return;
                }
                let style = [".sty", ".cls", ".def", ".clo"]
                    .iter()
                    .any(|ending| found.path.ends_with(ending));
                if name != "input" && name != "@input" && self.speaks() && self.frames.len() == 1 {
                    self.frame().end_paragraph();
                }
                self.input(found, style);
            }
            None if self.speaks() && !matches!(name, "InputIfFileExists" | "@input") => {
                let message = format!("the file {wanted} is not in the e-print");
                self.warn("missing_input", &message);
            }
            None => {}
        }
    }

    /// Text of the front that is no text of the document.
    pub(crate) fn aside(&mut self, name: &str, text: &str) {
        if name == "keyword" {
            let text = text.replace(AND, ",").replace('\u{2028}', " ");
            for word in text.split([',', ';', '·', '•']) {
                self.state("keyword", word.trim().trim_end_matches('.'), "\\keywords");
            }
            return;
        }
        self.state(name, text, &format!("\\{name}"));
    }
}

/// Whether a heading stands over a list of references.
pub(crate) fn is_references(heading: &str) -> bool {
    matches!(
        heading.trim_end_matches(['.', ':']).to_lowercase().as_str(),
        "references"
            | "bibliography"
            | "literature cited"
            | "works cited"
            | "références"
            | "bibliographie"
            | "literatur"
            | "literaturverzeichnis"
            | "referencias"
            | "bibliografía"
            | "bibliografia"
            | "riferimenti bibliografici"
            | "список литературы"
            | "参考文献"
    )
}
