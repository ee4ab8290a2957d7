//! Queries for sources that search in the query language of Lucene, Solr or Elasticsearch.

/// The words of `text` without the syntax of the query language; every word has to occur. Empty if
/// there are no words.
///
/// ```
/// assert_eq!(carrel_pdk::lucene::words("title:(desk OR chair) -lamp*"), "title desk chair lamp");
/// assert_eq!(carrel_pdk::lucene::words("well-read C++ p53"), "well-read C p53");
/// ```
pub fn words(text: &str) -> String {
    const SYNTAX: &[char] = &[
        '+', '!', '(', ')', '{', '}', '[', ']', '^', '"', '~', '*', '?', ':', '\\', '/', '&', '|',
        '<', '>', '=',
    ];
    text.split(|c: char| c.is_whitespace() || c.is_control() || SYNTAX.contains(&c))
        .map(|word| word.trim_matches('-'))
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .filter(|word| !["AND", "OR", "NOT", "TO"].contains(word))
        .collect::<Vec<_>>()
        .join(" ")
}

/// `text` as one phrase between quotation marks.
///
/// ```
/// assert_eq!(carrel_pdk::lucene::phrase(r#"10.5555/a"b\c"#), r#""10.5555/a\"b\\c""#);
/// ```
pub fn phrase(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A range of years for `field`, with open ends; `None` when both ends are open.
///
/// ```
/// use carrel_pdk::lucene::years;
///
/// assert_eq!(years("year", Some(1999), Some(2001)).as_deref(), Some("year:[1999 TO 2001]"));
/// assert_eq!(years("year", Some(1999), None).as_deref(), Some("year:[1999 TO 9999]"));
/// assert_eq!(years("year", None, None), None);
/// ```
pub fn years(field: &str, from: Option<i32>, to: Option<i32>) -> Option<String> {
    let year = |year: Option<i32>, open: i32| year.unwrap_or(open).clamp(0, 9999);
    (from.is_some() || to.is_some())
        .then(|| format!("{field}:[{:04} TO {:04}]", year(from, 0), year(to, 9999)))
}
