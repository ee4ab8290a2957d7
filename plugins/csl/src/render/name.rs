//! One name: the order of its parts, particles, initials.

use super::{Context, RenderTarget};
use crate::item::name::Name;
use crate::output::{Node, case, markup};
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
    /// The language of the item has the family name first.
    family_first: bool,
    /// Suffixes keep their full stops.
    periods: bool,
}

impl<'n> Styled<'n> {
    pub(super) fn new(context: &Context<'_>, names: &Names, options: &'n NameOptions) -> Self {
        let part = |get: fn(&crate::style::elements::NameElement) -> &Common| {
            names.name.as_ref().map(|name| get(name).clone()).unwrap_or_default()
        };
        let periods = options.initialize_with.as_ref().is_none_or(|with| with.contains('.'));
        Self {
            options,
            periods,
            family: part(|name| &name.family),
            given: part(|name| &name.given),
            demote: context.style.demote,
            hyphen: context.style.initialize_with_hyphen,
            family_first: context.item.has_family_first(),
            sort_key: context.target == RenderTarget::SortKey,
        }
    }

    /// Renders the name at `index` of its list.
    pub(super) fn person(&self, name: &Name, index: usize, level: Given) -> Vec<Node> {
        if let Some(literal) = &name.literal {
            return affixed(self.part(literal, &self.family), &self.family);
        }
        let short = self.options.form == Some(NameForm::Short);
        let given = self.given(name, level);
        let inverted = self.sort_key
            || match self.options.name_as_sort_order {
                Some(SortOrder::All) => true,
                Some(SortOrder::First) => index == 0,
                None => false,
            };
        if name.is_unspaced() {
            let given = if short && level == Given::Style { "" } else { name.given.as_str() };
            let family = affixed(self.part(&name.family, &self.family), &self.family);
            return [family, affixed(self.part(given, &self.given), &self.given)].concat();
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
                nodes.extend(plain_part(&name.non_dropping, &self.family));
                nodes.push(Node::text(gap(&name.non_dropping)));
            }
            nodes.extend(self.part(&name.family, &self.family));
            nodes = affixed(nodes, &self.family);
            if !shown && !name.non_dropping.is_empty() {
                nodes.push(Node::text(", "));
                nodes.push(Node::text(name.non_dropping.clone()));
            }
            if !short && !name.suffix.is_empty() {
                nodes.push(Node::text(if name.comma_suffix { ", " } else { " " }));
                nodes.push(self.suffix(name));
            }
            return nodes;
        }
        if name.static_ordering || self.family_first {
            let mut family = Vec::new();
            if !name.non_dropping.is_empty() {
                family.extend(plain_part(&name.non_dropping, &self.family));
                family.push(Node::text(gap(&name.non_dropping)));
            }
            family.extend(self.part(&name.family, &self.family));
            return [family, vec![Node::text(" ")], self.part(&given, &self.given)].concat();
        }
        if inverted { self.inverted(name, &given, demoted) } else { self.natural(name, &given) }
    }

    fn inverted(&self, name: &Name, given: &str, demoted: bool) -> Vec<Node> {
        let separator = match &self.options.sort_separator {
            _ if self.sort_key => " ",
            Some(separator) => separator,
            None => ", ",
        };
        let mut first = Vec::new();
        if !demoted && !name.non_dropping.is_empty() {
            first.extend(plain_part(&name.non_dropping, &self.family));
            first.push(Node::text(if self.sort_key { " " } else { gap(&name.non_dropping) }));
        }
        first.extend(self.part(&name.family, &self.family));
        let mut nodes = affixed(first, &self.family);
        nodes.push(Node::text(separator));
        let mut second = Vec::new();
        let mut particles = vec![(&name.dropping, &self.given)];
        if self.sort_key && !demoted {
            // Where particles belong to the family name, the dropping one is compared before the given.
            particles.clear();
            if !name.dropping.is_empty() {
                second.push(Node::text(format!("{} ", name.dropping)));
            }
        }
        second.extend(self.part(given, &self.given));
        if demoted {
            particles.push((&name.non_dropping, &self.family));
        }
        for (particle, common) in particles {
            if !particle.is_empty() {
                second.push(Node::text(" "));
                second.extend(plain_part(particle, common));
            }
        }
        nodes.extend(affixed(second, &self.given));
        if !name.suffix.is_empty() {
            nodes.push(Node::text(separator));
            nodes.push(self.suffix(name));
        }
        nodes
    }

    fn natural(&self, name: &Name, given: &str) -> Vec<Node> {
        let mut first = self.part(given, &self.given);
        let mut glued = false;
        if !name.dropping.is_empty() {
            if !first.is_empty() {
                first.push(Node::text(" "));
            }
            first.extend(plain_part(&name.dropping, &self.given));
            glued = gap(&name.dropping).is_empty();
        }
        let mut nodes = affixed(first, &self.given);
        if !nodes.is_empty() && !glued {
            nodes.push(Node::text(" "));
        }
        let mut second = Vec::new();
        if !name.non_dropping.is_empty() {
            second.extend(plain_part(&name.non_dropping, &self.family));
            second.push(Node::text(gap(&name.non_dropping)));
        }
        second.extend(self.part(&name.family, &self.family));
        nodes.extend(affixed(second, &self.family));
        if !name.suffix.is_empty() {
            nodes.push(Node::text(if name.comma_suffix { ", " } else { " " }));
            nodes.push(self.suffix(name));
        }
        nodes
    }

    fn suffix(&self, name: &Name) -> Node {
        let text = if self.periods { name.suffix.clone() } else { name.suffix.replace('.', "") };
        Node::text(text)
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

    /// A part with its formatting and case, without its affixes.
    fn part(&self, text: &str, common: &Common) -> Vec<Node> {
        if text.is_empty() {
            return Vec::new();
        }
        let mut nodes = markup::value(text);
        if let Some(case) = common.case {
            case::apply(&mut nodes, case, true);
        }
        vec![Node::formatted(common.formatting, nodes)]
    }
}

