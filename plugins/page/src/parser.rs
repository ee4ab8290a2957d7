//! Parsing: tokens of [`crate::tokenizer`] to html5ever's tree construction, which fills a list of nodes.
//!
//! At some tags html5ever searches all open elements, which is quadratic in their depth. So parsing
//! fails for a page that nests deeper than [`DEEPEST`], and [`crate::flat`] reads it without a
//! tree.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, QualName};

use crate::dom::{Data, Node, SELECTED, Tree};
use crate::tokenizer::{KEPT, Tokenizer};

/// The deepest nesting of elements.
const DEEPEST: u32 = 512;
/// Nodes of a page: elements and texts.
pub(crate) const MAX_NODES: usize = 2_000_000;
const NONE: u32 = u32::MAX;
/// The most attributes that are read because selectors name them.
const MOST_SELECTED: usize = 32;

/// The reason for failing to build a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Elements nest too deep.
    TooDeep,
    /// There are too many nodes.
    TooMany,
}

/// Parses a page.
pub(crate) fn parse(page: &str) -> Result<Tree, Unread> {
    let page = without_carriage_returns(page);
    let options = TreeBuilderOpts { scripting_enabled: false, ..Default::default() };
    let selected = selected_attributes(&page);
    let builder = TreeBuilder::new(Sink { selected: selected.clone(), ..Sink::default() }, options);
    let mut tokenizer = Tokenizer::new(&page, &builder).with(&selected);
    while tokenizer.step() {
        if builder.sink.deepest.get() > DEEPEST {
            return Err(Unread::TooDeep);
        }
        if builder.sink.nodes.borrow().len() > MAX_NODES {
            return Err(Unread::TooMany);
        }
    }
    if builder.sink.deepest.get() > DEEPEST {
        return Err(Unread::TooDeep);
    }
    Ok(builder.sink.in_order())
}

/// An attribute, if it is read anywhere. One that only selectors name is kept as [`SELECTED`], its name
/// before its value.
fn keep(attribute: Attribute, selected: &[String]) -> Option<(&'static str, StrTendril)> {
    let name = &attribute.name.local;
    if let Some(known) = KEPT.get(name) {
        return Some((known, attribute.value));
    }
    let chosen = selected.iter().any(|candidate| **candidate == **name);
    chosen.then(|| (SELECTED, StrTendril::from(format!("{}\0{}", &**name, attribute.value))))
}

/// The names of attributes in the selectors of a page's style sheets, in lower case.
fn selected_attributes(page: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = page;
    while let Some(at) = memchr::memchr(b'<', rest.as_bytes()) {
        rest = &rest[at + 1..];
        if !rest.get(..5).is_some_and(|name| name.eq_ignore_ascii_case("style")) {
            continue;
        }
        let end = memchr::memmem::find(rest.as_bytes(), b"</").unwrap_or(rest.len());
        for part in rest[..end].split('[').skip(1) {
            let part = part.trim_start();
            let length = part.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
            let name = part[..length.unwrap_or(part.len())].to_ascii_lowercase();
            if !name.is_empty() && KEPT.get(&name).is_none() && !names.contains(&name) {
                names.push(name);
            }
            if names.len() >= MOST_SELECTED {
                return names;
            }
        }
        rest = &rest[end..];
    }
    names
}

