//! Parses every fixture and damaged copies of them natively; `tests/plugins/test_golden.py` parses the
//! fixtures with the component.

use carrel_searxng::SearXng;

carrel_websearch::document_tests!(
    SearXng,
    "searxng",
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
        r#""unresponsive_engines":[["a","b"]]"#,
        r#""number_of_results":"#,
        r#""engines":[""#,
    ]
);
