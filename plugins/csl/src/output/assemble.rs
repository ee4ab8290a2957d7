//! Assembles a tree to a sequence of texts and tags, with the rules for punctuation where two texts
//! meet: duplicates are dropped, and commas and full stops go inside closing quotation marks.

use super::{Mark, Node, Quotes};
use crate::item::name::is_romanesque;
use crate::locale::Locale;
use crate::style::elements::{Display, FontStyle, Form, Formatting, Vertical, Weight};

/// A piece of assembled text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    Open(Tag),
    Close(Tag),
}

/// A property of the text between two pieces.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tag {
    Style(FontStyle),
    SmallCaps(bool),
    Weight(Weight),
    Underline(bool),
    Vertical(Vertical),
    Quote,
    Display(Display),
    /// Neither italic nor bold nor small capitals.
    NoDecoration,
}

/// Assembled text.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    pub(crate) pieces: Vec<Piece>,
    punctuation_in_quote: bool,
    /// The last mark was moved inside a quotation.
    moved: bool,
    /// The locale's outer quotation marks.
    quotes: (char, char),
    /// The mark that closes its inner ones.
    inner_close: char,
}

/// Assembles nodes.
pub(crate) fn assemble(nodes: &[Node], locale: &Locale) -> Vec<Piece> {
    let mark = |name: &str, fallback: char| {
        let term = locale.term(name, Form::Long, false);
        term.and_then(|term| term.trim().chars().next()).unwrap_or(fallback)
    };
    let quotes = (mark("open-quote", '“'), mark("close-quote", '”'));
    let punctuation_in_quote = locale.punctuation_in_quote();
    let inner_close = mark("close-inner-quote", '’');
    let mut assembly =
        Assembly { pieces: Vec::new(), punctuation_in_quote, moved: false, quotes, inner_close };
    nodes.iter().for_each(|node| assembly.push(node));
    assembly.pieces
}

impl Assembly {
    fn push(&mut self, node: &Node) {
        match node {
            Node::Text(text) => self.push_text(text),
            Node::Span(span) => {
                if node.is_empty() {
                    return;
                }
                let mut tags = Vec::new();
                if let Some(display) = span.display {
                    tags.push(Tag::Display(display));
                }
                let mut literal = None;
                match span.quotes {
                    Quotes::None => {}
                    Quotes::Quoted => tags.push(Tag::Quote),
                    Quotes::Given(open, close)
                        if open == self.quotes.0 && close == self.quotes.1 =>
                    {
                        tags.push(Tag::Quote);
                    }
                    Quotes::Given(open, close) => literal = Some((open, close)),
                }
                if let Some((open, _)) = literal {
                    self.pieces.push(Piece::Text(open.to_string()));
                }
                if span.mark == Some(Mark::NoDecoration) {
                    tags.push(Tag::NoDecoration);
                }
                let mut formatting = span.formatting;
                if formatting.style.is_some() && is_ideographic(&span.children) {
                    formatting.style = None;
                }
                tags.extend(formatting_tags(formatting));
                self.pieces.extend(tags.iter().cloned().map(Piece::Open));
                let whole = span.mark == Some(Mark::Value);
                for (index, child) in span.children.iter().enumerate() {
                    match child {
                        Node::Text(text) if whole && index > 0 => {
                            self.pieces.push(Piece::Text(text.clone()));
                        }
                        _ => self.push(child),
                    }
                }
                self.pieces.extend(tags.into_iter().rev().map(Piece::Close));
                if let Some((_, close)) = literal {
                    self.pieces.push(Piece::Text(close.to_string()));
                }
            }
        }
    }

