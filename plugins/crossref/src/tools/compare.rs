//! Scores the agreement of a work and a printed reference. Pure.
//!
//! A reference has no fields, only words in the order of its style. So the comparison looks for the
//! work's fields in the reference, never the reverse.
//!
//! There are two scores. By title: words and neighbouring pairs of words of the title (weight
//! 0.65), the first author's family name (0.2), the year (0.15). By position, for styles without
//! the title: volume (0.25) and first page (0.3) must both agree; author (0.25) and year (0.2)
//! count as above. The better one counts. If the reference states the work's DOI, half of the
//! difference to 1 is added.

use std::collections::HashSet;

use carrel_pdk::id::Doi;
use carrel_pdk::record::Work;
use schemars::JsonSchema;
use serde::Serialize;

/// The fields of a work that occur in the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[allow(
    missing_docs,
    reason = "the words of the result; described one by one they would make no enum"
)]
pub enum Agreement {
    Title,
    Author,
    Year,
    ContainerTitle,
    Volume,
    Page,
    Doi,
}

/// The share of a title's words from which it counts as agreeing.
const TITLE_AGREES: f64 = 0.8;
/// The share of a title's words below which it adds nothing.
const LEAST_TITLE: f64 = 0.6;
/// The number of words from which a title is distinctive on its own: "Editorial" is not.
const TELLING_WORDS: f64 = 4.0;

/// A printed reference.
#[derive(Debug)]
pub(crate) struct Reference {
    words: HashSet<String>,
    pairs: HashSet<(String, String)>,
    years: HashSet<String>,
    doi: Option<Doi>,
}

impl Reference {
    /// Reads a reference.
    pub(crate) fn new(text: &str) -> Self {
        let list = words(text);
        let is_year = |word: &&String| {
            word.len() >= 4
                && word.get(..4).is_some_and(|digits| {
                    digits.bytes().all(|byte| byte.is_ascii_digit())
                        && ("1500"..="2100").contains(&digits)
                })
                // A letter distinguishes two works of one year.
                && word.len() <= 5
                && word.get(4..).is_none_or(|rest| rest.bytes().all(|byte| byte.is_ascii_lowercase()))
        };
        Self {
            years: list.iter().filter(is_year).map(|word| word[..4].to_owned()).collect(),
            pairs: list.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect(),
            words: list.into_iter().collect(),
            doi: stated_doi(text),
        }
    }

    /// The DOI that the reference states.
    pub(crate) fn doi(&self) -> Option<&Doi> {
        self.doi.as_ref()
    }

    /// Whether the reference states the work's DOI.
    pub(crate) fn names(&self, work: &Work<'_>) -> bool {
        let doi = work.ids.doi.as_deref();
        self.doi
            .as_ref()
            .zip(doi)
            .is_some_and(|(stated, doi)| stated.as_str().eq_ignore_ascii_case(doi))
    }

    /// How much agrees, from 0 to 1, and what.
    pub(crate) fn compare(&self, work: &Work<'_>) -> (f64, Vec<Agreement>) {
        let (title, title_words) = self.title_share(work);
        let author = self.author_share(work);
        let year = self.year_share(work);
        let volume = self.has_all(work.volume.as_deref());
        let first_page = work
            .pages
            .as_deref()
            .and_then(|pages| pages.split(['-', '–', ',', ' ']).find(|page| !page.is_empty()));
        let page = self.has_all(first_page) || self.has_all(work.article_number.as_deref());

        // A year or author that the work lacks adds nothing.
        let telling = (title_words / TELLING_WORDS).min(1.0);
        let by_title = 0.65 * title * telling + 0.2 * author + 0.15 * year;
        let by_location = if volume && page { 0.55 + 0.25 * author + 0.2 * year } else { 0.0 };
        // Without author and year, two equal numbers are a coincidence; with an author who is not
        // in the reference, they belong to another article in the volume.
        let located = if work.authors.is_empty() { year > 0.0 } else { author > 0.0 };
        let by_location = if located { by_location } else { 0.0 };
        // A lower share is another chapter of the book or another part of the series.
        let by_title = if title >= LEAST_TITLE { by_title } else { 0.0 };
        let mut score = f64::max(by_title, by_location);
        let stated = self.names(work);
        if stated {
            score += (1.0 - score) / 2.0;
        }
        let agreed = [
            (title >= TITLE_AGREES, Agreement::Title),
            (author >= 1.0, Agreement::Author),
            (year >= 1.0, Agreement::Year),
            (self.has_all(work.container_title.as_deref()), Agreement::ContainerTitle),
            (volume, Agreement::Volume),
            (page, Agreement::Page),
            (stated, Agreement::Doi),
        ];
        let agreed = agreed.into_iter().filter_map(|(agrees, what)| agrees.then_some(what));
        (score.clamp(0.0, 1.0), agreed.collect())
    }

