//! When an article appeared.

use carrel_pdk::record::{Text, fields};

use crate::formats::article::Article;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The date of first publication, with the precision that is known.
///
/// For an issue with only a month, Europe PMC states the first day of the month; the issue's date
/// then gives the precision.
pub(super) fn issued(article: &Article<'_>) -> Option<Text<'static>> {
    let date =
        |text: &carrel_pdk::json::lenient::Text<'_>| text.0.as_deref().and_then(fields::date);
    let issue = of_issue(article);
    let first = date(&article.first_publication_date);
    let print = date(&article.journal_info.print_date);
    let electronic = date(&article.electronic_publication_date);
    if let (Some(first), Some(issue)) = (&first, &issue)
        && print.as_ref() == Some(first)
        && electronic.as_ref() != Some(first)
        && first.starts_with(&**issue)
    {
        return Some(issue.clone());
    }
    let year = [article.pub_year, article.journal_info.year, article.book.year]
        .into_iter()
        .find_map(|year| year.0.filter(|year| (1..=9999).contains(year)));
    first.or(electronic).or(issue).or_else(|| Some(format!("{:04}", year?).into()))
}

/// The date of the issue: `2025 Jul`, `2025 Jul 4`, else its year and month as numbers.
fn of_issue(article: &Article<'_>) -> Option<Text<'static>> {
    let info = &article.journal_info;
    let words = info.date.0.as_deref().unwrap_or_default();
    let mut words = words.split_whitespace();
    let year = info.year.0.filter(|year| (1..=9999).contains(year));
    let year =
        words.next().and_then(|word| word.parse().ok()).filter(|_| year.is_some()).or(year)?;
    let month = |word: &str| {
        let start = word.get(..3)?.to_ascii_lowercase();
        let at = MONTHS.iter().position(|month| *month == start && word.len() == 3)?;
        Some(at as u64 + 1)
    };
    let named = words.next().map(|word| month(word).filter(|_| !word.contains('-')));
    // A season or a range of months has the precision of a year.
    let month = match named {
        Some(found) => found,
        None => info.month.0.filter(|month| (1..=12).contains(month) && info.date.0.is_none()),
    };
    let Some(month) = month else { return Some(format!("{year:04}").into()) };
    let day =
        words.next().and_then(|word| word.parse().ok()).filter(|day: &u8| (1..=31).contains(day));
    Some(match day {
        Some(day) => format!("{year:04}-{month:02}-{day:02}").into(),
        None => format!("{year:04}-{month:02}").into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Option<String> {
        let article: Article<'_> = carrel_pdk::json::from_str(json).unwrap();
        issued(&article).map(std::borrow::Cow::into_owned)
    }

    #[test]
    fn a_date_is_no_more_exact_than_its_issue() {
        for (json, date) in [
            (
                r#"{"firstPublicationDate": "2025-07-01", "journalInfo": {"dateOfPublication": "2025 Jul",
                    "yearOfPublication": 2025, "printPublicationDate": "2025-07-01"}}"#,
                "2025-07",
            ),
            (
                r#"{"firstPublicationDate": "2025-06-18", "journalInfo": {"dateOfPublication": "2025 Jul",
                    "yearOfPublication": 2025, "printPublicationDate": "2025-07-01"}}"#,
                "2025-06-18",
            ),
            (
                r#"{"firstPublicationDate": "2025-07-01", "electronicPublicationDate": "2025-07-01",
                    "journalInfo": {"dateOfPublication": "2025 Jul", "yearOfPublication": 2025,
                    "printPublicationDate": "2025-07-01"}}"#,
                "2025-07-01",
            ),
            (
                r#"{"journalInfo": {"dateOfPublication": "2025 Jul-Aug", "yearOfPublication": 2025,
                    "monthOfPublication": 7}}"#,
                "2025",
            ),
            (
                r#"{"journalInfo": {"dateOfPublication": "2025 Jul 4", "yearOfPublication": 2025}}"#,
                "2025-07-04",
            ),
            (r#"{"journalInfo": {"yearOfPublication": 2025, "monthOfPublication": 3}}"#, "2025-03"),
            (r#"{"pubYear": "2014"}"#, "2014"),
            (r#"{"pubYear": 2014}"#, "2014"),
        ] {
            assert_eq!(of(json).as_deref(), Some(date), "{json}");
        }
        assert_eq!(of("{}"), None);
    }
}
