//! Reads the markup of values: `<i>`, `<b>`, `<sup>`, `<sub>`, small capitals, `nocase`, and straight
//! quotation marks.

use super::{Mark, Node, Quotes, Span};
use crate::style::elements::{FontStyle, Formatting, Vertical, Weight};
use crate::style::options::PLAIN;

/// The deepest nesting; tags below it are dropped.
const DEEPEST: usize = 12;

/// The tags of values.
const TAGS: &[(&str, &str)] = &[
    ("<i>", "</i>"),
    ("<b>", "</b>"),
    ("<sup>", "</sup>"),
    ("<sub>", "</sub>"),
    ("<sc>", "</sc>"),
    ("<span class=\"nocase\">", "</span>"),
    ("<span class=\"nodecor\">", "</span>"),
    ("<span style=\"font-variant:small-caps;\">", "</span>"),
    ("<span style=\"font-variant: small-caps;\">", "</span>"),
];

/// A piece of a value before its tags are paired.
enum Token {
    Text(String),
    /// The index of its tag.
    Open(usize),
    Close(&'static str),
    /// A straight double quotation mark: it can open, it can close.
    Double(bool, bool),
    Single(bool, bool),
    /// One of a pair of quotation marks: it opens, the pair.
    Curly(bool, (char, char)),
}

/// Pairs of quotation marks that are outer ones somewhere.
const PAIRS: &[(char, char)] = &[('“', '”'), ('«', '»')];

/// A prefix or suffix: markup without quotation marks.
pub(crate) fn affix(text: &str) -> Vec<Node> {
    if text.contains('<') { value(text) } else { vec![Node::text(text)] }
}

/// Reads a value.
pub(crate) fn value(text: &str) -> Vec<Node> {
    if !text.contains(['<', '"', '\'', '“', '«']) {
        return vec![Node::text(text)];
    }
    let tokens = pair(tokens(text));
    let mut at = 0;
    let nodes = nodes(&tokens, &mut at, None, 0);
    if nodes.len() > 1 { vec![Node::marked(Mark::Value, nodes)] } else { nodes }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut run = String::new();
    let mut at = 0;
    let mut before: Option<char> = None;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let tag = (c == '<').then(|| tag(rest)).flatten();
        if let Some((token, length)) = tag {
            if !run.is_empty() {
                tokens.push(Token::Text(std::mem::take(&mut run)));
            }
            tokens.push(token);
            at += length;
            continue;
        }
        at += c.len_utf8();
        if c == '"' || c == '\'' {
            let after = following(&text[at..]);
            let opens = before.is_none_or(|b| b.is_whitespace() || "([{“‘\"'/—–-".contains(b))
                && after.is_some_and(|a| !a.is_whitespace());
            let closes = before.is_some_and(|b| !b.is_whitespace())
                && after.is_none_or(|a| !a.is_alphanumeric());
            if opens || closes {
                if !run.is_empty() {
                    tokens.push(Token::Text(std::mem::take(&mut run)));
                }
                tokens.push(if c == '"' {
                    Token::Double(opens, closes)
                } else {
                    Token::Single(opens, closes)
                });
            } else {
                run.push(if c == '"' { '"' } else { '’' });
            }
        } else if let Some(pair) = PAIRS.iter().find(|(open, close)| c == *open || c == *close) {
            if !run.is_empty() {
                tokens.push(Token::Text(std::mem::take(&mut run)));
            }
            tokens.push(Token::Curly(c == pair.0, *pair));
        } else {
            run.push(c);
        }
        before = Some(c);
    }
    if !run.is_empty() {
        tokens.push(Token::Text(run));
    }
    tokens
}

/// The next character that is not of a tag.
fn following(mut rest: &str) -> Option<char> {
    while rest.starts_with('<') {
        match tag(rest) {
            Some((_, length)) => rest = &rest[length..],
            None => break,
        }
    }
    rest.chars().next()
}

/// A tag at the beginning, with its length.
fn tag(rest: &str) -> Option<(Token, usize)> {
    for (index, (open, close)) in TAGS.iter().enumerate() {
        if rest.starts_with(open) {
            return Some((Token::Open(index), open.len()));
        }
        if rest.starts_with(close) {
            return Some((Token::Close(close), close.len()));
        }
    }
    None
}

