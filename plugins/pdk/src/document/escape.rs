//! Escapes text for Markdown; formulas between dollars are kept.

/// Writes a text of one or more lines, separated by hard breaks.
pub(super) fn paragraph(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(line).filter(|line| !line.is_empty()).collect();
    lines.join("\\\n")
}

/// Writes a text on one line where a line begins.
pub(super) fn line(text: &str) -> String {
    let escaped = inline(text.trim());
    let digits = escaped.bytes().take_while(u8::is_ascii_digit).count();
    let at = match escaped.as_bytes().get(digits) {
        Some(b'#' | b'+' | b'-' | b'=' | b'>') if digits == 0 => 0,
        Some(b'.' | b')') if digits > 0 => digits,
        _ => return escaped,
    };
    let (before, behind) = escaped.split_at(at);
    format!("{before}\\{behind}")
}

/// Writes a text on one line, somewhere inside a line.
pub(super) fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut rest = text;
    let mut last = None;
    while let Some(character) = rest.chars().next() {
        let behind = &rest[character.len_utf8()..];
        match character {
            '$' => {
                if let Some(formula) = formula(behind) {
                    out.push('$');
                    out.push_str(&tex(formula));
                    out.push('$');
                    rest = &behind[formula.len() + 1..];
                    last = Some('$');
                    continue;
                }
                out.push_str("\\$");
            }
            '\n' | '\r' => out.push(' '),
            '\\' | '`' | '*' | '[' | ']' | '<' | '|' | '~' => {
                out.push('\\');
                out.push(character);
            }
            // Between letters it is not emphasis.
            '_' if last.is_some_and(char::is_alphanumeric)
                && behind.starts_with(char::is_alphanumeric) =>
            {
                out.push('_');
            }
            '_' => out.push_str("\\_"),
            '&' if starts_reference(behind) => out.push_str("\\&"),
            other => out.push(other),
        }
        last = Some(character);
        rest = behind;
    }
    out
}

/// The formula at the beginning of `text`, which follows a dollar, up to the closing dollar. Dollar
/// signs of amounts of money enclose no TeX commands.
fn formula(text: &str) -> Option<&str> {
    /// The longest formula inside a line; keeps the work linear.
    const LONGEST: usize = 4096;
    let window = text.as_bytes().get(..LONGEST.min(text.len()))?;
    let end = memchr::memchr(b'$', window)?;
    let content = text.get(..end)?;
    let (first, last) = (content.chars().next()?, content.chars().next_back()?);
    let short = content.len() <= 2 && content.chars().all(char::is_alphabetic);
    let right = !first.is_whitespace()
        && !last.is_whitespace()
        && last != '\\'
        && !text[end + 1..].starts_with(|next: char| next.is_ascii_digit())
        && !content.contains(['\n', '`'])
        && !content.contains("](")
        && (short || content.contains(['\\', '_', '^', '{', '=']));
    right.then_some(content)
}

/// TeX for renderers with and without support for formulas: without characters that could begin a
/// tag, an empty line or a delimiter.
pub(super) fn tex(tex: &str) -> String {
    let mut out = String::with_capacity(tex.len());
    let mut characters = tex.trim().chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('<', Some(next)) if next.is_ascii_alphabetic() || "/!?".contains(*next) => {
                out.push_str("\\lt ");
            }
            // An escaped dollar is kept; another one would end the formula.
            ('$', _) if !out.ends_with('\\') => {}
            _ => out.push(character),
        }
    }
    out
}

/// Whether an ampersand followed by `text` is a character reference.
fn starts_reference(text: &str) -> bool {
    const LONGEST: usize = 40;
    let name = text.bytes().take(LONGEST);
    let length = name.take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
    length > 0 && text.as_bytes().get(length) == Some(&b';')
}
