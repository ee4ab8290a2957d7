//! The result: citations and a bibliography as text.

use carrel_pdk::json::Writer;
use schemars::JsonSchema;
use serde::Serialize;

/// The result of the format `process`.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Response {
    /// The citations of the request, in its order.
    pub(crate) citations: Vec<Citation>,
    /// The entries of the bibliography, in its order.
    pub(crate) bibliography: Vec<Entry>,
    /// How the bibliography is set.
    pub(crate) layout: Layout,
    /// Ids that the request cites and has no item for.
    pub(crate) unknown: Vec<String>,
    /// What was not as expected.
    pub(crate) warnings: Vec<Warning>,
    /// What the request lacks; nothing was rendered then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) needs: Option<Needs>,
}

/// What a request lacks.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Needs {
    /// The address of the independent style that a dependent one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) independent_parent: Option<String>,
    /// The locale of the dependent style.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) default_locale: Option<String>,
    /// Locales of which the request has no text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) locales: Vec<String>,
}

/// A citation.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Citation {
    /// The citation in the requested format.
    pub(crate) text: String,
}

/// An entry of the bibliography.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The item's id.
    pub(crate) id: String,
    /// The entry in the requested format.
    pub(crate) text: String,
    /// The first field, where the style aligns the second one; also part of `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
}

/// The layout of a bibliography.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Layout {
    /// Lines after an entry's first one are indented.
    pub(crate) hanging_indent: bool,
    /// How the second field is aligned: `flush` or `margin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) second_field_align: Option<String>,
    /// Blank lines between entries.
    pub(crate) entry_spacing: u64,
    /// The spacing of lines.
    pub(crate) line_spacing: u64,
    /// Characters of the longest label.
    pub(crate) max_offset: u64,
}

/// A warning.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Warning {
    /// What kind of problem it is.
    pub(crate) code: String,
    /// The problem in words.
    pub(crate) message: String,
}

impl Response {
    /// The result as JSON.
    pub(crate) fn to_json(&self) -> String {
        let mut writer = Writer::with_capacity(1024);
        let mut object = writer.object();
        object.objects("citations", &self.citations, |citation, out| {
            out.string("text", &citation.text);
        });
        object.objects("bibliography", &self.bibliography, |entry, out| {
            out.string("id", &entry.id);
            out.string("text", &entry.text);
            out.optional("label", entry.label.as_deref());
        });
        let mut layout = object.object("layout");
        layout.boolean("hanging_indent", self.layout.hanging_indent);
        layout.optional("second_field_align", self.layout.second_field_align.as_deref());
        layout.number("entry_spacing", self.layout.entry_spacing);
        layout.number("line_spacing", self.layout.line_spacing);
        layout.number("max_offset", self.layout.max_offset);
        layout.end();
        object.strings("unknown", &self.unknown);
        object.objects("warnings", &self.warnings, |warning, out| {
            out.string("code", &warning.code);
            out.string("message", &warning.message);
        });
        if let Some(needs) = &self.needs {
            let mut out = object.object("needs");
            out.optional("independent_parent", needs.independent_parent.as_deref());
            out.optional("default_locale", needs.default_locale.as_deref());
            if !needs.locales.is_empty() {
                out.strings("locales", &needs.locales);
            }
            out.end();
        }
        object.end();
        writer.finish()
    }
}
