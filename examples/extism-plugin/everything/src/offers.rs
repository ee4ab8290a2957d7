//! What the plugin offers, and what it answers (pure).

use serde_json::{Value, json};

/// One red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A tenth of a second of silence.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

/// The tools, without the prefix of the plugin's name.
pub fn tools() -> Value {
    let plain = |name: &str, description: &str| {
        let schema = json!({"type": "object", "properties": {}});
        json!({"name": name, "description": description, "inputSchema": schema})
    };
    json!([
        plain("simple_text", "Answers with text."),
        plain("image_content", "Answers with an image."),
        plain("audio_content", "Answers with audio."),
        plain("embedded_resource", "Answers with an embedded document."),
        plain("multiple_content_types", "Answers with text, an image and a document."),
        plain("tool_with_logging", "Writes three log lines."),
        plain("tool_with_progress", "Reports progress three times."),
        plain("error_handling", "Fails."),
    ])
}

/// The content of a tool's answer; None for an unknown tool.
pub fn content(tool: &str) -> Option<Value> {
    let text = |words: &str| json!({"type": "text", "text": words});
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    Some(match tool {
        "simple_text" => json!([text("This is a simple text response for testing.")]),
        "image_content" => json!([image]),
        "audio_content" => json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]),
        "embedded_resource" => json!([embedded(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content."
        )]),
        "multiple_content_types" => json!([
            text("Multiple content types test:"),
            image,
            embedded(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#
            ),
        ]),
        "tool_with_logging" => json!([text("Three lines were logged.")]),
        "tool_with_progress" => json!([text("Progress was reported three times.")]),
        _ => return None,
    })
}

fn embedded(uri: &str, kind: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}})
}

/// The documents.
pub fn resources() -> Value {
    json!([
        {"uri": "test://static-text", "name": "static-text", "description": "A text.",
         "mimeType": "text/plain"},
        {"uri": "test://static-binary", "name": "static-binary", "description": "An image.",
         "mimeType": "image/png"},
        {"uri": "test://watched-resource", "name": "watched-resource",
         "description": "A text that may change.", "mimeType": "text/plain"},
    ])
}

/// The families of documents.
pub fn templates() -> Value {
    json!([{"uriTemplate": "test://template/{id}/data", "name": "template",
            "description": "Data of an identifier.", "mimeType": "application/json"}])
}

/// A document; None if there is no such one.
pub fn document(uri: &str) -> Option<Value> {
    let text = |kind: &str, words: &str| json!({"uri": uri, "mimeType": kind, "text": words});
    match uri {
        "test://static-text" => {
            Some(text("text/plain", "This is the content of the static text resource."))
        }
        "test://static-binary" => Some(json!({"uri": uri, "mimeType": "image/png", "blob": PNG})),
        "test://watched-resource" => Some(text("text/plain", "Watched resource content")),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            Some(text("application/json", &data.to_string()))
        }
    }
}

/// The prompts, without the prefix of the plugin's name.
pub fn prompts() -> Value {
    let argument = |name: &str| json!({"name": name, "description": "A text.", "required": true});
    json!([
        {"name": "simple_prompt", "description": "A prompt without arguments."},
        {"name": "prompt_with_arguments", "description": "A prompt with two arguments.",
         "arguments": [argument("arg1"), argument("arg2")]},
        {"name": "prompt_with_embedded_resource", "description": "A prompt with a document.",
         "arguments": [argument("resourceUri")]},
        {"name": "prompt_with_image", "description": "A prompt with an image."},
    ])
}

/// The messages of a prompt; None for an unknown one.
pub fn messages(prompt: &str, arguments: &Value) -> Option<Value> {
    let given = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    let text = |words: String| json!({"type": "text", "text": words});
    let content = match prompt {
        "simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
        "prompt_with_arguments" => vec![text(format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            given("arg1"),
            given("arg2")
        ))],
        "prompt_with_embedded_resource" => vec![
            embedded(&given("resourceUri"), "text/plain", "Embedded resource content for testing."),
            text("Please process the embedded resource above.".to_owned()),
        ],
        "prompt_with_image" => vec![
            json!({"type": "image", "data": PNG, "mimeType": "image/png"}),
            text("Please analyze the image above.".to_owned()),
        ],
        _ => return None,
    };
    Some(content.into_iter().map(|one| json!({"role": "user", "content": one})).collect())
}

/// Values for an argument that begin as the client typed it.
pub fn values(typed: &str) -> Vec<&'static str> {
    ["paris", "park", "party"].into_iter().filter(|one| one.starts_with(typed)).collect()
}

#[cfg(test)]
mod tests {
    use super::{content, document, messages, prompts, tools};
    use serde_json::json;

    #[test]
    fn every_tool_but_the_failing_one_has_content() {
        for tool in tools().as_array().into_iter().flatten() {
            let name = tool["name"].as_str().unwrap_or_default();
            assert_eq!(content(name).is_none(), name == "error_handling", "{name}");
        }
    }

    #[test]
    fn every_prompt_has_messages() {
        for prompt in prompts().as_array().into_iter().flatten() {
            let name = prompt["name"].as_str().unwrap_or_default();
            assert!(messages(name, &json!({})).is_some(), "{name}");
        }
    }

    #[test]
    fn a_template_keeps_its_identifier() {
        let found = document("test://template/123/data").map(|one| one["text"].to_string());
        assert!(found.unwrap_or_default().contains("123"));
        assert_eq!(document("test://template/123"), None);
    }
}
