//! Dates of publication as people write them → the record's dates.

use carrel_pdk::record::{Text, fields};

const MONTHS: [&str; 12] = [
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

/// The date of a text such as `July 16, 2019`, `Jun 2003`, `16 July 2019`, `c1995` or `2019-07-16`; its
/// year if the rest is unclear; `None` if it has no year or several.
pub(crate) fn date(text: &str) -> Option<Text<'static>> {
    let text = text.trim();
    if text.len() >= 5 && text.as_bytes()[4] == b'-' {
        return fields::date(text).filter(|date| date.len() > 4).or_else(|| words(text));
    }
    words(text)
}

fn words(text: &str) -> Option<Text<'static>> {
    let (mut year, mut month, mut day) = (None, None, None);
    for word in text.split(|character: char| !character.is_alphanumeric()) {
        let digits = word.trim_start_matches(['c', 'C', 'p', 'P', '©']);
        if digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            if year.is_some_and(|known| known != digits) || digits == "0000" {
                return None;
            }
            year = Some(digits);
        } else if let Some(number) = month_named(word) {
            if month.replace(number).is_some() {
                return year.map(|year| Text::Owned(year.to_owned()));
            }
        } else if word.len() <= 2 && !word.is_empty() {
            let number = word.parse::<u32>().ok().filter(|day| (1..=31).contains(day));
            day = if day.is_none() { number } else { None };
        }
    }
    let year = year?;
    Some(match (month, day) {
        (Some(month), Some(day)) => format!("{year}-{month:02}-{day:02}").into(),
        (Some(month), None) => format!("{year}-{month:02}").into(),
        _ => Text::Owned(year.to_owned()),
    })
}

fn month_named(word: &str) -> Option<usize> {
    let word = word.to_ascii_lowercase();
    let is_it = |name: &&str| word.len() >= 3 && name.starts_with(word.as_str());
    MONTHS.iter().position(is_it).or((word == "sept").then_some(8)).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_as_exact_as_its_text() {
        for (text, expected) in [
            ("2002", Some("2002")),
            ("July 16, 2019", Some("2019-07-16")),
            ("16 July 2019", Some("2019-07-16")),
            ("Jun 2003", Some("2003-06")),
            ("Sept. 1998", Some("1998-09")),
            ("c1995", Some("1995")),
            ("[1995?]", Some("1995")),
            ("2019-07-16", Some("2019-07-16")),
            ("1996-1997", None),
            ("1996 (reprinted 1996)", Some("1996")),
            ("Spring 1999", Some("1999")),
            ("0000", None),
            ("n.d.", None),
            ("", None),
        ] {
            assert_eq!(date(text).as_deref(), expected, "{text}");
        }
    }
}
