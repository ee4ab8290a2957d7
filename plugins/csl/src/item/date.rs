//! A date or a range of dates.

use serde_json::{Map, Value};

/// The parts of a day; years before the common era are negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub(crate) struct Day {
    pub(crate) year: i64,
    /// 1 to 12.
    pub(crate) month: Option<u32>,
    pub(crate) day: Option<u32>,
}

/// A date.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Date {
    pub(crate) start: Option<Day>,
    pub(crate) end: Option<Day>,
    /// The range has no end.
    pub(crate) open: bool,
    /// A season by its number, 1 to 4, or its name.
    pub(crate) season: Option<String>,
    /// The season of the end.
    pub(crate) end_season: Option<String>,
    pub(crate) circa: bool,
    pub(crate) literal: Option<String>,
}

impl Date {
    /// Reads a date; `None` when it says nothing.
    pub(crate) fn read(members: &Map<String, Value>) -> Option<Self> {
        let circa = match members.get("circa") {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::Number(number)) => number.as_f64() != Some(0.0),
            Some(Value::String(text)) => !matches!(text.as_str(), "" | "false" | "0"),
            _ => false,
        };
        let season = members.get("season").and_then(super::text).filter(|text| !text.is_empty());
        if let Some(Value::Array(parts)) = members.get("date-parts") {
            let mut date = Self { circa, season: season.clone(), ..Self::default() };
            let nested: Vec<&Value> = parts.iter().filter(|part| part.is_array()).collect();
            let own = Value::Array(parts.clone());
            let all: Vec<&Value> = if nested.is_empty() { vec![&own] } else { nested };
            let mut days = all.iter().filter_map(|part| part.as_array());
            if let Some((start, season)) = days.next().and_then(|list| day(list)) {
                date.start = Some(start);
                date.season = date.season.or(season);
                if let Some(end) = days.next() {
                    match day(end) {
                        Some((end, season)) => {
                            date.end = Some(end);
                            date.end_season = season;
                        }
                        None => date.open = true,
                    }
                }
                return Some(date);
            }
        }
        if let Some(literal) = members.get("literal").and_then(super::text)
            && !literal.is_empty()
        {
            return Some(Self { literal: Some(literal), circa, ..Self::default() });
        }
        if let Some(raw) = members.get("raw").and_then(super::text) {
            let mut date = Self::parse(&raw)?;
            date.circa |= circa;
            date.season = date.season.or(season);
            return Some(date);
        }
        if season.is_some() {
            return Some(Self { season, circa, ..Self::default() });
        }
        let part = |key: &str| {
            let text = members.get(key).and_then(super::text)?;
            text.trim().parse::<i64>().ok()
        };
        let year = part("year")?;
        let unsigned = |key: &str| part(key).and_then(|value| u32::try_from(value).ok());
        let start = Day { year, month: unsigned("month"), day: unsigned("day") };
        Some(Self { start: Some(start), circa, ..Self::default() })
    }

    /// Parses a date in text: ISO 8601, EDTF, or as people write it.
    pub(crate) fn parse(raw: &str) -> Option<Self> {
        let text = raw.trim();
        if text.is_empty() {
            return None;
        }
        Some(
            super::date::raw::parse(text)
                .unwrap_or_else(|| Self { literal: Some(text.to_owned()), ..Self::default() }),
        )
    }
}

fn day(parts: &[Value]) -> Option<(Day, Option<String>)> {
    let number = |at: usize| -> Option<i64> {
        let text = parts.get(at).and_then(super::text)?;
        text.trim().parse::<i64>().ok().filter(|&n| n.abs() <= 1_000_000)
    };
    let year = number(0)?;
    let month = number(1).filter(|&month| month > 0);
    if year == 0 && month.is_none() {
        return None;
    }
    let mut season = None;
    let mut found = Day { year, ..Day::default() };
    match month {
        Some(month @ 1..=12) => {
            found.month = u32::try_from(month).ok();
            found.day = number(2).filter(|&day| day > 0).and_then(|day| u32::try_from(day).ok());
        }
        Some(month @ 13..=24) => season = Some(((month - 13) % 4 + 1).to_string()),
        _ => {}
    }
    Some((found, season))
}

mod raw {
    //! Parses dates in text.

    use super::{Date, Day};

    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    const SEASONS: [&str; 5] = ["spr", "sum", "fal", "win", "aut"];

    #[derive(Default, Clone, Debug)]
    struct Found {
        year: Option<i64>,
        month: Option<u32>,
        day: Option<u32>,
        season: Option<String>,
    }

    impl Found {
        fn day(&self) -> Option<Day> {
            self.year.map(|year| Day { year, month: self.month, day: self.day })
        }
    }

