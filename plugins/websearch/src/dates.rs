//! Dates of publication, as providers write them.

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The day in `text` as `YYYY-MM-DD`: of an ISO date or time, `Mar 5, 2021`, `5 March 2021`, or
/// `Fri, 05 Mar 2021 10:00:00 GMT`. `None` for other texts, such as `3 days ago`, which would need a
/// clock, and for days that do not exist.
pub(crate) fn day(text: &str) -> Option<String> {
    let text = text.trim();
    let iso = text.get(..10).filter(|head| {
        head.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
    });
    if let Some(head) = iso {
        let behind = text.as_bytes().get(10);
        if behind.is_some_and(u8::is_ascii_digit) {
            return None;
        }
        return written(head[..4].parse().ok()?, head[5..7].parse().ok()?, head[8..].parse().ok()?);
    }
    let words: Vec<&str> = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(4)
        .collect();
    let words = match words.as_slice() {
        // A day of the week.
        [first, rest @ ..]
            if rest.len() == 3
                && first.len() >= 2
                && month(first).is_none()
                && !starts_with_digit(first) =>
        {
            rest
        }
        [first, second, third, ..] => &[*first, *second, *third],
        _ => return None,
    };
    let [first, second, year] = words else { return None };
    let (month, day) = match (month(first), month(second)) {
        (Some(month), None) => (month, second),
        (None, Some(month)) => (month, first),
        _ => return None,
    };
    let day = day.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    if year.len() != 4 {
        return None;
    }
    written(year.parse().ok()?, month, day.parse().ok()?)
}

fn starts_with_digit(word: &str) -> bool {
    word.as_bytes().first().is_some_and(u8::is_ascii_digit)
}

fn month(word: &str) -> Option<u32> {
    let head = word.get(..3)?.to_ascii_lowercase();
    let place = MONTHS.iter().position(|month| *month == head)?;
    u32::try_from(place + 1).ok().filter(|_| word.bytes().all(|byte| byte.is_ascii_alphabetic()))
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
    // Before the web and far ahead are no dates of its pages; 1970-01-01 stands for none.
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
        ] {
            assert_eq!(day(text).as_deref(), found, "{text}");
        }
    }
}
