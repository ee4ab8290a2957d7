//! Locales: terms, dates and options, with their fallbacks.

mod read;

use std::collections::{HashMap, HashSet};

use crate::sort::collation::Alphabet;
use crate::style::elements::{Date, DateForm, Form};
pub(crate) use read::{read_file, read_layer};

/// The terms, dates and options of one `cs:locale`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layer {
    pub(crate) terms: HashMap<(String, Form), Term>,
    /// Terms whose name begins with `ordinal`; a layer that has any replaces those below it.
    pub(crate) ordinals: Vec<Ordinal>,
    pub(crate) dates: Vec<Date>,
    pub(crate) punctuation_in_quote: Option<bool>,
    pub(crate) limit_day_ordinals: Option<bool>,
}

/// A term.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) single: String,
    pub(crate) multiple: String,
    pub(crate) gender: Option<Gender>,
}

/// The gender of a noun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gender {
    Masculine,
    Feminine,
}

/// An ordinal suffix or long ordinal.
#[derive(Debug, Clone)]
pub(crate) struct Ordinal {
    /// `ordinal`, `ordinal-03`, `long-ordinal-01`.
    pub(crate) name: String,
    pub(crate) gender: Option<Gender>,
    /// `match`: the numbers that it applies to.
    pub(crate) matching: OrdinalMatch,
    pub(crate) text: String,
}

/// `match` of an ordinal term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrdinalMatch {
    LastDigit,
    LastTwoDigits,
    WholeNumber,
}

/// A locale with all its layers merged.
#[derive(Debug, Clone)]
pub(crate) struct Locale {
    merged: Layer,
    alphabet: Alphabet,
}

impl Locale {
    /// The locale `language` of `files`, under the style's own locales.
    pub(crate) fn new(
        language: &str,
        files: &HashMap<String, Layer>,
        style: &[(Option<String>, Layer)],
    ) -> Self {
        let base = base(language);
        let mut locale = Self { merged: Layer::default(), alphabet: Alphabet::of(language) };
        let primary = primary_dialect(base);
        let mut names = vec!["en-US"];
        names.extend([base, primary, language].into_iter().filter(|name| *name != "en-US"));
        let mut seen: Vec<&str> = Vec::new();
        let mut of_language: HashSet<&str> = HashSet::new();
        for name in names {
            if let Some(layer) = files.get(name).filter(|_| !seen.contains(&name)) {
                // A term has its forms from one language: a missing form falls back to another of that
                // language, but for symbols, which are the same in most languages.
                let named: HashSet<&str> =
                    layer.terms.keys().map(|(name, _)| name.as_str()).collect();
                locale.merged.terms.retain(|(name, form), _| {
                    let name = name.as_str();
                    *form == Form::Symbol || of_language.contains(name) || !named.contains(name)
                });
                locale.overlay(layer);
                if name != "en-US" {
                    of_language.extend(named);
                }
            }
            seen.push(name);
        }
        let dialect = if base == language { primary } else { base };
        for tag in [None, Some(dialect), Some(language)] {
            for (name, layer) in style {
                if name.as_deref().map(str::trim) == tag {
                    locale.overlay(layer);
                }
            }
        }
        locale
    }

    /// The order of letters.
    pub(crate) fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    fn overlay(&mut self, layer: &Layer) {
        for (key, term) in &layer.terms {
            let mut term = term.clone();
            if term.gender.is_none() {
                term.gender = self.merged.terms.get(key).and_then(|old| old.gender);
            }
            self.merged.terms.insert(key.clone(), term);
        }
        if layer.ordinals.iter().any(|ordinal| ordinal.name.starts_with("ordinal")) {
            self.merged.ordinals.retain(|ordinal| !ordinal.name.starts_with("ordinal"));
        }
        for new in &layer.ordinals {
            self.merged.ordinals.retain(|old| old.name != new.name || old.gender != new.gender);
            self.merged.ordinals.push(new.clone());
        }
        for date in &layer.dates {
            self.merged.dates.retain(|old| old.localized != date.localized);
            self.merged.dates.push(date.clone());
        }
        self.merged.punctuation_in_quote =
            layer.punctuation_in_quote.or(self.merged.punctuation_in_quote);
        self.merged.limit_day_ordinals =
            layer.limit_day_ordinals.or(self.merged.limit_day_ordinals);
    }

