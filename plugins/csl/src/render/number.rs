//! `cs:number`, and numbers in text.

use super::{Context, RenderTarget, Rendered};
use crate::locale::{Gender, Locale};
use crate::output::{Mark, Node, case, decorate};
use crate::style::elements::{Form, Number, NumberForm};

impl<'a> Context<'a> {
    pub(super) fn number(&mut self, number: &'a Number) -> Rendered {
        let name = number.variable.as_str();
        if self.suppressed.iter().any(|one| one == name) {
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
            numerals(&value, number.form, self.locale, gender)
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

/// Whether a value is a number, or several: `2`, `2-4`, `1, 3`, `5th`, `L3`.
pub(super) fn is_numeric(value: &str) -> bool {
    let parts = parts(value);
    !parts.is_empty()
        && parts.iter().all(|part| match part {
            Part::Number(text) => {
                let digits = text.bytes().filter(u8::is_ascii_digit).count();
                digits > 0 && !text.contains(char::is_whitespace) && !text.contains(['(', ','])
            }
            Part::Separator(_) => true,
        })
}

/// Whether a value has several numbers.
pub(super) fn is_multiple(value: &str) -> bool {
    let number =
        |text: &str| text.bytes().any(|b| b.is_ascii_digit()) || super::pages::is_roman(text);
    let parts = parts(value);
    let mut numbers = parts.iter().filter_map(|part| match part {
        Part::Number("") => None,
        Part::Number(text) => Some(number(text)),
        Part::Separator(_) => None,
    });
    let all = numbers.clone().count();
    all > 1 && numbers.all(|number| number)
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
            ("-", "–"),
            ("–", "–"),
            ("—", "–"),
            ("&", " & "),
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
pub(super) fn plain(value: &str, locale: &Locale) -> String {
    let digits = |text: &str| text.chars().next().is_some_and(|c| c.is_ascii_digit());
    if !is_numeric(value) || !digits(value) {
        return value.replace("\\-", "-");
    }
    let mut out = String::with_capacity(value.len());
    for part in parts(value) {
        match part {
            Part::Number(text) => out.push_str(&text.replace("\\-", "-")),
            Part::Separator(text) => push_separator(text, locale, &mut out),
        }
    }
    out
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
fn numerals(value: &str, form: NumberForm, locale: &Locale, gender: Option<Gender>) -> String {
    if form == NumberForm::Numeric || !is_numeric(value) {
        return plain(value, locale);
    }
    let mut out = String::new();
    for part in parts(value) {
        match part {
            Part::Separator(text) => push_separator(text, locale, &mut out),
            Part::Number(text) => match text.parse::<u64>() {
                Ok(number) => out.push_str(&numeral(number, form, locale, gender)),
                Err(_) => out.push_str(text),
            },
        }
    }
    out
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
