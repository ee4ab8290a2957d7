//! Checks that a query in PubMed's syntax can be combined with another clause.

/// Returns the reason why a query cannot be put in parentheses before another clause; `None` if it
/// can.
///
/// Parentheses inside quotes are text. PubMed repairs a query with such faults by its own rules,
/// which is harmless unless it is combined with another clause.
pub(crate) fn loose_end(term: &str) -> Option<String> {
    let (mut open, mut quotes) = (0_usize, 0_usize);
    for character in term.chars() {
        match character {
            '"' => quotes += 1,
            _ if quotes % 2 == 1 => {}
            '(' => open += 1,
            ')' if open == 0 => {
                return Some("a closing parenthesis without an opening one".to_owned());
            }
            ')' => open -= 1,
            _ => {}
        }
    }
    match (quotes % 2, open) {
        (1, _) => Some(format!("an odd number of double quotes ({quotes})")),
        (_, 1) => Some("a parenthesis that is not closed".to_owned()),
        (_, 2..) => Some(format!("{open} parentheses that are not closed")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_that_is_whole_has_no_loose_end() {
        for term in ["asthma", "(a OR (b AND c)) NOT d", r#""gene (therapy" AND x"#, ""] {
            assert_eq!(loose_end(term), None, "{term}");
        }
    }

    #[test]
    fn an_unbalanced_query_is_described() {
        for (term, fault) in [
            ("a) OR (b", "a closing parenthesis without an opening one"),
            ("(a", "a parenthesis that is not closed"),
            ("((a", "2 parentheses that are not closed"),
            (r#"5" nail"#, "an odd number of double quotes (1)"),
            (r#""a" OR "b)"#, "an odd number of double quotes (3)"),
        ] {
            assert_eq!(loose_end(term).as_deref(), Some(fault), "{term}");
        }
    }
}
