//! Databases of references: BibTeX, biblatex's `.bbl`, amsrefs.

use crate::token::{Source, Token};

/// Entries of one database.
const MAX_ENTRIES: usize = 100_000;

/// An entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) kind: String,
    /// Names in lower case and values as they are written.
    pub(crate) fields: Vec<(String, String)>,
}

impl Entry {
    /// A field as it is written, without braces.
    pub(crate) fn raw(&self, name: &str) -> Option<String> {
        let value = self.fields.iter().find(|(own, _)| own == name).map(|(_, value)| value)?;
        let mut value = value
            .replace(['{', '}'], "")
            .replace("\\_", "_")
            .replace("\\%", "%")
            .replace("\\url", "");
        value.retain(|character| !character.is_whitespace());
        (!value.is_empty()).then_some(value)
    }
}

/// The tokens of a value.
pub(crate) fn tokens(value: &str) -> Vec<Token> {
    let mut source = Source::new(value, "");
    let mut out: Vec<Token> = std::iter::from_fn(|| source.next()).collect();
    // A separate file: values are not part of the document's TeX.
    for token in &mut out {
        if *token == Token::Align {
            *token = Token::Char('&');
        }
    }
    out
}

/// Names in display order, given name first.
pub(crate) fn names(text: &str) -> Vec<String> {
    let names = text.split(" and ").map(str::trim).filter(|name| !name.is_empty());
    names
        .map(|name| match name.split_once(',') {
            Some((family, given)) => {
                format!("{} {}", given.trim(), family.trim()).trim().to_owned()
            }
            None if name == "others" => "et al.".to_owned(),
            None => name.to_owned(),
        })
        .collect()
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, expected: char) -> bool {
        self.spaces();
        let is = self.rest().starts_with(expected);
        if is {
            self.at += expected.len_utf8();
        }
        is
    }

    fn word(&mut self) -> &'t str {
        self.spaces();
        let rest = self.rest();
        let end = rest
            .find(|character: char| character.is_whitespace() || "{}(),=\"#".contains(character))
            .unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// The content of braces, after the opening brace.
    fn braced(&mut self) -> &'t str {
        let rest = self.rest();
        let mut depth = 0_u32;
        let mut escaped = false;
        for (at, byte) in rest.bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'{' => depth += 1,
                b'}' if depth == 0 => {
                    self.at += at + 1;
                    return &rest[..at];
                }
                b'}' => depth -= 1,
                _ => {}
            }
        }
        self.at += rest.len();
        rest
    }

    fn quoted(&mut self) -> &'t str {
        let rest = self.rest();
        let mut depth = 0_u32;
        for (at, byte) in rest.bytes().enumerate() {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                b'"' if depth == 0 => {
                    self.at += at + 1;
                    return &rest[..at];
                }
                _ => {}
            }
        }
        self.at += rest.len();
        rest
    }
}

const MONTHS: &[&str] =
    &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Reads a BibTeX file.
pub(crate) fn bibtex(text: &str) -> Vec<Entry> {
    let mut reader = Reader { text, at: 0 };
    let mut strings: Vec<(String, String)> = Vec::new();
    let mut entries = Vec::new();
    while let Some(at) = reader.rest().find('@') {
        reader.at += at + 1;
        let kind = reader.word().to_lowercase();
        if !reader.eat('{') && !reader.eat('(') {
            continue;
        }
        match kind.as_str() {
            "comment" | "preamble" => {
                reader.braced();
                continue;
            }
            "string" => {
                let name = reader.word().to_lowercase();
                if reader.eat('=') {
                    let value = value(&mut reader, &strings);
                    if strings.len() < 10_000 {
                        strings.push((name, value));
                    }
                }
                continue;
            }
            _ => {}
        }
        let key = reader.word().to_owned();
        let mut entry = Entry { key, kind, fields: Vec::new() };
        while reader.eat(',') {
            let name = reader.word().to_lowercase();
            if name.is_empty() || !reader.eat('=') {
                break;
            }
            let value = value(&mut reader, &strings);
            if entry.fields.len() < 200 {
                entry.fields.push((name, value));
            }
        }
        entries.push(entry);
        if entries.len() >= MAX_ENTRIES {
            break;
        }
    }
    entries
}

fn value(reader: &mut Reader<'_>, strings: &[(String, String)]) -> String {
    let mut out = String::new();
    loop {
        if reader.eat('{') {
            out.push_str(reader.braced());
        } else if reader.eat('"') {
            out.push_str(reader.quoted());
        } else {
            let word = reader.word();
            let lower = word.to_lowercase();
            let known = strings.iter().rev().find(|(name, _)| *name == lower);
            match known {
                Some((_, value)) => out.push_str(value),
                None if MONTHS.contains(&lower.as_str()) => out.push_str(&lower),
                None => out.push_str(word),
            }
        }
        if !reader.eat('#') || out.len() > 1_000_000 {
            return out;
        }
    }
}

