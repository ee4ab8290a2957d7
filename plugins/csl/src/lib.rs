//! Carrel's citation processor (format `process`), without tools or network: sets citations and
//! bibliographies by styles in CSL 1.0.2.
//!
//! [`style`] and [`locale`] read XML, [`item`] reads CSL-JSON; [`render`] renders elements to formatted
//! text, [`output`] assembles and writes it; [`sort`] orders items, [`disambiguation`] tells their
//! citations apart, [`citation`] and [`bibliography`] set the two parts of the result.
//!
//! Not handled: dependent styles, which the host resolves; abbreviation lists; multilingual variants
//! of names and titles; CSL-M.

mod bibliography;
mod citation;
mod disambiguation;
mod item;
mod label;
mod locale;
mod manifest;
mod output;
mod processor;
mod render;
mod request;
mod response;
mod sort;
mod style;

use carrel_pdk::{Error, Host, Manifest, Plugin};

use processor::Processor;
use request::Request;
use response::{Citation, Entry, Layout, Response};

/// The plugin.
#[derive(Debug)]
pub struct Csl;

impl Plugin for Csl {
    fn manifest() -> Manifest {
        manifest::manifest()
    }

    fn call(tool: &str, _arguments: &str, _host: &dyn Host) -> Result<String, Error> {
        Err(Error::unknown_tool(tool))
    }

    fn parse(format: &str, document: &str) -> Result<String, Error> {
        match format {
            "process" => process(document).map(|response| response.to_json()),
            other => Err(Error::unknown_format(other)),
        }
    }
}

/// Sets the citations and the bibliography of a request.
fn process(document: &str) -> Result<Response, Error> {
    let request = Request::read(document)?;
    if let Some(needs) = request.needs() {
        return Ok(Response { needs: Some(needs), ..Response::default() });
    }
    let Request { mut style, locales, locale, format, items, unknown, warnings, .. } = request;
    if locale.is_some() {
        style.default_locale.clone_from(&locale);
    }
    let mut processor = Processor::new(style, &locales, locale.as_deref(), items);
    let mut clusters = request.citations;
    let mut order: Vec<usize> = Vec::new();
    match &clusters {
        _ if request.given_positions => order.extend(0..processor.items.len()),
        None => order.extend(0..processor.items.len()),
        Some(clusters) => {
            let cited = clusters.iter().flat_map(|cluster| &cluster.cites).map(|cite| cite.item);
            let mut seen = vec![false; processor.items.len()];
            for item in cited.chain(request.uncited) {
                if !std::mem::replace(&mut seen[item], true) {
                    order.push(item);
                }
            }
        }
    }
    let order = processor.register(&order);
    let mut response = Response { unknown, warnings, ..Response::default() };
    if let Some(clusters) = &mut clusters {
        if !request.given_positions {
            processor.assign_positions(clusters);
        }
        for cluster in clusters.iter() {
            let nodes = processor.citation(&cluster.cites);
            let mut text = processor.write(&nodes, format);
            if text.is_empty() && !cluster.cites.is_empty() {
                text.push_str("[CSL STYLE ERROR: reference with no printed form.]");
            }
            response.citations.push(Citation { text });
        }
    }
    if let Some(layout) = processor.style.bibliography.as_ref().filter(|_| request.bibliography) {
        response.layout = Layout {
            hanging_indent: layout.options.hanging_indent,
            second_field_align: layout.options.second_field_align.map(|align| {
                match align {
                    style::options::Align::Flush => "flush",
                    style::options::Align::Margin => "margin",
                }
                .to_owned()
            }),
            entry_spacing: layout.options.entry_spacing.unwrap_or(1),
            line_spacing: layout.options.line_spacing.unwrap_or(1),
            max_offset: 0,
        };
        for entry in processor.entries(&order) {
            let label = entry.label.as_ref().map(|nodes| processor.write(nodes, format));
            let offset = entry
                .label
                .as_ref()
                .map_or(0, |nodes| bibliography::text(nodes).chars().count() as u64);
            response.layout.max_offset = response.layout.max_offset.max(offset);
            let mut text = processor.write(&entry.nodes, format);
            if format != output::format::Format::Html {
                text = text.replace('\n', " ");
            }
            let id = processor.items[entry.item].id.clone();
            response.bibliography.push(Entry { id, text, label });
        }
    }
    Ok(response)
}

carrel_pdk::plugin!(Csl);
