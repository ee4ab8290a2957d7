//! The page as a tree: a list of nodes in document order, which [`crate::parser`] makes.
//!
//! A node's descendants are the nodes between it and its `end`, so every walk is a loop.

use html5ever::QualName;
use html5ever::tendril::StrTendril;

/// Position of a node in its [`Tree`].
pub(crate) type Id = usize;

/// A node of a [`Tree`].
pub(crate) struct Node {
    /// The parent element; for the document itself, the document.
    pub(crate) parent: u32,
    /// The position after its last descendant.
    pub(crate) end: u32,
    pub(crate) data: Data,
}

/// Replaces the name of an attribute that is kept only because a selector names it.
pub(crate) const SELECTED: &str = "*";

/// What a node is.
pub(crate) enum Data {
    /// The document itself.
    Document,
    /// An element, with the attributes that are read.
    Element { name: QualName, attributes: Vec<(&'static str, StrTendril)> },
    /// A text.
    Text(StrTendril),
    /// A comment, or a node that was moved elsewhere.
    Other,
}

/// A page: its nodes in document order, the document first.
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
}

impl Tree {
    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The position after the node's last descendant.
    pub(crate) fn end(&self, id: Id) -> Id {
        self.nodes.get(id).map_or(id + 1, |node| node.end as usize)
    }

    /// The parent element of a node; for the document itself, the document.
    pub(crate) fn parent(&self, id: Id) -> Id {
        self.nodes.get(id).map_or(0, |node| node.parent as usize)
    }

    /// The local name of an element; empty for texts.
    pub(crate) fn name(&self, id: Id) -> &str {
        match self.nodes.get(id).map(|node| &node.data) {
            Some(Data::Element { name, .. }) => &name.local,
            _ => "",
        }
    }

    /// Whether a node is an element.
    pub(crate) fn is_element(&self, id: Id) -> bool {
        matches!(self.nodes.get(id).map(|node| &node.data), Some(Data::Element { .. }))
    }

    /// The text of a text node.
    pub(crate) fn text(&self, id: Id) -> Option<&str> {
        match self.nodes.get(id).map(|node| &node.data) {
            Some(Data::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// An attribute of an element.
    pub(crate) fn attribute(&self, id: Id, name: &str) -> Option<&str> {
        match self.nodes.get(id).map(|node| &node.data) {
            Some(Data::Element { attributes, .. }) => {
                let found = attributes.iter().find(|attr| attr.0 == name)?;
                Some(&found.1)
            }
            _ => None,
        }
    }

    /// An attribute of an element that a selector names.
    pub(crate) fn any_attribute(&self, id: Id, name: &str) -> Option<&str> {
        let Some(Data::Element { attributes, .. }) = self.nodes.get(id).map(|node| &node.data)
        else {
            return None;
        };
        let selected = attributes.iter().filter(|attr| attr.0 == SELECTED).find_map(|attr| {
            let (key, value) = attr.1.split_once('\0')?;
            (key == name).then_some(value)
        });
        selected.or_else(|| self.attribute(id, name))
    }

    /// The children of a node.
    pub(crate) fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let end = self.end(id);
        let mut next = id + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = next;
                next = self.end(child);
                child
            })
        })
    }

    /// The child elements of a node.
    pub(crate) fn elements(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        self.children(id).filter(|&child| self.is_element(child))
    }

    /// The previous sibling element of a node, in time that does not depend on the number of
    /// siblings.
    pub(crate) fn element_before(&self, id: Id) -> Option<Id> {
        let parent = self.parent(id);
        let mut next = id;
        while next > parent + 1 {
            // The previous node is the last one inside the previous sibling, or that sibling.
            let mut at = next - 1;
            while self.parent(at) != parent {
                at = self.parent(at);
            }
            if self.is_element(at) {
                return Some(at);
            }
            next = at;
        }
        None
    }

    /// The nodes inside a node, in document order.
    pub(crate) fn descendants(&self, id: Id) -> std::ops::Range<Id> {
        id + 1..self.end(id)
    }

    /// The first element inside a node of a name.
    pub(crate) fn find(&self, id: Id, name: &str) -> Option<Id> {
        self.descendants(id).find(|&inner| self.name(inner) == name)
    }

    /// The elements around a node, the nearest first, without the document.
    pub(crate) fn ancestors(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let mut next = self.parent(id);
        std::iter::from_fn(move || {
            (next != 0).then(|| {
                let found = next;
                next = self.parent(found);
                found
            })
        })
    }

    /// Whether an element has a class, in any case.
    pub(crate) fn has_class(&self, id: Id, class: &str) -> bool {
        let classes = self.attribute(id, "class").unwrap_or_default();
        classes.split_ascii_whitespace().any(|name| name.eq_ignore_ascii_case(class))
    }

    /// All text inside a node, whitespace collapsed, scripts and styles left out.
    pub(crate) fn all_text(&self, id: Id) -> String {
        let mut out = String::new();
        let mut at = id;
        while at < self.end(id) {
            if matches!(self.name(at), "script" | "style" | "noscript" | "template") {
                at = self.end(at);
                continue;
            }
            if let Some(text) = self.text(at) {
                out.push_str(text);
            } else if !is_inline(self.name(at)) {
                out.push(' ');
            }
            at += 1;
        }
        carrel_pdk::text::collapse(&out).into_owned()
    }
}

/// Whether an element is part of a line of text.
pub(crate) fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "acronym"
            | "b"
            | "bdi"
            | "bdo"
            | "big"
            | "cite"
            | "code"
            | "data"
            | "del"
            | "dfn"
            | "em"
            | "font"
            | "i"
            | "ins"
            | "kbd"
            | "label"
            | "mark"
            | "math"
            | "meter"
            | "nobr"
            | "output"
            | "progress"
            | "q"
            | "rb"
            | "rt"
            | "rp"
            | "ruby"
            | "s"
            | "samp"
            | "script"
            | "small"
            | "span"
            | "strike"
            | "strong"
            | "sub"
            | "sup"
            | "time"
            | "tt"
            | "u"
            | "var"
            | "wbr"
            | "img"
            | "svg"
            | "br"
            | "input"
            | "button"
            | "select"
            | "textarea"
            | "noscript"
            | "audio"
            | "video"
            | "embed"
            | "object"
            | "iframe"
            | "picture"
            | "source"
            | "canvas"
            | "map"
            | "area"
            | "mjx-container"
            | "annotation"
    ) || name.starts_with("mjx-")
}
