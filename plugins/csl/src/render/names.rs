//! `cs:names`: lists of names with their labels, and what substitutes them.

use super::name::{Given, Styled};
use super::{Context, RenderTarget, Rendered};
use crate::item::name::{Name, is_romanesque};
use crate::output::{Mark, Node, Quotes, Span, case, decorate, join};
use crate::style::elements::{Common, Element, Form, NameLabel, Names, Plural, Position};
use crate::style::options::{And, NameForm, NameOptions, Precedes, SortOrder};

impl<'a> Context<'a> {
    pub(super) fn names(&mut self, own: &'a Names) -> Rendered {
        let bare = own.name.is_none() && own.et_al.is_none() && own.label.is_none();
        let parent = self.parents.last().copied().filter(|_| bare);
        let shape = parent.unwrap_or(own);
        let options = self.forced.within(&shape.options.within(self.names));
        let lists = self.lists_of(own);
        if lists.is_empty() {
            let gone = own.variables.iter().any(|variable| self.suppressed.contains(variable));
            if self.cite.suppress_author && (self.lists == 0 || gone) {
                self.lists = self.lists.max(1);
                return Rendered { nodes: Vec::new(), called: true, filled: false };
            }
            return self.substitute(own);
        }
        for variable in &own.variables {
            self.record(variable);
        }
        if self.dates_only {
            return Rendered::variable(None);
        }
        if self.cite.suppress_author && self.lists == 0 {
            self.lists += 1;
            self.suppressed.extend(own.variables.iter().cloned());
            return Rendered { nodes: Vec::new(), called: true, filled: false };
        }
        if options.form == Some(NameForm::Count) {
            let count: usize = lists
                .iter()
                .map(|(_, people)| self.visible(self.lists, people.len(), &options).0)
                .sum();
            self.lists += lists.len();
            return Rendered::variable(decorate(vec![Node::text(count.to_string())], &own.common));
        }
        let mut nodes = Vec::new();
        for (variable, people) in &lists {
            let people_node = self.list(people, shape, &options);
            let label = shape.label.as_ref().filter(|_| self.target != RenderTarget::SortKey);
            let label_node = label.and_then(|label| self.name_label(label, variable, people.len()));
            let mut both = vec![people_node];
            if let Some(node) = label_node {
                let at = usize::from(!label.is_some_and(|label| label.before));
                both.insert(at, node);
            }
            nodes.push(Node::plain(both));
        }
        let delimiter = own.options.names_delimiter.clone().or(options.names_delimiter.clone());
        let nodes = join(nodes, &delimiter.unwrap_or_default());
        Rendered::variable(decorate(nodes, &own.common))
    }

