//! The structure tree of tagged files: maps marked content to elements.

use std::collections::HashMap;

use carrel_pdk::text::collapse;
use hayro_syntax::Pdf;
use hayro_syntax::object::{Dict, Name, Object, ObjectIdentifier, String as PdfString};

use crate::interpret::Glyph;
use crate::strings;

/// The most nodes of a tree that are read, and its depth: both limits end a cycle.
const MOST_NODES: usize = 100_000;
const DEEPEST: usize = 40;
/// The share of a page's glyphs in elements from which tags count as reliable.
const TAGGED: f32 = 0.8;
/// The most glyphs of one element on a page: with more, it is the page, not a paragraph.
const MOST_GLYPHS: usize = 3000;

/// The type of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A heading of a level from 1.
    Heading(u32),
    Paragraph,
    Item,
    /// A cell: number of its table, row, column, and whether it is a heading.
    Cell(u32, u32, u32, bool),
}

/// Elements by number, from 1, and their content.
#[derive(Debug, Default)]
pub(crate) struct Tags {
    roles: Vec<Role>,
    pages: HashMap<ObjectIdentifier, HashMap<u32, u32>>,
    /// Alternative texts of figures, by page.
    alternatives: HashMap<ObjectIdentifier, Vec<String>>,
    pub(crate) has_headings: bool,
}

impl Tags {
    /// Reads the tree of a file that is marked as tagged.
    pub(crate) fn read(pdf: &Pdf) -> Self {
        let tree = || {
            let root = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id())?;
            let marked = root.get::<Dict<'_>>(b"MarkInfo")?.get::<bool>(b"Marked")?;
            root.get::<Dict<'_>>(b"StructTreeRoot").filter(|_| marked)
        };
        let Some(tree) = tree() else { return Self::default() };
        let mut reader = Reader {
            tags: Self::default(),
            map: tree.get::<Dict<'_>>(b"RoleMap").unwrap_or_default(),
            nodes: 0,
            table: (0, 0, 0),
        };
        reader.kids(&tree, TreePosition::default(), 0);
        reader.tags
    }

    /// Elements of a page's marked contents.
    pub(crate) fn of_page(&self, page: Option<ObjectIdentifier>) -> Option<&HashMap<u32, u32>> {
        self.pages.get(&page?)
    }

    /// Alternative texts of the figures of a page.
    pub(crate) fn alternatives(&self, page: Option<ObjectIdentifier>) -> Vec<String> {
        page.and_then(|page| self.alternatives.get(&page)).cloned().unwrap_or_default()
    }

    pub(crate) fn role(&self, element: u32) -> Option<Role> {
        self.roles.get((element as usize).checked_sub(1)?).copied()
    }
}

/// Ignores the elements of a page's glyphs if the tags are unreliable: many glyphs have none, or
/// all have the same.
pub(crate) fn check(glyphs: &mut [Glyph]) {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for glyph in glyphs.iter() {
        *counts.entry(glyph.element).or_default() += 1;
    }
    let bare = counts.remove(&0).unwrap_or(0);
    let is_sound = (bare as f32) < glyphs.len() as f32 * (1.0 - TAGGED)
        && counts.values().all(|count| *count <= MOST_GLYPHS);
    if !is_sound {
        for glyph in glyphs {
            glyph.element = 0;
        }
    }
}

/// The position of a node in the tree.
#[derive(Debug, Clone, Copy, Default)]
struct TreePosition {
    page: Option<ObjectIdentifier>,
    /// The element that content belongs to; 0 for none yet.
    element: u32,
}

struct Reader<'a> {
    tags: Tags,
    map: Dict<'a>,
    nodes: usize,
    /// The last table, its row, its column.
    table: (u32, u32, u32),
}