    fn push_text(&mut self, text: &str) {
        let mut text = text;
        while let Some(first) = text.chars().next() {
            if first == ' ' {
                // Two texts with a blank each have one between them.
                let twice = self.last().is_some_and(|(_, _, last, _)| last == ' ');
                if !twice {
                    break;
                }
                text = &text[1..];
                continue;
            }
            if !is_punctuation(first) {
                break;
            }
            let Some((piece, at, last, quote)) = self.last() else { break };
            if let Some(quote) = quote {
                if self.punctuation_in_quote && matches!(first, '.' | ',' | '!' | '?') {
                    match meet(last, first) {
                        Meeting::Left => {}
                        Meeting::Right => self.replace(piece, at, first),
                        Meeting::Both => {
                            self.pieces.insert(quote, Piece::Text(first.to_string()));
                            self.moved = true;
                        }
                    }
                } else if self.punctuation_in_quote
                    && self.moved
                    && matches!((last, first), ('!' | '?', ':'))
                {
                    // A mark that was moved inside drops the colon behind it.
                } else if !self.punctuation_in_quote && matches!((last, first), ('!' | '?', '.')) {
                    // The sentence has its end already.
                } else if last == ',' && !self.punctuation_in_quote {
                    self.remove(piece, at);
                    self.pieces.push(Piece::Text(",".to_owned()));
                    continue;
                } else if last != first {
                    break;
                }
                text = &text[first.len_utf8()..];
                continue;
            }
            if first == '.' && self.sentence_ends_in_inner_quotes() {
                text = &text[1..];
                continue;
            }
            match meet(last, first) {
                Meeting::Left => {}
                Meeting::Right => self.replace(piece, at, first),
                Meeting::Both => break,
            }
            text = &text[first.len_utf8()..];
        }
        if !text.is_empty() {
            self.moved = false;
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }

    /// Whether the text ends with a sentence in the locale's inner quotation marks, which are as
    /// they were given: `“Who?”` in Spanish.
    fn sentence_ends_in_inner_quotes(&self) -> bool {
        let mut texts = self.pieces.iter().rev().map_while(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Open(_) | Piece::Close(_) => None,
        });
        !self.punctuation_in_quote
            && texts.next().is_some_and(|text| text.chars().eq([self.inner_close]))
            && texts.next().is_some_and(|text| text.ends_with(['!', '?']))
    }

    /// The last character, the index of its piece, its place there, and the index of the innermost
    /// closing quotation mark behind it.
    fn last(&self) -> Option<(usize, usize, char, Option<usize>)> {
        let mut quote = None;
        for (index, piece) in self.pieces.iter().enumerate().rev() {
            match piece {
                Piece::Text(text) => {
                    let (at, last) = text.char_indices().next_back()?;
                    return Some((index, at, last, quote));
                }
                Piece::Close(Tag::Quote) => quote = Some(index),
                Piece::Open(Tag::Quote) | Piece::Open(Tag::Display(_)) => return None,
                Piece::Close(Tag::Display(_)) => return None,
                Piece::Open(_) | Piece::Close(_) => {}
            }
        }
        None
    }

    fn replace(&mut self, piece: usize, at: usize, with: char) {
        if let Some(Piece::Text(text)) = self.pieces.get_mut(piece) {
            text.truncate(at);
            text.push(with);
        }
    }

    fn remove(&mut self, piece: usize, at: usize) {
        if let Some(Piece::Text(text)) = self.pieces.get_mut(piece) {
            text.truncate(at);
            if text.is_empty() {
                self.pieces.remove(piece);
            }
        }
    }
}

/// Whether text is in scripts without italics only, such as Chinese and Japanese.
fn is_ideographic(nodes: &[Node]) -> bool {
    if !nodes.iter().all(|node| matches!(node, Node::Text(_))) {
        return false;
    }
    let text = super::plain(nodes);
    let mut letters = text.chars().filter(|c| c.is_alphanumeric()).peekable();
    letters.peek().is_some() && letters.all(|c| !is_romanesque(c))
}

/// What is left when two punctuation marks meet.
enum Meeting {
    Left,
    Right,
    Both,
}

fn is_punctuation(c: char) -> bool {
    matches!(c, '.' | ',' | ':' | ';' | '!' | '?')
}

/// The marks that are left of two; the table is that of the test-suite's punctuation fixtures.
fn meet(left: char, right: char) -> Meeting {
    match (left, right) {
        (left, right) if left == right => Meeting::Left,
        ('!' | '?', '.' | ':' | ';') if (right != ';') => Meeting::Left,
        (':', '.') => Meeting::Left,
        (':', '!' | '?') => Meeting::Right,
        (';', '.' | ':') => Meeting::Left,
        (';', '!' | '?') => Meeting::Right,
        _ => Meeting::Both,
    }
}

/// The tags of formatting, the outermost first.
fn formatting_tags(formatting: Formatting) -> impl Iterator<Item = Tag> {
    [
        formatting.vertical.map(Tag::Vertical),
        formatting.underline.map(Tag::Underline),
        formatting.weight.map(Tag::Weight),
        formatting.small_caps.map(Tag::SmallCaps),
        formatting.style.map(Tag::Style),
    ]
    .into_iter()
    .flatten()
}
