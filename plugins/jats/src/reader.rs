//! State that all parts of the reader share: the tree and the document under construction.

use carrel_pdk::document::{Document, Metadatum, Section};
use carrel_pdk::xml::tree::{Node, Piece, Tree};

use crate::inline;

/// The deepest nesting of blocks and sections; deeper ones are read as one paragraph.
pub(crate) const DEEPEST: u32 = 24;

/// A document being read.
pub(crate) struct Reader<'t, 'd> {
    pub(crate) tree: &'t Tree<'d>,
    pub(crate) document: Document,
    /// Notes inside the text that was read last, which follow its paragraph.
    pub(crate) notes: Vec<Node>,
}

impl<'t, 'd> Reader<'t, 'd> {
    pub(crate) fn new(tree: &'t Tree<'d>) -> Self {
        Self { tree, document: Document::default(), notes: Vec::new() }
    }

    /// Adds a warning about a node.
    pub(crate) fn warn(&mut self, node: Node, code: &str, message: &str) {
        let location = format!("byte {} in {}", self.tree.offset(node), self.tree.path(node));
        self.document.warn(code, message, Some(location));
    }

    /// An attribute as text.
    pub(crate) fn attribute(&self, node: Node, name: &str) -> Option<String> {
        self.tree.attribute(node, name).map(std::borrow::Cow::into_owned)
    }

    /// The first of several attributes that is there.
    pub(crate) fn first_attribute(&self, node: Node, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.attribute(node, name))
    }

    /// The text of a node as a reader sees it, on one line.
    pub(crate) fn line(&mut self, node: Node) -> Option<String> {
        inline::of(self, node).map(|text| text.replace('\n', " "))
    }

    /// The text of the first child of a name.
    pub(crate) fn child_line(&mut self, node: Node, name: &str) -> Option<String> {
        let child = self.tree.child(node, name)?;
        self.line(child)
    }

    /// Adds a statement from the node `from`, unless it is blank.
    pub(crate) fn state(
        &mut self,
        name: &str,
        kind: Option<String>,
        value: Option<String>,
        from: Node,
    ) {
        let Some(value) = value.filter(|value| !value.is_empty()) else { return };
        let language = self.attribute(from, "lang");
        let metadatum = Metadatum {
            name: name.replace('-', "_"),
            kind,
            value,
            language,
            from: self.tree.path(from),
        };
        self.document.metadata.push(metadatum);
    }

    /// Adds a statement for each element inside, and for the node itself, that has direct text: the
    /// fallback for elements without a rule.
    pub(crate) fn state_rest(&mut self, node: Node) {
        const KINDS: &[&str] =
            &["pub-id-type", "content-type", "date-type", "type", "unit", "level"];
        let tree = self.tree;
        let mut done: Option<Node> = None;
        for inner in std::iter::once(node).chain(tree.descendants(node)) {
            if tree.name(inner).is_empty() || done.is_some_and(|done| tree.contains(done, inner)) {
                continue;
            }
            let name = tree.name(inner);
            let whole = matches!(
                name,
                "name" | "string-name" | "persName" | "aff" | "pub-date" | "date" | "p"
            );
            if whole || self.has_text(inner) {
                let value = self.line(inner);
                let kind = self.first_attribute(inner, KINDS);
                self.state(name, kind, value, inner);
                done = Some(inner);
            }
        }
    }

    /// Whether text that is not blank is directly inside.
    pub(crate) fn has_text(&self, node: Node) -> bool {
        self.tree.children(node).any(|child| match self.tree.piece(child) {
            Piece::Element(_) => false,
            Piece::Text(text) => !text.trim().is_empty(),
            Piece::Character(character) => !character.is_whitespace(),
        })
    }

    /// Adds a section, unless it is empty.
    pub(crate) fn add(&mut self, section: Section) {
        let has_content = section.heading.is_some()
            || section.label.is_some()
            || !section.blocks.is_empty()
            || section.kind.as_deref() == Some("references");
        if has_content {
            self.document.sections.push(section);
        }
    }
}
