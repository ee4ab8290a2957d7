//! The page as a tree: html5ever's parser filling a list of nodes in document order.
//!
//! A node's descendants are the nodes between it and its `end`, so every walk is a loop. html5ever looks
//! through all open elements at some tags, which is quadratic in their depth; a page that nests deeper
//! than [`DEEPEST`] is therefore given up, and [`crate::flat`] reads it without a tree.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{Attribute, ParseOpts, QualName, parse_document};

/// Elements inside each other.
const DEEPEST: u32 = 512;
/// Nodes of a page: elements and texts.
pub(crate) const MAX_NODES: usize = 2_000_000;
/// Bytes that the parser is given at once; between them the limits are checked.
const STEP: usize = 8 << 10;
const NONE: u32 = u32::MAX;

/// Position of a node in its [`Tree`].
pub(crate) type Id = usize;

/// Why there is no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Elements nest too deep.
    TooDeep,
    /// There are too many nodes.
    TooMany,
}

/// A node of a [`Tree`].
pub(crate) struct Node {
    /// The element that it is in; of the document itself the document.
    pub(crate) parent: u32,
    /// The position behind its last descendant.
    pub(crate) end: u32,
    data: Data,
}

enum Data {
    Document,
    Element { name: QualName, attributes: Vec<Attribute> },
    Text(StrTendril),
    Other,
}

