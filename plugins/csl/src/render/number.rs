//! `cs:number`, and numbers in text.

use super::{Context, RenderTarget, Rendered};
use crate::locale::{Gender, Locale};
use crate::output::{Mark, Node, case, decorate};
use crate::style::elements::{Form, Number, NumberForm};

impl<'a> Context<'a> {
    pub(super) fn number(&mut self, number: &'a Number) -> Rendered {
        let name = number.variable.as_str();
        if self.suppressed.iter().any(|variable| variable == name) {
            return Rendered::variable(None);
        }
        let value = match name {
            "citation-number" => (self.decided.number > 0).then(|| self.decided.number.to_string()),
            "locator" => self.cite.locator.clone(),
            "first-reference-note-number" => self.cite.first_note.map(|note| note.to_string()),
            other => self.item.text(other).map(str::to_owned),
        };
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            return Rendered::variable(None);
        };
        self.record(name);
        let gender = self.locale.gender(name);
        if self.target == RenderTarget::SortKey
            && let Ok(number) = value.parse::<u64>()
        {
            return Rendered::variable(Some(Node::text(format!("{number:08}"))));
        }
        let text = if matches!(name, "page" | "page-first") {
            super::pages::range(&value, self)
        } else {
            numerals(name, &value, number.form, self.locale, gender)
        };
        let mut nodes = crate::output::markup::value(&text);
        if let Some(case) = number.common.case {
            case::apply(&mut nodes, case, self.english());
        }
        if name == "citation-number" {
            nodes = vec![Node::marked(Mark::CitationNumber, nodes)];
        }
        Rendered::variable(decorate(nodes, &number.common))
    }
}

/// Whether a value is a number, or several: `2`, `2-4`, `1, 3`, `5th`, `L3`, `iv-xii`.
pub(super) fn is_numeric(value: &str) -> bool {
    let mut numbers = numbers(value);
    let Some(first) = numbers.next() else { return false };
    let rest: Vec<&str> = numbers.collect();
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '/');
    let roman = !rest.is_empty() && is_lower_roman(first) && is_lower_roman(rest[0]);
    (is_number(first) || roman) && rest.into_iter().all(plain)
}

/// Whether a value has several numbers.
pub(super) fn is_multiple(value: &str) -> bool {
    let mut numbers = numbers(value);
    let (Some(first), Some(second)) = (numbers.next(), numbers.next()) else { return false };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    is_numeric(value) && (digits(first) || is_lower_roman(first) || second.contains(is_digit))
}

/// What is between the signs of a value.
fn numbers(value: &str) -> impl Iterator<Item = &str> {
    parts(value).into_iter().filter_map(|part| match part {
        Part::Number(text) => Some(text),
        Part::Separator(_) => None,
    })
}

