//! The functions that a host calls: version 2 of hyper-mcp's interface.

use std::collections::BTreeMap;

use extism_pdk::{FnResult, HttpRequest, Json, WithReturnCode, config, http, info, plugin_fn};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::offers;
use crate::organization::{bare_id, quoted, read_organization, read_page};

const API: &str = "https://api.ror.org/v2/organizations";

#[derive(Deserialize)]
struct Asked<T> {
    request: T,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(default)]
    arguments: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Reading {
    uri: String,
}

#[derive(Deserialize)]
struct Completing {
    argument: Argument,
}

#[derive(Deserialize)]
struct Argument {
    name: String,
    value: String,
}

#[plugin_fn]
pub fn list_tools(_: String) -> FnResult<Json<Value>> {
    Ok(Json(json!({"tools": offers::tools()})))
}

#[plugin_fn]
pub fn call_tool(Json(asked): Json<Asked<Named>>) -> FnResult<Json<Value>> {
    let Named { name, arguments } = asked.request;
    let given = |key: &str| arguments.get(key).map(String::as_str).unwrap_or_default();
    match name.as_str() {
        "search" => search(given("query"), arguments.get("country").map(String::as_str)),
        "describe" => describe(given("id")),
        _ => Err(failure(format!("there is no tool {name}"))),
    }
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
pub fn read_resource(Json(asked): Json<Asked<Reading>>) -> FnResult<Json<Value>> {
    let uri = asked.request.uri;
    let (kind, text) = if uri == offers::ABOUT {
        let about = format!(
            "# ROR\n\nResearch organisations from <https://ror.org>.\n\nLanguage of names: {}.\n",
            language()?
        );
        ("text/markdown", about)
    } else {
        let organization = read_organization(&get(&address_of(&uri)?)?, &language()?)?;
        ("application/json", serde_json::to_string(&organization)?)
    };
    Ok(Json(json!({"contents": [{"uri": uri, "mimeType": kind, "text": text}]})))
}

#[plugin_fn]
pub fn list_prompts(_: String) -> FnResult<Json<Value>> {
    Ok(Json(json!({"prompts": offers::prompts()})))
}

#[plugin_fn]
pub fn get_prompt(Json(asked): Json<Asked<Named>>) -> FnResult<Json<Value>> {
    let arguments = asked.request.arguments;
    let text = arguments.get("affiliation").map(String::as_str).unwrap_or_default();
    let country = arguments.get("country").map(String::as_str);
    Ok(Json(offers::affiliation(text, country)))
}

#[plugin_fn]
pub fn complete(Json(asked): Json<Asked<Completing>>) -> FnResult<Json<Value>> {
    let Argument { name, value } = asked.request.argument;
    let values = if name == "country" { offers::countries(&value) } else { Vec::new() };
    Ok(Json(json!({"completion": {"values": values, "hasMore": false}})))
}

fn search(query: &str, country: Option<&str>) -> FnResult<Json<Value>> {
    let mut url = format!("{API}?query={}", quoted(query));
    if let Some(code) = country {
        url.push_str(&format!("&filter=country.country_code:{}", quoted(code)));
    }
    let most = config::get("page_size")?.and_then(|text| text.parse().ok()).unwrap_or(5);
    let page = read_page(&get(&url)?, &language()?, most)?;
    info!("{} organisations match", page.total);
    let lines = page.organizations.iter().map(|one| format!("{}: {}", one.id, one.name));
    let text = lines.collect::<Vec<_>>().join("\n");
    Ok(Json(json!({
        "content": [{"type": "text", "text": if text.is_empty() { "none" } else { &text }}],
        "structuredContent": page
    })))
}

fn describe(id: &str) -> FnResult<Json<Value>> {
    let one = read_organization(&get(&address_of(id)?)?, &language()?)?;
    let place = [one.city.as_deref(), one.country.as_deref()];
    let place = place.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let text = format!("{} ({place}) is {} in ROR.", one.name, one.status);
    Ok(Json(json!({"content": [
        {"type": "text", "text": text},
        {"type": "resource_link", "uri": format!("ror:{}", one.id), "name": one.name}
    ]})))
}

fn address_of(id: &str) -> Result<String, WithReturnCode<extism_pdk::Error>> {
    match bare_id(id) {
        Some(bare) => Ok(format!("{API}/{bare}")),
        None => Err(failure(format!("{id:?} is no ROR id; one looks like 03yrm5c26"))),
    }
}

/// The names' language, from the plugin's configuration.
fn language() -> Result<String, extism_pdk::Error> {
    Ok(config::get("language")?.unwrap_or_else(|| "en".to_owned()))
}

fn get(url: &str) -> Result<Vec<u8>, WithReturnCode<extism_pdk::Error>> {
    let request = HttpRequest::new(url).with_header("Accept", "application/json");
    let answer = http::request::<()>(&request, None)?;
    match answer.status_code() {
        200 => Ok(answer.body()),
        404 => Err(failure("ROR knows no such organisation".to_owned())),
        status => Err(failure(format!("ROR answered with status {status}"))),
    }
}

fn failure(message: String) -> WithReturnCode<extism_pdk::Error> {
    extism_pdk::Error::msg(message).into()
}
