//! TeX's conditionals: evaluates them and skips the other branch.

use crate::engine::Engine;
use crate::token::Token;

impl Engine<'_> {
    /// Evaluates a conditional; `None` if the command is not one.
    pub(crate) fn condition(&mut self, name: &str) -> Option<bool> {
        Some(match name {
            "iftrue" => true,
            "iffalse" => false,
            "ifmmode" | "ifvmode" | "ifinner" | "iflanguage" | "ifvoid" | "ifhbox" | "ifvbox" => {
                false
            }
            "ifhmode" | "ifpdf" | "ifPDFTeX" | "ifpdftex" => true,
            "ifx" | "if" | "ifcat" => {
                let (left, right) = (self.next(), self.next());
                let meaning = |token: &Option<Token>| match token {
                    Some(Token::Command(name)) => self.macros.get(name).map(|def| def.body.clone()),
                    _ => None,
                };
                left == right
                    || (name == "ifx"
                        && meaning(&left).is_some()
                        && meaning(&left) == meaning(&right))
            }
            "ifdefined" => match self.next() {
                Some(Token::Command(name)) => {
                    self.macros.contains_key(&name) || crate::commands::is_known(&name)
                }
                _ => true,
            },
            "ifcsname" => {
                let mut name = String::new();
                while let Some(token) = self.next() {
                    match token {
                        Token::Command(end) if &*end == "endcsname" => break,
                        Token::Char(character) => name.push(character),
                        _ => {}
                    }
                    if name.len() > 200 {
                        break;
                    }
                }
                self.macros.contains_key(name.as_str()) || crate::commands::is_known(&name)
            }
            "ifnum" | "ifdim" => {
                let mut sides = vec![String::new()];
                let mut relation = ' ';
                for _ in 0..40 {
                    match self.next_expanded() {
                        Some(Token::Char(sign @ ('<' | '>' | '='))) => {
                            relation = sign;
                            sides.push(String::new());
                        }
                        Some(Token::Char(c)) if c.is_ascii_digit() || "-.".contains(c) => {
                            if let Some(last) = sides.last_mut() {
                                last.push(c);
                            }
                        }
                        Some(Token::Space)
                            if sides.len() == 1 || sides.last().is_some_and(String::is_empty) => {}
                        Some(Token::Space) | None => break,
                        Some(Token::Char(c)) if c.is_ascii_alphabetic() && name == "ifdim" => {}
                        Some(Token::Command(name)) if &*name == "relax" => break,
                        Some(token) => {
                            self.push_back(token);
                            break;
                        }
                    }
                }
                let number = |at: usize| sides.get(at).and_then(|side| side.parse::<f64>().ok());
                match (number(0), number(1)) {
                    (Some(left), Some(right)) => match relation {
                        '<' => left < right,
                        '>' => left > right,
                        _ => (left - right).abs() < f64::EPSILON,
                    },
                    _ => false,
                }
            }
            // No file is open for reading: a loop over its lines ends at once.
            "ifeof" => {
                self.argument();
                true
            }
            "ifodd" | "ifcase" | "ifundefined" | "iffirstpage" => {
                if name == "ifcase" || name == "ifodd" {
                    self.argument();
                }
                false
            }
            other => *self.flags.get(other)?,
        })
    }

    /// Skips the branch that is not taken. Ends after `\fi`, or after the conditional's `\else`.
    pub(crate) fn skip_branch(&mut self, to_else: bool) {
        let mut depth = 0_u32;
        let file = self.files_open();
        while let Some(token) = self.next() {
            if self.files_open() < file {
                self.push_back(token);
                return;
            }
            let Token::Command(name) = token else { continue };
            match &*name {
                "fi" if depth == 0 => return,
                "fi" => depth -= 1,
                "else" | "or" if depth == 0 && to_else => return,
                "iftoggle" | "ifthenelse" | "ifstrequal" | "ifdef" | "ifundef" | "iff"
                | "ifboolexpr" | "ifblank" | "ifpackageloaded" | "ifbool" => {}
                "newif" => {
                    self.next();
                }
                name if name.starts_with("if") && self.is_condition(name) => depth += 1,
                _ => {}
            }
        }
    }

    pub(crate) fn is_condition(&self, name: &str) -> bool {
        const PRIMITIVES: &[&str] = &[
            "if",
            "ifcat",
            "ifx",
            "ifnum",
            "ifdim",
            "ifodd",
            "ifvmode",
            "ifhmode",
            "ifmmode",
            "ifinner",
            "ifvoid",
            "ifhbox",
            "ifvbox",
            "ifeof",
            "iftrue",
            "iffalse",
            "ifcase",
            "ifdefined",
            "ifcsname",
            "iffontchar",
            "ifpdf",
            "ifPDFTeX",
            "ifxetex",
            "ifluatex",
            "ifpdftex",
        ];
        PRIMITIVES.contains(&name) || self.flags.contains_key(name)
    }
}
