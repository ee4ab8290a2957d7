//! Reads the tags of a page one after another. What is no tag is text; nothing is an error, and the
//! work is linear in the page.

use carrel_pdk::text::decode_entities;

/// The most bytes of a tag; a longer one is text.
const LONGEST: usize = 8192;

/// A start or end tag.
#[derive(Debug)]
pub(crate) struct Tag<'d> {
    /// In lower case.
    pub(crate) name: String,
    /// Whether it is an end tag.
    pub(crate) is_end: bool,
    attributes: &'d str,
}

impl<'d> Tag<'d> {
    /// The value of an attribute, decoded.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        attributes(self.attributes)
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| decode_entities(value).into_owned())
    }

    /// Whether it is of a class.
    pub(crate) fn has_class(&self, class: &str) -> bool {
        self.classes().any(|name| name == class)
    }

    /// Whether it is of a class that begins so.
    pub(crate) fn has_class_prefix(&self, prefix: &str) -> bool {
        self.classes().any(|class| class.starts_with(prefix))
    }

    fn classes(&self) -> impl Iterator<Item = &'d str> {
        attributes(self.attributes)
            .filter(|(name, _)| name.eq_ignore_ascii_case("class"))
            .flat_map(|(_, value)| value.split_ascii_whitespace())
    }
}

/// The tags of a page.
#[derive(Debug)]
pub(crate) struct Tags<'d> {
    page: &'d str,
    at: usize,
    /// Names, and the place up to which there is no end tag of that name.
    without: Vec<(String, usize)>,
}

impl<'d> Tags<'d> {
    pub(crate) fn new(page: &'d str) -> Self {
        Self { page, at: 0, without: Vec::new() }
    }

    /// The next tag; comments, scripts and styles are passed over.
    pub(crate) fn next(&mut self) -> Option<Tag<'d>> {
        loop {
            let start = self.at + self.page[self.at..].find('<')?;
            let rest = &self.page[start..];
            if rest.starts_with("<!--") {
                self.at = rest.find("-->").map_or(self.page.len(), |end| start + end + 3);
                continue;
            }
            let Some((tag, length)) = read(rest) else {
                self.at = start + 1;
                continue;
            };
            self.at = start + length;
            if !tag.is_end && matches!(tag.name.as_str(), "script" | "style") {
                let name = tag.name.clone();
                self.until_end_of(&name);
            }
            return Some(tag);
        }
    }

    /// The source up to the next end tag of that name, which is the next to be read; empty if there
    /// is none near.
    pub(crate) fn until_end_of(&mut self, name: &str) -> &'d str {
        let most = match name {
            "script" | "style" => usize::MAX,
            "a" | "div" | "p" | "span" | "td" => 64 * 1024,
            _ => 1024,
        };
        let content = self.content(name, most);
        self.at += content.len();
        content
    }

    /// As [`until_end_of`](Self::until_end_of) for a short text, without moving.
    pub(crate) fn peek_until_end_of(&mut self, name: &str) -> &'d str {
        self.content(name, 256)
    }

    /// The source up to an end tag in the next `most` bytes. Where one was looked for in vain is not
    /// looked again, which keeps the work linear.
    fn content(&mut self, name: &str, most: usize) -> &'d str {
        let bytes = self.page.as_bytes();
        let bytes = bytes.get(..self.at.saturating_add(most)).unwrap_or(bytes);
        let known = self.without.iter().position(|(known, _)| known == name);
        let mut from = known.map_or(self.at, |known| self.without[known].1.max(self.at));
        while let Some(found) = find(bytes, from, b"</") {
            let behind = bytes.get(found + 2..found + 2 + name.len());
            if behind.is_some_and(|behind| behind.eq_ignore_ascii_case(name.as_bytes())) {
                return &self.page[self.at..found];
            }
            from = found + 2;
        }
        let end = bytes.len().saturating_sub(2 + name.len());
        match known {
            Some(known) => self.without[known].1 = end.max(self.without[known].1),
            None if self.without.len() < 8 => self.without.push((name.to_owned(), end)),
            None => {}
        }
        ""
    }
}

