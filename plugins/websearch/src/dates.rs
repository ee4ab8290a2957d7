//! Dates of publication, as providers write them.

/// How names of months begin in the languages that providers write dates in, in lower
/// case.
const MONTHS: [&[&str]; 12] = [
    &["jan", "ene", "gen", "ian", "янв"],
    &["feb", "fév", "fev", "фев"],
    &["mar", "mär", "mrz", "mrt", "maa", "мар"],
    &["apr", "abr", "avr", "апр"],
    &["may", "mai", "maj", "mei", "mag", "мая", "май"],
    &["juin", "jun", "giu", "июн"],
    &["juil", "jul", "lug", "июл"],
    &["aug", "ago", "aoû", "aou", "авг"],
    &["sep", "set", "сен"],
    &["oct", "okt", "ott", "out", "окт"],
    &["nov", "ноя"],
    &["dec", "dez", "déc", "dic", "дек"],
];
/// Words between the parts of a date.
const LINKS: [&str; 9] = ["de", "del", "of", "年", "月", "日", "년", "월", "일"];
/// The most characters that are looked at.
const HEAD: usize = 60;

/// The day in `text` as `YYYY-MM-DD`, if it is one without doubt: an ISO date or time; numbers with
/// the year first; numbers with the year last that have dots, or that only one order makes a day
/// (`25/03/2021`); `20210305`; `2021年3月5日`; a day beside the name of its month, with a year
/// (`Fri, 05 Mar 2021 10:00:00 GMT`). `None` for other texts, such as `3 days ago`, which would need
/// a clock, and for days that do not exist.
pub fn day(text: &str) -> Option<String> {
    let text = text.trim();
    let head = &text[..text.char_indices().nth(HEAD).map_or(text.len(), |(end, _)| end)];
    let is_word = |part: &&str| !LINKS.contains(&part.to_lowercase().as_str());
    let parts: Vec<&str> = parts(head).filter(is_word).collect();
    match parts.as_slice() {
        [whole, ..] if is_number(whole) && matches!(whole.len(), 8 | 14) => {
            written(number(&whole[..4])?, number(&whole[4..6])?, number(&whole[6..8])?)
        }
        [year, month, day, ..]
            if year.len() == 4 && [year, month, day].map(|part| is_number(part)) == [true; 3] =>
        {
            written(number(year)?, number(month)?, number(day)?)
        }
        [first, second, year, ..]
            if year.len() == 4
                && [first, second, year].map(|part| is_number(part)) == [true; 3] =>
        {
            let has_dots = head.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('.');
            let (first, second, year) = (number(first)?, number(second)?, number(year)?);
            match (written(year, second, first), written(year, first, second)) {
                (day, _) if has_dots => day,
                (Some(day), None) | (None, Some(day)) => Some(day),
                (day, same) if day == same => day,
                _ => None,
            }
        }
        parts => named(parts),
    }
}

/// Numbers and words, one after another; other characters divide them.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let is_digit = rest.chars().next()?.is_ascii_digit();
        let same = |c: char| c.is_alphanumeric() && c.is_ascii_digit() == is_digit;
        let (part, behind) = rest.split_at(rest.find(|c: char| !same(c)).unwrap_or(rest.len()));
        rest = behind;
        Some(part)
    })
}

fn is_number(part: &str) -> bool {
    part.starts_with(|c: char| c.is_ascii_digit())
}

fn number(part: &str) -> Option<u32> {
    part.parse().ok()
}