/// Whether a text is one number: digits and what follows them, or letters and digits behind them.
fn is_number(text: &str) -> bool {
    if text.starts_with(is_digit) {
        let text = text.replace("\\-", "");
        return text.chars().all(|c| c.is_ascii_alphanumeric() || c == '/');
    }
    let digits = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    !digits.is_empty() && digits.chars().all(is_digit)
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn is_lower_roman(text: &str) -> bool {
    super::pages::is_roman(text) && !text.chars().any(char::is_uppercase)
}

enum Part<'v> {
    Number(&'v str),
    Separator(&'static str),
}

/// Splits a value at the signs between numbers.
fn parts(value: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = value.trim();
    if rest.contains("\\-") {
        return vec![Part::Number(rest)];
    }
    while !rest.is_empty() {
        let mut found: Option<(usize, usize, &'static str)> = None;
        for (sign, shown) in [
            ("-", "-"),
            ("–", "–"),
            ("—", "–"),
            ("&", " & "),
            (", and ", ", and "),
            (", et ", ", et "),
            (", und ", ", und "),
            (", ", ", "),
            (" and ", " and "),
            (" et ", " et "),
            (" und ", " und "),
        ] {
            if let Some(at) = rest.find(sign)
                && found.is_none_or(|(before, ..)| at < before)
            {
                found = Some((at, sign.len(), shown));
            }
        }
        let Some((at, length, shown)) = found else {
            parts.push(Part::Number(rest.trim()));
            break;
        };
        parts.push(Part::Number(rest[..at].trim()));
        parts.push(Part::Separator(shown));
        rest = rest[at + length..].trim_start();
        if rest.is_empty() {
            parts.push(Part::Number(""));
        }
    }
    parts
}

/// A value of a number variable in text: ranges with a dash.
pub(super) fn plain(name: &str, value: &str, locale: &Locale) -> String {
    if matches!(name, "version" | "section") {
        return value.to_owned();
    }
    if !is_numeric(value) {
        return spaced(name, &value.replace("\\-", "-"));
    }
    written(value, locale, true, &mut |text| text.to_owned())
}

/// Writes the numbers of a value and the signs between them. A hyphen between two numbers is a dash if
/// `dashes`; one before other text stays.
fn written(
    value: &str,
    locale: &Locale,
    dashes: bool,
    number: &mut dyn FnMut(&str) -> String,
) -> String {
    let parts = parts(value);
    let counted = |at: Option<usize>| match at.and_then(|at| parts.get(at)) {
        Some(Part::Number(text)) => {
            text.ends_with(is_digit) || is_lower_roman(text) || is_number(text)
        }
        _ => false,
    };
    let mut out = String::with_capacity(value.len());
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Number(text) => out.push_str(&number(text).replace("\\-", "-")),
            Part::Separator("-")
                if dashes && counted(at.checked_sub(1)) && counted(Some(at + 1)) =>
            {
                push_separator("–", locale, &mut out);
            }
            Part::Separator(text) => push_separator(text, locale, &mut out),
        }
    }
    out
}

/// An abbreviation before a number has a blank behind it: `n.s. 3` is `n. s. 3`.
fn spaced(name: &str, value: &str) -> String {
    let counted = ["chapter-number", "collection-number", "edition", "number-of-volumes"];
    let rest = value.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let tail = rest.strip_prefix('.').filter(|tail| !tail.is_empty() && !tail.starts_with(' '));
    match tail {
        Some(tail) if counted.contains(&name) && rest.len() < value.len() => {
            format!("{}. {tail}", &value[..value.len() - rest.len()])
        }
        _ => value.to_owned(),
    }
}

/// Writes the sign between two numbers: an ampersand as the locale has it.
fn push_separator(text: &str, locale: &Locale, out: &mut String) {
    if text == "–" {
        out.push_str(locale.term("page-range-delimiter", Form::Long, false).unwrap_or(text));
    } else if text == " & " {
        let and = locale.term("and", Form::Symbol, false).unwrap_or("&");
        out.push_str(&format!(" {and} "));
    } else {
        out.push_str(text);
    }
}

/// A value in a form: every number of it, if it is numeric.
fn numerals(
    name: &str,
    value: &str,
    form: NumberForm,
    locale: &Locale,
    gender: Option<Gender>,
) -> String {
    if form == NumberForm::Numeric || !is_numeric(value) {
        return plain(name, value, locale);
    }
    let dashes = !matches!(name, "version" | "section");
    written(value, locale, dashes, &mut |text| match text.parse::<u64>() {
        Ok(value) if !text.starts_with('0') => numeral(value, form, locale, gender),
        _ => text.to_owned(),
    })
}

fn numeral(number: u64, form: NumberForm, locale: &Locale, gender: Option<Gender>) -> String {
    match form {
        NumberForm::Numeric => number.to_string(),
        NumberForm::Ordinal => format!("{number}{}", locale.ordinal(number, gender)),
        NumberForm::LongOrdinal => match locale.long_ordinal(number, gender) {
            Some(text) if (1..=10).contains(&number) => text.to_owned(),
            _ => format!("{number}{}", locale.ordinal(number, gender)),
        },
        NumberForm::Roman => roman(number),
    }
}

fn roman(number: u64) -> String {
    if number == 0 || number >= 6000 {
        return number.to_string();
    }
    let mut rest = number;
    let mut out = String::new();
    for (value, text) in [
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
    ] {
        while rest >= value {
            out.push_str(text);
            rest -= value;
        }
    }
    out
}
