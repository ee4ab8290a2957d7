//! Which part of a page is its text.

use crate::article::{Measured, Selection};
use crate::dom::Tree;
use crate::hints::{Hints, Shown};

/// Chooses the text of a page.
pub(crate) fn choose(tree: &Tree, shown: &Shown, title: &str) -> Option<Selection> {
    let hints = Hints::new(tree);
    let measured = Measured::new(tree, &hints, &shown.gone);
    measured.article(&shown.gone, title)
}
