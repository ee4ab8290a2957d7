//! Decodes bytes: by a byte order mark, else the response header, else the page's own declaration,
//! else UTF-8 if valid, else windows-1252, as browsers do.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The bytes at the beginning of a page that are searched for its charset declaration.
const HEAD: usize = 4096;

/// A page as text.
pub(crate) struct Decoded {
    pub(crate) text: String,
    /// The encoding's name, in WHATWG's spelling.
    pub(crate) charset: &'static str,
    /// The source of the encoding.
    pub(crate) from: &'static str,
    /// Whether bytes were invalid in it.
    pub(crate) damaged: bool,
}

/// Decodes a document; `label` is the charset of the response header, `html` whether it is HTML.
pub(crate) fn decode(bytes: &[u8], label: Option<&str>, html: bool) -> Decoded {
    let (encoding, from) = choose(bytes, label, html);
    let (text, encoding, damaged) = encoding.decode(bytes);
    Decoded { text: text.into_owned(), charset: encoding.name(), from, damaged }
}

fn choose(bytes: &[u8], label: Option<&str>, html: bool) -> (&'static Encoding, &'static str) {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return (encoding, "byte order mark");
    }
    if let Some(encoding) = label.and_then(named) {
        return (encoding, "option");
    }
    if let Some(encoding) = html.then(|| declared(bytes)).flatten() {
        // A page whose declaration could be read as ASCII is not in UTF-16; one that is not valid
        // UTF-8 is in the declared charset.
        return (encoding, "meta");
    }
    match bytes {
        // Markup in UTF-16 without a byte order mark.
        [b'<', 0, ..] => (UTF_16LE, "its bytes"),
        [0, b'<', ..] => (UTF_16BE, "its bytes"),
        _ if std::str::from_utf8(bytes).is_ok() => (UTF_8, "its bytes"),
        // Nearly valid UTF-8: a page cut inside a character, or a stray byte.
        _ if mostly_utf8(bytes) => (UTF_8, "its bytes"),
        _ => (WINDOWS_1252, "its bytes"),
    }
}

fn named(label: &str) -> Option<&'static Encoding> {
    // A whole Content-Type value is accepted too.
    let lower = label.to_ascii_lowercase();
    let label = match lower.find("charset=") {
        Some(at) => &lower[at + "charset=".len()..],
        None => &lower,
    };
    let label = label.trim_matches(|c: char| c.is_whitespace() || "\"';".contains(c));
    let label = label.split([';', '"', '\'', ' ']).next().unwrap_or_default();
    Encoding::for_label(label.as_bytes())
}

/// The page's charset declaration: `<meta charset>`, `<meta http-equiv content>`, `<?xml
/// encoding?>`.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..HEAD).unwrap_or(bytes).to_ascii_lowercase();
    let head: String = head.iter().map(|&byte| char::from(byte)).collect();
    let value = |text: &str| {
        let text = text.trim_start().strip_prefix('=')?.trim_start();
        let text = text.trim_start_matches(['"', '\'']);
        let end = text.find(|c: char| c.is_whitespace() || "\"'>;/?".contains(c));
        let encoding = Encoding::for_label(&text.as_bytes()[..end.unwrap_or(text.len())])?;
        // Markup that can be searched as ASCII bytes is not in UTF-16.
        Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
    };
    let mut rest = head.as_str();
    while let Some(at) = rest.find("<meta") {
        rest = &rest[at + 5..];
        let tag = &rest[..rest.find('>').unwrap_or(rest.len())];
        if let Some(found) = tag.find("charset").and_then(|at| value(&tag[at + 7..])) {
            return Some(found);
        }
    }
    let start = head.trim_start().strip_prefix("<?xml")?;
    let tag = &start[..start.find('>')?];
    value(&tag[tag.find("encoding")? + 8..])
}

fn mostly_utf8(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let (mut broken, mut good) = (0_usize, 0_usize);
    for character in text.chars().filter(|character| !character.is_ascii()) {
        if character == '\u{fffd}' { broken += 1 } else { good += 1 }
    }
    broken * 20 <= good
}