/// Line ends as the standard has them: line feeds.
fn without_carriage_returns(page: &str) -> Cow<'_, str> {
    let mut rest = page;
    let mut out = String::new();
    while let Some(at) = memchr::memchr(b'\r', rest.as_bytes()) {
        if out.is_empty() {
            out.reserve(page.len());
        }
        out.push_str(&rest[..at]);
        out.push('\n');
        rest = &rest[at + 1..];
        rest = rest.strip_prefix('\n').unwrap_or(rest);
    }
    if out.is_empty() {
        return Cow::Borrowed(page);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A node during tree construction, which may move nodes.
struct Raw {
    parent: u32,
    first: u32,
    last: u32,
    before: u32,
    next: u32,
    depth: u32,
    data: Data,
}

/// The sink for html5ever's tree construction.
struct Sink {
    nodes: RefCell<Vec<Raw>>,
    deepest: Cell<u32>,
    /// Attributes that are kept besides those that this plugin reads.
    selected: Vec<String>,
}

impl Default for Sink {
    fn default() -> Self {
        let sink =
            Self { nodes: RefCell::new(Vec::new()), deepest: Cell::new(0), selected: Vec::new() };
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
            // Up to the next element that has a following sibling.
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

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, _: ElementFlags) -> u32 {
        self.add(Data::Element {
            name,
            attributes: attrs.into_iter().filter_map(|attr| keep(attr, &self.selected)).collect(),
        })
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

    fn same_node(&self, x: &u32, y: &u32) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &u32, child: NodeOrText<u32>) {
        let parent = self.nodes.borrow()[*sibling as usize].parent;
        if parent != NONE {
            self.insert_either(parent, *sibling, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &u32, attrs: Vec<Attribute>) {
        if let Data::Element { attributes, .. } =
            &mut self.nodes.borrow_mut()[*target as usize].data
        {
            for attribute in attrs.into_iter().filter_map(|attr| keep(attr, &self.selected)) {
                if attributes.iter().all(|present| present.0 != attribute.0) {
                    attributes.push(attribute);
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

#[cfg(test)]
mod tests {
    use super::*;
    use html5ever::tendril::TendrilSink;
    use html5ever::tokenizer::TokenizerOpts;
    use html5ever::{ParseOpts, parse_document};
    use proptest::prelude::*;

    /// A tree as lines, with the attributes that are kept.
    fn lines(tree: &Tree) -> Vec<String> {
        let line = |node: &Node| match &node.data {
            Data::Element { name, attributes } => {
                let mut line = format!("{}-{} {} {}", node.parent, node.end, &*name.ns, name.local);
                for (name, value) in attributes {
                    line += &format!(" {name}={:?}", &**value);
                }
                line
            }
            Data::Text(text) => format!("{}-{} {:?}", node.parent, node.end, &**text),
            Data::Document | Data::Other => format!("{}-{}", node.parent, node.end),
        };
        tree.nodes.iter().map(line).collect()
    }

    /// The tree built from html5ever's own tokenizer.
    fn theirs(page: &str) -> Vec<String> {
        let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..Default::default() };
        // html5ever would drop every byte order mark after a script, not only the page's.
        let tokenizer = TokenizerOpts { discard_bom: false, ..Default::default() };
        let page = page.strip_prefix('\u{feff}').unwrap_or(page);
        let options = ParseOpts { tokenizer, tree_builder };
        lines(&parse_document(Sink::default(), options).one(page).in_order())
    }

    fn same(page: &str) {
        let ours = parse(page).map(|tree| lines(&tree));
        assert_eq!(ours.as_deref(), Ok(&theirs(page)[..]), "{page:?}");
    }

    /// Fragments of pages on which tokenizers may differ.
    const PIECES: &[&str] = &[
        "<",
        ">",
        "/",
        "</",
        "<!",
        "<?",
        "!",
        "-",
        "--",
        "-->",
        "--!>",
        "<!--",
        "<!-->",
        "<!--->",
        "=",
        "\"",
        "'",
        " ",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "\0",
        "a",
        "word",
        "é",
        "&",
        "&amp;",
        "&amp",
        "&not",
        "&notin;",
        "&#x41;",
        "&#65",
        "&#0;",
        "&#128;",
        ";",
        "<p>",
        "<p ",
        "</p>",
        "<P CLASS=A>",
        "<a href=",
        "<a href='x'class=y>",
        "<a href=a&copy=b>",
        "<br/>",
        "<br / id=x>",
        "<b>",
        "</b>",
        "<i id=1 id=2>",
        "<table>",
        "<tr>",
        "<td>",
        "</table>",
        "<script>",
        "</script>",
        "</script ",
        "<!--<script>",
        "<title>",
        "</title>",
        "<style>",
        "</style>",
        "<textarea>",
        "</textarea>",
        "<pre>",
        "<plaintext>",
        "<svg>",
        "</svg>",
        "<math>",
        "<![CDATA[",
        "]]>",
        "<xmp>",
        "</xmp>",
        "<iframe>",
        "</iframe>",
        "<noscript>",
        "</noscript>",
        "<!doctype html>",
        "<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 3.2//EN'>",
        "<!doctype",
        "<!doctype html system \"about:legacy-compat\">",
        "<!doctype html public \"a\" 'b' c>",
        "</>",
        "</1>",
        "<1>",
        "<p\0q>",
        "<template>",
        "</template>",
        "<select>",
        "<option>",
        "<body class=x>",
        "<head>",
        "<form>",
        "<li>",
        "<ul>",
        "<h1>",
        "\u{feff}",
    ];

    #[test]
    fn every_two_pieces_give_the_tree_of_html5ever() {
        for first in PIECES {
            same(first);
            for second in PIECES {
                same(&format!("{first}{second}x"));
            }
        }
    }

    #[test]
    fn a_line_feed_behind_an_end_tag_without_a_name_is_text() {
        same("<pre></>\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn any_pieces_give_the_tree_of_html5ever(
            pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..24)
        ) {
            same(&pieces.concat());
        }
    }
}
