//! Selectors: tags, classes, identifiers, attributes, combinators, `:not`, `:is`, `:where` and
//! positions among siblings. Others, which mostly apply in some state, are not matched.

use crate::ancestry::{Bits, bit};
use crate::dom::{Id, Tree};

/// The most compounds of one selector, and the deepest nesting of `:is` and `:not`.
const MOST_COMPOUNDS: usize = 8;
const DEEPEST: u32 = 3;
/// The most siblings that are tried.
const MOST_SIBLINGS: usize = 64;

/// How an element is related to the one before it in a selector.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Relation {
    /// It is inside it.
    #[default]
    Inside,
    /// It is its child.
    Child,
    /// It follows it directly.
    Next,
    /// It follows it.
    Later,
}

/// One element's part of a selector.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Compound {
    tag: String,
    id: String,
    classes: Vec<String>,
    attributes: Vec<Attribute>,
    /// Lists of which the element must match one compound each.
    any: Vec<Vec<Compound>>,
    /// Compounds that the element must not match.
    without: Vec<Compound>,
    /// Its positions among its siblings: 1 and more from the first, -1 and less from the last.
    positions: Vec<i32>,
    relation: Relation,
}

/// A condition on an attribute: name, operator (empty if it must only be there), value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Attribute {
    name: String,
    sign: String,
    value: String,
    folded: bool,
}

/// A selector, from the outermost compound to the element itself.
#[derive(Debug, Clone)]
pub(crate) struct Selector(Vec<Compound>);

/// A name that every element which a selector matches has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key<'s> {
    Id(&'s str),
    Class(&'s str),
    Tag(&'s str),
    /// It may have any name.
    Nothing,
}

impl Selector {
    /// Reads a selector; `None` if some of its parts are not matched.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut reader = Reader { text, at: 0 };
        let mut found: Vec<Compound> = Vec::new();
        loop {
            let relation = reader.relation();
            if reader.is_at_end() {
                break;
            }
            let mut compound = reader.compound(0)?;
            compound.relation = relation;
            found.push(compound);
            if found.len() > MOST_COMPOUNDS {
                return None;
            }
        }
        (!found.is_empty()).then_some(Self(found))
    }

    /// What an element must be named for the selector to match it.
    pub(crate) fn key(&self) -> Key<'_> {
        match self.0.last() {
            Some(last) if !last.id.is_empty() => Key::Id(&last.id),
            Some(last) if !last.classes.is_empty() => Key::Class(&last.classes[0]),
            Some(last) if !last.tag.is_empty() => Key::Tag(&last.tag),
            _ => Key::Nothing,
        }
    }

    /// The bits of the names that an element and its ancestors have if the selector matches it.
    pub(crate) fn bits(&self) -> Bits {
        let mut bits = 0;
        let mut is_around = true;
        for compound in self.0.iter().rev() {
            if is_around {
                bits |= compound.classes.iter().fold(0, |bits, class| bits | bit(class));
                bits |= if compound.id.is_empty() { 0 } else { bit(&compound.id) };
            }
            // What precedes a sibling is no ancestor, what contains it is one.
            is_around = matches!(compound.relation, Relation::Inside | Relation::Child);
        }
        bits
    }

    /// Its specificity: identifiers, classes and the like, tags.
    pub(crate) fn weight(&self) -> (usize, usize, usize) {
        let count = |size: fn(&Compound) -> usize| self.0.iter().map(size).sum::<usize>();
        (
            count(|compound| usize::from(!compound.id.is_empty())),
            count(|compound| {
                compound.classes.len()
                    + compound.attributes.len()
                    + compound.positions.len()
                    + compound.any.len()
                    + compound.without.len()
            }),
            count(|compound| usize::from(!compound.tag.is_empty())),
        )
    }

    /// Whether an element matches.
    pub(crate) fn matches(&self, tree: &Tree, id: Id) -> bool {
        let Some((last, before)) = self.0.split_last() else { return false };
        if !last.fits(tree, id) {
            return false;
        }
        let (mut at, mut relation) = (id, last.relation);
        for compound in before.iter().rev() {
            let found = match relation {
                Relation::Inside => {
                    let mut outer = tree.parent(at);
                    while outer != 0 && !compound.fits(tree, outer) {
                        outer = tree.parent(outer);
                    }
                    Some(outer).filter(|&outer| outer != 0)
                }
                Relation::Child => {
                    Some(tree.parent(at)).filter(|&outer| outer != 0 && compound.fits(tree, outer))
                }
                Relation::Next => tree.element_before(at).filter(|&id| compound.fits(tree, id)),
                Relation::Later => {
                    std::iter::successors(tree.element_before(at), |&id| tree.element_before(id))
                        .take(MOST_SIBLINGS)
                        .find(|&id| compound.fits(tree, id))
                }
            };
            let Some(found) = found else { return false };
            (at, relation) = (found, compound.relation);
        }
        true
    }
}

