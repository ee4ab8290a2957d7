//! Filters as words of a query, for providers whose queries have operators.

use crate::Search;

/// Which filters become words of the query; those that the provider has parameters for do not.
#[derive(Debug, Clone, Copy, Default)]
pub struct Operators {
    /// `"a phrase"`.
    pub exact: bool,
    /// `-word`.
    pub exclude: bool,
    /// `site:a OR site:b`.
    pub sites: bool,
}

impl Operators {
    /// All of them.
    pub const ALL: Self = Self { exact: true, exclude: true, sites: true };
}

/// The query with the filters that `operators` names, each on one line without quotation marks that
/// would end a phrase.
pub fn compose(search: &Search, operators: Operators) -> String {
    let mut words = search.query.split_whitespace().collect::<Vec<_>>().join(" ");
    if let (true, Some(phrase)) = (operators.exact, &search.exact_terms)
        && let Some(phrase) = quoted(phrase)
    {
        words.push(' ');
        words.push_str(&phrase);
    }
    if let (true, Some(excluded)) = (operators.exclude, &search.exclude_terms) {
        for term in terms(excluded) {
            words.push_str(" -");
            words.push_str(&term);
        }
    }
    if operators.sites {
        for (index, site) in search.sites.iter().enumerate() {
            words.push_str(if index == 0 { " site:" } else { " OR site:" });
            words.push_str(site);
        }
    }
    words
}

/// The phrase in quotation marks; `None` if it has no words.
pub fn quoted(phrase: &str) -> Option<String> {
    let words = phrase.replace(['"', '“', '”'], " ");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    (!words.is_empty()).then(|| format!("\"{words}\""))
}

/// Words and quoted phrases of a list of excluded terms, without leading minus signs.
pub fn terms(excluded: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for (index, part) in excluded.split('"').enumerate() {
        if index % 2 == 1 {
            terms.extend(quoted(part));
            continue;
        }
        let words = part.split([' ', ',', '\t', '\n', '\r']);
        let words = words.map(|word| word.trim_matches('-')).filter(|word| !word.is_empty());
        terms.extend(words.map(str::to_owned));
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(filters: &str) -> Search {
        Search::read(&format!(r#"{{"query": "walled  desks"{filters}}}"#)).unwrap()
    }

    #[test]
    fn filters_become_operators() {
        let requested = search(
            r#", "exact_terms": "a \"reading\" desk", "exclude_terms": "-sale, \"flat pack\" toy",
            "sites": ["example.org", "example.com"]"#,
        );
        assert_eq!(
            compose(&requested, Operators::ALL),
            "walled desks \"a reading desk\" -sale -\"flat pack\" -toy site:example.org OR site:example.com"
        );
        assert_eq!(compose(&requested, Operators::default()), "walled desks");
    }

    #[test]
    fn blank_filters_add_nothing() {
        let requested = search(r#", "exact_terms": " \" ", "exclude_terms": " - \"\" ""#);
        assert_eq!(compose(&requested, Operators::ALL), "walled desks");
    }
}
