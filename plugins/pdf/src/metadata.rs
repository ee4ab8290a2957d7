//! Reads the file's metadata: Info, XMP, outline, page labels, links.

use std::collections::{HashMap, HashSet};

use carrel_pdk::document::{Document, Metadatum, OutlineItem, Person};
use carrel_pdk::id::Doi;
use carrel_pdk::text::collapse;
use carrel_pdk::xml::tree::{Node, Tree};
use hayro_syntax::Pdf;
use hayro_syntax::metadata::Metadata;
use hayro_syntax::object::{
    Array, Dict, Name, Object, ObjectIdentifier, Stream, String as PdfString,
};

use crate::{identifiers, prose, stream, strings};

/// The most items of an outline, and nodes of a tree, that are read.
const MOST_ITEMS: usize = 10_000;
/// The most levels of an outline and of a name or number tree.
const DEEPEST: usize = 32;

/// Reads all of it into the document.
pub(crate) fn read(pdf: &Pdf, document: &mut Document) {
    info(pdf.metadata(), document);
    let Some(root) = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()) else { return };
    if let Some(language) = text_of(&root, b"Lang").filter(|language| language.len() >= 2) {
        document.language = Some(language);
    }
    if let Some(packet) =
        root.get::<Stream<'_>>(b"Metadata").and_then(|stream| stream::data(&stream))
    {
        xmp(&packet, document);
    }
    let pages = page_numbers(pdf);
    outline(&root, &pages, document);
    labels(&root, pdf.pages().len(), document);
    links(pdf, document);
}

