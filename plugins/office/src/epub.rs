//! EPUB 2 and 3: the package's metadata, and the chapters in the order of the spine.

use std::collections::HashMap;

use carrel_pdk::Error;
use carrel_pdk::document::{Block, Document, Kind, Quality, Reason, Section};
use carrel_pdk::text::collapse;
use carrel_pdk::xml::tree::{Node, Tree};

use crate::outline::{Outline, one_line};
use crate::package::{Package, resolve, tree};
use crate::xhtml::{Chapter, Found, rescue};
use crate::zip::Zip;
use crate::{properties, sealed};

/// Chapters of one book.
const MAX_CHAPTERS: usize = 20_000;
/// Entries of a table of contents.
const MAX_ENTRIES: usize = 50_000;

struct Part {
    path: String,
    media: String,
    properties: String,
    /// The fallback part, if this part's type is unknown.
    fallback: Option<String>,
}

/// Reads the archive.
pub(crate) fn read(zip: Zip<'_>) -> Result<Document, Error> {
    let package = Package::new(zip);
    let mut document = Document::default();
    if package.zip.damaged {
        let message = "the archive's directory is missing or broken: its entries were looked for";
        document.warn("damaged_archive", message, None);
    }
    let path = root_file(&package)?;
    if package.zip.is_encrypted(&path) {
        return Ok(sealed::encrypted("the book"));
    }
    let Some(text) = package.text(&path)? else {
        let message = format!("expected a book but the archive has no {path}");
        return Err(Error::invalid_document(message, 0, path));
    };
    let opf = tree(&path, &text, "a book's package")?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    if let Some(node) = opf.find(opf.root(), "metadata") {
        metadata(&opf, node, &path, &mut document);
    }
    let sealed_parts = encrypted_parts(&package);
    let mut parts: HashMap<String, Part> = HashMap::new();
    if let Some(manifest) = opf.find(opf.root(), "manifest") {
        for item in opf.elements(manifest) {
            let (Some(id), Some(href)) = (opf.attribute(item, "id"), opf.attribute(item, "href"))
            else {
                continue;
            };
            let value = |name: &str| {
                opf.attribute(item, name).map_or_else(String::new, |value| value.into_owned())
            };
            if href.contains("://") {
                let message = format!("a part outside the book is not read: {href}");
                document.warn("external_relation", message, Some(path.clone()));
                continue;
            }
            let part = Part {
                path: resolve(folder, &carrel_pdk::percent::decode(&href)),
                media: value("media-type"),
                properties: value("properties"),
                fallback: Some(value("fallback")).filter(|id| !id.is_empty()),
            };
            parts.insert(id.into_owned(), part);
        }
    }
    let spine = opf.find(opf.root(), "spine");
    let entries =
        contents(&package, &parts, spine.and_then(|spine| opf.attribute(spine, "toc")).as_deref());
    let mut outline = Outline::of_document();
    let mut locked = 0_u64;
    let mut damaged = false;
    let mut chapters = 0_u64;
    for node in spine.into_iter().flat_map(|spine| opf.elements(spine)).take(MAX_CHAPTERS) {
        let Some(id) = opf.attribute(node, "idref") else { continue };
        let Some(part) = readable(&parts, &id) else {
            let message = format!("a chapter of the spine is not in the manifest: {id}");
            document.warn("missing_part", message, Some(path.clone()));
            continue;
        };
        if part.properties.split(' ').any(|word| word == "nav")
            && opf.attribute(node, "linear").as_deref() == Some("no")
        {
            continue;
        }
        if sealed_parts.contains(&part.path) || package.zip.is_encrypted(&part.path) {
            locked += 1;
            continue;
        }
        chapters += 1;
        damaged |= !chapter(&package, &part.path, &entries, &mut outline, &mut document)?;
    }
    document.sections = outline.into_sections();
    if locked > 0 {
        let message = format!("{locked} chapters are encrypted: the book is protected");
        document.warn("encrypted", message, None);
        document.quality = if chapters == 0 { Quality::None } else { Quality::Partial };
        document.quality_reason = Some(Reason::Encrypted);
    } else if damaged {
        document.quality = Quality::Partial;
        document.quality_reason = Some(Reason::Damaged);
    }
    Ok(document)
}

