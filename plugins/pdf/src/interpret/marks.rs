//! Marked content: hidden text, and text that replaces the content.

use hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier};
use hayro_syntax::page::Resources;

use super::{Glyph, Interpreter};

/// Replacement of the text inside a marked content.
pub(super) struct Replacement {
    pub(super) text: String,
    pub(super) first: Option<Glyph>,
}

/// An open marked content.
#[derive(Default)]
pub(super) struct Mark {
    pub(super) hides: bool,
    /// The replacement of the text inside.
    pub(super) replacement: Option<Replacement>,
    /// The element of the content around it.
    pub(super) element: u32,
}

impl<'a> Interpreter<'_, 'a> {
    /// Whether optional content is off in the document's default view.
    pub(super) fn is_off(&self, id: Option<ObjectIdentifier>, dict: Option<&Dict<'_>>) -> bool {
        if self.hidden.is_empty() {
            return false;
        }
        if id.is_some_and(|id| self.hidden.contains(&id)) {
            return true;
        }
        // A membership dictionary: by default visible if any of its groups is.
        let Some(dict) = dict else { return false };
        if dict.get_ref(b"OCGs").is_some_and(|group| self.hidden.contains(&group.into())) {
            return true;
        }
        let Some(groups) = dict.get::<Array<'_>>(b"OCGs") else { return false };
        let off: Vec<bool> = groups
            .raw_iter()
            .filter_map(|group| group.as_obj_ref())
            .map(|group| self.hidden.contains(&group.into()))
            .collect();
        let policy = dict.get::<Name<'_>>(b"P");
        match policy.as_ref().map_or(b"AnyOn".as_slice(), |name| name.as_ref()) {
            b"AllOn" => off.contains(&true),
            b"AnyOff" => !off.contains(&true) && !off.is_empty(),
            b"AllOff" => off.contains(&false),
            _ => !off.is_empty() && !off.contains(&false),
        }
    }

    pub(super) fn begin_mark(
        &mut self,
        tag: Option<&Object<'_>>,
        properties: Option<&Object<'_>>,
        resources: &Resources<'a>,
    ) {
        let is = |tag: Option<&Object<'_>>, name: &[u8]| matches!(tag, Some(Object::Name(tag)) if tag.as_ref() == name);
        let mut hides = false;
        let mut replacement = None;
        let from_resources;
        let dict = match properties {
            Some(Object::Name(name)) => {
                from_resources = resources.properties.get::<Dict<'_>>(name.as_ref());
                if is(tag, b"OC") {
                    let id = resources.properties.get_ref(name.as_ref()).map(Into::into);
                    hides = self.is_off(id, from_resources.as_ref());
                }
                from_resources.as_ref()
            }
            Some(Object::Dict(dict)) => Some(dict),
            _ => None,
        };
        if let Some(text) =
            dict.and_then(|dict| dict.get::<hayro_syntax::object::String<'_>>(b"ActualText"))
        {
            let text = crate::strings::decode(text.as_bytes());
            replacement = Some(Replacement { text, first: None });
        }
        self.hiding += usize::from(hides);
        self.replacing += usize::from(replacement.is_some());
        self.marks.push(Mark { hides, replacement, element: self.element });
        let mark = dict.and_then(|dict| dict.get::<u32>(b"MCID"));
        if let (Some(elements), Some(mark)) = (self.elements, mark) {
            self.element = elements.get(&mark).copied().unwrap_or(0);
        }
        if self.marks.len() > 10_000 {
            self.end_mark(0);
        }
    }

    pub(super) fn end_mark(&mut self, depth: usize) {
        if self.marks.len() <= depth {
            return;
        }
        let Some(Mark { hides, replacement, element }) = self.marks.pop() else { return };
        self.element = element;
        self.hiding -= usize::from(hides);
        let Some(replacement) = replacement else { return };
        self.replacing -= 1;
        let text = replacement.text.trim_matches(|c: char| c.is_control());
        if let (Some(mut glyph), 0, false) = (replacement.first, self.replacing, text.is_empty()) {
            glyph.text = self.fonts.texts.add(text);
            self.content.glyphs.push(glyph);
        }
    }
}
