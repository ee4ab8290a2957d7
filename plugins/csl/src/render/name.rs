//! One name: the order of its parts, particles, initials.

use super::{Context, Place};
use crate::item::name::Name;
use crate::output::{Node, case, decorate, markup};
use crate::style::Demote;
use crate::style::elements::{Common, Names};
use crate::style::options::{NameForm, NameOptions, SortOrder};

/// How much of a given name is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub(crate) enum Given {
    /// As the style says.
    #[default]
    Style,
    /// At least its initials.
    Initials,
    /// All of it.
    Full,
}

/// The style of the names of one list.
pub(super) struct Styled<'n> {
    options: &'n NameOptions,
    family: Common,
    given: Common,
    demote: Demote,
    hyphen: bool,
    sort_key: bool,
}

impl<'n> Styled<'n> {
    pub(super) fn new(context: &Context<'_>, names: &Names, options: &'n NameOptions) -> Self {
        let part = |get: fn(&crate::style::elements::NameElement) -> &Common| {
            names.name.as_ref().map(|name| get(name).clone()).unwrap_or_default()
        };
        Self {
            options,
            family: part(|name| &name.family),
            given: part(|name| &name.given),
            demote: context.style.demote,
            hyphen: context.style.initialize_with_hyphen,
            sort_key: context.place == Place::SortKey,
        }
    }

    /// Renders the name at `index` of its list.
    pub(super) fn person(&self, name: &Name, index: usize, level: Given) -> Vec<Node> {
        if let Some(literal) = &name.literal {
            return self.part(literal, &self.family);
        }
        let short = self.options.form == Some(NameForm::Short);
        let given = self.given(name, level);
        let inverted = self.sort_key
            || match self.options.name_as_sort_order {
                Some(SortOrder::All) => true,
                Some(SortOrder::First) => index == 0,
                None => false,
            };
        let family = self.part(&name.family, &self.family);
        if name.is_unspaced() {
            let given = if short && level == Given::Style { String::new() } else { name.given.clone() };
            return [family, self.part(&given, &self.given)].concat();
        }
        let demoted = match self.demote {
            Demote::Never => false,
            Demote::SortOnly => self.sort_key,
            Demote::DisplayAndSort => inverted,
        };
        if given.is_empty() && (short || name.given.is_empty()) {
            let shown = !demoted || short && !self.sort_key;
            let mut nodes = Vec::new();
            if shown && !name.non_dropping.is_empty() {
                nodes.extend(self.part(&name.non_dropping, &self.family_particle()));
                nodes.push(Node::text(gap(&name.non_dropping)));
            }
            nodes.extend(family);
            if !shown && !name.non_dropping.is_empty() {
                nodes.push(Node::text(", "));
                nodes.push(Node::text(name.non_dropping.clone()));
            }
            if !short && !name.suffix.is_empty() {
                nodes.push(Node::text(if name.comma_suffix { ", " } else { " " }));
                nodes.push(Node::text(name.suffix.clone()));
            }
            return nodes;
        }
        let given_nodes = self.part(&given, &self.given);
        if name.static_ordering {
            return [family, vec![Node::text(" ")], given_nodes].concat();
        }
        if inverted { self.inverted(name, family, given_nodes, demoted) }
        else { self.natural(name, family, given_nodes) }
    }

    fn family_particle(&self) -> Common {
        Common { formatting: self.family.formatting, ..Common::default() }
    }

    fn given_particle(&self) -> Common {
        Common { formatting: self.given.formatting, ..Common::default() }
    }

    fn inverted(
        &self,
        name: &Name,
        family: Vec<Node>,
        given: Vec<Node>,
        demoted: bool,
    ) -> Vec<Node> {
        let separator = match &self.options.sort_separator {
            _ if self.sort_key => " ",
            Some(separator) => separator,
            None => ", ",
        };
        let mut nodes = Vec::new();
        if !demoted && !name.non_dropping.is_empty() {
            nodes.extend(self.part(&name.non_dropping, &self.family_particle()));
            nodes.push(Node::text(gap(&name.non_dropping)));
        }
        nodes.extend(family);
        nodes.push(Node::text(separator));
        nodes.extend(given);
        let mut particles = vec![&name.dropping];
        if demoted {
            particles.push(&name.non_dropping);
        }
        for particle in particles.into_iter().filter(|particle| !particle.is_empty()) {
            nodes.push(Node::text(" "));
            nodes.extend(self.part(particle, &self.given_particle()));
        }
        if !name.suffix.is_empty() {
            nodes.push(Node::text(separator));
            nodes.push(Node::text(name.suffix.clone()));
        }
        nodes
    }