fn text_of(dict: &Dict<'_>, key: &[u8]) -> Option<String> {
    let text = strings::decode(dict.get::<PdfString<'_>>(key)?.as_bytes());
    let text: String = text.chars().filter(|c| !c.is_control() || c.is_whitespace()).collect();
    Some(collapse(&text).into_owned()).filter(|text| !text.is_empty())
}

fn state(document: &mut Document, name: &str, value: &str, from: &str) {
    let value: String = value.chars().filter(|c| !c.is_control() || c.is_whitespace()).collect();
    let value = collapse(&value).into_owned();
    if !value.is_empty() {
        let (name, from) = (name.to_owned(), from.to_owned());
        document.metadata.push(Metadatum { name, value, from, ..Metadatum::default() });
    }
}

fn info(info: &Metadata, document: &mut Document) {
    let texts = [
        ("title", &info.title, "Info/Title"),
        ("author", &info.author, "Info/Author"),
        ("subject", &info.subject, "Info/Subject"),
        ("keywords", &info.keywords, "Info/Keywords"),
        ("creator", &info.creator, "Info/Creator"),
        ("producer", &info.producer, "Info/Producer"),
    ];
    for (name, value, from) in texts {
        if let Some(value) = value {
            state(document, name, &strings::decode(value), from);
        }
    }
    let dates = [
        ("created", &info.creation_date, "Info/CreationDate"),
        ("modified", &info.modification_date, "Info/ModDate"),
    ];
    for (name, date, from) in dates {
        if let Some(date) = date {
            let text = format!(
                "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
                date.year, date.month, date.day, date.hour, date.minute, date.second
            );
            state(document, name, &text, from);
        }
    }
}

/// Elements of XMP about the work, with the names of their statements.
const XMP: [(&str, &str); 22] = [
    ("title", "title"),
    ("creator", "author"),
    ("description", "description"),
    ("subject", "keyword"),
    ("publisher", "publisher"),
    ("identifier", "identifier"),
    ("rights", "rights"),
    ("language", "language"),
    ("source", "source"),
    ("doi", "doi"),
    ("publicationName", "journal"),
    ("issn", "issn"),
    ("isbn", "isbn"),
    ("volume", "volume"),
    ("number", "issue"),
    ("startingPage", "first_page"),
    ("endingPage", "last_page"),
    ("coverDate", "published"),
    ("coverDisplayDate", "published"),
    ("aggregationType", "aggregation_type"),
    ("url", "url"),
    ("license", "licence"),
];

fn xmp(packet: &[u8], document: &mut Document) {
    let text = match packet {
        [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] => strings::decode(packet),
        _ => String::from_utf8_lossy(packet).into_owned(),
    };
    // A packet is wrapped into processing instructions, and padded.
    let Some(start) = text.find("<x:xmpmeta").or_else(|| text.find("<rdf:RDF")) else { return };
    let inner = text.get(start..).unwrap_or_default();
    let ends = ["</x:xmpmeta>", "</rdf:RDF>"];
    let end = ends.iter().find_map(|end| inner.rfind(end).map(|at| at + end.len()));
    let inner = inner.get(..end.unwrap_or(inner.len())).unwrap_or_default();
    let name = if inner.starts_with("<x:") { "xmpmeta" } else { "RDF" };
    let tree = match Tree::read(inner, name) {
        Ok(tree) => tree,
        Err(error) => {
            document.warn("broken_xmp", format!("the XMP metadata cannot be read: {error}"), None);
            return;
        }
    };
    let mut done: Option<Node> = None;
    for node in tree.descendants(tree.root()).take(MOST_ITEMS) {
        if done.is_some_and(|done| tree.contains(done, node)) {
            continue;
        }
        let name = tree.name(node);
        if name == "Description" {
            for (from, to) in XMP {
                if let Some(value) = tree.attribute(node, from) {
                    state(document, to, &value, &format!("XMP/{from}"));
                }
            }
        }
        let Some((from, to)) = XMP.iter().find(|(from, _)| *from == name) else { continue };
        let path = tree.path(node);
        if path.contains("/History/")
            || path.contains("/Ingredients/")
            || path.contains("/Manifest/")
        {
            continue;
        }
        done = Some(node);
        let items: Vec<Node> =
            tree.descendants(node).filter(|inner| tree.name(*inner) == "li").collect();
        if items.is_empty() {
            state(document, to, &tree.text(node).unwrap_or_default(), &format!("XMP/{from}"));
        }
        for item in items.into_iter().take(200) {
            state(document, to, &tree.text(item).unwrap_or_default(), &format!("XMP/{from}"));
        }
    }
}

/// Takes authors and identifiers from statements if the text has none. `text` is the first page's
/// text, letters and digits only: a file's author is often the owner of the software, so only names
/// that occur on the page count.
pub(crate) fn conclude(document: &mut Document, text: &str) {
    let values = |document: &Document, name: &str, from: &str| -> Vec<String> {
        let all = document.metadata.iter();
        let all = all.filter(|entry| entry.name == name && entry.from.starts_with(from));
        all.map(|entry| entry.value.clone()).collect()
    };
    if document.authors.is_empty() {
        let mut names = values(document, "author", "XMP");
        if names.len() < 2 {
            names.extend(values(document, "author", "Info"));
            let all = names.iter().flat_map(|names| names.split(';'));
            names = all.flat_map(split_names).collect();
        }

        let names = names
            .iter()
            .map(|name| name.trim())
            .filter(|name| is_name(name) && text.contains(&prose::key(name)));
        let mut seen = HashSet::new();
        let names = names.filter(|name| seen.insert(prose::key(name)));
        document.authors = names
            .map(|name| Person { literal: Some(name.to_owned()), ..Person::default() })
            .collect();
    }
    if document.identifiers.doi.is_none() {
        let tagged = ["doi", "identifier", "url", "subject", "description", "title"];
        let found = tagged
            .iter()
            .flat_map(|name| values(document, name, ""))
            .find_map(|value| identifiers::doi(&value));
        document.identifiers.doi = found.filter(|doi| Doi::parse(doi).is_ok());
    }
}

/// Names of persons that a comma or an `and` divides.
fn split_names(names: &str) -> Vec<String> {
    let names = names.replace(" and ", ",").replace(" & ", ",");
    let parts: Vec<&str> =
        names.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    // A single comma may follow a family name.
    let inverted = parts.len() == 2 && parts.iter().all(|part| !part.contains(' '));
    if inverted { vec![names] } else { parts.into_iter().map(str::to_owned).collect() }
}

/// Whether a text can be the name of an author, not of a program or an account.
fn is_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    let is_account = !name.contains(' ') && name.len() < 12 && name == lower;
    let not = [
        "unknown",
        "user",
        "admin",
        "administrator",
        "microsoft",
        "author",
        "owner",
        "adobe",
        "latex",
    ];
    name.len() > 2
        && name.len() < 120
        && !is_account
        && !not.iter().any(|word| lower.starts_with(word))
        && !lower.contains("http")
}

