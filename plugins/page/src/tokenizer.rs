//! The HTML standard's tokenizer for a whole page; html5ever's tree construction uses its tokens.
//!
//! html5ever's own tokenizer works incrementally and by characters, which took a third of a page's
//! time in the sandbox. Only attributes in [`KEPT`] are read; comments have no text. A test
//! compares the trees with those of html5ever's tokenizer.

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    CharacterTokens, CommentToken, Doctype, DoctypeToken, EOFToken, NullCharacterToken, Tag,
    TagKind, TagToken, Token, TokenSink, TokenSinkResult,
};
use html5ever::{Attribute, LocalName, QualName, ns};
use memchr::{memchr, memchr2};

use crate::needles::Needles;
use crate::references::decode;

/// Attributes that this plugin or html5ever's tree construction reads.
pub(crate) static KEPT: Needles = Needles::new(&[
    "alt",
    "alttext",
    "aria-hidden",
    "aria-modal",
    "bgcolor",
    "charset",
    "class",
    "color",
    "colspan",
    "content",
    "data",
    "data-lang",
    "data-language",
    "data-original",
    "data-src",
    "datatable",
    "datetime",
    "display",
    "encoding",
    "face",
    "hidden",
    "href",
    "http-equiv",
    "id",
    "itemprop",
    "itemscope",
    "itemtype",
    "lang",
    "media",
    "name",
    "open",
    "popover",
    "property",
    "rel",
    "role",
    "rowspan",
    "shadowrootmode",
    "size",
    "slot",
    "src",
    "style",
    "summary",
    "type",
    "value",
    "xlink:href",
    "xml:lang",
]);

/// The tokenizer's state.
enum Mode {
    Data,
    /// Up to the end tag of an element of this name.
    Raw(RawKind, LocalName),
    Plain,
}

/// A page and the current position.
pub(crate) struct Tokenizer<'t, S> {
    sink: &'t S,
    text: &'t str,
    /// The page as a shared buffer, parts of which are passed to the sink without copying.
    shared: StrTendril,
    at: usize,
    mode: Mode,
    /// Further attributes that are read, in lower case.
    selected: &'t [String],
}

