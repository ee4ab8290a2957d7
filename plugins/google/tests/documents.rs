//! Parses every fixture and damaged copies of them natively; `tests/plugins/test_golden.py` parses the
//! fixtures with the component.

use carrel_google::Google;

carrel_websearch::document_tests!(
    Google,
    "google",
    &[
        "{",
        "}",
        "[",
        "\\ud83d",
        "\\u202e",
        "null",
        "1e999",
        r#""items":["#,
        r#""link":"https://"#,
        r#""snippet":"<b>"#,
        r#""nextPage":[{"startIndex":"#,
        r#""error":{"code":429"#,
        r#""pagemap":{"metatags":[{"#,
    ]
);
