//! Reads XML as namespaced elements with positions: element paths for errors, text by the rules of
//! [`text`](crate::text), and bounds that keep the work linear in the document's size.
//!
//! Not handled: a document type declaration with content of its own is refused, so no entity is
//! ever expanded; a declared encoding is ignored, because the host passes decoded text; names are
//! checked only as far as ASCII goes.

use std::borrow::Cow;

use crate::Error;
use crate::scan;
use crate::text::{self, excerpt};

mod fast_path;
mod flow;
mod namespaces;
mod path;
#[cfg(test)]
mod tests;
mod tokens;
pub mod tree;

use flow::Flow;
use namespaces::Namespaces;
use tokens::{Attribute, Name, Token, Tokens};

/// The deepest nesting of elements; no known document of any source comes near it.
pub const MAX_DEPTH: usize = 128;
/// The most attributes of one element. Each is compared with those before it.
pub const MAX_ATTRIBUTES: usize = 64;

/// A start tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element<'d> {
    /// The index of the element's namespace in the reader's table; `None` for any other namespace.
    pub namespace: Option<usize>,
    /// The name without its prefix.
    pub local: &'d str,
    /// Bytes of the document before the tag.
    pub offset: usize,
}

/// A forward-only XML reader.
///
/// After [`root`](Self::root) the reader is always inside an open element; [`child`](Self::child)
/// steps into its next child element or out of it, [`text`](Self::text) and [`skip`](Self::skip)
/// read to its end and step out.
#[derive(Debug)]
pub struct XmlReader<'d> {
    document: &'d str,
    tokens: Tokens<'d>,
    namespaces: Namespaces<'d>,
    /// Names of the open elements.
    open: Vec<&'d str>,
    /// The last start tag was self-closing, so its end comes next.
    ending: bool,
    /// The last start tag's attributes.
    attributes: Vec<Attribute<'d>>,
}