impl<'t, S: TokenSink> Tokenizer<'t, S> {
    /// A tokenizer of a page without carriage returns.
    pub(crate) fn new(text: &'t str, sink: &'t S) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let shared = StrTendril::from_slice(text);
        Self { sink, text, shared, at: 0, mode: Mode::Data, selected: &[] }
    }

    /// Also reads attributes of these names.
    pub(crate) fn with(mut self, selected: &'t [String]) -> Self {
        self.selected = selected;
        self
    }

    /// Passes the next tokens to the sink, up to a tag; false at the end.
    pub(crate) fn step(&mut self) -> bool {
        if self.at >= self.text.len() {
            self.emit(EOFToken);
            self.sink.end();
            return false;
        }
        match std::mem::replace(&mut self.mode, Mode::Data) {
            Mode::Data => self.data(),
            Mode::Plain => {
                let rest = self.at..self.text.len();
                self.characters(rest.start, rest.end, false, true);
                self.at = rest.end;
            }
            Mode::Raw(kind, name) => {
                let from = self.at;
                let script = matches!(kind, RawKind::ScriptData);
                let end = if script { self.script_end(from) } else { self.raw_end(from, &name) };
                self.characters(from, end, matches!(kind, RawKind::Rcdata), true);
                self.at = end;
                if end < self.text.len() {
                    self.tag(end + 2, TagKind::EndTag);
                }
            }
        }
        true
    }

    fn byte(&self, at: usize) -> u8 {
        // After the end, a byte that ends nothing.
        self.text.as_bytes().get(at).copied().unwrap_or(b'-')
    }

    fn rest(&self, at: usize) -> &'t [u8] {
        self.text.as_bytes().get(at..).unwrap_or_default()
    }

    fn find(&self, byte: u8, from: usize) -> Option<usize> {
        memchr(byte, self.rest(from)).map(|offset| from + offset)
    }

    fn share(&self, from: usize, to: usize) -> StrTendril {
        match (u32::try_from(from), u32::try_from(to)) {
            (Ok(start), Ok(end)) => self.shared.subtendril(start, end.saturating_sub(start)),
            _ => StrTendril::from_slice(&self.text[from..to]),
        }
    }

    fn emit(&mut self, token: Token) {
        match self.sink.process_token(token, 1) {
            TokenSinkResult::Plaintext => self.mode = Mode::Plain,
            TokenSinkResult::RawData(kind) => {
                // The caller that reads the start tag sets the name.
                self.mode = Mode::Raw(kind, LocalName::default());
            }
            _ => {}
        }
    }

    /// Text up to a tag, and the tag, comment or declaration.
    fn data(&mut self) {
        let from = self.at;
        let mut end = from;
        let opens = |next: u8| next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?');
        loop {
            let Some(open) = self.find(b'<', end) else {
                self.characters(from, self.text.len(), true, false);
                self.at = self.text.len();
                return;
            };
            end = open + 1;
            if end < self.text.len() && opens(self.byte(end)) {
                break;
            }
        }
        let open = end - 1;
        self.characters(from, open, true, false);
        match self.byte(end) {
            b'/' if end + 1 >= self.text.len() => {
                self.characters(open, end + 1, false, false);
                self.at = end + 1;
            }
            b'/' => match self.byte(end + 1) {
                b'>' => {
                    // A line feed behind `<pre>` and this is text for html5ever.
                    self.emit(Token::ParseError("no name in an end tag".into()));
                    self.at = end + 2;
                }
                next if next.is_ascii_alphabetic() => self.tag(end + 1, TagKind::EndTag),
                _ => self.bogus(end + 1),
            },
            b'!' => self.declaration(end + 1),
            b'?' => self.bogus(end),
            _ => self.tag(end, TagKind::StartTag),
        }
    }

    /// Passes a part of the page as characters.
    fn characters(&mut self, from: usize, to: usize, references: bool, replace_null: bool) {
        let part = &self.text[from..to];
        if part.is_empty() {
            return;
        }
        if memchr2(if references { b'&' } else { 0 }, 0, part.as_bytes()).is_none() {
            self.emit(CharacterTokens(self.share(from, to)));
            return;
        }
        for (number, piece) in part.split('\0').enumerate() {
            if number > 0 {
                let null = CharacterTokens(StrTendril::from_char('\u{fffd}'));
                self.emit(if replace_null { null } else { NullCharacterToken });
            }
            if !piece.is_empty() {
                let text = if references { decode(piece, false) } else { piece.into() };
                self.emit(CharacterTokens(StrTendril::from_slice(&text)));
            }
        }
    }

    /// A start or end tag whose name begins here; dropped if the page ends in it.
    fn tag(&mut self, from: usize, kind: TagKind) {
        let bytes = self.text.as_bytes();
        let mut at =
            from + length(self.rest(from), |byte| !is_space(byte) && !b"/>".contains(&byte));
        let name = name(&self.text[from..at]);
        let mut attrs: Vec<Attribute> = Vec::new();
        let mut self_closing = false;
        loop {
            at += length(self.rest(at), is_space);
            match bytes.get(at) {
                None => {
                    self.at = bytes.len();
                    return;
                }
                Some(b'>') => break,
                Some(b'/') => {
                    at += 1;
                    if bytes.get(at) == Some(&b'>') {
                        self_closing = true;
                        break;
                    }
                }
                Some(_) => at = self.attribute(at, &mut attrs),
            }
        }
        self.at = at + 1;
        let is_start = kind == TagKind::StartTag;
        let raw_name = name.clone();
        if !is_start {
            attrs.clear();
        }
        self.emit(TagToken(Tag {
            kind,
            name,
            self_closing,
            attrs,
            had_duplicate_attributes: false,
        }));
        if let Mode::Raw(_, name) = &mut self.mode {
            *name = raw_name;
        }
    }

    /// Reads an attribute; returns the position after it.
    fn attribute(&self, from: usize, attrs: &mut Vec<Attribute>) -> usize {
        // A leading equals sign is part of the name.
        let inside = |byte: u8| !is_space(byte) && !b"/>=".contains(&byte);
        let name_end = from + 1 + length(self.rest(from + 1), inside);
        let mut at = name_end + length(self.rest(name_end), is_space);
        let (mut start, mut end) = (at, at);
        if self.byte(at) == b'=' {
            at += 1;
            at += length(self.rest(at), is_space);
            match self.byte(at) {
                quote @ (b'"' | b'\'') => {
                    start = at + 1;
                    end = self.find(quote, start).unwrap_or(self.text.len());
                    at = end + 1;
                }
                _ => {
                    start = at;
                    end = at + length(self.rest(at), |byte| !is_space(byte) && byte != b'>');
                    at = end;
                }
            }
        }
        let label = self.text.get(from..name_end).unwrap_or_default();
        if KEPT.has(label) || self.selected.iter().any(|name| name.eq_ignore_ascii_case(label)) {
            let name = QualName::new(None, ns!(), name(label));
            if attrs.iter().all(|attr| attr.name != name) {
                attrs.push(Attribute { name, value: self.value(start, end) });
            }
        }
        at
    }

    fn value(&self, from: usize, to: usize) -> StrTendril {
        let value = &self.text[from..to];
        if memchr2(b'&', 0, value.as_bytes()).is_none() {
            return self.share(from, to);
        }
        StrTendril::from_slice(&decode(value, true).replace('\0', "\u{fffd}"))
    }

    /// What follows `<!`.
    fn declaration(&mut self, from: usize) {
        let rest = &self.text[from..];
        if let Some(comment) = rest.strip_prefix("--") {
            self.at = from + 2 + comment_length(comment);
            self.emit(CommentToken(StrTendril::new()));
        } else if starts(rest, "doctype") {
            let end = self.find(b'>', from);
            let body = &self.text[from + "doctype".len()..end.unwrap_or(self.text.len())];
            self.at = end.map_or(self.text.len(), |end| end + 1);
            let mut doctype = doctype(body);
            doctype.force_quirks |= end.is_none();
            self.emit(DoctypeToken(doctype));
        } else if let Some(data) = rest.strip_prefix("[CDATA[")
            && self.sink.adjusted_current_node_present_but_not_in_html_namespace()
        {
            let start = from + "[CDATA[".len();
            let end = data.find("]]>");
            let until = end.map_or(self.text.len(), |end| start + end);
            self.characters(start, until, false, false);
            self.at = end.map_or(until, |_| until + 3);
        } else {
            self.bogus(from);
        }
    }

    fn bogus(&mut self, from: usize) {
        self.at = self.find(b'>', from).map_or(self.text.len(), |end| end + 1);
        self.emit(CommentToken(StrTendril::new()));
    }

    /// The position of the end tag of a raw-text element.
    fn raw_end(&self, from: usize, name: &str) -> usize {
        let mut at = from;
        while let Some(open) = self.find(b'<', at) {
            if self.closes(open, name) {
                return open;
            }
            at = open + 1;
        }
        self.text.len()
    }

    /// The position of a script's end tag; one inside a comment with a nested script does not
    /// count.
    fn script_end(&self, from: usize) -> usize {
        let (mut at, mut commented, mut nested) = (from, false, false);
        while let Some(found) = memchr2(b'<', b'-', self.rest(at)) {
            let here = at + found;
            let rest = self.rest(here);
            at = here + 1;
            if !commented {
                if rest.starts_with(b"<!--") {
                    // Its dashes may also be those of its end.
                    (commented, at) = (true, here + 2);
                } else if self.closes(here, "script") {
                    return here;
                }
            } else if rest.starts_with(b"-->") {
                (commented, nested) = (false, false);
            } else if self.closes(here, "script") {
                if !nested {
                    return here;
                }
                nested = false;
            } else if !nested {
                nested = self.text.get(here..).is_some_and(|rest| starts(rest, "<script"))
                    && ends_name(self.rest(here + "<script".len()));
            }
        }
        self.text.len()
    }

    /// Whether an end tag of a name is here.
    fn closes(&self, at: usize, name: &str) -> bool {
        let rest = self.rest(at);
        rest.starts_with(b"</")
            && rest
                .get(2..2 + name.len())
                .is_some_and(|it| it.eq_ignore_ascii_case(name.as_bytes()))
            && ends_name(&rest[2 + name.len()..])
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c')
}