fn find(bytes: &[u8], from: usize, needle: &[u8; 2]) -> Option<usize> {
    bytes.get(from..)?.windows(2).position(|pair| pair == needle).map(|at| from + at)
}

/// The tag that `text` begins with, and its length.
fn read(text: &str) -> Option<(Tag<'_>, usize)> {
    let bytes = text.as_bytes();
    let is_end = bytes.get(1) == Some(&b'/');
    let start = if is_end { 2 } else { 1 };
    let length =
        bytes[start..].iter().take(32).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    if length == 0 || !bytes[start].is_ascii_alphabetic() {
        return None;
    }
    let mut quote = None;
    for (at, &byte) in bytes.iter().enumerate().take(LONGEST).skip(start + length) {
        match (quote, byte) {
            (None, b'>') => {
                let name = text[start..start + length].to_ascii_lowercase();
                return Some((Tag { name, is_end, attributes: &text[start + length..at] }, at + 1));
            }
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// Names and values of attributes, not decoded.
fn attributes(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest =
            rest.trim_start_matches(|ch: char| ch.is_ascii_whitespace() || ch == '/' || ch == '=');
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .find(|ch: char| ch.is_ascii_whitespace() || ch == '=' || ch == '/')
            .unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        let Some(value) = behind.trim_start().strip_prefix('=') else {
            rest = behind;
            return Some((name, ""));
        };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|ch| matches!(ch, '"' | '\''));
        let (value, behind) = match quote {
            Some(quote) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            None => value
                .split_at(value.find(|ch: char| ch.is_ascii_whitespace()).unwrap_or(value.len())),
        };
        rest = behind;
        Some((name, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_with_their_attributes() {
        let page = "<!-- <a> --><A Class='x  y' href=\"/l/?a=1&amp;b=2\" hidden>text < b</a><script>'<a>'</script><b>";
        let mut tags = Tags::new(page);
        let tag = tags.next().unwrap();
        assert_eq!((tag.name.as_str(), tag.is_end), ("a", false));
        assert!(tag.has_class("y") && tag.has_class_prefix("x") && !tag.has_class("z"));
        assert_eq!(tag.attribute("HREF").as_deref(), Some("/l/?a=1&b=2"));
        assert_eq!(tag.attribute("hidden").as_deref(), Some(""));
        assert_eq!(tags.until_end_of("a"), "text < b");
        let names: Vec<String> = std::iter::from_fn(|| tags.next()).map(|tag| tag.name).collect();
        assert_eq!(names, ["a", "script", "script", "b"]);
    }

    #[test]
    fn what_is_no_tag_is_text() {
        for page in ["<", "< a>", "<a", "<a href='", "</", "<1>", "<!-- x", "<a b='é>"] {
            assert!(Tags::new(page).next().is_none(), "{page}");
        }
    }

    #[test]
    fn an_end_tag_is_looked_for_once_where_there_is_none() {
        for (start, name) in [("<script>", "script"), ("<a>", "a"), ("<span>", "span")] {
            let page = start.repeat(100_000);
            let mut tags = Tags::new(&page);
            while tags.next().is_some() {
                assert_eq!(tags.until_end_of(name), "");
            }
            let looked = &tags.without.iter().find(|(known, _)| known == name).unwrap().1;
            assert!(*looked + 16 > page.len(), "{name}: {looked}");
        }
        let mut tags = Tags::new("<a>one<b>two</b></a><a>three</a>");
        tags.next();
        assert_eq!(tags.until_end_of("i"), "");
        assert_eq!(tags.peek_until_end_of("a"), "one<b>two</b>");
        assert_eq!(tags.until_end_of("a"), "one<b>two</b>");
        tags.next();
        tags.next();
        assert_eq!(tags.until_end_of("a"), "three");
    }

    #[test]
    fn a_text_that_is_peeked_at_is_short() {
        let page = format!("<span>{}</span>", "x".repeat(300));
        let mut tags = Tags::new(&page);
        tags.next();
        assert_eq!(tags.peek_until_end_of("span"), "");
        assert_eq!(tags.until_end_of("span").len(), 300);
    }
}
