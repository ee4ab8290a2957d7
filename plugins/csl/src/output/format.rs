//! Writes assembled text as plain text, HTML, Markdown or LaTeX.

use super::assemble::{Piece, Tag};
use crate::locale::Locale;
use crate::style::elements::{Display, FontStyle, Form, Vertical, Weight};

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Format {
    #[default]
    Text,
    Html,
    Markdown,
    Latex,
}

/// Writes pieces in a format.
pub(crate) fn write(pieces: &[Piece], format: Format, locale: &Locale) -> String {
    let state = State::default();
    let mut writer = Writer {
        format,
        out: String::new(),
        open: Vec::new(),
        state,
        quotes: 0,
        labelled: false,
        locale,
    };
    for piece in pieces {
        match piece {
            Piece::Text(text) => writer.text(text),
            Piece::Open(tag) => writer.open(tag),
            Piece::Close(_) => writer.close(),
        }
    }
    while !writer.open.is_empty() {
        writer.close();
    }
    writer.out
}

/// How the text is set.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct State {
    italic: bool,
    bold: bool,
    small_caps: bool,
    underline: bool,
}

impl State {
    /// The state inside a tag: what is on already is switched off.
    fn inside(self, tag: &Tag) -> Self {
        match tag {
            Tag::Style(FontStyle::Normal) => Self { italic: false, ..self },
            Tag::Style(_) => Self { italic: !self.italic, ..self },
            Tag::Weight(Weight::Bold) => Self { bold: !self.bold, ..self },
            Tag::Weight(_) => Self { bold: false, ..self },
            Tag::SmallCaps(on) => Self { small_caps: *on && !self.small_caps, ..self },
            Tag::Underline(on) => Self { underline: *on, ..self },
            Tag::NoDecoration => Self::default(),
            Tag::Vertical(_) | Tag::Quote | Tag::Display(_) => self,
        }
    }
}

struct Writer<'l> {
    format: Format,
    out: String,
    /// The properties that are open, with the text that closes each and the state before.
    open: Vec<(Tag, String, State)>,
    state: State,
    quotes: usize,
    /// The blank behind a label was just written.
    labelled: bool,
    locale: &'l Locale,
}

impl Writer<'_> {
    fn text(&mut self, text: &str) {
        let text = if std::mem::take(&mut self.labelled) { text.trim_start() } else { text };
        match self.format {
            Format::Text => self.out.push_str(text),
            Format::Html => html(text, &mut self.out),
            Format::Markdown => markdown(text, &mut self.out),
            Format::Latex => latex(text, &mut self.out),
        }
    }

    fn open(&mut self, tag: &Tag) {
        if *tag == Tag::Quote {
            self.quotes += 1;
            let (open, close) = if self.quotes % 2 == 1 {
                ("open-quote", "close-quote")
            } else {
                ("open-inner-quote", "close-inner-quote")
            };
            let mark = |name: &str, fallback: &str| {
                let term = self.locale.term(name, Form::Long, false).unwrap_or(fallback);
                term.to_owned()
            };
            let (open, close) = (mark(open, "“"), mark(close, "”"));
            self.text(&open);
            self.open.push((Tag::Quote, close, self.state));
            return;
        }
        let before = self.state;
        self.state = before.inside(tag);
        let (open, close) = match self.format {
            Format::Text => text_tag(tag),
            Format::Html => html_tag(tag, before),
            Format::Markdown => markdown_tag(tag, before, self.state),
            Format::Latex => latex_tag(tag, before, self.state),
        };
        self.out.push_str(&open);
        self.open.push((tag.clone(), close, before));
    }

    fn close(&mut self) {
        let Some((tag, close, state)) = self.open.pop() else { return };
        self.state = state;
        if tag == Tag::Quote {
            self.quotes = self.quotes.saturating_sub(1);
            self.text(&close);
        } else {
            if tag == Tag::Display(Display::RightInline) && self.format == Format::Html {
                self.out.truncate(self.out.trim_end_matches(' ').len());
            }
            self.out.push_str(&close);
            self.labelled = close == " ";
        }
    }
}

fn html_tag(tag: &Tag, before: State) -> (String, String) {
    let span = |style: &str| (format!("<span style=\"{style};\">"), "</span>".to_owned());
    let element = |name: &str| (format!("<{name}>"), format!("</{name}>"));
    match tag {
        Tag::Style(FontStyle::Italic) if before.italic => span("font-style:normal"),
        Tag::Style(FontStyle::Italic) => element("i"),
        Tag::Style(FontStyle::Oblique) => element("em"),
        Tag::Style(FontStyle::Normal) if before.italic => span("font-style:normal"),
        Tag::SmallCaps(true) if before.small_caps => span("font-variant:normal"),
        Tag::SmallCaps(true) => span("font-variant:small-caps"),
        Tag::SmallCaps(false) if before.small_caps => span("font-variant:normal"),
        Tag::Weight(Weight::Bold) if before.bold => span("font-weight:normal"),
        Tag::Weight(Weight::Bold) => element("b"),
        Tag::Weight(Weight::Light) => span("font-weight:light"),
        Tag::Weight(Weight::Normal) if before.bold => span("font-weight:normal"),
        Tag::Underline(true) => span("text-decoration:underline"),
        Tag::Underline(false) if before.underline => span("text-decoration:none"),
        Tag::Vertical(Vertical::Superscript) => element("sup"),
        Tag::Vertical(Vertical::Subscript) => element("sub"),
        Tag::Vertical(Vertical::Baseline) => {
            ("<span style=\"baseline\">".to_owned(), "</span>".to_owned())
        }
        Tag::NoDecoration => {
            let mut open = String::new();
            let mut close = String::new();
            for (on, style) in [
                (before.italic, "font-style:normal"),
                (before.bold, "font-weight:normal"),
                (before.small_caps, "font-variant:normal"),
            ] {
                if on {
                    open.push_str(&span(style).0);
                    close.push_str("</span>");
                }
            }
            (open, close)
        }
        Tag::Display(display) => {
            let (before, class, after) = match display {
                Display::Block => ("\n\n    ", "csl-block", "\n"),
                Display::LeftMargin => ("\n    ", "csl-left-margin", ""),
                Display::RightInline => ("", "csl-right-inline", "\n  "),
                Display::Indent => ("", "csl-indent", "\n  "),
            };
            (format!("{before}<div class=\"{class}\">"), format!("</div>{after}"))
        }
        _ => Default::default(),
    }
}

