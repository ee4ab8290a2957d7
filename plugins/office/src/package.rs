//! Parts of an archive as XML, and the relations between them.

use std::borrow::Cow;
use std::collections::HashMap;

use carrel_pdk::text::excerpt;
use carrel_pdk::xml::tree::Tree;
use carrel_pdk::{Code, Error};

use crate::zip::Zip;

/// A relation of a part.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    /// The last segment of its type: `image`, `hyperlink`, `slide`.
    pub(crate) kind: String,
    /// The part that it names, or the external URL.
    pub(crate) target: String,
    /// Whether it leads out of the document.
    pub(crate) external: bool,
}

/// The relations of a part by their identifiers.
pub(crate) type Relations = HashMap<String, Relation>;

/// The part that a relation of a kind names, if it is inside.
pub(crate) fn target<'r>(relations: &'r Relations, kind: &str) -> Option<&'r str> {
    let mut found: Vec<_> =
        relations.iter().filter(|(_, rel)| rel.kind == kind && !rel.external).collect();
    found.sort_by(|a, b| a.0.cmp(b.0));
    found.first().map(|(_, rel)| rel.target.as_str())
}

/// Decodes the bytes of an XML part: UTF-8, UTF-16, or Latin-1 where the declaration says so. The
/// second value is true if bytes were replaced.
pub(crate) fn decode(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    let wide = |little: bool, bytes: &[u8]| {
        let units: Vec<u16> = bytes
            .chunks_exact(2)
            .map(|pair| {
                let pair = [pair[0], pair[1]];
                if little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
            })
            .collect();
        let text = String::from_utf16(&units);
        let lossy = text.is_err();
        (Cow::Owned(text.unwrap_or_else(|_| String::from_utf16_lossy(&units))), lossy)
    };
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => return decode(rest),
        [0xFF, 0xFE, rest @ ..] => return wide(true, rest),
        [0xFE, 0xFF, rest @ ..] => return wide(false, rest),
        [b'<', 0, ..] => return wide(true, bytes),
        [0, b'<', ..] => return wide(false, bytes),
        _ => {}
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (Cow::Borrowed(text), false);
    }
    let head = String::from_utf8_lossy(bytes.get(..bytes.len().min(120)).unwrap_or_default());
    let head = head.to_ascii_lowercase();
    if head.contains("iso-8859-1") || head.contains("windows-1252") || head.contains("us-ascii") {
        return (Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()), false);
    }
    (String::from_utf8_lossy(bytes), true)
}

/// The main part that a format must have.
pub(crate) struct MainPart {
    /// Its default path.
    pub(crate) usual: &'static str,
    /// The document's name in messages, with and without an article.
    pub(crate) what: &'static str,
    pub(crate) this: &'static str,
    /// The name of its outermost element.
    pub(crate) root: &'static str,
    /// The outermost element of the format that it may be confused with, and that format.
    pub(crate) mistaken: (&'static str, &'static str),
}

impl MainPart {
    /// Its path and text; `None` when it is encrypted.
    pub(crate) fn find(
        &self,
        package: &Package<'_>,
        root: &Relations,
    ) -> Result<Option<(String, String)>, Error> {
        let main = target(root, "officeDocument").unwrap_or(self.usual).to_owned();
        if package.zip.is_encrypted(&main) {
            return Ok(None);
        }
        match package.text(&main)? {
            Some(text) => Ok(Some((main, text))),
            None => {
                let message = format!("expected {} but the archive has no {main}", self.what);
                Err(Error::invalid_document(message, 0, main))
            }
        }
    }

    /// Reads it as XML and checks its outermost element.
    pub(crate) fn tree<'t>(&self, main: &str, text: &'t str) -> Result<Tree<'t>, Error> {
        let read = tree(main, text, self.what)?;
        let found = read.name(read.root());
        if found != self.root {
            let hint = if found == self.mistaken.0 {
                format!(": read it as {}", self.mistaken.1)
            } else {
                String::new()
            };
            let message = format!("expected <{}> in {main} but found <{found}>{hint}", self.root);
            return Err(Error::invalid_document(message, 0, main));
        }
        Ok(read)
    }
}

