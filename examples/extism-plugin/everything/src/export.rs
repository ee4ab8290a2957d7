//! The functions that a host calls: version 2 of hyper-mcp's interface.

use extism_pdk::{Error, FnResult, Json, WithReturnCode, host_fn, plugin_fn};
use serde_json::{Value, json};

use crate::offers;
use crate::pause::pause;

/// Milliseconds between two notifications; hosts may drop some that come faster.
const PAUSE: u64 = 150;

#[host_fn("extism:host/user")]
extern "ExtismHost" {
    fn notify_logging_message(line: Json<Value>);
    fn notify_progress(report: Json<Value>);
}

#[plugin_fn]
pub fn list_tools(_: String) -> FnResult<Json<Value>> {
    Ok(Json(json!({"tools": offers::tools()})))
}

#[plugin_fn]
pub fn call_tool(Json(asked): Json<Value>) -> FnResult<Json<Value>> {
    let name = asked["request"]["name"].as_str().unwrap_or_default();
    match name {
        "tool_with_logging" => log()?,
        "tool_with_progress" => report(&asked)?,
        "error_handling" => {
            return Err(failure("This tool intentionally returns an error for testing"));
        }
        _ => {}
    }
    let content = offers::content(name).ok_or_else(|| failure("no such tool"))?;
    Ok(Json(json!({"content": content})))
}

#[plugin_fn]
pub fn list_resources(_: String) -> FnResult<Json<Value>> {
    Ok(Json(json!({"resources": offers::resources()})))
}

#[plugin_fn]
pub fn list_resource_templates(_: String) -> FnResult<Json<Value>> {
    Ok(Json(json!({"resourceTemplates": offers::templates()})))
}

#[plugin_fn]
pub fn read_resource(Json(asked): Json<Value>) -> FnResult<Json<Value>> {
    let uri = asked["request"]["uri"].as_str().unwrap_or_default();
    let document = offers::document(uri).ok_or_else(|| failure("no such document"))?;
    Ok(Json(json!({"contents": [document]})))
}

#[plugin_fn]
pub fn list_prompts(_: String) -> FnResult<Json<Value>> {
    Ok(Json(json!({"prompts": offers::prompts()})))
}

#[plugin_fn]
pub fn get_prompt(Json(asked): Json<Value>) -> FnResult<Json<Value>> {
    let request = &asked["request"];
    let name = request["name"].as_str().unwrap_or_default();
    let found = offers::messages(name, &request["arguments"]);
    let messages = found.ok_or_else(|| failure("no such prompt"))?;
    Ok(Json(json!({"messages": messages})))
}

#[plugin_fn]
pub fn complete(Json(asked): Json<Value>) -> FnResult<Json<Value>> {
    let typed = asked["request"]["argument"]["value"].as_str().unwrap_or_default();
    Ok(Json(json!({"completion": {"values": offers::values(typed), "hasMore": false}})))
}

fn log() -> Result<(), Error> {
    for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        // SAFETY: the host reads the line and keeps nothing of it.
        unsafe { notify_logging_message(Json(json!({"level": "info", "data": line})))? };
        pause(PAUSE);
    }
    Ok(())
}

fn report(asked: &Value) -> Result<(), Error> {
    let token = &asked["request"]["_meta"]["progressToken"];
    for done in [0, 50, 100] {
        let report = json!({"progressToken": token, "progress": done, "total": 100});
        // SAFETY: the host reads the report and keeps nothing of it.
        unsafe { notify_progress(Json(report))? };
        pause(PAUSE);
    }
    Ok(())
}

fn failure(words: &str) -> WithReturnCode<Error> {
    Error::msg(words.to_owned()).into()
}
