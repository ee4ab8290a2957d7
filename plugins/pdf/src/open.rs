use carrel_pdk::Error;
use carrel_pdk::document::{Block, Document, Kind, Section};
use hayro_syntax::Pdf;
use std::collections::HashSet;

pub(crate) fn read(bytes: &[u8], _options: &str) -> Result<Document, Error> {
    let pdf =
        Pdf::new(bytes.to_vec()).map_err(|e| Error::invalid_document(format!("{e:?}"), 0, ""))?;
    let mut fonts = crate::font::Fonts::new();
    let mut operators = 0;
    let mut document = Document::default();
    let mut section = Section { level: 1, ..Section::default() };
    for page in pdf.pages().iter() {
        let content = crate::interpret::page(page, &mut fonts, &HashSet::new(), &mut operators);
        let lines = crate::lines::gather(&content.glyphs, &fonts.texts);
        for block in crate::blocks::gather(lines, &fonts.all) {
            let text: Vec<&str> = block.lines.iter().map(|l| l.text.as_str()).collect();
            section.blocks.push(Block::new(Kind::Code, text.join("\n")));
        }
    }
    document.sections.push(section);
    document.finish();
    Ok(document)
}