fn ends_name(rest: &[u8]) -> bool {
    rest.first().is_some_and(|&byte| is_space(byte) || matches!(byte, b'/' | b'>'))
}

/// The number of leading bytes of a class.
fn length(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !is(byte)).unwrap_or(bytes.len())
}

fn starts(text: &str, word: &str) -> bool {
    text.as_bytes().get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word.as_bytes()))
}

/// The name of a tag or an attribute.
fn name(text: &str) -> LocalName {
    if text.bytes().any(|byte| byte.is_ascii_uppercase() || byte == 0) {
        return LocalName::from(text.to_ascii_lowercase().replace('\0', "\u{fffd}"));
    }
    LocalName::from(text)
}

/// The length of a comment and of its end, after `<!--`.
fn comment_length(comment: &str) -> usize {
    for short in [">", "->"] {
        if comment.starts_with(short) {
            return short.len();
        }
    }
    let bytes = comment.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr(b'-', &bytes[at..]) {
        let rest = &bytes[at + found..];
        for end in [&b"-->"[..], b"--!>"] {
            if rest.starts_with(end) {
                return at + found + end.len();
            }
        }
        at += found + 1;
    }
    comment.len()
}

/// Reads a document type; its identifiers decide whether a table may be in a paragraph.
fn doctype(body: &str) -> Doctype {
    let space = |character: char| character.is_ascii() && is_space(character as u8);
    let body = body.trim_start_matches(space);
    let name_end = body.find(space).unwrap_or(body.len());
    let (name, rest) = body.split_at(name_end);
    let mut doctype = Doctype::default();
    if name.is_empty() {
        doctype.force_quirks = true;
        return doctype;
    }
    let name = name.to_ascii_lowercase().replace('\0', "\u{fffd}");
    doctype.name = Some(StrTendril::from_slice(&name));
    let rest = rest.trim_start_matches(space);
    if rest.is_empty() {
        return doctype;
    }
    let public = starts(rest, "public");
    if !public && !starts(rest, "system") {
        doctype.force_quirks = true;
        return doctype;
    }
    let mut rest = rest["public".len()..].trim_start_matches(space);
    for is_public in [public, false] {
        let Some(quote) = rest.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else {
            // A public identifier may come without a system identifier.
            let complete = !is_public && rest.is_empty() && doctype.public_id.is_some();
            doctype.force_quirks |= !complete;
            return doctype;
        };
        let inner = &rest[1..];
        let end = inner.find(quote);
        let id = Some(StrTendril::from_slice(&inner[..end.unwrap_or(inner.len())]));
        if is_public {
            doctype.public_id = id;
        } else {
            doctype.system_id = id;
        }
        let Some(end) = end else {
            doctype.force_quirks = true;
            return doctype;
        };
        rest = inner[end + 1..].trim_start_matches(space);
        if !is_public {
            break;
        }
    }
    doctype
}