    /// The term in `form`, or in the form that it falls back to.
    pub(crate) fn find(&self, name: &str, form: Form) -> Option<&Term> {
        let order: &[Form] = match form {
            Form::Long => &[Form::Long],
            Form::Short => &[Form::Short, Form::Long],
            Form::Verb => &[Form::Verb, Form::Long],
            Form::VerbShort => &[Form::VerbShort, Form::Verb, Form::Long],
            Form::Symbol => &[Form::Symbol, Form::Short, Form::Long],
        };
        let mut key = (name.to_owned(), Form::Long);
        for &form in order {
            key.1 = form;
            if let Some(term) = self.merged.terms.get(&key) {
                return Some(term);
            }
        }
        None
    }

    /// The text of a term.
    pub(crate) fn term(&self, name: &str, form: Form, plural: bool) -> Option<&str> {
        let term = self.find(name, form)?;
        Some(if plural { &term.multiple } else { &term.single })
    }

    /// The gender of a noun.
    pub(crate) fn gender(&self, name: &str) -> Option<Gender> {
        self.find(name, Form::Long).and_then(|term| term.gender)
    }

    /// The locale's date in that form.
    pub(crate) fn date(&self, form: DateForm) -> Option<&Date> {
        self.merged.dates.iter().find(|date| date.localized == Some(form))
    }

    /// Whether commas and full stops go inside closing quotation marks.
    pub(crate) fn punctuation_in_quote(&self) -> bool {
        self.merged.punctuation_in_quote.unwrap_or(false)
    }

    /// Whether only the first day of a month is an ordinal.
    pub(crate) fn limit_day_ordinals(&self) -> bool {
        self.merged.limit_day_ordinals.unwrap_or(false)
    }

    /// The suffix of a number as an ordinal.
    pub(crate) fn ordinal(&self, number: u64, gender: Option<Gender>) -> &str {
        let of = |name: &str, accept: &dyn Fn(&Ordinal) -> bool| -> Option<&str> {
            let mut found = self.merged.ordinals.iter().filter(|term| term.name == name);
            let mut neutral = None;
            let exact = found.find(|term| {
                if term.gender.is_none() && accept(term) {
                    neutral = Some(term.text.as_str());
                }
                term.gender == gender && accept(term)
            });
            let neutral = neutral.or_else(|| {
                let mut all = self.merged.ordinals.iter();
                all.find(|term| term.name == name && term.gender.is_none() && accept(term))
                    .map(|term| term.text.as_str())
            });
            exact.map(|term| term.text.as_str()).or(neutral)
        };
        let whole = format!("ordinal-{number:02}");
        if number < 100
            && let Some(text) = of(&whole, &|term| term.matching == OrdinalMatch::WholeNumber)
        {
            return text;
        }
        let two = number % 100;
        if two > 9 {
            let name = format!("ordinal-{two:02}");
            if let Some(text) = of(&name, &|term| term.matching == OrdinalMatch::LastTwoDigits) {
                return text;
            }
        }
        let name = format!("ordinal-{:02}", number % 10);
        of(&name, &|term| term.matching == OrdinalMatch::LastDigit)
            .or_else(|| of("ordinal", &|_| true))
            .unwrap_or_default()
    }

    /// A number from 1 to 10 in words, as an ordinal.
    pub(crate) fn long_ordinal(&self, number: u64, gender: Option<Gender>) -> Option<&str> {
        let name = format!("long-ordinal-{number:02}");
        let of = |gender: Option<Gender>| {
            let mut all = self.merged.ordinals.iter();
            all.find(|t| t.name == name && t.gender == gender).map(|t| t.text.as_str())
        };
        of(gender).or_else(|| of(None))
    }
}