    /// The share of the title that occurs in the reference, half by words, half by pairs of
    /// neighbours; and the number of its words.
    fn title_share(&self, work: &Work<'_>) -> (f64, f64) {
        let Some(title) = work.title.as_deref() else { return (0.0, 0.0) };
        let list = words(title);
        let by_words = share(&list, |word| self.words.contains(word));
        let by_pairs = match list.len() {
            0 | 1 => by_words,
            _ => {
                let pairs: Vec<(String, String)> =
                    list.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
                share(&pairs, |pair| self.pairs.contains(pair))
            }
        };
        (f64::midpoint(by_words, by_pairs), list.len() as f64)
    }

    /// 1 when the first author occurs in the reference, less when only another author does.
    fn author_share(&self, work: &Work<'_>) -> f64 {
        let stands = |agent: &carrel_pdk::record::Agent<'_>| {
            self.has_all(agent.family.as_deref().or(agent.literal.as_deref()))
        };
        match work.authors.iter().position(stands) {
            Some(0) => 1.0,
            Some(_) => 0.5,
            None => 0.0,
        }
    }

    /// 1 when the year occurs in the reference, less when it differs by one, as online and print
    /// editions do.
    fn year_share(&self, work: &Work<'_>) -> f64 {
        let Some(year) = work.issued.as_deref().and_then(|date| date.get(..4)) else { return 0.0 };
        if self.years.contains(year) {
            return 1.0;
        }
        let near = |difference: i32| {
            let near = year.parse::<i32>().map(|year| format!("{:04}", year + difference));
            near.is_ok_and(|near| self.years.contains(&near))
        };
        if near(1) || near(-1) { 0.5 } else { 0.0 }
    }

    /// Whether all words of a text occur in the reference.
    fn has_all(&self, text: Option<&str>) -> bool {
        let list = words(text.unwrap_or_default());
        !list.is_empty() && list.iter().all(|word| self.words.contains(word))
    }
}

fn share<T>(list: &[T], holds: impl Fn(&T) -> bool) -> f64 {
    if list.is_empty() {
        return 0.0;
    }
    list.iter().filter(|item| holds(item)).count() as f64 / list.len() as f64
}

/// The words of a text, in lower case and without accents, so that spelling variants are equal.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for character in text.chars().flat_map(char::to_lowercase) {
        if character.is_alphanumeric() {
            match plain(character) {
                Some(letters) => word.push_str(letters),
                None => word.push(character),
            }
        } else if !is_inside_words(character) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Apostrophes, soft hyphens and combining accents do not end a word.
fn is_inside_words(character: char) -> bool {
    matches!(character, '\'' | '’' | '\u{AD}' | '\u{300}'..='\u{36F}')
}

/// Letters without their accents, for the Latin ones that names have.
fn plain(character: char) -> Option<&'static str> {
    Some(match character {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ā' | 'ă' | 'ą' | 'ǎ' | 'ạ' | 'ả' | 'ấ' | 'ầ' => {
            "a"
        }
        'æ' => "ae",
        'ç' | 'ć' | 'ĉ' | 'č' | 'ċ' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | 'ế' | 'ề' | 'ễ' | 'ệ' => {
            "e"
        }
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì' | 'í' | 'î' | 'ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => "i",
        'ĵ' => "j",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'ố' | 'ồ' | 'ộ' | 'ơ' => {
            "o"
        }
        'œ' => "oe",
        'ŕ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ß' => "ss",
        'ţ' | 'ť' | 'ț' => "t",
        'þ' => "th",
        'ù' | 'ú' | 'û' | 'ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ư' | 'ǔ' => "u",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        '₀' | '⁰' => "0",
        '₁' | '¹' => "1",
        '₂' | '²' => "2",
        '₃' | '³' => "3",
        '₄' | '⁴' => "4",
        '₅' | '⁵' => "5",
        '₆' | '⁶' => "6",
        '₇' | '⁷' => "7",
        '₈' | '⁸' => "8",
        '₉' | '⁹' => "9",
        _ => return None,
    })
}

/// The first DOI in a text, without the punctuation of the sentence after it.
fn stated_doi(text: &str) -> Option<Doi> {
    let start = text.match_indices("10.").map(|(at, _)| at).find(|&at| {
        // Not in the middle of a number.
        !text[..at].ends_with(|before: char| before.is_ascii_digit() || before == '.')
            && Doi::parse(text[at..].split_whitespace().next().unwrap_or_default()).is_ok()
    })?;
    let raw = text[start..].split_whitespace().next()?;
    let mut doi = raw.trim_end_matches(['.', ',', ';', ':', '"', '\'', '”', '’', '>', ']', '}']);
    while doi.ends_with(')') && doi.matches(')').count() > doi.matches('(').count() {
        doi = doi[..doi.len() - 1].trim_end_matches(['.', ',', ';']);
    }
    Doi::parse(&carrel_pdk::percent::decode(doi)).ok()
}

#[cfg(test)]
mod tests;
