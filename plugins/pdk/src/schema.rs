//! Generates JSON Schemas from the types of arguments and results.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The JSON Schema 2020-12 of what `T` is read from: a tool's arguments. Doc comments of fields
/// become descriptions; those of `T` and of the types of list items do not, because the
/// descriptions of the tool and the field suffice. Mark the type `#[serde(deny_unknown_fields)]` so
/// that unknown arguments are errors.
pub fn input<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>(settings().for_deserialize());
    if let Some(members) = schema.as_object_mut() {
        members.remove("description");
    }
    shorten(&mut schema);
    schema
}

/// Removes parts that do not help the caller of a tool: descriptions of the types of list items,
/// and empty lists as defaults.
fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(item)) = members.get_mut("items") {
                item.remove("description");
            }
            if members.get("default").and_then(Value::as_array).is_some_and(Vec::is_empty) {
                members.remove("default");
            }
            members.values_mut().for_each(shorten);
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        _ => {}
    }
}

/// The JSON Schema 2020-12 of what `T` is written as: a result. Nothing in it may be null: unknown
/// members are absent.
pub fn output<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>(settings().for_serialize());
    drop_null(&mut schema);
    schema
}

/// Removes the members that a source never has from every object of a schema.
pub fn leave_out(schema: &mut Value, names: &[&str]) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get_mut("properties") {
                properties.retain(|name, _| !names.contains(&name.as_str()));
            }
            members.values_mut().for_each(|member| leave_out(member, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| leave_out(item, names)),
        _ => {}
    }
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        // Clients show schemas to models, which read a schema without references best.
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The name of a Rust type means nothing to a reader of the schema.
    schema.remove("title");
    let mut schema = Value::from(schema);
    tidy(&mut schema);
    schema
}

/// Removes null, which the generator allows for optional fields and no result contains.
fn drop_null(schema: &mut Value) {
    let null = Value::from("null");
    match schema {
        Value::Object(members) => {
            if let Some(Value::Array(types)) = members.get_mut("type")
                && types.contains(&null)
            {
                types.retain(|kind| *kind != null);
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    members.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(choices)) = members.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type") != Some(&null));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    members.remove("anyOf");
                    for (key, value) in only {
                        members.entry(key).or_insert(value);
                    }
                }
            }
            members.values_mut().for_each(drop_null);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_null),
        _ => {}
    }
}

/// Removes the generator's Rust-specific parts: formats such as `uint32`, which validators do not
/// know, the default `null` of optional members, and line breaks of doc comments.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("format").and_then(Value::as_str).is_some_and(|f| f.starts_with("uint"))
            {
                members.remove("format");
            }
            if members.get("default") == Some(&Value::Null) {
                members.remove("default");
            }
            if let Some(Value::String(description)) = members.get_mut("description") {
                *description = description.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            members.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    #[test]
    fn members_that_a_source_never_gives_are_left_out_at_any_depth() {
        let mut schema = json!({"properties": {
            "works": {"items": {"properties": {"title": {}, "is_oa": {}}}}, "is_oa": {}
        }});
        super::leave_out(&mut schema, &["is_oa"]);
        assert_eq!(
            schema,
            json!({"properties": {"works": {"items": {"properties": {"title": {}}}}}})
        );
    }

    use super::*;

    /// Words to search for.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Question {
        /// How many.
        #[serde(default)]
        count: u32,
        #[serde(default)]
        #[schemars(with = "String")]
        word: Option<String>,
    }

    #[test]
    fn a_schema_says_nothing_about_rust() {
        assert_eq!(
            input::<Question>(),
            json!({
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "count": {
                        "type": "integer", "minimum": 0, "default": 0, "description": "How many."
                    },
                    "word": {"type": "string"}
                }
            })
        );
    }

    #[test]
    fn a_list_says_nothing_twice() {
        /// A colour.
        #[derive(Serialize, Deserialize, JsonSchema)]
        #[schemars(inline)]
        struct Colour {
            name: String,
        }
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct Painting {
            /// Colours to use.
            #[serde(default)]
            colours: Vec<Colour>,
        }
        let colours = &input::<Painting>()["properties"]["colours"];
        assert_eq!(colours["description"], "Colours to use.");
        assert_eq!(colours["items"].get("description"), None);
        assert_eq!(colours.get("default"), None);
    }

    #[test]
    fn a_result_has_no_nulls() {
        #[derive(serde::Serialize, JsonSchema)]
        #[allow(dead_code)]
        struct Inner {
            number: Option<u32>,
        }
        /// A result.
        #[derive(serde::Serialize, JsonSchema)]
        struct Outer {
            /// Inside.
            #[serde(skip_serializing_if = "Option::is_none")]
            inner: Option<Inner>,
            list: Vec<String>,
        }
        let schema = output::<Outer>();
        assert!(!schema.to_string().contains("null"), "{schema}");
        assert_eq!(schema["properties"]["inner"]["type"], "object");
        assert_eq!(schema["properties"]["inner"]["description"], "Inside.");
        assert_eq!(schema["properties"]["inner"]["properties"]["number"]["type"], "integer");
        assert_eq!(schema["required"], serde_json::json!(["list"]));
    }
}
