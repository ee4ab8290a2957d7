//! Reads a document as a tree, for formats that mix text and blocks: articles and books.
//!
//! The nodes are kept in document order with the end of each one's content, so a tree is two lists and
//! walking it needs no recursion.

use std::borrow::Cow;

use super::tokens::Attribute;
use super::{Node as Event, XmlReader};
use crate::text::flow::Flow;
use crate::text::{self};
use crate::{Code, Error};

/// Elements, attributes and pieces of text of one document. A paper of 20 MB has fewer than half of it.
pub const MAX_NODES: usize = 2_000_000;

/// The most elements in a path.
const NAMED: usize = 24;

/// A node of a [`Tree`]: an element or a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node(u32);

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'d> {
    /// An element with its name, without the prefix.
    Element(&'d str),
    /// Text as it is in the document.
    Text(&'d str),
    /// The character of an entity or a character reference.
    Character(char),
}

#[derive(Debug)]
struct Entry<'d> {
    piece: Piece<'d>,
    /// The index after its last descendant.
    end: u32,
    parent: u32,
    /// Its first attribute; those of the next element begin where its own end.
    attributes: u32,
    /// Bytes of the document before it.
    offset: u32,
}

/// A document.
#[derive(Debug)]
pub struct Tree<'d> {
    entries: Vec<Entry<'d>>,
    attributes: Vec<Attribute<'d>>,
}

impl<'d> Tree<'d> {
    /// Reads a document; `expected` describes it, for the message.
    ///
    /// # Errors
    ///
    /// `invalid_document` with a position when it is not well formed, see [`XmlReader`];
    /// `too_large` when it has more than [`MAX_NODES`] nodes, or more than 4 GiB.
    pub fn read(document: &'d str, expected: &str) -> Result<Self, Error> {
        if u32::try_from(document.len()).is_err() {
            return Err(Error::new(Code::TooLarge, "the document has more than 4 GiB"));
        }
        let mut xml = XmlReader::new(document, &[]);
        let mut tree = Self {
            entries: Vec::with_capacity(document.len() / 32),
            attributes: Vec::with_capacity(document.len() / 64),
        };
        let root = xml.root(expected)?;
        tree.push(Piece::Element(root.local), root.offset, 0)?;
        tree.attributes.extend_from_slice(&xml.attributes);
        let mut open = vec![0_u32];
        while let Some(&parent) = open.last() {
            let offset = xml.offset();
            match xml.next()? {
                Event::Start(element) => {
                    open.push(tree.push(Piece::Element(element.local), offset, parent)?);
                    tree.attributes.extend_from_slice(&xml.attributes);
                }
                Event::End => {
                    open.pop();
                    let end = tree.entries.len() as u32;
                    tree.entries[parent as usize].end = end;
                }
                Event::Text(text) => {
                    tree.push(Piece::Text(text), offset, parent)?;
                }
                Event::Reference(_, character) => {
                    tree.push(Piece::Character(character), offset, parent)?;
                }
                Event::Other => {}
                Event::Eof => return Err(xml.truncated()),
            }
        }
        xml.finish()?;
        Ok(tree)
    }

    fn push(&mut self, piece: Piece<'d>, offset: usize, parent: u32) -> Result<u32, Error> {
        let number = self.entries.len();
        if number + self.attributes.len() >= MAX_NODES {
            let message = format!("the document has more than {MAX_NODES} elements and texts");
            return Err(Error::new(Code::TooLarge, message));
        }
        self.entries.push(Entry {
            piece,
            end: number as u32 + 1,
            parent,
            attributes: self.attributes.len() as u32,
            offset: offset as u32,
        });
        Ok(number as u32)
    }

