//! Runs the fixtures of the CSL test-suite and requires that most of them pass.
//!
//! The suite is not part of this repository: `CSL_SUITE` names its folder of fixtures, `CSL_LOCALES` a
//! folder of locale files. Without them nothing is checked.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "tests fail loudly and report")]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;

use carrel_csl::Csl;
use carrel_pdk::Plugin;
use serde_json::{Map, Value, json};

/// The least share of fixtures that pass, in per cent.
const LEAST: usize = 90;

#[test]
fn most_fixtures_of_the_test_suite_pass() {
    let (Ok(suite), Ok(locales)) = (env::var("CSL_SUITE"), env::var("CSL_LOCALES")) else { return };
    let mut passed: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut failed: Vec<String> = Vec::new();
    let files = fs::read_dir(suite).expect("CSL_SUITE is a folder");
    for file in files.flatten() {
        let Ok(text) = fs::read_to_string(file.path()) else { continue };
        let text = text.replace("\r\n", "\n");
        let Some(found) = run(&text, Path::new(&locales)) else { continue };
        let expected = section(&text, "RESULT").unwrap_or_default();
        let name = file.file_name().to_string_lossy().into_owned();
        let category = name.split('_').next().unwrap_or_default().to_owned();
        let counts = passed.entry(category).or_default();
        counts.1 += 1;
        counts.0 += usize::from(found.trim() == expected.trim());
        if found.trim() != expected.trim() {
            if env::var_os("CSL_SHOW").is_some() {
                println!("== {name}\n{}\n-- expected\n{}", found.trim(), expected.trim());
            }
            failed.push(name);
        }
    }
    let (good, all) = passed.values().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    println!("{good} of {all} pass: {passed:?}; not: {failed:?}");
    assert!(all > 0 && good * 100 >= all * LEAST, "{good} of {all}: {passed:?}");
}

/// A section of a fixture.
fn section(text: &str, name: &str) -> Option<String> {
    let mut inside: Option<Vec<&str>> = None;
    for line in text.lines() {
        let bare = line.trim_start_matches('\u{feff}').trim_matches(['=', '<', '>', ' ']);
        let marker = line.contains("==") && bare == name;
        match &mut inside {
            None if marker && line.trim_start_matches('\u{feff}').starts_with(">>") => {
                inside = Some(Vec::new());
            }
            Some(lines) if marker => return Some(lines.join("\n")),
            Some(lines) => lines.push(line),
            None => {}
        }
    }
    None
}

/// The result of a fixture; `None` when it is not for this runner.
fn run(text: &str, locales: &Path) -> Option<String> {
    let style = section(text, "CSL")?;
    let mode = section(text, "MODE")?.trim().to_owned();
    let mut items: Vec<Value> = serde_json::from_str(&section(text, "INPUT")?).ok()?;
    for (number, item) in items.iter_mut().enumerate() {
        if item.get("id").is_none() {
            item["id"] = json!(format!("ITEM-{number}"));
        }
    }
    let shared =
        json!({"style": style, "format": "html", "locales": read_locales(&style, locales)});
    let request = |members: Value| {
        let mut all = shared.clone();
        for (key, value) in members.as_object().into_iter().flatten() {
            all[key] = value.clone();
        }
        let result =
            Csl::parse("process", &all.to_string()).unwrap_or_else(|error| error.to_json());
        serde_json::from_str::<Value>(&result).expect("a result is JSON")
    };
    if let Some(citations) = section(text, "CITATIONS") {
        let changes: Vec<Value> = serde_json::from_str(&citations).ok()?;
        return document(&changes, &items, &request);
    }
    if mode == "citation" {
        let clusters = match section(text, "CITATION-ITEMS") {
            Some(lists) => {
                let lists: Vec<Value> = serde_json::from_str(&lists).ok()?;
                lists.into_iter().map(|items| json!({"items": items})).collect()
            }
            None => {
                let mut seen: Vec<&Value> = Vec::new();
                items.iter().for_each(|item| {
                    if !seen.contains(&&item["id"]) {
                        seen.push(&item["id"]);
                    }
                });
                vec![json!({"items": seen.iter().map(|id| json!({"id": id})).collect::<Vec<_>>()})]
            }
        };
        let result = request(json!({"items": items, "citations": clusters, "positions": "given"}));
        return Some(texts(&result["citations"]).join("\n"));
    }
    if mode == "bibliography" {
        let result = request(json!({"items": items}));
        let mut out = "<div class=\"csl-bib-body\">\n".to_owned();
        for entry in texts(&result["bibliography"]) {
            out.push_str(&format!("  <div class=\"csl-entry\">{entry}</div>\n"));
        }
        return Some(out + "</div>");
    }
    None
}

fn texts(list: &Value) -> Vec<String> {
    let all = list.as_array().into_iter().flatten();
    all.map(|entry| entry["text"].as_str().unwrap_or_default().to_owned()).collect()
}

/// The citations of a document after its last change, those that it changed marked.
fn document(
    changes: &[Value],
    items: &[Value],
    request: &dyn Fn(Value) -> Value,
) -> Option<String> {
    let state = |last: usize| -> Option<Vec<(String, String)>> {
        let change = changes.get(last)?;
        let own = json!([change[0]["citationID"], change[0]["properties"]["noteIndex"]]);
        let sequence: Vec<&Value> = change[1]
            .as_array()?
            .iter()
            .chain(std::iter::once(&own))
            .chain(change[2].as_array()?)
            .collect();
        let clusters: Vec<Value> = sequence
            .iter()
            .filter_map(|citation| {
                let found =
                    changes.iter().rev().find(|change| change[0]["citationID"] == citation[0])?;
                Some(json!({"items": found[0]["citationItems"], "note_index": citation[1]}))
            })
            .collect();
        let result = request(json!({"items": items, "citations": clusters}));
        let ids = sequence.iter().map(|citation| citation[0].to_string());
        Some(ids.zip(texts(&result["citations"])).collect())
    };
    let last = changes.len().checked_sub(1)?;
    let before = last.checked_sub(1).and_then(state).unwrap_or_default();
    let own = changes[last][0]["citationID"].to_string();
    let lines = state(last)?.into_iter().enumerate().map(|(number, (id, text))| {
        let same = id != own && before.iter().any(|(old, shown)| *old == id && *shown == text);
        format!("{}[{number}] {text}", if same { ".." } else { ">>" })
    });
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// The locale files that a style may need: its own language's, and American English.
fn read_locales(style: &str, folder: &Path) -> Map<String, Value> {
    let locale = style.split("default-locale=\"").nth(1).and_then(|rest| rest.split('"').next());
    let base = locale.unwrap_or("en-US").split('-').next().unwrap_or_default().to_owned();
    let mut found = Map::new();
    for file in fs::read_dir(folder).expect("CSL_LOCALES is a folder").flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        let name = name.trim_start_matches("locales-").trim_end_matches(".xml").to_owned();
        if (name == "en-US" || name == base || name.starts_with(&format!("{base}-")))
            && let Ok(text) = fs::read_to_string(file.path())
        {
            found.insert(name, Value::String(text));
        }
    }
    found
}
