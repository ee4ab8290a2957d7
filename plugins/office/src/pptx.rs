//! PresentationML: slides in the order of the presentation, with notes and comments.

use std::collections::HashMap;

use carrel_pdk::Error;
use carrel_pdk::document::{Block, Document, Item, Kind, Section};
use carrel_pdk::xml::tree::{Node, Tree};

use crate::outline::{LINE, Outline, lines, one_line};
use crate::package::{MainPart, Package, Relations, target, tree};
use crate::zip::Zip;
use crate::{DEEPEST, drawing, omml, properties, sealed};
use bullets::{bullet, levels};

mod bullets;
mod frames;

const MAIN: MainPart = MainPart {
    usual: "ppt/presentation.xml",
    what: "a presentation",
    this: "the presentation",
    root: "presentation",
    mistaken: ("document", "docx"),
};

/// Slides of one presentation.
const MAX_SLIDES: usize = 10_000;

/// A part being read.
#[derive(Clone, Copy)]
struct Source<'s, 'd> {
    tree: &'s Tree<'d>,
    relations: &'s Relations,
    part: &'s str,
}

/// Which levels of which placeholders have bullets: of a layout, of a master.
#[derive(Debug, Default, Clone)]
struct Bullets {
    /// By the placeholder's type and number, then by level.
    placeholders: HashMap<(String, String), [Option<bool>; 9]>,
    body: [Option<bool>; 9],
}

struct Reader<'p, 'd> {
    package: &'p Package<'d>,
    document: Document,
    /// Layouts and masters that were read, by their parts.
    bullets: HashMap<String, (Bullets, Option<String>)>,
    authors: HashMap<String, String>,
    deep: bool,
}

/// Reads the archive.
pub(crate) fn read(zip: Zip<'_>) -> Result<Document, Error> {
    let package = Package::new(zip);
    let root = package.relations("");
    let Some((main, text)) = MAIN.find(&package, &root)? else {
        return Ok(sealed::encrypted(MAIN.this));
    };
    let presentation = MAIN.tree(&main, &text)?;
    let relations = package.relations(&main);
    let mut reader = Reader {
        package: &package,
        document: Document::default(),
        bullets: HashMap::new(),
        authors: HashMap::new(),
        deep: false,
    };
    if package.zip.damaged {
        let message = "the archive's directory is missing or broken: its entries were looked for";
        reader.document.warn("damaged_archive", message, None);
    }
    properties::read(&package, &root, &mut reader.document);
    reader.warn_external(&relations, &main);
    reader.comment_authors(&relations);
    let list = presentation.find(presentation.root(), "sldIdLst");
    let slides: Vec<String> = list
        .into_iter()
        .flat_map(|list| presentation.elements(list))
        .filter_map(|slide| {
            let id = presentation.prefixed_attribute(slide, "id")?;
            let relation = relations.get(id.as_ref()).filter(|relation| !relation.external)?;
            Some(relation.target.clone())
        })
        .take(MAX_SLIDES)
        .collect();
    let mut outline = Outline::of_document();
    for (number, part) in slides.iter().enumerate() {
        reader.slide(part, number + 1, &mut outline)?;
    }
    let mut document = reader.document;
    document.sections = outline.into_sections();
    document.pages = Some(slides.len() as u64);
    Ok(document)
}

impl Reader<'_, '_> {
    fn warn_external(&mut self, relations: &Relations, part: &str) {
        let mut external: Vec<_> = relations
            .values()
            .filter(|rel| rel.external && rel.kind != "hyperlink")
            .map(|rel| (rel.kind.as_str(), rel.target.as_str()))
            .collect();
        external.sort_unstable();
        external.dedup();
        for (kind, address) in external {
            let message = format!("{kind} outside the document is not read: {address}");
            self.document.warn("external_relation", message, Some(part.to_owned()));
        }
    }

    fn comment_authors(&mut self, relations: &Relations) {
        for kind in ["commentAuthors", "authors"] {
            let Some(part) = target(relations, kind) else { continue };
            let Ok(Some(text)) = self.package.text(part) else { continue };
            let Ok(tree) = Tree::read(&text, "authors") else { continue };
            for node in tree.elements(tree.root()) {
                if let (Some(id), Some(name)) =
                    (tree.attribute(node, "id"), tree.attribute(node, "name"))
                {
                    self.authors.insert(id.into_owned(), name.into_owned());
                }
            }
        }
    }