impl Compound {
    fn fits(&self, tree: &Tree, id: Id) -> bool {
        let classes = || tree.attribute(id, "class").unwrap_or_default().split_ascii_whitespace();
        (self.tag.is_empty() || tree.name(id) == self.tag)
            && (self.id.is_empty() || tree.attribute(id, "id").map(str::trim) == Some(&self.id))
            && self.classes.iter().all(|class| classes().any(|name| name == class))
            && self.attributes.iter().all(|attribute| attribute.fits(tree, id))
            && self.any.iter().all(|list| list.iter().any(|compound| compound.fits(tree, id)))
            && !self.without.iter().any(|compound| compound.fits(tree, id))
            && self.positions.iter().all(|&position| is_at(tree, id, position))
    }
}

impl Attribute {
    fn fits(&self, tree: &Tree, id: Id) -> bool {
        let Some(found) = tree.any_attribute(id, &self.name) else { return false };
        let folded = |text: &str| {
            if self.folded { text.to_lowercase() } else { text.to_owned() }
        };
        let (found, value) = (folded(found), folded(&self.value));
        match self.sign.as_str() {
            "" => true,
            "=" => found == value,
            _ if value.is_empty() => false,
            "~=" => found.split_ascii_whitespace().any(|word| word == value),
            "|=" => found
                .strip_prefix(&value)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
            "^=" => found.starts_with(&value),
            "$=" => found.ends_with(&value),
            "*=" => found.contains(&value),
            _ => false,
        }
    }
}

/// Whether an element is at a position among its sibling elements.
fn is_at(tree: &Tree, id: Id, position: i32) -> bool {
    if position < 0 {
        let after = tree.elements(tree.parent(id)).filter(|&sibling| sibling > id);
        let expected = usize::try_from(-position - 1).unwrap_or(usize::MAX);
        return after.take(expected + 1).count() == expected;
    }
    let before = std::iter::successors(tree.element_before(id), |&node| tree.element_before(node));
    let expected = usize::try_from(position - 1).unwrap_or(usize::MAX);
    expected < MOST_SIBLINGS && before.take(expected + 1).count() == expected
}

/// Divides a text at commas outside brackets and quotes.
pub(crate) fn divided(list: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_u32, None);
    for (at, byte) in list.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'[') => depth += 1,
            (None, b')' | b']') => depth = depth.saturating_sub(1),
            (None, b',') if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