/// Reads the fields of amsrefs' `\bib`.
pub(crate) fn amsrefs(text: &str) -> Vec<(String, String)> {
    let mut reader = Reader { text, at: 0 };
    let mut fields: Vec<(String, String)> = Vec::new();
    loop {
        let name = reader.word().to_lowercase();
        if name.is_empty() || !reader.eat('=') {
            return fields;
        }
        let value = value(&mut reader, &[]);
        match fields.iter_mut().find(|(own, _)| *own == name && name == "author") {
            Some((_, before)) => before.push_str(&format!(" and {value}")),
            None => fields.push((name, value)),
        }
        if !reader.eat(',') || fields.len() > 200 {
            return fields;
        }
    }
}

/// Reads biblatex's `.bbl`.
pub(crate) fn biblatex(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut reader = Reader { text, at: 0 };
    let group = |reader: &mut Reader<'_>| {
        if reader.eat('{') { reader.braced().to_owned() } else { String::new() }
    };
    while let Some(at) = reader.rest().find('\\') {
        reader.at += at + 1;
        let rest = reader.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let command = &rest[..end];
        reader.at += end.max(1).min(rest.len());
        while !reader.text.is_char_boundary(reader.at) {
            reader.at += 1;
        }
        match command {
            "entry" => {
                let (key, kind) = (group(&mut reader), group(&mut reader));
                group(&mut reader);
                if entries.len() >= MAX_ENTRIES {
                    break;
                }
                entries.push(Entry { key, kind, fields: Vec::new() });
            }
            "field" | "list" | "verb" | "strng" => {
                let name = group(&mut reader).to_lowercase();
                let value = match command {
                    "verb" => {
                        let value = reader.rest().trim_start().strip_prefix("\\verb ");
                        value.and_then(|value| value.lines().next()).unwrap_or_default().to_owned()
                    }
                    "list" => {
                        group(&mut reader);
                        let list = group(&mut reader);
                        let mut inner = Reader { text: &list, at: 0 };
                        group(&mut inner)
                    }
                    _ => group(&mut reader),
                };
                let name = if name == "journaltitle" { "journal".to_owned() } else { name };
                if let Some(entry) = entries.last_mut()
                    && entry.fields.len() < 200
                {
                    entry.fields.push((name, value));
                }
            }
            "name" => {
                let role = group(&mut reader);
                group(&mut reader);
                group(&mut reader);
                let people = group(&mut reader);
                let part = |name: &str| -> Vec<(usize, String)> {
                    let mark = format!("{name}={{");
                    people
                        .match_indices(&mark)
                        .filter(|(at, _)| {
                            people[..*at]
                                .ends_with(|ch: char| ch.is_whitespace() || ",{".contains(ch))
                        })
                        .map(|(at, _)| {
                            let mut inner = Reader { text: &people, at: at + mark.len() };
                            (at, inner.braced().to_owned())
                        })
                        .collect()
                };
                let given = part("given");
                let families = part("family");
                let mut names = Vec::new();
                for (number, (at, family)) in families.iter().enumerate() {
                    let next = families.get(number + 1).map_or(usize::MAX, |(at, _)| *at);
                    let own = given.iter().find(|(position, _)| position > at && *position < next);
                    let clean = |text: &str| {
                        text.replace("\\bibnamedelima", " ")
                            .replace("\\bibnamedelimi", " ")
                            .replace("\\bibinitperiod", ".")
                    };
                    names.push(match own {
                        Some((_, given)) => format!("{}, {}", clean(family), clean(given)),
                        None => clean(family),
                    });
                }
                if let Some(entry) = entries.last_mut() {
                    entry.fields.push((role, names.join(" and ")));
                }
            }
            _ => {}
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bibtex_file_is_read_with_its_strings() {
        let text = "@string{j = \"Journal\"} @article{k, author = {A {and} B}, journal = j # { of X}, year = 2019}";
        let entries = bibtex(text);
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].raw("year").as_deref(), Some("2019"));
        assert!(entries[0].fields.contains(&("journal".to_owned(), "Journal of X".to_owned())));
    }

    #[test]
    fn names_are_put_in_display_order() {
        assert_eq!(names("Doe, Jane and John Roe and others"), ["Jane Doe", "John Roe", "et al."]);
    }

    #[test]
    fn unterminated_files_are_read_to_the_end() {
        for text in ["@article{", "@article{k, a = {", "@article{k, a = \"", "@", "@string{x"] {
            bibtex(text);
            biblatex(text);
        }
    }

    #[test]
    fn a_biblatex_file_is_read() {
        let text = "\\entry{k}{article}{}\n\\name{author}{1}{}{{{hash=1}{family={Doe},\n given={Jane}}}}\n\\field{title}{A Title}\n\\field{year}{2020}\n\\verb{doi}\n\\verb 10.5555/x\n\\endverb\n\\endentry";
        let entries = biblatex(text);
        assert_eq!(entries[0].raw("doi").as_deref(), Some("10.5555/x"));
        assert!(entries[0].fields.contains(&("author".to_owned(), "Doe, Jane".to_owned())));
    }
}