fn markdown_tag(tag: &Tag, before: State, inside: State) -> (String, String) {
    let both = |mark: &str| (mark.to_owned(), mark.to_owned());
    match tag {
        // Upright text inside emphasis: Markdown closes it and opens it again.
        Tag::Style(_) if before.italic != inside.italic => both("*"),
        Tag::NoDecoration if before.italic => both("*"),
        Tag::Weight(_) if before.bold != inside.bold => both("**"),
        Tag::Vertical(Vertical::Superscript) => both("^"),
        Tag::Vertical(Vertical::Subscript) => both("~"),
        Tag::SmallCaps(true) if !before.small_caps => ("[".to_owned(), "]{.smallcaps}".to_owned()),
        Tag::Underline(true) => ("[".to_owned(), "]{.underline}".to_owned()),
        _ => text_tag(tag),
    }
}

fn latex_tag(tag: &Tag, before: State, inside: State) -> (String, String) {
    let command = |name: &str| (format!("\\{name}{{"), "}".to_owned());
    match tag {
        Tag::Style(_) if before.italic == inside.italic => Default::default(),
        Tag::Style(_) if inside.italic => command("textit"),
        Tag::Style(_) => command("textup"),
        Tag::NoDecoration => command("textnormal"),
        Tag::Weight(_) if before.bold == inside.bold => Default::default(),
        Tag::Weight(_) if inside.bold => command("textbf"),
        Tag::Weight(_) => command("textmd"),
        Tag::SmallCaps(true) if inside.small_caps => command("textsc"),
        Tag::SmallCaps(_) if before.small_caps => command("textnormal"),
        Tag::Underline(true) => command("underline"),
        Tag::Vertical(Vertical::Superscript) => command("textsuperscript"),
        Tag::Vertical(Vertical::Subscript) => command("textsubscript"),
        _ => text_tag(tag),
    }
}

fn text_tag(tag: &Tag) -> (String, String) {
    match tag {
        Tag::Display(Display::Block | Display::Indent) => (" ".to_owned(), " ".to_owned()),
        Tag::Display(Display::LeftMargin) => (String::new(), " ".to_owned()),
        _ => Default::default(),
    }
}

/// Superscript characters, which HTML has as elements.
const SUPERSCRIPTS: &[(char, &str)] = &[
    ('ª', "a"),
    ('²', "2"),
    ('³', "3"),
    ('¹', "1"),
    ('º', "o"),
    ('ʰ', "h"),
    ('ʲ', "j"),
    ('ʳ', "r"),
    ('ʷ', "w"),
    ('ʸ', "y"),
    ('ˡ', "l"),
    ('ˢ', "s"),
    ('ˣ', "x"),
    ('ᵃ', "a"),
    ('ᵇ', "b"),
    ('ᵈ', "d"),
    ('ᵉ', "e"),
    ('ᵍ', "g"),
    ('ᵏ', "k"),
    ('ᵐ', "m"),
    ('ᵒ', "o"),
    ('ᵖ', "p"),
    ('ᵗ', "t"),
    ('ᵘ', "u"),
    ('ᵛ', "v"),
    ('⁰', "0"),
    ('ⁱ', "i"),
    ('⁴', "4"),
    ('⁵', "5"),
    ('⁶', "6"),
    ('⁷', "7"),
    ('⁸', "8"),
    ('⁹', "9"),
    ('⁺', "+"),
    ('⁻', "−"),
    ('⁼', "="),
    ('⁽', "("),
    ('⁾', ")"),
    ('ⁿ', "n"),
    ('℠', "SM"),
    ('™', "TM"),
];

fn html(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&#38;"),
            '<' => out.push_str("&#60;"),
            '>' => out.push_str("&#62;"),
            c if u32::from(c) < 0xaa => out.push(c),
            c => match SUPERSCRIPTS.iter().find(|(from, _)| *from == c) {
                Some((_, to)) => {
                    out.push_str("<sup>");
                    out.push_str(to);
                    out.push_str("</sup>");
                }
                None => out.push(c),
            },
        }
    }
}

fn markdown(text: &str, out: &mut String) {
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '^' | '~' | '#' | '$' | '@')
        {
            out.push('\\');
        }
        out.push(c);
    }
}

fn latex(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '\u{a0}' => out.push('~'),
            c => out.push(c),
        }
    }
}