    /// Parses a date or a range; `None` when there is no year in it.
    pub(super) fn parse(text: &str) -> Option<Date> {
        let mut date = Date::default();
        let mut text = text.to_owned();
        if text.contains('?') || text.contains('~') {
            date.circa = true;
            text = text.replace(['?', '~'], "");
        }
        for mark in ["circa ", "ca. ", "ca ", "c. ", "c."] {
            if let Some(rest) = text.to_lowercase().strip_prefix(mark) {
                date.circa = true;
                text = rest.to_owned();
            }
        }
        let text = text.trim();
        let (start, end) = range(text);
        let first = single(start)?;
        let last = end.map(|end| (end.trim().is_empty() || end.trim() == "..", single(end)));
        match last {
            None => {
                date.start = Some(first.day()?);
                date.season = first.season;
            }
            Some((true, _)) => {
                date.start = Some(first.day()?);
                date.open = true;
            }
            Some((_, last)) => {
                let mut last = last?;
                let mut first = first;
                if last.month.is_none() && last.season.is_none() && last.day.is_none() {
                    // "2001-05/2002" is a range of months, "2001-2003" of years.
                    if first.year.is_some() && first.month.is_some() && last.year.is_some() {
                        last.month = first.month;
                    }
                }
                if first.year.is_none() {
                    first.year = last.year;
                }
                if first.month.is_none() && first.day.is_some() {
                    first.month = last.month;
                }
                if last.year.is_none() {
                    last.year = first.year;
                }
                if last.month.is_none() && last.day.is_some() {
                    last.month = first.month;
                }
                date.start = Some(first.day()?);
                date.end = Some(last.day()?);
                date.season = first.season;
                date.end_season = last.season;
            }
        }
        Some(date)
    }

    /// Splits a range at its slash, dash, or a hyphen between words.
    fn range(text: &str) -> (&str, Option<&str>) {
        let slashes = text.matches('/').count();
        if slashes == 1
            && let Some((start, end)) = text.split_once('/')
        {
            return (start, Some(end));
        }
        for dash in ['–', '—'] {
            if let Some((start, end)) = text.split_once(dash) {
                return (start, Some(end));
            }
        }
        let words = text.chars().any(char::is_alphabetic) && !iso(text);
        if text.matches('-').count() == 1
            && !text.starts_with('-')
            && let Some((start, end)) = text.split_once('-')
        {
            let years = [start, end]
                .iter()
                .all(|part| part.trim().len() == 4 && part.trim().parse::<u32>().is_ok());
            if words || years {
                return (start, Some(end));
            }
        }
        (text, None)
    }

    fn iso(text: &str) -> bool {
        let mut bytes = text.bytes();
        (0..4).all(|_| bytes.next().is_some_and(|b| b.is_ascii_digit()))
            && bytes.next() == Some(b'-')
    }

    fn single(text: &str) -> Option<Found> {
        let text = text.trim();
        let text = match text.find('T') {
            Some(at) if at >= 8 && iso(text) => &text[..at],
            _ => text,
        };
        let negative = text.starts_with('-');
        let body = text.trim_start_matches(['-', '+', 'y', 'Y']);
        if body.is_empty() {
            return None;
        }
        if body.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
            return numeric(body, negative);
        }
        if body.matches('/').count() == 2 && body.bytes().all(|b| b.is_ascii_digit() || b == b'/') {
            return slashed(body);
        }
        words(body)
    }

    fn numeric(body: &str, negative: bool) -> Option<Found> {
        let mut parts = body.split('-').map(|part| part.parse::<i64>().ok());
        let year = parts.next()??;
        if body.len() == 8 && !body.contains('-') {
            return None;
        }
        let mut found =
            Found { year: Some(if negative { -year } else { year }), ..Found::default() };
        match parts.next().flatten() {
            Some(month @ 1..=12) => found.month = u32::try_from(month).ok(),
            Some(month @ 13..=24) => found.season = Some(((month - 13) % 4 + 1).to_string()),
            _ => {}
        }
        if found.month.is_some() {
            let day = parts.next().flatten().filter(|day| (1..=31).contains(day));
            found.day = day.and_then(|day| u32::try_from(day).ok());
        }
        (year.abs() <= 1_000_000).then_some(found)
    }

    /// A date such as 12/05/2001: month, day and year.
    fn slashed(body: &str) -> Option<Found> {
        let parts: Vec<i64> = body.split('/').filter_map(|part| part.parse().ok()).collect();
        let [first, second, third] = parts[..] else { return None };
        let unsigned = |value: i64| u32::try_from(value).ok();
        let (year, month, day) = if first > 31 {
            (first, second, third)
        } else if first > 12 {
            (third, second, first)
        } else {
            (third, first, second)
        };
        let month = unsigned(month).filter(|month| (1..=12).contains(month));
        Some(Found { year: Some(year), month, day: unsigned(day), season: None })
    }

    fn words(body: &str) -> Option<Found> {
        let mut found = Found::default();
        let mut numbers: Vec<i64> = Vec::new();
        let mut known = false;
        for word in body.split(|c: char| c.is_whitespace() || matches!(c, ',' | '.')) {
            let lower = word.to_lowercase();
            let bare: String = lower.chars().take(3).collect();
            if let Ok(number) = word.trim_end_matches(|c: char| c.is_alphabetic()).parse::<i64>() {
                numbers.push(number);
                continue;
            }
            if let Some(at) = MONTHS.iter().position(|month| *month == bare) {
                found.month = u32::try_from(at + 1).ok();
                known = true;
            } else if let Some(at) = SEASONS.iter().position(|season| *season == bare) {
                found.season = Some(if at == 4 { 3 } else { at + 1 }.to_string());
                known = true;
            } else if matches!(lower.as_str(), "bc" | "bce")
                && let Some(last) = numbers.last_mut()
            {
                found.year = Some(-*last);
                numbers.pop();
            }
        }
        for number in numbers {
            let is_day = (1..=31).contains(&number);
            if is_day && known && found.day.is_none() {
                found.day = u32::try_from(number).ok();
            } else if found.year.is_none() && number <= 1_000_000 {
                found.year = Some(number);
            }
        }
        let partial = found.month.is_some() || found.day.is_some() || found.season.is_some();
        (found.year.is_some() || (known && partial)).then_some(found)
    }
}
