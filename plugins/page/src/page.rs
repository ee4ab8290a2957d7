//! A web page as a document.

use carrel_pdk::Error;
use carrel_pdk::document::Document;

use crate::blocks::{self, Blocks};
use crate::content;
use crate::dom::Tree;
use crate::hints;

/// Reads a page.
pub(crate) fn read(page: &str) -> Result<Document, Error> {
    let mut document = Document::default();
    let Ok(tree) = Tree::parse(page) else { return Ok(document) };
    let title = tree.find(0, "title").map(|id| tree.all_text(id)).unwrap_or_default();
    let shown = hints::shown(&tree);
    if let Some(selection) = content::choose(&tree, &shown, &title) {
        let mut reader =
            Blocks { tree: &tree, gone: &selection.gone, document: &mut document };
        let mut pieces = Vec::new();
        for &root in &selection.roots {
            pieces.extend(reader.pieces(root, tree.end(root), 0));
        }
        document.sections = blocks::sections(pieces, Some(&title));
    }
    document.title = Some(title).filter(|title| !title.is_empty());
    document.finish();
    Ok(document)
}
