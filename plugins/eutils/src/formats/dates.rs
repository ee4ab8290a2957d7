//! Dates as NLM writes them → `YYYY[-MM[-DD]]`.

use crate::formats::article::PublicationDate;

/// Names of months by three letters, as BibTeX has them too.
pub(crate) const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The number of a month that is written as a number or by its English name, in full or by three
/// letters.
pub(crate) fn month(text: &str) -> Option<u8> {
    let text = text.trim().trim_end_matches('.');
    if let Ok(number) = text.parse::<u8>() {
        return (1..=12).contains(&number).then_some(number);
    }
    let lower = text.to_ascii_lowercase();
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let at = MONTHS.iter().zip(NAMES).position(|(short, long)| {
        lower == *short || lower == long || lower == "sept" && *short == "sep"
    })?;
    u8::try_from(at + 1).ok()
}

/// The time of a `Date` header (RFC 9110, section 5.6.7) by RFC 3339.
pub(crate) fn from_http(text: &str) -> Option<String> {
    let rest = text.split_once(", ")?.1.strip_suffix(" GMT")?;
    let [day, name, year, time] = rest.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let is_time = time.len() == 8
        && time.bytes().enumerate().all(|(at, byte)| match at {
            2 | 5 => byte == b':',
            _ => byte.is_ascii_digit(),
        });
    let digits =
        |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    let at = MONTHS.iter().position(|month| name.eq_ignore_ascii_case(month))?;
    (is_time && digits(day, 2) && digits(year, 4))
        .then(|| format!("{year}-{:02}-{day}T{time}Z", at + 1))
}

/// Days of a month of the Gregorian calendar.
pub(crate) fn days(year: u16, month: u16) -> u16 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The certain part of a date. For a date that spans several months or years, the year in which it
/// begins.
pub(crate) fn iso_date(date: &PublicationDate<'_>) -> Option<String> {
    let Some(year) = date.year else {
        return date.medline_date.as_deref().and_then(first_year);
    };
    if year < 1000 {
        return None;
    }
    let Some(month) = date.month.as_deref().and_then(month) else {
        return Some(format!("{year:04}"));
    };
    match date.day {
        Some(day @ 1..=31) => Some(format!("{year:04}-{month:02}-{day:02}")),
        _ => Some(format!("{year:04}-{month:02}")),
    }
}

/// The first year in a text, as a separate number.
fn first_year(text: &str) -> Option<String> {
    text.split(|character: char| !character.is_ascii_digit())
        .find(|part| part.len() == 4 && !part.starts_with('0'))
        .map(str::to_owned)
}

/// The certain part of a date in ESummary's format, such as `2006 Dec 20` or `2007 Mar-Apr`.
pub(crate) fn from_words(text: &str) -> Option<String> {
    let mut parts = text.split_whitespace();
    let year = parts.next()?;
    if year.len() != 4 || !year.bytes().all(|byte| byte.is_ascii_digit()) || year.starts_with('0') {
        return first_year(text);
    }
    let Some(month) = parts.next().and_then(month) else { return Some(year.to_owned()) };
    match parts.next().map(str::parse::<u8>) {
        None => Some(format!("{year}-{month:02}")),
        Some(Ok(day @ 1..=31)) => Some(format!("{year}-{month:02}-{day:02}")),
        Some(_) => Some(format!("{year}-{month:02}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_header_becomes_a_time() {
        for (header, time) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some("1994-11-06T08:49:37Z")),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun Nov  6 08:49:37 1994", None),
            ("Sun, 6 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08.49.37 GMT", None),
            ("Sun, 06 Foo 1994 08:49:37 GMT", None),
            ("", None),
        ] {
            assert_eq!(from_http(header).as_deref(), time, "{header}");
        }
    }

    #[test]
    fn words_become_dates_as_far_as_they_go() {
        for (words, date) in [
            ("2006 Dec 20", Some("2006-12-20")),
            ("2007 Mar", Some("2007-03")),
            ("2007 Mar-Apr", Some("2007")),
            ("1998 Dec-1999 Jan", Some("1998")),
            ("1999 Spring", Some("1999")),
            ("Spring 1999", Some("1999")),
            ("2001", Some("2001")),
            ("", None),
            ("undated", None),
        ] {
            assert_eq!(from_words(words).as_deref(), date, "{words}");
        }
    }

    #[test]
    fn months_are_known_by_number_and_name() {
        for (text, number) in [
            ("3", Some(3)),
            ("03", Some(3)),
            ("Mar", Some(3)),
            ("march", Some(3)),
            ("Sept", Some(9)),
        ] {
            assert_eq!(month(text), number, "{text}");
        }
        for text in ["0", "13", "Spring", "Mar-Apr", ""] {
            assert_eq!(month(text), None, "{text}");
        }
    }

    #[test]
    fn a_date_without_year_is_what_its_words_say() {
        let date = |medline: &'static str| PublicationDate {
            medline_date: Some(medline.into()),
            ..PublicationDate::default()
        };
        assert_eq!(iso_date(&date("2000 Jan-Feb")).as_deref(), Some("2000"));
        assert_eq!(iso_date(&date("First Quarter")), None);
        assert_eq!(iso_date(&PublicationDate { month: Some("Mar".into()), ..date("") }), None);
    }
}