    fn entry(&self, node: Node) -> &Entry<'d> {
        &self.entries[node.0 as usize]
    }

    /// The root element.
    pub fn root(&self) -> Node {
        Node(0)
    }

    /// What the node is.
    pub fn piece(&self, node: Node) -> Piece<'d> {
        self.entry(node).piece
    }

    /// The name of an element without its prefix; empty for a text.
    pub fn name(&self, node: Node) -> &'d str {
        match self.entry(node).piece {
            Piece::Element(name) => name,
            Piece::Text(_) | Piece::Character(_) => "",
        }
    }

    /// The element around the node; `None` for the root.
    pub fn parent(&self, node: Node) -> Option<Node> {
        (node.0 > 0).then(|| Node(self.entry(node).parent))
    }

    /// The nodes directly inside, texts included.
    pub fn children(&self, node: Node) -> impl Iterator<Item = Node> + use<'_, 'd> {
        let end = self.entry(node).end;
        let mut next = node.0 + 1;
        std::iter::from_fn(move || {
            let here = (next < end).then_some(Node(next))?;
            next = self.entry(here).end;
            Some(here)
        })
    }

    /// The elements directly inside.
    pub fn elements(&self, node: Node) -> impl Iterator<Item = Node> + use<'_, 'd> {
        self.children(node).filter(|&child| !self.name(child).is_empty())
    }

    /// Every node inside, in document order.
    pub fn descendants(&self, node: Node) -> impl Iterator<Item = Node> + use<'d> {
        (node.0 + 1..self.entry(node).end).map(Node)
    }

    /// Whether `inner` is inside `outer`, or the same.
    pub fn contains(&self, outer: Node, inner: Node) -> bool {
        (outer.0..self.entry(outer).end).contains(&inner.0)
    }

    /// The first element called `name` directly inside.
    pub fn child(&self, node: Node, name: &str) -> Option<Node> {
        self.elements(node).find(|&child| self.name(child) == name)
    }

    /// The first element called `name` anywhere inside.
    pub fn find(&self, node: Node, name: &str) -> Option<Node> {
        self.descendants(node).find(|&inner| self.name(inner) == name)
    }

    /// The value of the attribute `name`, with any prefix; `None` when it is absent or blank.
    pub fn attribute(&self, node: Node, name: &str) -> Option<Cow<'d, str>> {
        self.value(node, |full| local(full) == name)
    }

    /// The value of the attribute `name` that has a prefix, `r:id` and not `id`; `None` when it is absent
    /// or blank.
    pub fn prefixed_attribute(&self, node: Node, name: &str) -> Option<Cow<'d, str>> {
        self.value(node, |full| full.contains(':') && local(full) == name)
    }

    /// The value of the attribute `name`, with any prefix, with its blanks: a delimiter such as `", "`.
    pub fn verbatim_attribute(&self, node: Node, name: &str) -> Option<String> {
        let raw = self.raw(node, |full| local(full) == name)?;
        // XML reads a line feed in a value as a blank, and a character reference to it as itself.
        Some(text::decode_entities(&raw.replace(['\t', '\n', '\r'], " ")).into_owned())
    }

    fn raw(&self, node: Node, named: impl Fn(&'d str) -> bool) -> Option<&'d str> {
        let from = self.entry(node).attributes as usize;
        if !matches!(self.entry(node).piece, Piece::Element(_)) {
            return None;
        }
        let next = self.entries.get(node.0 as usize + 1);
        let to = next.map_or(self.attributes.len(), |next| next.attributes as usize);
        let mut found = self.attributes[from..to].iter();
        found.find(|attr| named(attr.name) && !attr.name.starts_with("xmlns")).map(|attr| attr.raw)
    }

    fn value(&self, node: Node, named: impl Fn(&'d str) -> bool) -> Option<Cow<'d, str>> {
        match text::decode_entities(self.raw(node, named)?) {
            Cow::Borrowed(value) => text::present(value),
            Cow::Owned(value) => text::present(&value).map(|value| Cow::Owned(value.into_owned())),
        }
    }

    /// The text inside on one line, by the rules of [`text`](crate::text); `None` when it is blank.
    pub fn text(&self, node: Node) -> Option<String> {
        let mut flow = Flow::default();
        let mut open: Vec<u32> = Vec::new();
        for inner in self.descendants(node) {
            while open.last().is_some_and(|&end| end <= inner.0) {
                open.pop();
                flow.close();
            }
            match self.piece(inner) {
                Piece::Element(name) => {
                    flow.open(name);
                    open.push(self.entry(inner).end);
                }
                Piece::Text(text) => flow.push(text),
                Piece::Character(character) => flow.push(character.encode_utf8(&mut [0; 4])),
            }
        }
        open.iter().for_each(|_| flow.close());
        flow.finish()
    }

    /// The text inside with its line breaks and indentation: code.
    pub fn verbatim(&self, node: Node) -> String {
        let mut out = String::new();
        for inner in self.descendants(node) {
            match self.piece(inner) {
                Piece::Element("break" | "br" | "lb") => out.push('\n'),
                Piece::Element(_) => {}
                Piece::Text(text) => out.push_str(text),
                Piece::Character(character) => out.push(character),
            }
        }
        out
    }

    /// Whether there is anything to read inside: text that is not blank.
    pub fn is_blank(&self, node: Node) -> bool {
        self.descendants(node).all(|inner| match self.piece(inner) {
            Piece::Element(_) => true,
            Piece::Text(text) => text.trim().is_empty(),
            Piece::Character(character) => character.is_whitespace(),
        })
    }

    /// Bytes of the document before the node.
    pub fn offset(&self, node: Node) -> usize {
        self.entry(node).offset as usize
    }

    /// The names of the elements around the node and its own: `article/front/article-meta`.
    pub fn path(&self, node: Node) -> String {
        let mut names = Vec::new();
        let mut here = Some(node);
        while let Some(node) = here.filter(|_| names.len() < NAMED) {
            names.push(self.name(node));
            here = self.parent(node);
        }
        names.reverse();
        names.join("/")
    }
}

/// A name without its prefix.
fn local(full: &str) -> &str {
    full.rsplit(':').next().unwrap_or(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "<a x:b='1 &amp; 2' c=''>one <i>two</i> &#233;<b/>\n<b d='3'>x</b></a>";

    fn names(tree: &Tree<'_>, nodes: impl Iterator<Item = Node>) -> Vec<String> {
        nodes.map(|node| tree.name(node).to_owned()).collect()
    }

    #[test]
    fn a_tree_has_what_the_document_has_in_its_order() {
        let tree = Tree::read(DOCUMENT, "a document").unwrap();
        let root = tree.root();
        assert_eq!(tree.name(root), "a");
        assert_eq!(names(&tree, tree.elements(root)), ["i", "b", "b"]);
        assert_eq!(tree.children(root).count(), 7);
        assert_eq!(tree.attribute(root, "b").as_deref(), Some("1 & 2"));
        assert_eq!(tree.attribute(root, "c"), None);
        let last = tree.elements(root).last().unwrap();
        assert_eq!(tree.attribute(last, "d").as_deref(), Some("3"));
        assert_eq!(tree.path(last), "a/b");
        assert_eq!(&DOCUMENT[tree.offset(last)..], "<b d='3'>x</b></a>");
        assert_eq!(tree.text(root).as_deref(), Some("one two é x"));
        assert!(tree.contains(root, last) && !tree.contains(last, root));
    }

    #[test]
    fn an_attribute_with_a_prefix_is_distinct_from_one_without() {
        let tree = Tree::read("<a id='1' r:id='2'/>", "a document").unwrap();
        assert_eq!(tree.attribute(tree.root(), "id").as_deref(), Some("1"));
        assert_eq!(tree.prefixed_attribute(tree.root(), "id").as_deref(), Some("2"));
        assert_eq!(tree.prefixed_attribute(tree.root(), "other"), None);
    }

    #[test]
    fn a_tree_of_a_malformed_document_is_an_error_with_its_place() {
        for document in ["", "<a>", "<a></b>", "<a/>x", "<a>&nosuch;</a>"] {
            let error = Tree::read(document, "a document").unwrap_err();
            assert_eq!(error.code, Code::InvalidDocument, "{document}");
            assert!(error.position.is_some(), "{document}");
        }
    }

    #[test]
    fn a_document_of_too_many_nodes_is_too_large() {
        let document = format!("<a>{}</a>", "<b/>".repeat(MAX_NODES));
        assert_eq!(Tree::read(&document, "a document").unwrap_err().code, Code::TooLarge);
    }

    #[test]
    fn code_keeps_its_lines() {
        let tree = Tree::read("<a> if x:<break/>  y &lt; 2\n</a>", "a document").unwrap();
        assert_eq!(tree.verbatim(tree.root()), " if x:\n  y < 2\n");
        assert!(!tree.is_blank(tree.root()));
    }
}
