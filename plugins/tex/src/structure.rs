//! Commands and environments that make the document's structure.

use carrel_pdk::text::{Script, write_script};

use crate::builder::{LINE, Open, one_line};
use crate::engine::{Anchor, Engine};
use crate::headings::level;
use crate::people::AND;
use crate::token::{Token, written};

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
            "openin" | "openout" => self.skip_opened_file(),
            "xspace" => {
                let next = self.next();
                let joins = match &next {
                    Some(Token::Char(character)) => ".,'/?;:!~-)]".contains(*character),
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

    /// Skips the value assigned to a length in plain TeX: `=1.5cm plus 2pt`.
    fn dimension(&mut self) {
        let mut letters = 0;
        let mut digits = false;
        for _ in 0..60 {
            let Some(token) = self.next() else { return };
            match &token {
                Token::Space if letters == 0 => {}
                Token::Char('=' | '-' | '+' | '.') if letters == 0 => {}
                Token::Char(digit) if digit.is_ascii_digit() && letters == 0 => digits = true,
                Token::Char(letter) if letter.is_ascii_lowercase() && digits && letters < 2 => {
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

    /// Skips ` plus 1pt minus 1pt`.
    fn stretch(&mut self) {
        for word in ["plus", "minus"] {
            let mut taken = Vec::new();
            for expected in word.chars() {
                match self.next() {
                    Some(token) => {
                        let same = token == Token::Char(expected);
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
                    Some(Token::Char(digit))
                        if letters == 0 && (digit.is_ascii_digit() || ".-".contains(digit)) => {}
                    Some(Token::Char(letter)) if letters < 5 && letter.is_ascii_lowercase() => {
                        letters += 1
                    }
                    Some(Token::Space) => break,
                    Some(token) => {
                        self.push_back(token);
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

    /// Skips the number and the name in `\openin NUMBER=NAME`. The name ends at a blank or a
    /// command.
    fn skip_opened_file(&mut self) {
        self.argument();
        while let Some(token) = self.next() {
            match token {
                Token::Char(character) if !character.is_whitespace() => {}
                token => return self.push_back(token),
            }
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
                        Token::Char(character) if file.len() < 300 => file.push(character),
                        _ => break,
                    }
                }
                file
            }
        };
        let path = format!("{folder}{file}");
        match self.find(&path, &[".tex", "", ".ltx", ".TEX"]) {
            Some(found) => {
                let code = [
                    ".tex", ".ltx", ".bbl", ".txt", ".sty", ".cls", ".def", ".clo", ".tikz",
                    ".TEX", ".toc", ".aux",
                ];
                let unknown = !code.iter().any(|ending| found.path.ends_with(ending))
                    && found.path.contains('.');
                if unknown && found.bytes.contains(&0) {
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
                let message = format!("the file {path} is not in the e-print");
                self.warn("missing_input", &message);
            }
            None => {}
        }
    }

    /// Text of the front matter that is not text of the document.
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
