//! Parses every fixture and damaged copies of them natively; `tests/plugins/test_golden.py` parses the
//! fixtures with the component.

use carrel_tavily::Tavily;

carrel_websearch::document_tests!(
    Tavily,
    "tavily",
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
        r#""content":""#,
        r#""published_date":"Fri, 05 Mar 2021"#,
        r#""detail":{"error":""#,
        r#""detail":""#,
    ]
);
