//! Tokens, and the files that they come from.

use std::rc::Rc;

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A command by its name, without the backslash.
    Command(Rc<str>),
    Char(char),
    Open,
    Close,
    Dollar,
    Align,
    Space,
    /// A blank line.
    Paragraph,
    /// A parameter of a macro, from 1.
    Parameter(u8),
}

/// A file being read.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    text: Rc<str>,
    at: usize,
    /// Where the file is in the e-print.
    pub(crate) path: Rc<str>,
    /// `@` is a letter.
    pub(crate) at_letter: bool,
    /// A style file: only its definitions count.
    pub(crate) style: bool,
}

impl Source {
    pub(crate) fn new(text: impl Into<Rc<str>>, path: &str) -> Self {
        Self { text: text.into(), at: 0, path: path.into(), at_letter: false, style: false }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_spaces(&mut self) -> usize {
        let rest = self.rest();
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        self.at += blank;
        blank
    }

    /// The next token; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Token> {
        while self.rest().starts_with('%') {
            let end = self.rest().find('\n').map_or(self.rest().len(), |end| end + 1);
            self.at += end;
            self.skip_spaces();
            // A blank line after a comment still ends the paragraph.
            if self.rest().starts_with(['\n', '\r']) {
                self.lines();
                return Some(Token::Paragraph);
            }
        }
        let rest = self.rest();
        let first = rest.chars().next()?;
        match first {
            '\\' => Some(self.command()),
            '\n' | '\r' => Some(self.lines()),
            ' ' | '\t' | '\u{c}' | '\u{b}' => {
                self.at += 1;
                self.skip_spaces();
                if self.rest().starts_with(['\n', '\r']) {
                    return Some(self.lines());
                }
                Some(Token::Space)
            }
            _ => {
                self.at += first.len_utf8();
                Some(match first {
                    '{' => Token::Open,
                    '}' => Token::Close,
                    '$' => Token::Dollar,
                    '&' => Token::Align,
                    '#' => match self.rest().chars().next().and_then(|digit| digit.to_digit(10)) {
                        Some(digit) if digit > 0 => {
                            self.at += 1;
                            Token::Parameter(digit as u8)
                        }
                        _ => Token::Char('#'),
                    },
                    other => Token::Char(other),
                })
            }
        }
    }

    /// A line's end: a space, or a paragraph's end where blank lines follow.
    fn lines(&mut self) -> Token {
        let mut ends = 0;
        loop {
            let rest = self.rest();
            match rest.as_bytes().first() {
                Some(b'\n') => {
                    ends += 1;
                    self.at += 1;
                }
                Some(b'\r') => {
                    self.at += 1;
                    if !self.rest().starts_with('\n') {
                        ends += 1;
                    }
                }
                Some(b' ' | b'\t') => {
                    self.skip_spaces();
                }
                _ => break,
            }
        }
        if ends > 1 { Token::Paragraph } else { Token::Space }
    }

    fn command(&mut self) -> Token {
        self.at += 1;
        let rest = self.rest();
        let letter = |c: char| c.is_ascii_alphabetic() || (self.at_letter && c == '@');
        let end = rest.find(|c| !letter(c)).unwrap_or(rest.len());
        if end == 0 {
            let Some(sign) = rest.chars().next() else { return Token::Char('\\') };
            self.at += sign.len_utf8();
            let name = if sign.is_whitespace() { " ".into() } else { sign.to_string().into() };
            return Token::Command(name);
        }
        let name: Rc<str> = rest[..end].into();
        self.at += end;
        // Spaces after a command's name are ignored; so is a line's end, unless a blank line
        // follows.
        self.skip_spaces();
        if self.rest().starts_with(['\n', '\r']) {
            let before = self.at;
            if self.lines() == Token::Paragraph {
                self.at = before;
            }
        }
        Token::Command(name)
    }

    /// The raw text up to `end`, or to the file's end if there is no `end`.
    pub(crate) fn raw_until(&mut self, end: &str) -> String {
        let rest = self.rest();
        let (text, length) = match rest.find(end) {
            Some(at) => (rest[..at].to_owned(), at + end.len()),
            None => (rest.to_owned(), rest.len()),
        };
        self.at += length;
        text
    }

    /// The next raw character.
    pub(crate) fn raw_char(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.at += character.len_utf8();
        Some(character)
    }

    /// Ends the file here.
    pub(crate) fn end(&mut self) {
        self.at = self.text.len();
    }
}

/// Tokens as TeX.
pub(crate) fn written(tokens: &[Token]) -> String {
    let mut out = String::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Command(name) => {
                out.push('\\');
                out.push_str(name);
                let word = name.ends_with(|last: char| last.is_ascii_alphabetic());
                let next = tokens.get(at + 1);
                if word && matches!(next, Some(Token::Char(c)) if c.is_ascii_alphabetic()) {
                    out.push(' ');
                }
            }
            Token::Char(c) => out.push(*c),
            Token::Open => out.push('{'),
            Token::Close => out.push('}'),
            Token::Dollar => out.push('$'),
            Token::Align => out.push('&'),
            Token::Space | Token::Paragraph => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            Token::Parameter(number) => out.push_str(&format!("#{number}")),
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        let mut source = Source::new(text, "a.tex");
        std::iter::from_fn(|| source.next()).collect()
    }

    #[test]
    fn comments_and_line_ends_are_read_as_tex_does() {
        let c = Token::Char;
        assert_eq!(tokens("a% b\n  c\n\nd"), [c('a'), c('c'), Token::Paragraph, c('d')]);
        assert_eq!(tokens("\\foo  a"), [Token::Command("foo".into()), c('a')]);
        assert_eq!(tokens("\\%x"), [Token::Command("%".into()), c('x')]);
        assert_eq!(tokens("a\n%\n\nb"), [c('a'), Token::Space, Token::Paragraph, c('b')]);
    }

    #[test]
    fn tokens_are_written_as_they_were_read() {
        let text = "\\frac{a}{\\alpha b}_1 #1";
        assert_eq!(written(&tokens(text)), text);
    }
}