/// Decodes CSS's escapes: up to six hexadecimal digits and a blank, or any other character.
pub(crate) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\\') {
        out.push_str(before);
        let digits = behind.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        rest = match u32::from_str_radix(&behind[..digits], 16) {
            Ok(code) => {
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                let behind = &behind[digits..];
                behind.strip_prefix([' ', '\n', '\t']).unwrap_or(behind)
            }
            Err(_) => {
                let mut chars = behind.chars();
                out.extend(chars.next().filter(|&character| character != '\n'));
                chars.as_str()
            }
        };
    }
    out.push_str(rest);
    out
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    fn take(&mut self, sign: char) -> bool {
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len_utf8() } else { 0 };
        found
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn relation(&mut self) -> Relation {
        self.blanks();
        let relation = match self.rest().bytes().next() {
            Some(b'>') => Relation::Child,
            Some(b'+') => Relation::Next,
            Some(b'~') => Relation::Later,
            _ => return Relation::Inside,
        };
        self.at += 1;
        self.blanks();
        relation
    }

    /// Reads a name, with escapes.
    fn name(&mut self) -> Option<String> {
        let rest = self.rest();
        let mut end = 0;
        let mut escaped = 0_u8;
        for (at, c) in rest.char_indices() {
            end = at;
            match c {
                '\\' if escaped == 0 => escaped = 1,
                _ if escaped == 1 => escaped = if c.is_ascii_hexdigit() { 2 } else { 0 },
                ' ' if escaped > 1 => escaped = 0,
                _ if escaped > 1 && escaped < 7 && c.is_ascii_hexdigit() => escaped += 1,
                _ if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || !c.is_ascii() => {
                    escaped = 0;
                }
                _ => break,
            }
            end = at + c.len_utf8();
        }
        self.at += end;
        (end > 0).then(|| unescaped(&rest[..end]))
    }

    fn compound(&mut self, depth: u32) -> Option<Compound> {
        let mut compound = Compound::default();
        let start = self.at;
        if !self.take('*') {
            compound.tag = self.name().unwrap_or_default().to_ascii_lowercase();
        }
        loop {
            match self.rest().bytes().next() {
                Some(b'.') => {
                    self.at += 1;
                    compound.classes.push(self.name()?);
                }
                Some(b'#') => {
                    self.at += 1;
                    compound.id = self.name()?;
                }
                Some(b'[') => {
                    self.at += 1;
                    compound.attributes.push(self.attribute()?);
                }
                Some(b':') => {
                    self.at += 1;
                    self.pseudo(&mut compound, depth)?;
                }
                Some(b' ' | b'\n' | b'\t' | b'>' | b'+' | b'~') | None => break,
                Some(_) => return None,
            }
        }
        (self.at > start).then_some(compound)
    }

    fn attribute(&mut self) -> Option<Attribute> {
        self.blanks();
        let name = self.name()?.to_ascii_lowercase();
        self.blanks();
        let length = self.rest().bytes().take_while(|byte| b"~|^$*=".contains(byte)).count();
        let sign = self.rest()[..length].to_owned();
        self.at += length;
        self.blanks();
        let mut value = String::new();
        if !sign.is_empty() {
            let quote = self.rest().chars().next().filter(|quote| matches!(quote, '"' | '\''));
            if let Some(quote) = quote {
                let (inner, _) = self.rest()[1..].split_once(quote)?;
                value = unescaped(inner);
                self.at += inner.len() + 2;
            } else {
                value = self.name()?;
            }
        }
        self.blanks();
        let folded = self.take('i') || self.take('I');
        self.blanks();
        self.take(']').then_some(Attribute { name, sign, value, folded })
    }

    fn pseudo(&mut self, compound: &mut Compound, depth: u32) -> Option<()> {
        let name = self.name()?.to_ascii_lowercase();
        let inner = if self.take('(') {
            let rest = self.rest();
            let mut open = 1_u32;
            let end = rest.bytes().position(|byte| {
                open = if byte == b'(' { open + 1 } else { open - u32::from(byte == b')') };
                open == 0
            })?;
            self.at += end + 1;
            rest[..end].trim()
        } else {
            ""
        };
        let list = || -> Option<Vec<Compound>> {
            let read = |input: &str| {
                let mut reader = Reader { text: input.trim(), at: 0 };
                reader.compound(depth + 1).filter(|_| reader.is_at_end())
            };
            (depth < DEEPEST).then(|| divided(inner).into_iter().take(16).map(read).collect())?
        };
        match name.as_str() {
            "not" => compound.without.extend(list()?),
            "is" | "where" | "matches" | "any" | "-webkit-any" => compound.any.push(list()?),
            "root" => compound.tag = "html".to_owned(),
            "first-child" => compound.positions.push(1),
            "last-child" => compound.positions.push(-1),
            "only-child" => compound.positions.extend([1, -1]),
            "nth-child" => compound.positions.push(inner.parse().ok().filter(|&at: &i32| at > 0)?),
            "nth-last-child" => {
                compound.positions.push(-inner.parse().ok().filter(|&at: &i32| at > 0)?);
            }
            _ => return None,
        }
        Some(())
    }
}