/// The path of the package's description.
fn root_file(package: &Package<'_>) -> Result<String, Error> {
    if let Some(text) = package.text("META-INF/container.xml")? {
        let container = tree("META-INF/container.xml", &text, "a container")?;
        let found = container.descendants(container.root()).find_map(|node| {
            (container.name(node) == "rootfile").then(|| container.attribute(node, "full-path"))?
        });
        if let Some(found) = found {
            return Ok(resolve("", &found));
        }
    }
    let found = package.zip.names().iter().find(|name| name.ends_with(".opf"));
    found.cloned().ok_or_else(|| {
        let message = "expected a book but the archive has no META-INF/container.xml";
        Error::invalid_document(message, 0, "META-INF/container.xml")
    })
}

/// The encrypted parts, except fonts, which most programs obfuscate.
fn encrypted_parts(package: &Package<'_>) -> Vec<String> {
    let Ok(Some(text)) = package.text("META-INF/encryption.xml") else { return Vec::new() };
    let Ok(tree) = Tree::read(&text, "an encryption") else { return Vec::new() };
    let names = tree.descendants(tree.root()).filter(|&node| tree.name(node) == "CipherReference");
    let names = names.filter_map(|node| tree.attribute(node, "URI"));
    names.map(|name| resolve("", &carrel_pdk::percent::decode(&name))).collect()
}

/// The part of an identifier, or its fallback.
fn readable<'p>(parts: &'p HashMap<String, Part>, id: &str) -> Option<&'p Part> {
    let mut part = parts.get(id)?;
    for _ in 0..8 {
        if part.media.contains("html") || part.media.contains("dtbook") {
            break;
        }
        match part.fallback.as_ref().and_then(|id| parts.get(id)) {
            Some(fallback) => part = fallback,
            None => break,
        }
    }
    Some(part)
}

fn metadata(opf: &Tree<'_>, node: Node, path: &str, document: &mut Document) {
    // Titles and creators refined by other elements, such as a subtitle or an editor.
    let mut refined: HashMap<String, Vec<(String, String)>> = HashMap::new();
    for meta in opf.elements(node).filter(|&node| opf.name(node) == "meta") {
        if let (Some(of), Some(property), Some(value)) =
            (opf.attribute(meta, "refines"), opf.attribute(meta, "property"), opf.text(meta))
        {
            let of = of.trim_start_matches('#').to_owned();
            refined.entry(of).or_default().push((property.into_owned(), value));
        }
    }
    for child in opf.elements(node) {
        let name = opf.name(child);
        let refinement = |requested: &str| {
            let id = opf.attribute(child, "id")?;
            let all = refined.get(id.as_ref())?;
            all.iter().find(|(property, _)| property == requested).map(|(_, value)| value.clone())
        };
        if name == "meta" {
            let stated = opf.attribute(child, "property").or_else(|| opf.attribute(child, "name"));
            let value = opf
                .text(child)
                .or_else(|| opf.attribute(child, "content").map(|value| value.into_owned()));
            if let (Some(stated), Some(value), None) =
                (stated, value, opf.attribute(child, "refines"))
            {
                let from = format!("{path} meta");
                properties::state(document, &stated.replace([':', '-'], "_"), None, &value, &from);
            }
            continue;
        }
        let Some(value) = opf.text(child) else { continue };
        let from = format!("{path} {name}");
        match name {
            "title" => {
                let kind = refinement("title-type");
                if document.title.is_none() && kind.as_deref().is_none_or(|kind| kind == "main") {
                    document.title = Some(collapse(&value).into_owned());
                }
                properties::state(document, "title", kind.as_deref(), &value, &from);
            }
            "creator" => {
                let role = opf
                    .attribute(child, "role")
                    .map(|role| role.into_owned())
                    .or_else(|| refinement("role"));
                let mut person = properties::person(&value);
                person.roles.extend(role.filter(|role| role != "aut"));
                let sort = opf.attribute(child, "file-as").map(|sort| sort.into_owned());
                if let Some((family, given)) = sort
                    .or_else(|| refinement("file-as"))
                    .as_deref()
                    .and_then(|sort| sort.split_once(", "))
                    && format!("{given} {family}") == value
                {
                    person.literal = None;
                    person.family = Some(family.to_owned());
                    person.given = Some(given.to_owned());
                }
                document.authors.push(person);
            }
            "language" => {
                properties::state(document, "language", None, &value, &from);
                document.language.get_or_insert(value);
            }
            "identifier" => {
                let scheme = opf
                    .attribute(child, "scheme")
                    .map(|scheme| scheme.into_owned())
                    .or_else(|| refinement("identifier-type"));
                properties::state(document, "identifier", scheme.as_deref(), &value, &from);
                properties::identify(document, &value);
            }
            "source" => {
                properties::state(document, "source", None, &value, &from);
            }
            "date" => {
                let event = opf.attribute(child, "event").map(|event| event.into_owned());
                properties::state(document, "date", event.as_deref(), &value, &from);
            }
            "subject" => properties::state(document, "keyword", None, &value, &from),
            other => properties::state(document, other, None, &value, &from),
        }
    }
}

