//! An abstract from its inverted index: words, each with its positions.

use carrel_pdk::json::lenient::{Count, List, Members};

/// The longest abstract, in bytes. In a hostile document a word can have a million positions.
const LONGEST: usize = 1 << 20;

/// The words in the order of their positions, one space between them. Positions may have gaps,
/// start anywhere and belong to several words; a word that repeats a position is written once.
/// `None` without words, and for a text longer than any abstract.
pub(crate) fn text(index: &Members<'_, List<Count>>) -> Option<String> {
    let mut occurrences: Vec<(u64, usize, &str)> = Vec::new();
    let mut length = 0;
    for (number, (word, positions)) in index.0.iter().enumerate() {
        for position in positions.0.iter().filter_map(|position| position.0) {
            occurrences.push((position, number, word));
            length += word.len() + 1;
            if length > LONGEST {
                return None;
            }
        }
    }
    occurrences.sort_unstable();
    occurrences.dedup();
    let words: Vec<&str> = occurrences.into_iter().map(|(_, _, word)| word).collect();
    Some(words.join(" ")).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Option<String> {
        text(&carrel_pdk::json::from_str(json).unwrap())
    }

    #[test]
    fn words_are_in_the_order_of_their_positions() {
        assert_eq!(of(r#"{"a": [2, 0], "desk": [3], "is": [1]}"#).as_deref(), Some("a is a desk"));
    }

    #[test]
    fn holes_and_repeats_cost_nothing() {
        for (json, text) in [
            (r#"{"b": [90], "a": [7]}"#, Some("a b")),
            (r#"{"a": [1, 1], "b": [2]}"#, Some("a b")),
            (r#"{"a": [1], "b": [1], "c": [0]}"#, Some("c a b")),
            (r#"{"a": ["3"], "b": 2, "c": null, "d": [-1, null, "x"]}"#, Some("a")),
            (r#"{"a": [], "b": null}"#, None),
            ("{}", None),
            ("null", None),
            ("[1]", None),
        ] {
            assert_eq!(of(json).as_deref(), text, "{json}");
        }
    }

    #[test]
    fn a_text_longer_than_any_abstract_is_none() {
        let word = "x".repeat(1 << 10);
        let positions: Vec<String> = (0..2000).map(|number| number.to_string()).collect();
        assert_eq!(of(&format!(r#"{{"{word}": [{}]}}"#, positions.join(","))), None);
    }
}