    /// The variables that have names, each with the term of its label.
    fn lists_of(&self, names: &Names) -> Vec<(String, &'a [Name])> {
        let item = self.item;
        let mut lists: Vec<(String, &'a [Name])> = Vec::new();
        for variable in &names.variables {
            if self.suppressed.contains(variable) {
                continue;
            }
            if let Some(people) = item.names.get(variable).filter(|people| !people.is_empty()) {
                lists.push((variable.clone(), people));
            }
        }
        let at = |name: &str| lists.iter().position(|(variable, _)| variable == name);
        if let (Some(editor), Some(translator)) = (at("editor"), at("translator")) {
            let same = lists[editor].1 == lists[translator].1;
            if same && self.locale.find("editortranslator", Form::Long).is_some() {
                let (first, second) = (editor.min(translator), editor.max(translator));
                lists[first].0 = "editortranslator".to_owned();
                lists.remove(second);
            }
        }
        lists
    }

    fn substitute(&mut self, own: &'a Names) -> Rendered {
        if own.substitute.is_empty() || self.parents.len() > 8 {
            return Rendered::variable(None);
        }
        self.parents.push(own);
        let found = self.first_substitute(&own.substitute, own);
        self.parents.pop();
        found.unwrap_or_else(|| Rendered::variable(None))
    }

    /// The first of several elements that gives text; those of the branch of a choice are several, too.
    fn first_substitute(&mut self, elements: &'a [Element], own: &'a Names) -> Option<Rendered> {
        for element in elements {
            if let Element::Choose(branches) = element {
                if let Some(branch) = self.branch(branches)
                    && let Some(found) = self.first_substitute(branch, own)
                {
                    return Some(found);
                }
                continue;
            }
            let before = self.recorded.replace(Vec::new());
            let rendered = self.element(element);
            let recorded = std::mem::replace(&mut self.recorded, before).unwrap_or_default();
            for variable in &recorded {
                self.record(variable);
            }
            if rendered.nodes.iter().any(|node| !node.is_empty()) {
                self.suppressed.extend(recorded);
                let nodes = match element {
                    Element::Names(_) => rendered.nodes,
                    _ => {
                        // Texts are the same if their formatting is, too.
                        let whole = Mark::Names(vec![format!("{:?}", rendered.nodes)]);
                        vec![Node::marked(whole, rendered.nodes)]
                    }
                };
                let common = Common {
                    prefix: own.common.prefix.clone(),
                    suffix: own.common.suffix.clone(),
                    formatting: own.common.formatting,
                    ..Common::default()
                };
                return Some(Rendered::variable(decorate(nodes, &common)));
            }
        }
        None
    }

    /// Remembers a variable that a `cs:substitute` renders.
    pub(super) fn record(&mut self, variable: &str) {
        if let Some(recorded) = &mut self.recorded {
            recorded.push(variable.to_owned());
        }
    }

    /// How many of `count` names are shown, and whether the list is truncated.
    fn visible(&self, list: usize, count: usize, options: &NameOptions) -> (usize, bool) {
        let subsequent = self.target == RenderTarget::Citation
            && self.cite.position.is_some_and(|position| position != Position::First);
        let (mut min, mut first) = (options.et_al_min, options.et_al_use_first);
        if subsequent {
            min = options.et_al_subsequent_min.or(min);
            first = options.et_al_subsequent_use_first.or(first);
        }
        let (Some(min), Some(first)) = (min, first) else { return (count, false) };
        if min == 0 || count < min {
            return (count, false);
        }
        let first = first.max(self.decided.least_names.get(list).copied().unwrap_or(0));
        if first >= count { (count, false) } else { (first, true) }
    }

    fn list(&mut self, people: &[Name], shape: &Names, options: &NameOptions) -> Node {
        let list = self.lists;
        let (shown, truncated) = self.visible(list, people.len(), options);
        self.lists += 1;
        self.shown.push((people.to_vec(), shown));
        let styled = Styled::new(self, shape, options);
        let level = |index: usize| -> Given {
            let levels = self.decided.givens.get(list);
            let own = levels.and_then(|levels| levels.get(index)).copied().unwrap_or_default();
            let persons = self.persons.filter(|persons| index == 0 || !persons.primary);
            let everywhere = persons.and_then(|persons| persons.levels.get(&people[index]));
            own.max(everywhere.copied().unwrap_or_default())
        };
        let person = |index: usize| -> Node {
            let nodes = styled.person(&people[index], index, level(index));
            Node::marked(Mark::Name, nodes)
        };
        let nodes: Vec<Node> = (0..shown).map(person).collect();
        let names: Vec<String> = people.iter().take(shown).map(Name::whole).collect();
        let delimiter = options.delimiter.as_deref().unwrap_or(", ");
        let inverted = |index: usize| match options.name_as_sort_order {
            _ if people.get(index).is_some_and(|person| person.literal.is_some()) => false,
            Some(SortOrder::All) => true,
            Some(SortOrder::First) => index == 0,
            None => false,
        };
        let and = options.and.map(|and| match and {
            And::Text => self.locale.term("and", Form::Long, false).unwrap_or("and"),
            And::Symbol => self.locale.term("and", Form::Symbol, false).unwrap_or("&"),
        });
        let and = and.filter(|_| self.target != RenderTarget::SortKey);
        let nodes = if shown == 0 {
            Vec::new()
        } else if truncated {
            let last = options.et_al_use_last == Some(true) && people.len() >= shown + 2;
            let precedes = |rule: Option<Precedes>| match rule.unwrap_or(Precedes::Contextual) {
                Precedes::Always => true,
                Precedes::Never => false,
                Precedes::Contextual => shown > 1,
                Precedes::AfterInvertedName => shown > 0 && inverted(shown - 1),
            };
            let mut nodes = join(nodes, delimiter);
            if last {
                nodes.push(Node::text(format!("{delimiter}… ")));
                nodes.push(person(people.len() - 1));
            } else {
                let term = shape.et_al.as_ref().map_or("et-al", |et_al| et_al.term.as_str());
                let text = self.locale.term(term, Form::Long, false).unwrap_or("et al.");
                if !text.is_empty() && self.target != RenderTarget::SortKey {
                    let separator = if precedes(options.delimiter_precedes_et_al) {
                        delimiter
                    } else if is_unspaced(text) {
                        ""
                    } else {
                        " "
                    };
                    nodes.push(Node::text(separator));
                    let formatting = shape.et_al.as_ref().map(|et_al| et_al.formatting);
                    let text = vec![Node::text(text)];
                    nodes.push(Node::formatted(formatting.unwrap_or_default(), text));
                }
            }
            nodes
        } else if let (Some(and), true) = (and, nodes.len() > 1) {
            let count = nodes.len();
            let institution = people.last().is_some_and(|person| person.literal.is_some());
            let rule = options.delimiter_precedes_last.filter(|_| !institution);
            let precedes = match rule.unwrap_or(Precedes::Contextual) {
                // `と` of Japanese needs no delimiter before it, but between two names.
                Precedes::Always => count == 2 || !is_unspaced(and),
                Precedes::Never => false,
                Precedes::Contextual => count > 2 && !is_unspaced(and),
                Precedes::AfterInvertedName => inverted(count - 2) && !is_unspaced(and),
            };
            let separator = match (precedes, delimiter.ends_with(char::is_whitespace)) {
                (false, _) if is_unspaced(and) => and.to_owned(),
                (true, true) => format!("{delimiter}{and}"),
                (true, false) => format!("{delimiter} {and}"),
                (false, _) => format!(" {and}"),
            };
            let gap = if and.ends_with(char::is_whitespace) || is_unspaced(and) { "" } else { " " };
            let separator = format!("{separator}{gap}");
            let mut nodes = nodes;
            let last = nodes.pop();
            let mut nodes = join(nodes, delimiter);
            nodes.push(Node::text(separator));
            nodes.extend(last);
            nodes
        } else {
            join(nodes, delimiter)
        };
        let common = shape.name.as_ref().map(|name| &name.common);
        let mut children = nodes;
        if let Some(common) = common {
            let formatted = Node::Span(Box::new(Span {
                formatting: common.formatting,
                quotes: Quotes::None,
                children,
                ..Span::default()
            }));
            children = Vec::new();
            if !common.prefix.is_empty() {
                children.push(Node::text(common.prefix.clone()));
            }
            children.push(formatted);
            if !common.suffix.is_empty() {
                children.push(Node::text(common.suffix.clone()));
            }
        }
        Node::marked(Mark::Names(names), children)
    }

    fn name_label(&self, label: &NameLabel, variable: &str, count: usize) -> Option<Node> {
        let plural = match label.plural {
            Plural::Always => true,
            Plural::Never => false,
            Plural::Contextual => count > 1,
        };
        let term = self.locale.term(variable, label.form, plural)?;
        let mut nodes = vec![Node::text(term)];
        if let Some(case) = label.common.case {
            case::apply(&mut nodes, case, true);
        }
        decorate(nodes, &label.common)
    }
}

/// Whether a term is written without blanks around it: Chinese, Japanese and Korean ones.
fn is_unspaced(term: &str) -> bool {
    !term.is_empty() && term.chars().all(|c| !is_romanesque(c))
}