    fn slide(&mut self, part: &str, number: usize, outline: &mut Outline) -> Result<(), Error> {
        let label = Some(number.to_string());
        let section =
            Section { level: 1, label, kind: Some("slide".to_owned()), ..Section::default() };
        let text = match self.package.text(part) {
            Ok(text) => text,
            Err(error) if error.code == carrel_pdk::Code::TooLarge => return Err(error),
            Err(error) => {
                self.document.warn("damaged_part", error.message, Some(part.to_owned()));
                None
            }
        };
        let Some(text) = text else {
            let message = format!("slide {number} is missing");
            self.document.warn("missing_part", message, Some(part.to_owned()));
            outline.section(section);
            return Ok(());
        };
        let slide = match tree(part, &text, "a slide") {
            Ok(slide) => slide,
            Err(error) => {
                self.document.warn("damaged_part", error.message, Some(part.to_owned()));
                outline.section(section);
                return Ok(());
            }
        };
        let relations = self.package.relations(part);
        self.warn_external(&relations, part);
        let source = Source { tree: &slide, relations: &relations, part };
        let hidden = slide.attribute(slide.root(), "show").as_deref() == Some("0");
        let kind = Some(if hidden { "hidden_slide" } else { "slide" }.to_owned());
        let shapes = slide.find(slide.root(), "spTree");
        let title = shapes.and_then(|shapes| title_of(&slide, shapes));
        let heading = title.and_then(|shape| self.plain(source, shape));
        if number == 1 && self.document.title.is_none() {
            self.document.title.clone_from(&heading);
        }
        outline.section(Section { heading, kind, ..section });
        let layout = target(&relations, "slideLayout").map(str::to_owned);
        if let Some(shapes) = shapes {
            let context = Context { title, layout, number };
            self.shapes(source, shapes, &context, outline, 0);
        }
        outline.close_lists();
        self.notes(&relations, number, outline);
        self.comments(&relations, outline);
        Ok(())
    }

    /// The text of a shape on one line.
    fn plain(&mut self, source: Source<'_, '_>, shape: Node) -> Option<String> {
        let body = source.tree.child(shape, "txBody")?;
        let mut text = String::new();
        for paragraph in source.tree.elements(body).filter(|&node| source.tree.name(node) == "p") {
            text.push_str(&self.words(source, paragraph));
            text.push(' ');
        }
        one_line(&text)
    }

    fn shapes(
        &mut self,
        source: Source<'_, '_>,
        group: Node,
        context: &Context,
        outline: &mut Outline,
        depth: u32,
    ) {
        let tree = source.tree;
        if depth > DEEPEST {
            if !std::mem::replace(&mut self.deep, true) {
                let location = format!("byte {} of {}", tree.offset(group), source.part);
                let message =
                    format!("groups nested deeper than {DEEPEST} are read as one paragraph");
                self.document.warn("nested_too_deep", message, Some(location));
            }
            if let Some(text) = drawing::words(tree, group) {
                outline.push(Block::new(Kind::Paragraph, text));
            }
            return;
        }
        for shape in tree.elements(group) {
            if Some(shape) == context.title {
                continue;
            }
            match tree.name(shape) {
                "sp" | "cxnSp" => self.shape(source, shape, context, outline),
                "grpSp" => self.shapes(source, shape, context, outline, depth + 1),
                "AlternateContent" => {
                    if let Some(branch) = drawing::branch(tree, shape) {
                        self.shapes(source, branch, context, outline, depth + 1);
                    }
                }
                "pic" => self.picture(source, shape, outline),
                "graphicFrame" => self.frame(source, shape, outline),
                "contentPart" => {
                    let location = format!("byte {} of {}", tree.offset(shape), source.part);
                    let message = "a drawing by hand is not read";
                    self.document.warn("embedded_object", message, Some(location));
                }
                _ => {}
            }
        }
    }