/// A date with the name of its month. `mardi 5 mai`: the day comes before the name, if it can.
fn named(parts: &[&str]) -> Option<String> {
    let day_at = |at: Option<usize>| {
        at.and_then(|at| parts.get(at)).filter(|part| is_number(part) && part.len() <= 2)
    };
    let before = |at: usize| {
        // `1st March`: the ending of the number comes between.
        let is_ending = at > 0 && parts[at - 1].len() <= 3;
        day_at(at.checked_sub(1)).or_else(|| day_at(at.checked_sub(2)).filter(|_| is_ending))
    };
    let months = || (0..parts.len()).filter_map(|at| Some((at, month(parts[at])?)));
    let (day, month) = months()
        .find_map(|(at, month)| Some((before(at)?, month)))
        .or_else(|| months().find_map(|(at, month)| Some((day_at(Some(at + 1))?, month))))?;
    let year = parts.iter().find(|part| is_number(part) && part.len() == 4)?;
    written(number(year)?, month, number(day)?)
}

fn month(word: &str) -> Option<u32> {
    let lower = word.to_lowercase();
    let index = MONTHS.iter().position(|names| names.iter().any(|name| lower.starts_with(name)))?;
    u32::try_from(index + 1).ok()
}

fn written(year: u32, month: u32, day: u32) -> Option<String> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    // Before the web and far ahead are no dates of its pages; 1970-01-01 means none.
    let is_real = (1900..2100).contains(&year) && (year, month, day) != (1970, 1, 1);
    (is_real && (1..=days).contains(&day)).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_spellings_are_days() {
        for (text, found) in [
            ("2021-03-05", Some("2021-03-05")),
            ("2021-03-05T10:00:00.000Z", Some("2021-03-05")),
            ("2021-03-05 10:00:00+01:00", Some("2021-03-05")),
            ("Mar 5, 2021", Some("2021-03-05")),
            ("March 5th, 2021", Some("2021-03-05")),
            ("5 Mar. 2021", Some("2021-03-05")),
            ("Fri, 05 Mar 2021 10:00:00 GMT", Some("2021-03-05")),
            ("2021-02-30", None),
            ("1970-01-01T00:00:00", None),
            ("2021-03-051", None),
            ("3 days ago", None),
            ("yesterday", None),
            ("Marvellous 5 2021", Some("2021-03-05")),
            ("", None),
            ("½ März 2021", None),
            ("日本 2021", None),
            // Numbers.
            ("2021/3/5", Some("2021-03-05")),
            ("2021.03.05", Some("2021-03-05")),
            ("2021. 3. 5.", Some("2021-03-05")),
            ("2021年3月5日", Some("2021-03-05")),
            ("2021년 3월 5일", Some("2021-03-05")),
            ("20210305", Some("2021-03-05")),
            ("20210305T101500Z", Some("2021-03-05")),
            ("20210305101500", Some("2021-03-05")),
            ("05.03.2021", Some("2021-03-05")),
            ("5. 3. 2021", Some("2021-03-05")),
            ("25/03/2021", Some("2021-03-25")),
            ("03/25/2021 10:15", Some("2021-03-25")),
            ("5/5/2021", Some("2021-05-05")),
            ("05/03/2021", None),
            ("05-03-21", None),
            ("13/13/2021", None),
            ("2021-03", None),
            ("2021", None),
            ("1614902400", None),
            // Names.
            ("Fri Mar  5 10:15:00 2021", Some("2021-03-05")),
            ("Fri, 5 Mar 2021 10:15:00 +0000", Some("2021-03-05")),
            ("2021 March 5", Some("2021-03-05")),
            ("5. März 2021", Some("2021-03-05")),
            ("5 mars 2021", Some("2021-03-05")),
            ("1er août 2021", Some("2021-08-01")),
            ("mardi 5 mai 2020", Some("2020-05-05")),
            ("5 de marzo de 2021", Some("2021-03-05")),
            ("5 out. 2021", Some("2021-10-05")),
            ("5 января 2021 г.", Some("2021-01-05")),
            ("1st of March 2021", Some("2021-03-01")),
            ("Mar 2021", None),
            ("5 Mar", None),
            ("31 Feb 2021", None),
        ] {
            assert_eq!(day(text).as_deref(), found, "{text}");
        }
    }
}
