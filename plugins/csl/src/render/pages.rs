//! Ranges of pages and locators.

use super::Context;
use crate::style::PageRange;
use crate::style::elements::Form;

/// A locator as it is shown: a range of pages in the style's format, other ranges with a dash.
pub(super) fn locator(text: &str, context: &Context<'_>) -> String {
    let label = context.cite.label.as_deref().unwrap_or("page");
    if label == "page" {
        range(text, context)
    } else {
        super::number::plain(label, text, context.locale)
    }
}

/// A value of `page` with its ranges in the style's format.
pub(super) fn range(text: &str, context: &Context<'_>) -> String {
    let delimiter = context.locale.term("page-range-delimiter", Form::Long, false).unwrap_or("–");
    let mut out = String::with_capacity(text.len());
    for (index, part) in text.split(',').enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        let part = part.trim();
        let mut first = true;
        for piece in part.split('&') {
            if !first {
                let and = context.locale.term("and", Form::Symbol, false).unwrap_or("&");
                out.push_str(&format!(" {and} "));
            }
            first = false;
            out.push_str(&single_range(piece.trim(), delimiter, context.style.page_range_format));
        }
    }
    out
}

fn single_range(part: &str, delimiter: &str, format: Option<PageRange>) -> String {
    if part.contains("--") {
        return part.to_owned();
    }
    let mut ends = part.split(['-', '–', '—']);
    let (Some(start), Some(end), None) = (ends.next(), ends.next(), ends.next()) else {
        return part.replace("\\-", "-");
    };
    if start.ends_with('\\') {
        return part.replace("\\-", "-");
    }
    let (start, end) = (start.trim(), end.trim());
    let numeric = |text: &str| text.chars().next_back().is_some_and(|c| c.is_ascii_digit());
    if start.is_empty() || end.is_empty() || start.contains(' ') || end.contains(' ') {
        return part.to_owned();
    }
    if !numeric(start) || !numeric(end) {
        let short = |text: &str| text.chars().any(|c| c.is_ascii_digit()) || is_roman(text);
        let delimiter = if short(start) && short(end) { delimiter } else { "-" };
        return format!("{start}{delimiter}{end}");
    }
    let Some(format) = format else { return format!("{start}{delimiter}{end}") };
    let (prefix, first) = split(start);
    let (end_prefix, last) = split(end);
    if end_prefix != prefix {
        return format!("{start}-{end}");
    }
    let full = complete(first, last);
    if !(full.len() == first.len() || full.len() > first.len()) || full.parse::<u64>().is_err() {
        return format!("{start}{delimiter}{end}");
    }
    let end = match format {
        PageRange::Expanded => format!("{prefix}{full}"),
        PageRange::Minimal => minimal(first, &full, 1),
        PageRange::MinimalTwo => minimal(first, &full, 2),
        PageRange::Chicago15 | PageRange::Chicago16 => chicago(first, &full, format),
    };
    format!("{start}{delimiter}{end}")
}

pub(super) fn is_roman(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| "ivxlcdmIVXLCDM".contains(c))
}

/// Splits the letters before a number.
fn split(text: &str) -> (&str, &str) {
    let at = text
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    text.split_at(at)
}

/// The second number with the digits that it has in common with the first.
fn complete(first: &str, last: &str) -> String {
    if last.len() < first.len() {
        format!("{}{last}", &first[..first.len() - last.len()])
    } else {
        last.to_owned()
    }
}

/// The digits of the second number that differ from the first, at least `least`.
fn minimal(first: &str, last: &str, least: usize) -> String {
    if first.len() != last.len() {
        return last.to_owned();
    }
    let common = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
    last[common.min(last.len().saturating_sub(least))..].to_owned()
}

fn chicago(first: &str, last: &str, format: PageRange) -> String {
    let Ok(start) = first.parse::<u64>() else { return last.to_owned() };
    if first.len() != last.len() || start < 100 || start.is_multiple_of(100) {
        return last.to_owned();
    }
    if start % 100 < 10 {
        return minimal(first, last, 1);
    }
    let short = minimal(first, last, 2);
    if format == PageRange::Chicago15 && first.len() == 4 && short.len() > 2 {
        return last.to_owned();
    }
    short
}