/// The next token.
enum Node<'d> {
    Start(Element<'d>),
    End,
    Text(&'d str),
    Reference(&'d str, char),
    Other,
    Eof,
}

impl<'d> XmlReader<'d> {
    /// A reader of `document` that identifies the namespaces `known` by their index in the slice.
    pub fn new(document: &'d str, known: &'static [&'static str]) -> Self {
        Self {
            document,
            tokens: Tokens::new(document),
            namespaces: Namespaces::new(known),
            open: Vec::with_capacity(8),
            ending: false,
            attributes: Vec::with_capacity(8),
        }
    }

    /// Steps into the root element. `expected` describes the document, for the message.
    ///
    /// # Errors
    ///
    /// When anything but a prolog precedes it, when there is no element, and when the document has
    /// control characters anywhere, which XML does not allow.
    pub fn root(&mut self, expected: &str) -> Result<Element<'d>, Error> {
        if let Some(at) = text::control_character(self.document) {
            return Err(self.error_at(at, "control character, which XML does not allow"));
        }
        loop {
            let before = self.offset();
            match self.next()? {
                Node::Start(element) => return Ok(element),
                Node::Text(text) if text.trim_ascii().is_empty() => {}
                Node::Text(_) | Node::Reference(..) => {
                    return Err(
                        self.error_at(before, format!("expected {expected} but found text"))
                    );
                }
                Node::Eof => {
                    let found = if self.document.trim().is_empty() {
                        "an empty document"
                    } else {
                        "a document without elements"
                    };
                    return Err(self.error(format!("expected {expected} but found {found}")));
                }
                Node::End | Node::Other => {}
            }
        }
    }

    /// Steps into the next child element of the open one, or out of the open one if there are no
    /// more. Text between the children is skipped.
    ///
    /// # Errors
    ///
    /// When the document is not well formed here.
    pub fn child(&mut self) -> Result<Option<Element<'d>>, Error> {
        // Not a loop: wasmtime would load all vector constants before it and spill them to memory,
        // for an iteration that is usually the only one.
        if !self.ending {
            self.tokens.skip_whitespace();
            let before = self.offset();
            if let Some(name) = self.tokens.usual_name() {
                if self.tokens.bare(name) {
                    self.attributes.clear();
                    return self.enter(name, false, before);
                }
                return self.start(name);
            }
        }
        if self.closes() {
            return Ok(None);
        }
        self.next_child()
    }

    /// [`child`](Self::child), after any text, comments and entities.
    #[inline(never)]
    fn next_child(&mut self) -> Result<Option<Element<'d>>, Error> {
        loop {
            match self.next()? {
                Node::Start(element) => return Ok(Some(element)),
                Node::End => return Ok(None),
                Node::Eof => return Err(self.truncated()),
                Node::Text(_) | Node::Reference(..) | Node::Other => {}
            }
        }
    }

    /// The value of the attribute `name` (as written, prefix included) of the element just stepped
    /// into, its entities decoded and its whitespace collapsed; `None` when it is absent or blank.
    pub fn attribute(&self, name: &str) -> Option<Cow<'d, str>> {
        let same = |candidate: &str| scan::same(candidate.as_bytes(), name.as_bytes());
        let found = self.attributes.iter().find(|attribute| same(attribute.name))?;
        if found.plain {
            return Some(Cow::Borrowed(found.raw));
        }
        match text::decode_entities(found.raw) {
            Cow::Borrowed(value) => text::present(value),
            Cow::Owned(value) => text::present(&value).map(|value| Cow::Owned(value.into_owned())),
        }
    }

    /// Reads to the end of the open element and steps out of it.
    ///
    /// # Errors
    ///
    /// When the document is not well formed here.
    pub fn skip(&mut self) -> Result<(), Error> {
        if self.closes() {
            return Ok(());
        }
        let outer_depth = self.open.len().saturating_sub(1);
        while self.open.len() > outer_depth {
            if let Node::Eof = self.next()? {
                return Err(self.truncated());
            }
        }
        Ok(())
    }

    /// The open element's text for readers, including text inside markup; steps out of the element.
    /// `None` when it is blank.
    ///
    /// # Errors
    ///
    /// When the document is not well formed here.
    pub fn text(&mut self) -> Result<Option<Cow<'d, str>>, Error> {
        if !self.ending
            && let Some(open) = self.open.last()
            && let Some((text, tidy)) = self.tokens.leaf(open)
        {
            // The usual case: one piece, which is borrowed if nothing changes.
            self.leave();
            if tidy {
                return Ok((!text.is_empty()).then_some(Cow::Borrowed(text)));
            }
            return Ok(text::present(text));
        }
        self.flowing_text()
    }

    /// [`text`](Self::text) of an element that holds more than one piece.
    #[inline(never)]
    fn flowing_text(&mut self) -> Result<Option<Cow<'d, str>>, Error> {
        let outer_depth = self.open.len().saturating_sub(1);
        let mut node = self.next()?;
        let mut flow = Flow::default();
        loop {
            match node {
                Node::Text(text) => flow.push(text),
                Node::Reference(name, character) => flow.reference(name, character),
                Node::Start(element) => flow.open(element.local),
                Node::End if self.open.len() == outer_depth => {
                    return Ok(flow.finish().map(Cow::Owned));
                }
                Node::End => flow.close(),
                Node::Other => {}
                Node::Eof => return Err(self.truncated()),
            }
            node = self.next()?;
        }
    }

    /// Reads to the end of the open element and steps out of it, passing the text of every element
    /// inside that has no children, and of the open one if it has none. `leaf` gets the names of
    /// the element around it and of the element itself, and the text, which is not blank.
    ///
    /// # Errors
    ///
    /// When the document is not well formed here.
    pub fn leaves(
        &mut self,
        mut leaf: impl FnMut(&'d str, &'d str, Cow<'d, str>),
    ) -> Result<(), Error> {
        let outer_depth = self.open.len().saturating_sub(1);
        let mut flow = Flow::default();
        // Only text followed the innermost start tag.
        let mut is_leaf = true;
        while self.open.len() > outer_depth {
            let names = (self.around(1), self.around(0));
            match self.next()? {
                Node::Start(_) => {
                    flow = Flow::default();
                    is_leaf = true;
                }
                Node::Text(text) if is_leaf => flow.push(text),
                Node::Reference(name, character) if is_leaf => flow.reference(name, character),
                Node::End => {
                    let text = std::mem::take(&mut flow).finish();
                    if let Some(text) = text.filter(|_| is_leaf) {
                        leaf(names.0, names.1, Cow::Owned(text));
                    }
                    is_leaf = false;
                }
                Node::Text(_) | Node::Reference(..) | Node::Other => {}
                Node::Eof => return Err(self.truncated()),
            }
        }
        Ok(())
    }

    /// The name of the open element with `inside` open elements inside it, without its prefix.
    fn around(&self, inside: usize) -> &'d str {
        let at = self.open.len().checked_sub(inside + 1);
        let name = at.and_then(|at| self.open.get(at)).copied().unwrap_or_default();
        name.rsplit(':').next().unwrap_or(name)
    }

    /// Reads what follows the root: nothing but comments, instructions and whitespace.
    ///
    /// # Errors
    ///
    /// When something else follows.
    pub fn finish(&mut self) -> Result<(), Error> {
        loop {
            let before = self.offset();
            match self.next()? {
                Node::Eof => return Ok(()),
                Node::Text(text) if text.trim_ascii().is_empty() => {}
                Node::Other => {}
                _ => return Err(self.error_at(before, "expected the end of the document")),
            }
        }
    }

    /// An error at the reader's position.
    pub fn error(&self, message: impl Into<String>) -> Error {
        self.error_at(self.offset(), message)
    }

    /// An error at byte `offset`.
    #[cold]
    pub fn error_at(&self, offset: usize, message: impl Into<String>) -> Error {
        Error::invalid_document(message, offset as u64, path::at(self.document, offset))
    }

    /// The byte offset of the reader's position.
    pub fn offset(&self) -> usize {
        self.tokens.offset()
    }

    fn truncated(&self) -> Error {
        self.error("the document ends inside an element")
    }

    fn next(&mut self) -> Result<Node<'d>, Error> {
        if self.closes() {
            return Ok(Node::End);
        }
        let before = self.offset();
        let token = match self.tokens.next(&mut self.attributes) {
            Ok(token) => token,
            Err(flaw) => return Err(self.error_at(flaw.offset, flaw.message)),
        };
        match token {
            Token::Start { name, empty } => {
                Ok(self.enter(name, empty, before)?.map_or(Node::Other, Node::Start))
            }
            Token::End(name) => match self.open.last() {
                Some(open) if *open == name => {
                    self.leave();
                    Ok(Node::End)
                }
                Some(open) => {
                    let (open, name) = (excerpt(open), excerpt(name));
                    Err(self.error_at(before, format!("expected </{open}> but found </{name}>")))
                }
                None => {
                    let message = format!("end tag </{}> without a start", excerpt(name));
                    Err(self.error_at(before, message))
                }
            },
            Token::Text(text) | Token::CData(text) => Ok(Node::Text(text)),
            Token::Reference(name) => match text::entity(name) {
                Some(character) => Ok(Node::Reference(name, character)),
                None => Err(self.error_at(before, format!("unknown entity &{};", excerpt(name)))),
            },
            Token::DocType { internal: true } => {
                let message = "document type declarations with content are not accepted";
                Err(self.error_at(before, message))
            }
            Token::DocType { internal: false } if !self.open.is_empty() => {
                Err(self.error_at(before, "document type declaration inside an element"))
            }
            Token::Declaration if before != Tokens::new(self.document).offset() => {
                Err(self.error_at(before, "XML declaration that is not at the start"))
            }
            Token::DocType { .. } | Token::Declaration | Token::Other => Ok(Node::Other),
            Token::Eof => Ok(Node::Eof),
        }
    }

    /// Steps out of the open element if its end comes next; returns whether it did.
    #[inline]
    fn closes(&mut self) -> bool {
        // Most end tags are those of the open element; comparing is faster than reading their name.
        let closes = std::mem::take(&mut self.ending)
            || self.open.last().is_some_and(|open| self.tokens.closes(open));
        if closes {
            self.leave();
        }
        closes
    }

    #[inline]
    fn leave(&mut self) {
        self.open.pop();
        self.namespaces.leave(self.open.len());
    }

    /// Steps into the element whose start tag comes next, its name being known; see `enter`.
    #[inline(never)]
    fn start(&mut self, name: Name<'d>) -> Result<Option<Element<'d>>, Error> {
        let before = self.offset();
        match self.tokens.rest_of_tag(name, &mut self.attributes) {
            Ok(empty) => self.enter(name, empty, before),
            Err(flaw) => Err(self.error_at(flaw.offset, flaw.message)),
        }
    }

    /// Steps into an element. Never `None`: it has the return type of `child`, to avoid a copy.
    #[inline(always)]
    fn enter(
        &mut self,
        name: Name<'d>,
        empty: bool,
        offset: usize,
    ) -> Result<Option<Element<'d>>, Error> {
        self.ending = empty;
        let depth = self.open.len();
        if depth >= MAX_DEPTH {
            return Err(self.error_at(offset, format!("elements nested deeper than {MAX_DEPTH}")));
        }
        for Attribute { name, raw, .. } in &self.attributes {
            if name.starts_with('x') && !self.namespaces.declare(name, raw, depth) {
                return Err(self.error_at(offset, "too many namespace declarations"));
            }
        }
        let whole = name.whole;
        let (prefix, local) = match name.colon {
            Some(colon) => (&whole[..colon], &whole[colon + 1..]),
            None => ("", whole),
        };
        let Some(namespace) = self.namespaces.resolve(prefix) else {
            let message = format!("undeclared prefix in <{}>", excerpt(whole));
            return Err(self.error_at(offset, message));
        };
        self.open.push(whole);
        Ok(Some(Element { namespace, local, offset }))
    }
}
