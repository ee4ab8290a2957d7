//! Language codes as BCP 47 tags.

use std::borrow::Cow;

use crate::record::Text;

/// The two-letter tag of a MARC code, if there is one; another code is kept. `und` and `mul` are
/// not languages.
pub fn tag(code: Text<'_>) -> Option<Text<'_>> {
    const TAGS: &[(&str, &str)] = &[
        ("afr", "af"),
        ("alb", "sq"),
        ("ara", "ar"),
        ("arm", "hy"),
        ("aze", "az"),
        ("bos", "bs"),
        ("bul", "bg"),
        ("cat", "ca"),
        ("chi", "zh"),
        ("cze", "cs"),
        ("dan", "da"),
        ("dut", "nl"),
        ("eng", "en"),
        ("epo", "eo"),
        ("est", "et"),
        ("fin", "fi"),
        ("fre", "fr"),
        ("geo", "ka"),
        ("ger", "de"),
        ("gla", "gd"),
        ("gre", "el"),
        ("heb", "he"),
        ("hin", "hi"),
        ("hrv", "hr"),
        ("hun", "hu"),
        ("ice", "is"),
        ("ind", "id"),
        ("ita", "it"),
        ("jpn", "ja"),
        ("kin", "rw"),
        ("kor", "ko"),
        ("lat", "la"),
        ("lav", "lv"),
        ("lit", "lt"),
        ("mac", "mk"),
        ("mal", "ml"),
        ("mao", "mi"),
        ("may", "ms"),
        ("nor", "no"),
        ("per", "fa"),
        ("pol", "pl"),
        ("por", "pt"),
        ("pus", "ps"),
        ("rum", "ro"),
        ("rus", "ru"),
        ("san", "sa"),
        ("slo", "sk"),
        ("slv", "sl"),
        ("spa", "es"),
        ("srp", "sr"),
        ("swe", "sv"),
        ("tha", "th"),
        ("tur", "tr"),
        ("ukr", "uk"),
        ("urd", "ur"),
        ("vie", "vi"),
        ("wel", "cy"),
    ];
    let lower = code.to_ascii_lowercase();
    if matches!(lower.as_str(), "und" | "mul") {
        return None;
    }
    Some(match TAGS.iter().find(|(marc, _)| *marc == lower) {
        Some((_, tag)) => Cow::Borrowed(tag),
        None => code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_become_tags() {
        assert_eq!(tag("eng".into()).as_deref(), Some("en"));
        assert_eq!(tag("ENG".into()).as_deref(), Some("en"));
        assert_eq!(tag("yor".into()).as_deref(), Some("yor"));
        assert_eq!(tag("und".into()), None);
    }
}
