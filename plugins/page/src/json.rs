//! Reads JSON as it occurs in pages: with comments, control characters in strings, extra commas,
//! truncated. Values before a fault are kept.

/// The deepest nesting of values.
const DEEPEST: u32 = 64;
/// The most values of a text.
const MOST: u32 = 50_000;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    /// `null`, and values that could not be read.
    Nothing,
    /// `true`.
    True,
    /// `false`.
    False,
    /// A string, or a number as it is written.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object's members in their order.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// A member of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                members.iter().find(|(member, _)| member == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// A string's text, whitespace collapsed; of an object that of its `@value`, `name` or `@id`.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => {
                let text = carrel_pdk::text::collapse(text).into_owned();
                (!text.is_empty()).then_some(text)
            }
            Self::Object(_) => ["@value", "name", "value", "@id", "url"].iter().find_map(|name| {
                match self.get(name) {
                    Some(text @ Self::Text(_)) => text.text(),
                    _ => None,
                }
            }),
            _ => None,
        }
    }

    /// The values of a list, or the value alone.
    pub(crate) fn each(&self) -> &[Self] {
        match self {
            Self::List(values) => values,
            value => std::slice::from_ref(value),
        }
    }
}

/// Reads a text; the second value is true if there was a fault.
pub(crate) fn parse(text: &str) -> (Json, bool) {
    let mut reader = Reader { text, at: 0, broken: false, left: MOST };
    let mut values = Vec::new();
    loop {
        reader.skip();
        if reader.at >= text.len() {
            break;
        }
        if matches!(reader.peek(), Some(';' | ',')) {
            reader.next();
            continue;
        }
        let before = reader.at;
        values.push(reader.value(0));
        if reader.at == before || reader.broken {
            reader.broken = true;
            break;
        }
    }
    let value = match values.len() {
        0 | 1 => values.pop().unwrap_or(Json::Nothing),
        _ => Json::List(values),
    };
    (value, reader.broken)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    broken: bool,
    left: u32,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.at += character.len_utf8();
        Some(character)
    }

    /// Skips whitespace, comments and wrappers.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|character: char| {
                character.is_whitespace() || character.is_control() || character == '\u{feff}'
            });
            let mut used = rest.len() - trimmed.len();
            let ends = [
                ("/*", "*/"),
                ("//", "\n"),
                ("<!--", ""),
                ("-->", ""),
                ("<![CDATA[", ""),
                ("]]>", ""),
            ];
            for (start, end) in ends {
                if let Some(inner) = trimmed.strip_prefix(start) {
                    let length = if end.is_empty() {
                        0
                    } else {
                        inner.find(end).map_or(inner.len(), |at| at + end.len())
                    };
                    used += start.len() + length;
                    break;
                }
            }
            if used == 0 {
                return;
            }
            self.at += used;
        }
    }

    fn value(&mut self, depth: u32) -> Json {
        self.skip();
        self.left = self.left.saturating_sub(1);
        if depth > DEEPEST || self.left == 0 {
            self.broken = true;
            return Json::Nothing;
        }
        match self.peek() {
            Some('{') => self.object(depth),
            Some('[') => self.list(depth),
            Some(quote @ ('"' | '\'')) => Json::Text(self.string(quote)),
            Some(_) => self.word(),
            None => {
                self.broken = true;
                Json::Nothing
            }
        }
    }

    fn object(&mut self, depth: u32) -> Json {
        let mut members = Vec::new();
        self.next();
        while !self.broken {
            self.skip();
            match self.peek() {
                Some('}') => {
                    self.next();
                    break;
                }
                Some(',') => {
                    self.next();
                }
                Some(quote @ ('"' | '\'')) => {
                    let name = self.string(quote);
                    self.skip();
                    if self.peek() == Some(':') {
                        self.next();
                        let value = self.value(depth + 1);
                        members.push((name, value));
                    } else {
                        self.broken = true;
                    }
                }
                _ => self.broken = true,
            }
        }
        Json::Object(members)
    }

    fn list(&mut self, depth: u32) -> Json {
        let mut values = Vec::new();
        self.next();
        while !self.broken {
            self.skip();
            match self.peek() {
                Some(']') => {
                    self.next();
                    break;
                }
                Some(',') => {
                    self.next();
                }
                None => self.broken = true,
                Some(_) => {
                    let before = self.at;
                    values.push(self.value(depth + 1));
                    self.broken |= self.at == before;
                }
            }
        }
        Json::List(values)
    }

    fn string(&mut self, quote: char) -> String {
        let mut out = String::new();
        self.next();
        loop {
            match self.next() {
                None => {
                    self.broken = true;
                    return out;
                }
                Some(character) if character == quote => return out,
                Some('\\') => match self.next() {
                    Some('n' | 't' | 'r' | 'f' | 'b') => out.push(' '),
                    Some('u') => self.escape(&mut out),
                    Some(escaped) => out.push(escaped),
                    None => {}
                },
                Some(character) if character.is_control() => out.push(' '),
                Some(character) => out.push(character),
            }
        }
    }

    fn escape(&mut self, out: &mut String) {
        let digits = |reader: &mut Self| {
            let code = reader.rest().get(..4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
            if code.is_some() {
                reader.at += 4;
            }
            code
        };
        let Some(first) = digits(self) else { return };
        let code = if (0xD800..0xDC00).contains(&first) && self.rest().starts_with("\\u") {
            self.at += 2;
            match digits(self) {
                Some(second) if (0xDC00..0xE000).contains(&second) => {
                    0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
                }
                _ => 0xFFFD,
            }
        } else {
            first
        };
        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
    }

    fn word(&mut self) -> Json {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        let word = rest[..end].to_owned();
        self.at += end;
        match word.as_str() {
            "true" => Json::True,
            "false" => Json::False,
            "null" | "undefined" | "NaN" => Json::Nothing,
            "" => {
                self.broken = true;
                Json::Nothing
            }
            _ if word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
                Json::Text(word)
            }
            _ => {
                self.broken = true;
                Json::Nothing
            }
        }
    }
}