/// A particle with the formatting of a part.
fn plain_part(text: &str, common: &Common) -> Vec<Node> {
    vec![Node::formatted(common.formatting, vec![Node::text(text)])]
}

/// Nodes with the affixes of a part.
fn affixed(nodes: Vec<Node>, common: &Common) -> Vec<Node> {
    if nodes.is_empty() || (common.prefix.is_empty() && common.suffix.is_empty()) {
        return nodes;
    }
    let mut out = vec![Node::text(common.prefix.clone())];
    out.extend(nodes);
    out.push(Node::text(common.suffix.clone()));
    out
}

/// A name as text for comparing: its parts in the order of sorting.
pub(crate) fn render_for_key(name: &Name, demote: Demote) -> String {
    if let Some(literal) = &name.literal {
        return literal.clone();
    }
    let mut out = String::new();
    if demote == Demote::Never && !name.non_dropping.is_empty() {
        out.push_str(&name.non_dropping);
        out.push(' ');
    }
    out.push_str(&name.family);
    let rest = if demote == Demote::Never {
        vec![&name.dropping, &name.given, &name.suffix]
    } else {
        vec![&name.given, &name.dropping, &name.non_dropping, &name.suffix]
    };
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

/// Whether a letter can be an initial: a capital, or a letter of a script without capitals.
fn is_initial(letter: char) -> bool {
    let known = matches!(
        letter,
        'A'..='Z'
            | '\u{c0}'..='\u{17f}'
            | '\u{370}'..='\u{3ff}'
            | '\u{400}'..='\u{42f}'
            | '\u{590}'..='\u{5ff}'
            | '\u{600}'..='\u{6ff}'
            | '\u{e01}'..='\u{e5b}'
    );
    known && !letter.is_lowercase()
}

/// The initials of a given name. With `whole`, only what is an initial already is written as one.
pub(crate) fn initialize(given: &str, with: &str, whole: bool, hyphen: bool) -> String {
    if !given.chars().next().is_some_and(char::is_alphanumeric) {
        return given.to_owned();
    }
    let given = if hyphen { given.to_owned() } else { given.replace('-', " ") };
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
            if !out.is_empty() && !whole {
                let end = out.trim_end().len();
                out.truncate(end);
            }
        }
        let capital = first.is_empty() || first.chars().next().is_some_and(is_initial);
        let single = first.chars().count() == 1;
        let keeps = if whole { !(capital && (single || abbreviated)) } else { !capital };
        if keeps {
            // A word that stays among initials has a blank before it, also at the beginning.
            if !(out.ends_with(' ') || whole && out.is_empty()) {
                out.push(' ');
            }
            out.push_str(word);
            if abbreviated {
                out.push_str(if whole { with.trim_end() } else { "." });
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