fn page_numbers(pdf: &Pdf) -> HashMap<ObjectIdentifier, u64> {
    let pages = (1..).zip(pdf.pages().iter());
    pages.filter_map(|(number, page)| Some((page.raw().obj_id()?, number))).collect()
}

fn outline(root: &Dict<'_>, pages: &HashMap<ObjectIdentifier, u64>, document: &mut Document) {
    let Some(outlines) = root.get::<Dict<'_>>(b"Outlines") else { return };
    let mut seen = HashSet::new();
    let mut stack: Vec<(Dict<'_>, u32)> =
        outlines.get::<Dict<'_>>(b"First").map(|first| (first, 1)).into_iter().collect();
    while let Some((item, level)) = stack.pop() {
        if document.outline.len() >= MOST_ITEMS || item.obj_id().is_some_and(|id| !seen.insert(id))
        {
            break;
        }
        if let Some(next) = item.get::<Dict<'_>>(b"Next") {
            stack.push((next, level));
        }
        if let Some(title) = text_of(&item, b"Title") {
            let page = destination(root, &item, pages);
            document.outline.push(OutlineItem { title, level, page });
        }
        if level < DEEPEST as u32
            && let Some(first) = item.get::<Dict<'_>>(b"First")
        {
            stack.push((first, level + 1));
        }
    }
}

/// The page that an item of an outline leads to.
fn destination(
    root: &Dict<'_>,
    item: &Dict<'_>,
    pages: &HashMap<ObjectIdentifier, u64>,
) -> Option<u64> {
    let target = item.get::<Object<'_>>(b"Dest").or_else(|| {
        let action = item.get::<Dict<'_>>(b"A")?;
        action.get::<Object<'_>>(b"D")
    })?;
    let array = match target {
        Object::Array(array) => array,
        Object::Name(name) => named(root, name.as_ref())?,
        Object::String(name) => named(root, name.as_bytes())?,
        _ => return None,
    };
    let page = array.raw_iter().next()?.as_obj_ref()?;
    pages.get(&page.into()).copied()
}

/// A destination by its name.
fn named<'a>(root: &Dict<'a>, name: &[u8]) -> Option<Array<'a>> {
    let found = |object: Object<'a>| match object {
        Object::Array(array) => Some(array),
        Object::Dict(dict) => dict.get::<Array<'a>>(b"D"),
        _ => None,
    };
    if let Some(old) = root.get::<Dict<'a>>(b"Dests").and_then(|all| all.get::<Object<'a>>(name)) {
        return found(old);
    }
    let mut node = root.get::<Dict<'a>>(b"Names")?.get::<Dict<'a>>(b"Dests")?;
    for _ in 0..DEEPEST {
        if let Some(names) = node.get::<Array<'a>>(b"Names") {
            let mut items = names.iter::<Object<'a>>();
            while let (Some(Object::String(key)), Some(value)) = (items.next(), items.next()) {
                if key.as_bytes() == name {
                    return found(value);
                }
            }
            return None;
        }
        let kids = node.get::<Array<'a>>(b"Kids")?;
        let holds = |kid: &Dict<'a>| {
            let limits = kid.get::<Array<'a>>(b"Limits");
            let limits: Vec<PdfString<'a>> =
                limits.into_iter().flat_map(|all| all.iter::<PdfString<'a>>()).collect();
            matches!(limits.as_slice(), [first, last] if first.as_bytes() <= name && name <= last.as_bytes())
        };
        let next = kids.iter::<Dict<'a>>().find(holds);
        node = next?;
    }
    None
}