/// A page: its nodes in document order, the document first.
pub(crate) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// Parses a page.
    pub(crate) fn parse(page: &str) -> Result<Self, Unread> {
        let options = ParseOpts {
            tree_builder: TreeBuilderOpts { scripting_enabled: false, ..Default::default() },
            ..Default::default()
        };
        let mut parser = parse_document(Sink::default(), options);
        let mut rest = page;
        while !rest.is_empty() {
            let mut cut = rest.len().min(STEP);
            while !rest.is_char_boundary(cut) {
                cut += 1;
            }
            let (step, behind) = rest.split_at(cut);
            parser.process(StrTendril::from_slice(step));
            rest = behind;
            let sink = &parser.tokenizer.sink.sink;
            if sink.deepest.get() > DEEPEST {
                return Err(Unread::TooDeep);
            }
            if sink.nodes.borrow().len() > MAX_NODES {
                return Err(Unread::TooMany);
            }
        }
        let sink = parser.finish();
        if sink.deepest.get() > DEEPEST {
            return Err(Unread::TooDeep);
        }
        Ok(sink.in_order())
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The position behind the node's last descendant.
    pub(crate) fn end(&self, id: Id) -> Id {
        self.nodes.get(id).map_or(id + 1, |node| node.end as usize)
    }

    /// The element that a node is in; of the document itself the document.
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
    pub(crate) fn attribute(&self, id: Id, wanted: &str) -> Option<&str> {
        match self.nodes.get(id).map(|node| &node.data) {
            Some(Data::Element { attributes, .. }) => {
                let found = attributes.iter().find(|one| &*one.name.local == wanted)?;
                Some(&found.value)
            }
            _ => None,
        }
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

    /// The element before a node with the same parent, in time that does not grow with their number.
    pub(crate) fn element_before(&self, id: Id) -> Option<Id> {
        let parent = self.parent(id);
        let mut next = id;
        while next > parent + 1 {
            // The node before is the last one inside the sibling before, or that sibling.
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
        classes.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(class))
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

/// A node while html5ever moves nodes about.
struct Raw {
    parent: u32,
    first: u32,
    last: u32,
    before: u32,
    next: u32,
    depth: u32,
    data: Data,
}

/// What html5ever fills.
struct Sink {
    nodes: RefCell<Vec<Raw>>,
    deepest: Cell<u32>,
}

impl Default for Sink {
    fn default() -> Self {
        let sink = Self { nodes: RefCell::new(Vec::new()), deepest: Cell::new(0) };
        sink.add(Data::Document);
        sink
    }
}

impl Sink {
    fn add(&self, data: Data) -> u32 {
        let mut nodes = self.nodes.borrow_mut();
        let id = u32::try_from(nodes.len()).unwrap_or(NONE);
        let (parent, first, last, before, next) = (NONE, NONE, NONE, NONE, NONE);
        nodes.push(Raw { parent, first, last, before, next, depth: 0, data });
        id
    }

    fn detach(nodes: &mut [Raw], id: u32) {
        let Raw { parent, before, next, .. } = nodes[id as usize];
        if parent == NONE {
            return;
        }
        match before {
            NONE => nodes[parent as usize].first = next,
            before => nodes[before as usize].next = next,
        }
        match next {
            NONE => nodes[parent as usize].last = before,
            next => nodes[next as usize].before = before,
        }
        let node = &mut nodes[id as usize];
        (node.parent, node.before, node.next) = (NONE, NONE, NONE);
    }

    /// Puts a node into a parent, in front of a sibling or last.
    fn insert(&self, parent: u32, before: u32, id: u32) {
        let mut nodes = self.nodes.borrow_mut();
        Self::detach(&mut nodes, id);
        let previous = match before {
            NONE => nodes[parent as usize].last,
            before => nodes[before as usize].before,
        };
        let depth = nodes[parent as usize].depth + 1;
        self.deepest.set(self.deepest.get().max(depth));
        let node = &mut nodes[id as usize];
        (node.parent, node.before, node.next, node.depth) = (parent, previous, before, depth);
        match previous {
            NONE => nodes[parent as usize].first = id,
            previous => nodes[previous as usize].next = id,
        }
        match before {
            NONE => nodes[parent as usize].last = id,
            before => nodes[before as usize].before = id,
        }
    }

    fn insert_either(&self, parent: u32, before: u32, child: NodeOrText<u32>) {
        match child {
            NodeOrText::AppendNode(id) => self.insert(parent, before, id),
            NodeOrText::AppendText(text) => {
                let mut nodes = self.nodes.borrow_mut();
                let previous = match before {
                    NONE => nodes[parent as usize].last,
                    before => nodes[before as usize].before,
                };
                if previous != NONE
                    && let Data::Text(present) = &mut nodes[previous as usize].data
                {
                    present.push_tendril(&text);
                    return;
                }
                drop(nodes);
                let id = self.add(Data::Text(text));
                self.insert(parent, before, id);
            }
        }
    }

    /// The nodes that are in the document, in its order.
    fn in_order(self) -> Tree {
        let mut raw = self.nodes.into_inner();
        let mut nodes: Vec<Node> = Vec::with_capacity(raw.len());
        let mut at = 0_u32;
        let mut parent = 0_u32;
        loop {
            let data = std::mem::replace(&mut raw[at as usize].data, Data::Other);
            let id = u32::try_from(nodes.len()).unwrap_or(NONE);
            nodes.push(Node { parent, end: id + 1, data });
            if raw[at as usize].first != NONE {
                parent = id;
                at = raw[at as usize].first;
                continue;
            }
            // Up to the next element that has a sibling behind it.
            loop {
                if at == 0 {
                    return Tree { nodes };
                }
                let next = raw[at as usize].next;
                if next != NONE {
                    at = next;
                    break;
                }
                at = raw[at as usize].parent;
                if at == NONE {
                    return Tree { nodes };
                }
                let end = u32::try_from(nodes.len()).unwrap_or(NONE);
                nodes[parent as usize].end = end;
                if at != 0 {
                    parent = nodes[parent as usize].parent;
                }
            }
        }
    }
}

impl TreeSink for Sink {
    type Handle = u32;
    type Output = Self;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> u32 {
        0
    }

    #[allow(clippy::panic, reason = "html5ever asks for the names of elements only")]
    fn elem_name<'a>(&'a self, target: &'a u32) -> Ref<'a, QualName> {
        Ref::map(self.nodes.borrow(), |nodes| match &nodes[*target as usize].data {
            Data::Element { name, .. } => name,
            _ => panic!("not an element"),
        })
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> u32 {
        self.add(Data::Element { name, attributes })
    }

    fn create_comment(&self, _: StrTendril) -> u32 {
        self.add(Data::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> u32 {
        self.add(Data::Other)
    }

    fn append(&self, parent: &u32, child: NodeOrText<u32>) {
        self.insert_either(*parent, NONE, child);
    }

    fn append_based_on_parent_node(&self, element: &u32, previous: &u32, child: NodeOrText<u32>) {
        let parent = self.nodes.borrow()[*element as usize].parent;
        match parent {
            NONE => self.insert_either(*previous, NONE, child),
            parent => self.insert_either(parent, *element, child),
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &u32) -> u32 {
        *target
    }

    fn same_node(&self, one: &u32, other: &u32) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &u32, child: NodeOrText<u32>) {
        let parent = self.nodes.borrow()[*sibling as usize].parent;
        if parent != NONE {
            self.insert_either(parent, *sibling, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &u32, more: Vec<Attribute>) {
        if let Data::Element { attributes, .. } =
            &mut self.nodes.borrow_mut()[*target as usize].data
        {
            for one in more {
                if attributes.iter().all(|present| present.name != one.name) {
                    attributes.push(one);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &u32) {
        Self::detach(&mut self.nodes.borrow_mut(), *target);
    }

    fn reparent_children(&self, node: &u32, parent: &u32) {
        loop {
            let child = self.nodes.borrow()[*node as usize].first;
            if child == NONE {
                return;
            }
            self.insert(*parent, NONE, child);
        }
    }
}
