//! What the plugin lists: its tools, resource, resource template and prompt.

use serde_json::{Value, json};

/// The URI of the resource that describes the plugin.
pub const ABOUT: &str = "ror:about";
/// The template of resources by ROR id: an opaque URI, because a ROR id is a name, not a path.
pub const TEMPLATE: &str = "ror:{id}";
/// Country codes that completion knows.
pub const COUNTRIES: [&str; 12] =
    ["AT", "AU", "CA", "CH", "CN", "DE", "ES", "FR", "GB", "IN", "JP", "US"];

/// The tools.
pub fn tools() -> Value {
    let organization = json!({
        "type": "object",
        "required": ["id", "name", "other_names", "status"],
        "properties": {
            "id": {"type": "string"},
            "name": {"type": "string"},
            "other_names": {"type": "array", "items": {"type": "string"}},
            "country": {"type": "string"},
            "city": {"type": "string"},
            "status": {"type": "string"},
            "established": {"type": "integer"},
            "website": {"type": "string"}
        }
    });
    let hints = json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
        "openWorldHint": true});
    json!([
        {
            "name": "search",
            "title": "Search research organisations",
            "description": "Finds universities, institutes and funders by name in the Research \
                Organization Registry. Use it to turn an affiliation into an identifier.",
            "inputSchema": {
                "type": "object",
                "required": ["query"],
                "properties": {
                    "query": {"type": "string", "minLength": 1, "description": "A name."},
                    "country": {"type": "string", "pattern": "^[A-Z]{2}$",
                        "description": "Only in this country, by its ISO 3166 code."}
                },
                "additionalProperties": false
            },
            "outputSchema": {
                "type": "object",
                "required": ["total", "organizations"],
                "properties": {
                    "total": {"type": "integer"},
                    "organizations": {"type": "array", "items": organization}
                }
            },
            "annotations": hints
        },
        {
            "name": "describe",
            "description": "Tells in a sentence what organisation a ROR id names.",
            "inputSchema": {
                "type": "object",
                "required": ["id"],
                "properties": {"id": {"type": "string", "description": "A ROR id in any spelling."}},
                "additionalProperties": false
            },
            "annotations": hints
        }
    ])
}

/// The resources.
pub fn resources() -> Value {
    json!([{
        "uri": ABOUT,
        "name": "about",
        "title": "About this plugin",
        "description": "What it reads and how it is set.",
        "mimeType": "text/markdown"
    }])
}

/// The resource templates.
pub fn templates() -> Value {
    json!([{
        "uriTemplate": TEMPLATE,
        "name": "organization",
        "description": "An organisation by its ROR id.",
        "mimeType": "application/json"
    }])
}

/// The prompts.
pub fn prompts() -> Value {
    json!([{
        "name": "affiliation",
        "title": "Identify an affiliation",
        "description": "Asks for the ROR id of an affiliation as it stands on a paper.",
        "arguments": [
            {"name": "affiliation", "description": "As printed.", "required": true},
            {"name": "country", "description": "ISO 3166 code."}
        ]
    }])
}

/// The messages of the prompt `affiliation`.
pub fn affiliation(text: &str, country: Option<&str>) -> Value {
    let place = country.map(|code| format!(" It is in {code}.")).unwrap_or_default();
    json!({
        "description": "The ROR id of an affiliation",
        "messages": [{"role": "user", "content": {"type": "text", "text": format!(
            "Find the ROR id of this affiliation with the tool search, and say how sure you are.\
             {place}\n\n{text}")}}]
    })
}

/// Country codes that start as typed.
pub fn countries(typed: &str) -> Vec<&'static str> {
    let typed = typed.to_ascii_uppercase();
    COUNTRIES.into_iter().filter(|code| code.starts_with(&typed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_are_completed_whatever_the_case() {
        assert_eq!(countries("c"), ["CA", "CH", "CN"]);
        assert!(countries("x").is_empty());
    }
}