    fn natural(&self, name: &Name, family: Vec<Node>, given: Vec<Node>) -> Vec<Node> {
        let mut nodes = given;
        if !nodes.is_empty() {
            nodes.push(Node::text(" "));
        }
        if !name.dropping.is_empty() {
            nodes.extend(self.part(&name.dropping, &self.given_particle()));
            nodes.push(Node::text(gap(&name.dropping)));
        }
        if !name.non_dropping.is_empty() {
            nodes.extend(self.part(&name.non_dropping, &self.family_particle()));
            nodes.push(Node::text(gap(&name.non_dropping)));
        }
        nodes.extend(family);
        if !name.suffix.is_empty() {
            nodes.push(Node::text(if name.comma_suffix { ", " } else { " " }));
            nodes.push(Node::text(name.suffix.clone()));
        }
        nodes
    }

    /// The given name as it is shown: initials, all of it, or nothing.
    fn given(&self, name: &Name, level: Given) -> String {
        if self.options.form == Some(NameForm::Short) && level == Given::Style {
            return String::new();
        }
        if !name.is_romanesque() || name.given.is_empty() {
            return name.given.clone();
        }
        match &self.options.initialize_with {
            None => name.given.clone(),
            Some(with) => {
                let whole = self.options.initialize == Some(false) || level == Given::Full;
                initialize(&name.given, with, whole, self.hyphen)
            }
        }
    }

    fn part(&self, text: &str, common: &Common) -> Vec<Node> {
        if text.is_empty() {
            return Vec::new();
        }
        let mut nodes = markup::value(text);
        if let Some(case) = common.case {
            case::apply(&mut nodes, case, true);
        }
        decorate(nodes, common).into_iter().collect()
    }
}

/// A name as text for comparing: its parts in the order of sorting.
pub(crate) fn render_for_key(name: &Name, demote: Demote) -> String {
    if let Some(literal) = &name.literal {
        return literal.clone();
    }
    let mut out = String::new();
    if demote == Demote::Never && !name.non_dropping.is_empty() {
        out.push_str(&name.non_dropping);
        out.push_str(gap(&name.non_dropping));
    }
    out.push_str(&name.family);
    let mut rest = vec![&name.given, &name.dropping];
    if demote != Demote::Never {
        rest.push(&name.non_dropping);
    }
    rest.push(&name.suffix);
    for part in rest.into_iter().filter(|part| !part.is_empty()) {
        out.push(' ');
        out.push_str(part);
    }
    out
}

/// The blank behind a particle; none behind an apostrophe or a hyphen.
fn gap(particle: &str) -> &'static str {
    match particle.chars().next_back() {
        Some('’' | '\'' | '-' | '‐' | 'ʼ' | 'ʻ') => "",
        _ => " ",
    }
}

/// The initials of a given name. With `whole`, only what is an initial already is written as one.
pub(crate) fn initialize(given: &str, with: &str, whole: bool, hyphen: bool) -> String {
    if !given.chars().next().is_some_and(char::is_alphanumeric) {
        return given.to_owned();
    }
    let spaced = given.replace('.', ". ");
    let mut out = String::new();
    // The last thing written is an initial, with `with` behind it.
    for word in spaced.split_whitespace() {
        let abbreviated = word.ends_with('.');
        let word = word.trim_end_matches('.');
        if word.is_empty() {
            continue;
        }
        let mut pieces = word.split('-').peekable();
        let first = pieces.next().unwrap_or_default();
        if first.is_empty() {
            // A hyphen behind an initial: "J.-L.".
            if !out.is_empty() {
                let end = out.trim_end().len();
                out.truncate(end);
            }
        }
        let capital = first.is_empty() || first.chars().next().is_some_and(char::is_uppercase);
        let single = first.chars().count() == 1;
        let keeps = if whole { !(capital && (single || abbreviated)) } else { !capital };
        if keeps {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
            out.push_str(word);
            if abbreviated && whole {
                out.push_str(with.trim_end());
            }
            out.push(' ');
            continue;
        }
        if !first.is_empty() {
            if abbreviated && pieces.peek().is_none() {
                out.push_str(first);
            } else {
                out.extend(first.chars().next());
            }
            out.push_str(with);
        }
        for piece in pieces {
            let upper = piece.chars().next().filter(|c| c.is_uppercase());
            if let Some(upper) = upper {
                if hyphen && !whole {
                    let end = out.trim_end().len();
                    out.truncate(end);
                    out.push('-');
                }
                out.push(upper);
                out.push_str(with);
            } else if !hyphen && !piece.is_empty() {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
                out.push_str(piece);
            }
        }
    }
    let end = out.trim_end().len();
    out.truncate(end);
    out
}