/// Pairs tags and quotation marks: what has no partner becomes text.
fn pair(mut tokens: Vec<Token>) -> Vec<Token> {
    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        Tag(&'static str),
        Double,
        Single,
        Curly(char),
    }
    let mut open: Vec<(usize, Kind)> = Vec::new();
    let mut paired = vec![false; tokens.len()];
    let mut opener = vec![false; tokens.len()];
    for at in 0..tokens.len() {
        let (kind, opens, closes) = match &tokens[at] {
            Token::Text(_) => continue,
            Token::Open(index) => (Kind::Tag(TAGS[*index].1), true, false),
            Token::Close(name) => (Kind::Tag(name), false, true),
            Token::Double(opens, closes) => (Kind::Double, *opens, *closes),
            Token::Single(opens, closes) => (Kind::Single, *opens, *closes),
            Token::Curly(opens, pair) => (Kind::Curly(pair.0), *opens, !*opens),
        };
        if closes {
            let depth = open.len().saturating_sub(DEEPEST);
            if let Some(found) = open[depth..].iter().rposition(|(_, opened)| *opened == kind) {
                let found = depth + found;
                let crossed = open[found + 1..].iter().any(|(_, k)| matches!(k, Kind::Tag(_)));
                let quote = !matches!(kind, Kind::Tag(_));
                if !(quote && crossed) {
                    paired[at] = true;
                    paired[open[found].0] = true;
                    opener[open[found].0] = true;
                    open.truncate(found);
                    continue;
                }
            }
        }
        if opens && open.len() < 64 {
            open.push((at, kind));
        }
    }
    for (at, token) in tokens.iter_mut().enumerate() {
        if paired[at] {
            if let Token::Double(opens, closes) | Token::Single(opens, closes) = token {
                (*opens, *closes) = (opener[at], !opener[at]);
            }
            continue;
        }
        let text = match token {
            Token::Text(_) => continue,
            Token::Open(index) => TAGS[*index].0.to_owned(),
            Token::Close(name) => (*name).to_owned(),
            Token::Double(..) => "\"".to_owned(),
            Token::Single(..) => "’".to_owned(),
            Token::Curly(true, (open, _)) => open.to_string(),
            Token::Curly(false, (_, close)) => close.to_string(),
        };
        *token = Token::Text(text);
    }
    tokens
}

/// Reads nodes up to the end of the open tag.
fn nodes(tokens: &[Token], at: &mut usize, inside: Option<usize>, depth: usize) -> Vec<Node> {
    let mut out: Vec<Node> = Vec::new();
    while let Some(token) = tokens.get(*at) {
        *at += 1;
        let span = match token {
            Token::Text(text) => {
                match out.last_mut() {
                    Some(Node::Text(last)) => last.push_str(text),
                    _ => out.push(Node::text(text.clone())),
                }
                continue;
            }
            Token::Close(_)
            | Token::Double(_, true)
            | Token::Single(_, true)
            | Token::Curly(false, _) => {
                if inside.is_some() {
                    return out;
                }
                continue;
            }
            Token::Open(index) => opened(*index),
            Token::Curly(_, (open, close)) => {
                Span { quotes: Quotes::Given(*open, *close), ..Span::default() }
            }
            Token::Double(..) | Token::Single(..) => {
                Span { quotes: Quotes::Quoted, ..Span::default() }
            }
        };
        let children = nodes(tokens, at, Some(*at), depth + 1);
        if depth >= DEEPEST {
            out.extend(children);
        } else {
            out.push(Node::Span(Box::new(Span { children, ..span })));
        }
    }
    out
}

fn opened(index: usize) -> Span {
    let formatting = match index {
        0 => Formatting { style: Some(FontStyle::Italic), ..PLAIN },
        1 => Formatting { weight: Some(Weight::Bold), ..PLAIN },
        2 => Formatting { vertical: Some(Vertical::Superscript), ..PLAIN },
        3 => Formatting { vertical: Some(Vertical::Subscript), ..PLAIN },
        4 | 7 | 8 => Formatting { small_caps: Some(true), ..PLAIN },
        5 => return Span { mark: Some(Mark::NoCase), ..Span::default() },
        _ => return Span { mark: Some(Mark::NoDecoration), ..Span::default() },
    };
    Span { formatting, ..Span::default() }
}