/// The error of a part's XML, naming the part.
pub(crate) fn within(part: &str, error: &Error) -> Error {
    let location = match &error.position {
        Some(at) if at.path.is_empty() => format!(" at byte {}", at.offset),
        Some(at) => format!(" at byte {} in {}", at.offset, at.path),
        None => String::new(),
    };
    let message = format!("{}: {}{location}", excerpt(part), error.message);
    if error.code == Code::TooLarge {
        return Error::new(Code::TooLarge, message);
    }
    Error::invalid_document(message, 0, excerpt(part))
}

/// Reads a part as XML.
pub(crate) fn tree<'t>(part: &str, text: &'t str, expected: &str) -> Result<Tree<'t>, Error> {
    Tree::read(text, expected).map_err(|error| within(part, &error))
}

/// An archive of related parts.
#[derive(Debug)]
pub(crate) struct Package<'d> {
    pub(crate) zip: Zip<'d>,
}

impl<'d> Package<'d> {
    pub(crate) fn new(zip: Zip<'d>) -> Self {
        Self { zip }
    }

    /// The text of a part; `None` when there is no such part.
    pub(crate) fn text(&self, part: &str) -> Result<Option<String>, Error> {
        let Some(bytes) = self.zip.read(part)? else { return Ok(None) };
        Ok(Some(match decode(&bytes) {
            (Cow::Owned(text), _) => text,
            (Cow::Borrowed(text), _) => text.to_owned(),
        }))
    }

    /// The relations of a part, `""` being the whole package. Empty if they are missing or broken.
    pub(crate) fn relations(&self, part: &str) -> Relations {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let slash = if folder.is_empty() { "" } else { "/" };
        let path = format!("{folder}{slash}_rels/{name}.rels");
        let mut relations = Relations::new();
        let Ok(Some(text)) = self.text(&path) else { return relations };
        let Ok(tree) = Tree::read(&text, "relations") else { return relations };
        for node in tree.elements(tree.root()) {
            let (Some(id), Some(address)) =
                (tree.attribute(node, "Id"), tree.attribute(node, "Target"))
            else {
                continue;
            };
            let kind = tree.attribute(node, "Type").unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            let marked = tree.attribute(node, "TargetMode").as_deref() == Some("External");
            let external = marked || has_scheme(&address);
            let target = if external { address.into_owned() } else { resolve(folder, &address) };
            relations.insert(id.into_owned(), Relation { kind, target, external });
        }
        relations
    }
}

/// Whether an address begins with a scheme, or with the name of a host.
fn has_scheme(address: &str) -> bool {
    if address.starts_with("//") || address.starts_with("\\\\") {
        return true;
    }
    let Some((scheme, _)) = address.split_once(':') else { return false };
    !scheme.is_empty()
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Resolves a path relative to a folder; the result is always inside the archive.
pub(crate) fn resolve(folder: &str, path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let path = path.split(['#', '?']).next().unwrap_or_default();
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") };
    for segment in whole.split(['/', '\\']) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_inside_the_archive() {
        assert_eq!(resolve("word", "media/image1.png"), "word/media/image1.png");
        assert_eq!(resolve("ppt/slides", "../media/a.png"), "ppt/media/a.png");
        assert_eq!(resolve("word", "/docProps/core.xml"), "docProps/core.xml");
        assert_eq!(resolve("word", "../../../../etc/passwd"), "etc/passwd");
    }

    #[test]
    fn an_external_address_is_recognised_by_its_scheme() {
        for address in
            ["https://a.example/", "file:///etc/passwd", "//host/share", "\\\\host\\share"]
        {
            assert!(has_scheme(address), "{address}");
        }
        assert!(!has_scheme("media/image1.png"));
    }

    #[test]
    fn xml_in_utf_16_is_read() {
        let wide: Vec<u8> = "\u{feff}<a>é</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&wide), (Cow::Borrowed("<a>é</a>"), false));
    }
}
