//! Checks ISSNs and ISBNs: a plugin of version 1 of hyper-mcp's interface, which mcp.run shared.

/// Whether the check digit of an ISSN or an ISBN of 10 or 13 digits is right; hyphens and spaces do
/// not count.
pub fn is_valid(text: &str) -> bool {
    let kept = text.chars().filter(|one| !matches!(one, '-' | ' '));
    let digits: Option<Vec<u32>> = kept
        .map(|one| if matches!(one, 'X' | 'x') { Some(10) } else { one.to_digit(10) })
        .collect();
    let Some(digits) = digits else { return false };
    let Some((check, rest)) = digits.split_last() else { return false };
    if rest.contains(&10) {
        return false;
    }
    let weighted = |weight: &dyn Fn(usize) -> u32| {
        digits.iter().enumerate().map(|(at, digit)| digit * weight(at)).sum::<u32>()
    };
    match digits.len() {
        8 => weighted(&|at| 8 - at as u32) % 11 == 0,
        10 => weighted(&|at| 10 - at as u32) % 11 == 0,
        13 => *check < 10 && weighted(&|at| if at % 2 == 0 { 1 } else { 3 }) % 10 == 0,
        _ => false,
    }
}

#[cfg(target_family = "wasm")]
mod export {
    use extism_pdk::{FnResult, Json, plugin_fn};
    use serde_json::{Value, json};

    #[plugin_fn]
    pub fn describe(_: String) -> FnResult<Json<Value>> {
        Ok(Json(json!({"tools": [{
            "name": "check",
            "description": "Says whether the check digit of an ISSN or ISBN is right.",
            "inputSchema": {
                "type": "object",
                "required": ["identifier"],
                "properties": {"identifier": {"type": "string"}}
            }
        }]})))
    }

    #[plugin_fn]
    pub fn call(Json(asked): Json<Value>) -> FnResult<Json<Value>> {
        let text = asked["params"]["arguments"]["identifier"].as_str().unwrap_or_default();
        let verdict = if super::is_valid(text) { "valid" } else { "not valid" };
        Ok(Json(json!({"content": [{"type": "text", "text": format!("{text} is {verdict}")}]})))
    }
}

#[cfg(test)]
mod tests {
    use super::is_valid;

    #[test]
    fn check_digits_are_checked() {
        for good in ["0317-8471", "2434-561X", "0-306-40615-2", "978-0-306-40615-7"] {
            assert!(is_valid(good), "{good}");
        }
        for bad in ["", "0317-8472", "X317-8471", "978-0-306-40615-8", "2434-56XX", "doi"] {
            assert!(!is_valid(bad), "{bad}");
        }
    }
}
