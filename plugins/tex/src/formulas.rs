//! Formulas: inside lines and displayed.

use carrel_pdk::document::{Block, Kind};

use crate::engine::{Anchor, Engine};
use crate::token::{Token, written};

impl Engine<'_> {
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
    pub(crate) fn math_until(&mut self, end: &str) {
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
                [number] => Some(format!("({number})")),
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
}

/// Bytes of one formula.
pub(crate) const LONGEST: usize = 100_000;
