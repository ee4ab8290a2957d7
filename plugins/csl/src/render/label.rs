//! `cs:label`.

use super::{Context, Rendered, number};
use crate::output::{Node, case, decorate};
use crate::style::elements::{Label, Plural};

impl<'a> Context<'a> {
    pub(super) fn label(&mut self, label: &'a Label) -> Rendered {
        let name = label.variable.as_str();
        let (term, value) = if name == "locator" {
            let locator = self.cite.locator.clone();
            (self.cite.label.clone().unwrap_or_else(|| "page".to_owned()), locator)
        } else {
            let value = self.item.text(name).map(str::to_owned);
            (name.to_owned(), value)
        };
        let value = value.filter(|value| !value.is_empty());
        if name == "locator" && value.is_none() {
            return Rendered::default();
        }
        let value = value.unwrap_or_default();
        if self.suppressed.iter().any(|variable| variable == name) {
            return Rendered::default();
        }
        let plural = match label.plural {
            Plural::Always => true,
            Plural::Never => false,
            Plural::Contextual if name.starts_with("number-of-") => {
                number::is_multiple(&value) || !matches!(value.trim(), "1" | "0" | "")
            }
            Plural::Contextual => number::is_multiple(&value),
        };
        let counted = match term.as_str() {
            "number-of-volumes" => "volume",
            "number-of-pages" => "page",
            other => other,
        };
        let text = self.locale.term(&term, label.form, plural);
        let text = text.or_else(|| self.locale.term(counted, label.form, plural));
        let Some(text) = text else {
            return Rendered::default();
        };
        let mut nodes = vec![Node::text(text)];
        if let Some(case) = label.common.case {
            case::apply(&mut nodes, case, true);
        }
        Rendered::constant(decorate(nodes, &label.common))
    }
}