/// Page labels, unless they are 1, 2, 3.
fn labels(root: &Dict<'_>, count: usize, document: &mut Document) {
    let Some(tree) = root.get::<Dict<'_>>(b"PageLabels") else { return };
    let mut ranges: Vec<(usize, Dict<'_>)> = Vec::new();
    let mut stack = vec![(tree, 0)];
    let mut visited = 0;
    while let Some((node, depth)) = stack.pop() {
        visited += 1;
        if visited > MOST_ITEMS || depth > DEEPEST {
            break;
        }
        if let Some(numbers) = node.get::<Array<'_>>(b"Nums") {
            let mut items = numbers.iter::<Object<'_>>();
            while let (Some(first), Some(range)) = (items.next(), items.next()) {
                if let (Object::Number(first), Some(range)) = (first, range.into_dict()) {
                    ranges.push((usize::try_from(first.as_i64()).unwrap_or(usize::MAX), range));
                }
            }
        }
        for kid in
            node.get::<Array<'_>>(b"Kids").into_iter().flat_map(|kids| kids.iter::<Dict<'_>>())
        {
            stack.push((kid, depth + 1));
        }
    }
    ranges.sort_by_key(|(first, _)| *first);
    let mut all = Vec::new();
    for page in 0..count.min(MOST_ITEMS) {
        let range = ranges.iter().rev().find(|(first, _)| *first <= page);
        let label = range.map(|(first, range)| {
            let prefix = text_of(range, b"P").unwrap_or_default();
            let start = range.get::<u32>(b"St").unwrap_or(1);
            let number = start.saturating_add(u32::try_from(page - first).unwrap_or(0));
            let style = range.get::<Name<'_>>(b"S");
            prefix + &numeral(number, style.as_ref().map_or(b"", |style| style.as_ref()))
        });
        all.push(label.unwrap_or_else(|| (page + 1).to_string()));
    }
    let plain = all.iter().enumerate().all(|(page, label)| *label == (page + 1).to_string());
    if !plain && all.iter().any(|label| !label.is_empty()) {
        document.page_labels = all;
    }
}

fn numeral(number: u32, style: &[u8]) -> String {
    match style {
        b"D" => number.to_string(),
        b"r" => roman(number),
        b"R" => roman(number).to_uppercase(),
        b"a" | b"A" if number > 0 && number < 2000 => {
            let letter = char::from(style[0] + u8::try_from((number - 1) % 26).unwrap_or(0));
            letter.to_string().repeat(((number - 1) / 26 + 1) as usize)
        }
        _ => String::new(),
    }
}

fn roman(mut number: u32) -> String {
    const PARTS: [(u32, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    if number > 5000 {
        return number.to_string();
    }
    let mut out = String::new();
    for (value, letters) in PARTS {
        while number >= value {
            out.push_str(letters);
            number -= value;
        }
    }
    out
}

/// URLs that pages link to.
fn links(pdf: &Pdf, document: &mut Document) {
    for page in pdf.pages().iter().take(MOST_ITEMS) {
        let Some(annotations) = page.raw().get::<Array<'_>>(b"Annots") else { continue };
        for annotation in annotations.iter::<Dict<'_>>().take(2000) {
            let Some(action) = annotation.get::<Dict<'_>>(b"A") else { continue };
            if let Some(address) = text_of(&action, b"URI") {
                document.link(&address, None);
            }
            if document.links.len() > MOST_ITEMS {
                return;
            }
        }
    }
}