/// The first entry of the table of contents for each part: its words and level.
type Contents = HashMap<String, (String, u32)>;

fn contents(package: &Package<'_>, parts: &HashMap<String, Part>, ncx: Option<&str>) -> Contents {
    let mut out = Contents::new();
    let nav = parts.values().find(|part| part.properties.split(' ').any(|word| word == "nav"));
    let ncx = ncx
        .and_then(|id| parts.get(id))
        .or_else(|| parts.values().find(|part| part.media.contains("ncx")));
    for part in [nav, ncx].into_iter().flatten() {
        let Ok(Some(text)) = package.text(&part.path) else { continue };
        let Ok(tree) = Tree::read(&text, "a table of contents") else { continue };
        let folder = part.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut depth: Vec<Node> = Vec::new();
        for node in tree.descendants(tree.root()).take(MAX_ENTRIES * 8) {
            while depth.last().is_some_and(|&outer| !tree.contains(outer, node)) {
                depth.pop();
            }
            let (href, words) = match tree.name(node) {
                "ol" | "navPoint" => {
                    depth.push(node);
                    if tree.name(node) == "ol" {
                        continue;
                    }
                    let content =
                        tree.child(node, "content").and_then(|node| tree.attribute(node, "src"));
                    (content, tree.child(node, "navLabel").and_then(|label| tree.text(label)))
                }
                "a" => (tree.attribute(node, "href"), tree.text(node)),
                _ => continue,
            };
            if let (Some(href), Some(words)) = (href, words.and_then(|words| one_line(&words))) {
                let path = resolve(folder, &carrel_pdk::percent::decode(&href));
                let level = (depth.len() as u32).clamp(1, 6);
                out.entry(path).or_insert((words, level));
            }
        }
        if !out.is_empty() {
            break;
        }
    }
    out
}

/// Reads one chapter; false when it is broken.
fn chapter(
    package: &Package<'_>,
    path: &str,
    entries: &Contents,
    outline: &mut Outline,
    document: &mut Document,
) -> Result<bool, Error> {
    let text = match package.text(path) {
        Ok(Some(text)) => text,
        Ok(None) => {
            let message = "the archive does not have this chapter";
            document.warn("missing_part", message, Some(path.to_owned()));
            return Ok(false);
        }
        Err(error) if error.code == carrel_pdk::Code::TooLarge => return Err(error),
        Err(error) => {
            document.warn("damaged_part", error.message, Some(path.to_owned()));
            return Ok(false);
        }
    };
    let tree = match tree(path, &text, "a chapter") {
        Ok(tree) => tree,
        Err(error) if error.code == carrel_pdk::Code::TooLarge => return Err(error),
        Err(error) => {
            let message = format!("{}: read without its structure", error.message);
            document.warn("malformed_chapter", message, Some(path.to_owned()));
            begin(entries.get(path), outline);
            for text in rescue(&text) {
                outline.push(Block::new(Kind::Paragraph, text));
            }
            return Ok(true);
        }
    };
    if tree.name(tree.root()) == "svg" {
        let text = tree.text(tree.root());
        outline.push(Block { href: Some(path.to_owned()), text, ..Block::empty(Kind::Figure) });
        return Ok(true);
    }
    let headed = tree.descendants(tree.root()).any(|node| {
        matches!(tree.name(node), "h1" | "h2" | "h3" | "h4" | "h5" | "h6") && !tree.is_blank(node)
    });
    if !headed {
        begin(entries.get(path), outline);
    }
    let mut chapter = Chapter::new(&tree);
    chapter.read(outline);
    outline.close_lists();
    let Found { links, references, warnings, .. } = chapter.found;
    for (href, text) in links {
        document.link(&href, text.as_deref());
    }
    document.references.extend(references);
    for (code, message) in warnings {
        document.warn(code, message, Some(path.to_owned()));
    }
    Ok(true)
}

/// Gives a chapter without a heading its title in the table of contents.
fn begin(entry: Option<&(String, u32)>, outline: &mut Outline) {
    if let Some((words, level)) = entry {
        let heading = Some(words.clone());
        outline.section(Section { heading, level: *level, ..Section::default() });
    }
}