/// The language without its region.
pub(crate) fn base(language: &str) -> &str {
    language.split('-').next().unwrap_or(language)
}

/// The dialect that a language without region, or with another one, falls back to.
pub(crate) fn primary_dialect(base: &str) -> &'static str {
    const PRIMARY: &[(&str, &str)] = &[
        ("af", "af-ZA"),
        ("bg", "bg-BG"),
        ("ca", "ca-AD"),
        ("cs", "cs-CZ"),
        ("cy", "cy-GB"),
        ("da", "da-DK"),
        ("de", "de-DE"),
        ("el", "el-GR"),
        ("en", "en-US"),
        ("es", "es-ES"),
        ("et", "et-EE"),
        ("fa", "fa-IR"),
        ("fi", "fi-FI"),
        ("fr", "fr-FR"),
        ("gl", "gl-ES"),
        ("he", "he-IL"),
        ("hi", "hi-IN"),
        ("hr", "hr-HR"),
        ("hu", "hu-HU"),
        ("hy", "hy-AM"),
        ("id", "id-ID"),
        ("is", "is-IS"),
        ("it", "it-IT"),
        ("ja", "ja-JP"),
        ("km", "km-KH"),
        ("ko", "ko-KR"),
        ("lt", "lt-LT"),
        ("lv", "lv-LV"),
        ("mn", "mn-MN"),
        ("ms", "ms-MY"),
        ("nb", "nb-NO"),
        ("nl", "nl-NL"),
        ("nn", "nn-NO"),
        ("pl", "pl-PL"),
        ("pt", "pt-PT"),
        ("ro", "ro-RO"),
        ("ru", "ru-RU"),
        ("sk", "sk-SK"),
        ("sl", "sl-SI"),
        ("sr", "sr-Cyrl-RS"),
        ("sv", "sv-SE"),
        ("th", "th-TH"),
        ("tl", "tl-PH"),
        ("tr", "tr-TR"),
        ("uk", "uk-UA"),
        ("vi", "vi-VN"),
        ("zh", "zh-CN"),
    ];
    PRIMARY.iter().find(|(name, _)| *name == base).map_or("en-US", |(_, dialect)| dialect)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests fail loudly")]

    use super::*;

    fn file(terms: &str) -> Layer {
        let xml = format!(
            "<locale xmlns=\"http://purl.org/net/xbiblio/csl\"><terms>{terms}</terms></locale>"
        );
        read_file(&xml).expect("a locale")
    }

    #[test]
    fn a_form_that_a_dialect_lacks_is_that_of_its_language_and_never_of_english() {
        let director = "<term name=\"director\">";
        let files = HashMap::from([
            (
                "en-US".to_owned(),
                file(
                    "<term name=\"director\" form=\"verb\">directed by</term>\
                 <term name=\"editor\" form=\"verb\">edited by</term>",
                ),
            ),
            (
                "pt-PT".to_owned(),
                file(&format!(
                    "{director}director</term><term name=\"director\" form=\"verb\">dirigido por</term>"
                )),
            ),
            (
                "pt-BR".to_owned(),
                file(&format!("{director}diretor</term><term name=\"editor\">organizador</term>")),
            ),
        ]);
        let locale = Locale::new("pt-BR", &files, &[]);
        assert_eq!(locale.term("director", Form::Verb, false), Some("dirigido por"));
        assert_eq!(locale.term("director", Form::Long, false), Some("diretor"));
        assert_eq!(locale.term("editor", Form::Verb, false), Some("organizador"));
    }

    #[test]
    fn straight_quotation_marks_of_a_language_stay_and_apostrophes_are_curved() {
        let layer = file(
            "<term name=\"open-inner-quote\">'</term><term name=\"close-quote\">\"</term>\
             <term name=\"in\">all'interno</term>",
        );
        let text = |name: &str| layer.terms[&(name.to_owned(), Form::Long)].single.clone();
        assert_eq!(text("open-inner-quote"), "'");
        assert_eq!(text("close-quote"), "\"");
        assert_eq!(text("in"), "all’interno");
    }
}
