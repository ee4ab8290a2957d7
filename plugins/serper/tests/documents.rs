//! Parses every fixture and damaged copies of them natively; `tests/plugins/test_golden.py` parses the
//! fixtures with the component.

use carrel_serper::Serper;

carrel_websearch::document_tests!(
    Serper,
    "serper",
    &[
        "{",
        "}",
        "[",
        "\\ud83d",
        "\\u202e",
        "null",
        "1e999",
        r#""organic":["#,
        r#""link":"https://"#,
        r#""snippet":""#,
        r#""date":"Mar 5, 2021""#,
        r#""statusCode":403"#,
        r#""message":""#,
    ]
);
