//! Carrel's reader of LaTeX sources, without tools or network: a file (format `tex`) and an arXiv e-print
//! (format `tar`: tar, tar in gzip, or a file in gzip), as documents of `contract/v1/document.schema.json`.
//!
//! [`archive`] unpacks with bounds, [`charset`] decodes, [`token`] reads tokens, [`macros`] expands what
//! the document defines, in bounded steps. [`engine`] is the loop; [`structure`] and [`front`] know the
//! commands, [`commands`] those that give no text, [`signs`] characters and accents. [`builder`] makes
//! blocks, [`people`] authors, [`bib`] references.

mod archive;
mod bib;
mod builder;
mod charset;
mod citations;
mod commands;
mod conditions;
mod definitions;
mod engine;
mod environments;
mod floats;
mod formulas;
mod front;
mod headings;
mod inputs;
mod macros;
mod main_file;
mod manifest;
mod people;
mod references;
mod signs;
mod structure;
mod token;

use carrel_pdk::document::{Abstract, Document, Quality, Reason, Section};
use carrel_pdk::{Error, Host, Manifest, Plugin, arguments};
use serde::Deserialize;

use archive::{Archive, File};
use citations::author_year;
use engine::Engine;

/// The plugin.
#[derive(Debug)]
pub struct Tex;

/// There are no options; others are refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {}

impl Plugin for Tex {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, _arguments: &str, _host: &dyn Host) -> Result<String, Error> {
        Err(Error::unknown_tool(tool))
    }

    fn parse(format: &str, _document: &str) -> Result<String, Error> {
        Err(Error::unknown_format(format))
    }

    fn parse_bytes(format: &str, document: &[u8], options: &str) -> Result<String, Error> {
        let Options {} = arguments(options)?;
        read(format, document).map(|read| read.to_json(document.len()))
    }
}

/// Reads a document in one of the plugin's formats.
///
/// # Errors
///
/// `invalid_document` when it is no LaTeX source, or an archive without one; `too_large` when it
/// inflates beyond the limits.
pub fn read(format: &str, document: &[u8]) -> Result<Document, Error> {
    let archive = match format {
        "tex" => {
            let binary = document.iter().take(1000).filter(|&&byte| byte == 0).count() > 0;
            if binary || document.starts_with(b"%PDF") || document.starts_with(&[0x1F, 0x8B]) {
                let message =
                    "expected a LaTeX source but found binary data: an e-print is the format tar";
                return Err(Error::invalid_document(message, 0, String::new()));
            }
            let file = File { path: "main.tex".to_owned(), bytes: document.to_vec() };
            Archive { files: vec![file], damaged: false }
        }
        "tar" => archive::read(document)?,
        other => return Err(Error::unknown_format(other)),
    };
    let Some(main) = main_file::find(&archive.files) else {
        let message = "expected a LaTeX source but the archive has none";
        return Err(Error::invalid_document(message, 0, String::new()));
    };
    let mut engine = Engine::new(&archive.files);
    engine.read_main(main);
    let cut = engine.cut;
    let mut document = finish(engine);
    if archive.files.len() > 1 {
        let from = "the e-print's files".to_owned();
        document.metadata.push(carrel_pdk::document::Metadatum {
            name: "main_file".to_owned(),
            value: main.path.clone(),
            from,
            ..Default::default()
        });
    }
    if archive.damaged {
        document.warn("truncated_archive", "the archive ends too early or is broken", None);
    }
    if cut {
        let message = "the document has no \\end{document}: its end is missing";
        document.warn("truncated_source", message, Some(main.path.clone()));
    }
    if archive.damaged || cut {
        document.quality = Quality::Partial;
        document.quality_reason = Some(Reason::Truncated);
    }
    document.finish();
    Ok(document)
}

/// Finishes the document: cited works, numbers of labels, levels.
fn finish(mut engine: Engine<'_>) -> Document {
    engine.resolve_bibliography();
    engine.index_references();
    let mut sections = std::mem::take(&mut engine.sections);
    let mut abstracts = std::mem::take(&mut engine.abstracts);
    let mut title = engine.document.title.take();
    let mut links = std::mem::take(&mut engine.document.links);
    let mut metadata = std::mem::take(&mut engine.document.metadata);
    let mut resolve = |text: &mut String| engine.resolve(text);
    builder::each_section(&mut sections, &mut resolve);
    for blocks in &mut abstracts {
        builder::each_text(blocks, &mut resolve);
    }
    title.iter_mut().for_each(&mut resolve);
    links.iter_mut().filter_map(|link| link.text.as_mut()).for_each(&mut resolve);
    metadata.iter_mut().for_each(|entry| resolve(&mut entry.value));
    let mut texts: Vec<String> =
        engine.document.references.iter().map(|reference| reference.text.clone()).collect();
    texts.iter_mut().for_each(&mut resolve);
    let mut document = std::mem::take(&mut engine.document);
    for (reference, text) in document.references.iter_mut().zip(texts) {
        reference.text = text;
        // natbib prints no label of author and year in front of a reference.
        reference.label = reference.label.take().filter(|label| author_year(Some(label)).is_none());
    }
    document.links = links;
    document.metadata = metadata;
    document.links.retain(|link| link.text.as_deref() != Some(""));
    document.title = title;
    document.authors = std::mem::take(&mut engine.people).into_people();
    let outermost = sections.iter().map(|section| section.level).min().unwrap_or(1);
    for section in &mut sections {
        section.level = section.level - outermost + 1;
    }
    document.abstracts = abstracts
        .into_iter()
        .filter(|blocks| !blocks.is_empty())
        .map(|blocks| Abstract {
            sections: vec![Section { level: 1, blocks, ..Section::default() }],
            ..Abstract::default()
        })
        .collect();
    document.sections = sections;
    document
}

carrel_pdk::plugin!(Tex, bytes);