impl<'a> Reader<'a> {
    fn kids(&mut self, node: &Dict<'a>, position: TreePosition, depth: usize) {
        match node.get::<Object<'a>>(b"K") {
            Some(Object::Array(kids)) => {
                for kid in kids.iter::<Object<'a>>() {
                    self.kid(kid, position, depth);
                }
            }
            Some(kid) => self.kid(kid, position, depth),
            None => {}
        }
    }

    fn kid(&mut self, kid: Object<'a>, position: TreePosition, depth: usize) {
        self.nodes += 1;
        if self.nodes > MOST_NODES || depth > DEEPEST {
            return;
        }
        match kid {
            Object::Number(number) => self.content(u32::try_from(number.as_i64()).ok(), position),
            Object::Dict(kid) => {
                let page = kid.get_ref(b"Pg").map(Into::into).or(position.page);
                let position = TreePosition { page, ..position };
                if kid.contains_key(b"S") {
                    self.element(&kid, position, depth + 1);
                } else {
                    self.content(kid.get::<u32>(b"MCID"), position);
                }
            }
            _ => {}
        }
    }

    fn content(&mut self, mark: Option<u32>, position: TreePosition) {
        if let (Some(mark), Some(page), 1..) = (mark, position.page, position.element) {
            self.tags.pages.entry(page).or_default().insert(mark, position.element);
        }
    }

    fn element(&mut self, node: &Dict<'a>, position: TreePosition, depth: usize) {
        let Some(name) = self.name(node) else { return };
        let role = |role| Some(role);
        let inside = self.tags.role(position.element);
        let own = match name.as_slice() {
            b"H" | b"H1" | b"Title" => role(Role::Heading(1)),
            [b'H', level @ b'2'..=b'6'] => role(Role::Heading(u32::from(level - b'0'))),
            b"LI" => role(Role::Item),
            b"Table" => {
                self.table = (self.table.0 + 1, 0, 0);
                None
            }
            b"TR" => {
                self.table = (self.table.0, self.table.1 + 1, 0);
                None
            }
            b"TD" | b"TH" => {
                let (table, row, column) = self.table;
                let span = node.get::<Dict<'_>>(b"A").and_then(|a| a.get::<u32>(b"ColSpan"));
                self.table.2 = column.saturating_add(span.unwrap_or(1).clamp(1, 100));
                role(Role::Cell(table, row, column, name == b"TH"))
            }
            // Paragraphs of an item or a cell are its text.
            b"P" | b"Note" | b"BlockQuote" | b"Caption" | b"TOCI" | b"BibEntry"
                if !matches!(inside, Some(Role::Item | Role::Cell(..))) =>
            {
                role(Role::Paragraph)
            }
            _ => None,
        };
        let mut position = position;
        if let Some(own) = own {
            self.tags.has_headings |= matches!(own, Role::Heading(_));
            self.tags.roles.push(own);
            position.element = u32::try_from(self.tags.roles.len()).unwrap_or(0);
        }
        if name == b"Figure" {
            self.figure(node, position);
        }
        let table = self.table;
        self.kids(node, position, depth);
        if matches!(own, Some(Role::Cell(..))) {
            // A nested table has counted its own rows.
            self.table = (self.table.0.max(table.0), table.1, table.2);
        }
    }

    /// The type of an element, mapped by the file's role map if it is not a standard type.
    fn name(&self, node: &Dict<'a>) -> Option<Vec<u8>> {
        let mut name = node.get::<Name<'_>>(b"S")?.as_ref().to_vec();
        for _ in 0..8 {
            match self.map.get::<Name<'_>>(name.as_slice()) {
                Some(next) if next.as_ref() != name => name = next.as_ref().to_vec(),
                _ => break,
            }
        }
        Some(name)
    }

    fn figure(&mut self, node: &Dict<'a>, position: TreePosition) {
        let Some(text) = node.get::<PdfString<'_>>(b"Alt") else { return };
        let text = strings::decode(text.as_bytes());
        let text = collapse(&text).into_owned();
        // Some programs put the picture's file name there.
        let is_file = !text.contains(' ') && text.contains('.');
        // The page can be that of the content.
        let of_kid = || {
            let kid = match node.get::<Object<'a>>(b"K")? {
                Object::Dict(kid) => kid,
                Object::Array(kids) => kids.iter::<Dict<'a>>().next()?,
                _ => return None,
            };
            kid.get_ref(b"Pg").map(Into::into)
        };
        if let (Some(page), false) = (position.page.or_else(of_kid), text.is_empty() || is_file) {
            let all = self.tags.alternatives.entry(page).or_default();
            if all.len() < 200 {
                all.push(text);
            }
        }
    }
}
