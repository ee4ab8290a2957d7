//! Parses every fixture and damaged copies of them natively; `tests/plugins/test_golden.py` parses the
//! fixtures with the component.

use carrel_brave::Brave;

carrel_websearch::document_tests!(
    Brave,
    "brave",
    &[
        "{",
        "}",
        "[",
        "\\ud83d",
        "\\u202e",
        "null",
        "1e999",
        r#""web":{"results":["#,
        r#""url":"https://"#,
        r#""description":"<strong>"#,
        r#""page_age":""#,
        r#""type":"ErrorResponse""#,
        r#""error":{"code":"RATE_LIMITED""#,
    ]
);