    fn shape(
        &mut self,
        source: Source<'_, '_>,
        shape: Node,
        context: &Context,
        outline: &mut Outline,
    ) {
        let tree = source.tree;
        let placeholder = placeholder(tree, shape);
        let kind = placeholder.as_ref().map(|(kind, _)| kind.as_str());
        if let Some(kind @ ("sldNum" | "dt" | "ftr" | "hdr")) = kind {
            let Some(text) = self.plain(source, shape) else { return };
            let name = match kind {
                "dt" => "date",
                "sldNum" if text == context.number.to_string() => return,
                "sldNum" => "slide_number",
                "hdr" => "header",
                _ => "footer",
            };
            return properties::state(&mut self.document, name, Some("slide"), &text, source.part);
        }
        let Some(body) = tree.child(shape, "txBody") else { return };
        let own = levels(tree, tree.child(body, "lstStyle"));
        let inherited = match &placeholder {
            Some(placeholder) => self.inherited(context.layout.as_deref(), placeholder),
            None => [None; 9],
        };
        outline.close_lists();
        for paragraph in tree.elements(body).filter(|&node| tree.name(node) == "p") {
            let text = self.words(source, paragraph);
            let formula = lone_formula(tree, paragraph);
            let Some(text) = lines(&text) else { continue };
            let properties = tree.child(paragraph, "pPr");
            let level = properties.and_then(|node| tree.attribute(node, "lvl"));
            let level = level.and_then(|level| level.parse::<u32>().ok()).unwrap_or(0).min(8);
            let at = level as usize;
            let bullet = properties
                .and_then(|node| bullet(tree, node))
                .or(own[at])
                .or(inherited[at])
                .unwrap_or(false);
            let counted = properties.is_some_and(|node| tree.child(node, "buAutoNum").is_some());
            if let Some(tex) = formula {
                outline.push(Block { tex: Some(tex), ..Block::empty(Kind::Equation) });
            } else if bullet {
                outline.item(level, counted, None, Item { text: Some(text), ..Item::default() });
            } else {
                let role = matches!(kind, Some("subTitle")).then(|| "subtitle".to_owned());
                outline.push(Block { role, ..Block::new(Kind::Paragraph, text) });
            }
        }
        outline.close_lists();
    }

    /// The words of a paragraph.
    fn words(&mut self, source: Source<'_, '_>, paragraph: Node) -> String {
        let tree = source.tree;
        let mut text = String::new();
        let mut skipped: Option<Node> = None;
        for inner in tree.descendants(paragraph) {
            if skipped.is_some_and(|skipped| tree.contains(skipped, inner)) {
                continue;
            }
            match tree.name(inner) {
                "t" => text.push_str(&tree.verbatim(inner)),
                "br" => text.push(LINE),
                "tab" => text.push(' '),
                "oMath" => {
                    if let Some(tex) = omml::tex(tree, inner) {
                        text.push_str(&format!("${tex}$"));
                    }
                    skipped = Some(inner);
                }
                "Fallback" => skipped = Some(inner),
                "hlinkClick" => {
                    let id = tree.prefixed_attribute(inner, "id");
                    let relation = id.and_then(|id| source.relations.get(id.as_ref()));
                    if let Some(relation) = relation.filter(|relation| relation.external) {
                        let run = tree.parent(inner).and_then(|properties| tree.parent(properties));
                        let words = run.and_then(|run| drawing::words(tree, run));
                        self.document.link(&relation.target, words.as_deref());
                    }
                }
                "pPr" | "endParaRPr" => skipped = Some(inner),
                _ => {}
            }
        }
        text
    }
}

/// The context for reading a slide's shapes.
struct Context {
    title: Option<Node>,
    layout: Option<String>,
    number: usize,
}

/// The type and number of a shape's placeholder.
fn placeholder(tree: &Tree<'_>, shape: Node) -> Option<(String, String)> {
    let own = tree.elements(shape).find(|&node| tree.name(node).starts_with("nv"))?;
    let node = tree.find(own, "ph")?;
    let value = |name: &str, usual: &str| {
        tree.attribute(node, name).map_or_else(|| usual.to_owned(), |value| value.into_owned())
    };
    Some((value("type", "obj"), value("idx", "0")))
}

/// The shape that is the slide's title.
fn title_of(tree: &Tree<'_>, shapes: Node) -> Option<Node> {
    tree.elements(shapes).find(|&shape| {
        let placeholder = placeholder(tree, shape);
        tree.name(shape) == "sp"
            && placeholder.is_some_and(|(kind, _)| matches!(kind.as_str(), "title" | "ctrTitle"))
    })
}

fn body_like(kind: &str) -> bool {
    matches!(kind, "body" | "obj" | "tbl" | "chart" | "dgm" | "media" | "clipArt" | "pic")
}

/// The TeX of a paragraph that is a formula and nothing else.
fn lone_formula(tree: &Tree<'_>, paragraph: Node) -> Option<String> {
    let formula = tree.find(paragraph, "oMath")?;
    let mut skipped: Option<Node> = Some(formula);
    for inner in tree.descendants(paragraph) {
        if skipped.is_some_and(|skipped| tree.contains(skipped, inner)) {
            continue;
        }
        match tree.name(inner) {
            "Fallback" => skipped = Some(inner),
            "oMath" => return None,
            "t" if !tree.is_blank(inner) => return None,
            _ => {}
        }
    }
    omml::tex(tree, formula)
}
