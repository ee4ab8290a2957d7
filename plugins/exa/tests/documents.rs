//! Parses every fixture and damaged copies of them natively; `tests/plugins/test_golden.py` parses the
//! fixtures with the component.

use carrel_exa::Exa;

carrel_websearch::document_tests!(
    Exa,
    "exa",
    &[
        "{",
        "}",
        "[",
        "\\ud83d",
        "\\u202e",
        "null",
        "1e999",
        r#""results":["#,
        r#""url":"https://"#,
        r#""highlights":[""#,
        r#""publishedDate":null,"#,
        r#""error":""#,
        r#""tag":"INVALID_API_KEY""#,
    ]
);
