//! Reads texts of filled form fields, stamps and notes that are drawn on the page.

use hayro_syntax::object::{Array, Dict, Name, Stream};
use hayro_syntax::page::Page;

use super::Interpreter;
use crate::geometry::Matrix;

impl<'a> Interpreter<'_, 'a> {
    /// Texts of filled fields and of notes that are drawn on the page.
    pub(super) fn annotations(&mut self, page: &Page<'a>) {
        let Some(all) = page.raw().get::<Array<'_>>(b"Annots") else { return };
        for annotation in all.iter::<Dict<'_>>().take(5000) {
            let flags = annotation.get::<u32>(b"F").unwrap_or(0);
            let is_hidden = flags & (1 << 1 | 1 << 5) != 0;
            let kind = annotation.get::<Name<'_>>(b"Subtype");
            let kind = kind.as_ref().map_or(b"".as_slice(), |name| name.as_ref());
            if is_hidden || !matches!(kind, b"Widget" | b"FreeText" | b"Stamp") {
                continue;
            }
            let Some(looks) = annotation.get::<Dict<'_>>(b"AP") else {
                self.field(page, &annotation, kind == b"FreeText");
                continue;
            };
            let form = looks.get::<Stream<'_>>(b"N").or_else(|| {
                let states = looks.get::<Dict<'_>>(b"N")?;
                let state = annotation.get::<Name<'_>>(b"AS")?;
                states.get::<Stream<'_>>(state.as_ref())
            });
            let (Some(form), Some(rect)) = (form, annotation.get::<[f64; 4]>(b"Rect")) else {
                continue;
            };
            let bbox = form.dict().get::<[f64; 4]>(b"BBox").unwrap_or([0.0, 0.0, 1.0, 1.0]);
            let matrix = form.dict().get::<[f64; 6]>(b"Matrix").map_or(Matrix::IDENTITY, Matrix);
            let corners =
                [(0, 1), (0, 3), (2, 1), (2, 3)].map(|(x, y)| matrix.apply(bbox[x], bbox[y]));
            let left = corners.iter().map(|corner| corner.0).fold(f64::INFINITY, f64::min);
            let bottom = corners.iter().map(|corner| corner.1).fold(f64::INFINITY, f64::min);
            let shift =
                Matrix::translation(rect[0].min(rect[2]) - left, rect[1].min(rect[3]) - bottom);
            let state = self.state.clone();
            self.state.ctm = shift.then(&Matrix(page.initial_transform(true).as_coeffs()));
            self.form(&form, page.resources(), &mut Vec::new());
            self.state = state;
        }
    }

    /// The value of a text field or the text of a note without an appearance stream; viewers draw
    /// it.
    fn field(&mut self, page: &Page<'a>, field: &Dict<'a>, is_note: bool) {
        let key: &[u8] = if is_note { b"Contents" } else { b"V" };
        let text = [Some(field.clone()), field.get::<Dict<'_>>(b"Parent")]
            .into_iter()
            .flatten()
            .find_map(|field| field.get::<hayro_syntax::object::String<'_>>(key))
            .map(|value| crate::strings::decode(value.as_bytes()));
        let (Some(text), Some(rect)) = (text, field.get::<[f64; 4]>(b"Rect")) else { return };
        let text = text.trim();
        let height = (rect[3] - rect[1]).abs();
        if text.is_empty() || text.len() > 100_000 || !(0.1..1e5).contains(&height) {
            return;
        }
        let text = self.fonts.texts.add(text);
        let whole = Matrix([1.0, 0.0, 0.0, 1.0, rect[0].min(rect[2]), rect[1].min(rect[3])])
            .then(&Matrix(page.initial_transform(true).as_coeffs()));
        let state = self.state.clone();
        self.state.size = (height * 0.7).min(10.0);
        self.add_glyph(Some(text), &whole, ((rect[2] - rect[0]).abs(), 0.0), false, 1.0);
        self.state = state;
    }
}
