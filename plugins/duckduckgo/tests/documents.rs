//! Parses every fixture and damaged copies of them natively; `tests/plugins/test_golden.py` parses the
//! fixtures with the component.

use carrel_duckduckgo::DuckDuckGo;

carrel_websearch::document_tests!(
    DuckDuckGo,
    "duckduckgo",
    &[
        "{",
        "}",
        "[",
        "\\ud83d",
        "\\u202e",
        "null",
        "1e999",
        r#"<a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2F"#,
        r#"<a class="result__snippet""#,
        r#"</a>"#,
        r#"<b>"#,
        r#"</div>"#,
        r#"result--ad"#,
        r#"no-results"#,
        r#"anomaly-modal"#,
        r#"class='result-link'"#,
        r#"&amp;"#,
        r#"&#x202e;"#,
        r#"%"#,
        r#"<!--"#,
    ]
);
