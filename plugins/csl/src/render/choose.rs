//! `cs:choose`.

use super::{Context, RenderTarget, Rendered, number};
use crate::style::elements::{Branch, Condition, Element, Match, Position};

impl<'a> Context<'a> {
    pub(super) fn choose(&mut self, branches: &'a [Branch]) -> Rendered {
        match self.branch(branches) {
            Some(elements) => self.elements(elements),
            None => Rendered::default(),
        }
    }

    /// The elements of the branch that applies.
    pub(super) fn branch(&mut self, branches: &'a [Branch]) -> Option<&'a [Element]> {
        let branch = branches.iter().find(|branch| self.matches(branch))?;
        Some(&branch.elements)
    }

    fn matches(&mut self, branch: &Branch) -> bool {
        if branch.conditions.is_empty() {
            return true;
        }
        let mut tests = branch.conditions.iter();
        match branch.matching {
            Match::All => tests.all(|test| self.holds(test)),
            Match::Any => tests.any(|test| self.holds(test)),
            Match::None => !tests.any(|test| self.holds(test)),
        }
    }

    fn holds(&mut self, condition: &Condition) -> bool {
        let item = self.item;
        match condition {
            Condition::Type(kind) => *kind == item.kind,
            Condition::Variable(name) => match name.as_str() {
                "locator" => self.cite.locator.is_some(),
                "citation-number" => self.decided.number > 0,
                "first-reference-note-number" => self.cite.first_note.is_some(),
                "year-suffix" => self.decided.year_suffix.is_some(),
                "citation-label" => !self.decided.label.is_empty(),
                name => item.has(name),
            },
            Condition::IsNumeric(name) => match name.as_str() {
                "locator" => self.cite.locator.as_deref().is_some_and(number::is_numeric),
                "citation-number" => self.decided.number > 0,
                name => item.text(name).is_some_and(number::is_numeric),
            },
            Condition::IsUncertainDate(name) => item.dates.get(name).is_some_and(|date| date.circa),
            Condition::Locator(label) => {
                self.cite.locator.is_some()
                    && self.cite.label.as_deref().unwrap_or("page") == label.replace(' ', "-")
            }
            Condition::Disambiguate(value) => {
                self.tested += 1;
                (self.tested <= self.decided.conditions) == *value
            }
            Condition::Position(position) => self.is_at(*position),
            Condition::Unknown => false,
        }
    }

    fn is_at(&self, position: Position) -> bool {
        if self.target == RenderTarget::Bibliography {
            return false;
        }
        let here = self.cite.position.unwrap_or(Position::First);
        match position {
            Position::First => here == Position::First,
            Position::Subsequent => here != Position::First,
            Position::Ibid => matches!(here, Position::Ibid | Position::IbidWithLocator),
            Position::IbidWithLocator => here == Position::IbidWithLocator,
            Position::NearNote => self.cite.near_note,
        }
    }
}
