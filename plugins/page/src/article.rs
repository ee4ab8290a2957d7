//! Extracts the text of an article by scoring: paragraphs add to the scores of the elements around
//! them, the element with the highest score is the article, and parts of it that are mostly links,
//! fields or pictures are left out. Rules and constants are those of Mozilla's Readability, which
//! many pages are designed for.

use crate::dom::{Id, Tree};
use crate::measure::{Measured, Stat};

/// A part of a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// Elements, or runs of nodes in one element, in document order.
    pub(crate) roots: Vec<Id>,
    /// Elements inside that are left out.
    pub(crate) gone: Vec<bool>,
    /// Characters of its text.
    pub(crate) chars: usize,
}

/// The rules in use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Leave out elements named like boilerplate.
    pub(crate) unlikely: bool,
    /// Score names.
    pub(crate) weights: bool,
    /// Leave out lists and boxes that do not look like text.
    pub(crate) clean: bool,
}

impl Measured<'_> {
    /// Finds the article; retries with fewer rules while it is short.
    pub(crate) fn article(&self, gone: &[bool], title: &str) -> Option<Selection> {
        let mut best: Option<Selection> = None;
        for (unlikely, weights, clean) in
            [(true, true, true), (false, true, true), (false, false, true), (false, false, false)]
        {
            let found = self.attempt(gone, title, Rules { unlikely, weights, clean });
            if let Some(found) = found {
                let enough = found.chars >= 500;
                if best.as_ref().is_none_or(|best| best.chars < found.chars) {
                    best = Some(found);
                }
                if enough {
                    break;
                }
            }
        }
        best.filter(|best| best.chars > 0)
    }

    fn attempt(&self, gone: &[bool], title: &str, rules: Rules) -> Option<Selection> {
        let tree = self.tree;
        let mut gone = gone.to_vec();
        let mut to_score = Vec::new();
        self.strip(&mut gone, &mut to_score, title, rules);
        let mut stats = self.stats(&gone);
        let mut scores: Vec<Option<f32>> = vec![None; tree.len()];
        for id in to_score {
            self.score(id, &stats, &mut scores, rules);
        }
        let body = tree.descendants(0).find(|&id| tree.name(id) == "body")?;
        let top = self.top(body, &stats, &mut scores, rules);
        let roots = self.with_siblings(top, body, &stats, &scores);
        for &root in &roots {
            self.clean(root, &mut gone, &mut stats, rules);
        }
        let chars =
            roots.iter().filter(|&&root| !gone[root]).map(|&root| stats[root].chars as usize).sum();
        Some(Selection { roots, gone, chars })
    }

    /// Leaves out unlikely elements and lists those that add scores.
    fn strip(&self, gone: &mut [bool], to_score: &mut Vec<Id>, title: &str, rules: Rules) {
        let tree = self.tree;
        let stats = self.stats(gone);
        let (mut at, mut byline, mut heading) = (0, false, false);
        while at < tree.len() {
            if gone[at] {
                at = tree.end(at);
                continue;
            }
            if !tree.is_element(at) {
                at += 1;
                continue;
            }
            let (name, hint) = (tree.name(at), self.hints.of(at));
            let mut leave = false;
            if !byline && is_byline(tree, at, hint.byline) && (1..100).contains(&stats[at].chars) {
                (byline, leave) = (true, true);
            } else if !heading
                && matches!(name, "h1" | "h2")
                && similar(title, &tree.all_text(at)) > 0.75
            {
                (heading, leave) = (true, true);
            } else if rules.unlikely {
                let inside = |names: &[&str]| {
                    tree.ancestors(at).any(|outer| names.contains(&tree.name(outer)))
                };
                leave = (hint.unlikely
                    && !matches!(name, "body" | "a" | "html")
                    && !inside(&["table", "code"]))
                    || tree.attribute(at, "role").is_some_and(|role| {
                        matches!(
                            role,
                            "menu"
                                | "menubar"
                                | "complementary"
                                | "navigation"
                                | "alert"
                                | "alertdialog"
                                | "dialog"
                        )
                    });
            }
            if leave {
                gone[at..tree.end(at)].fill(true);
                at = tree.end(at);
                continue;
            }
            if matches!(name, "section" | "h2" | "h3" | "h4" | "h5" | "h6" | "p" | "td" | "pre")
                || !self.runs[at].is_empty()
            {
                to_score.push(at);
            }
            at += 1;
        }
    }

    fn score(&self, id: Id, stats: &[Stat], scores: &mut [Option<f32>], rules: Rules) {
        let tree = self.tree;
        let name = tree.name(id);
        let tagged =
            matches!(name, "section" | "h2" | "h3" | "h4" | "h5" | "h6" | "p" | "td" | "pre");
        if tagged || self.as_paragraph[id] {
            self.add_score(tree.parent(id), stats[id].chars, stats[id].commas, scores, rules);
        }
        if !self.as_paragraph[id] {
            for &(chars, commas) in &self.runs[id] {
                self.add_score(id, chars, commas, scores, rules);
            }
        }
    }

    fn add_score(&self, to: Id, chars: u32, commas: u32, scores: &mut [Option<f32>], rules: Rules) {
        if chars < 25 || to == 0 {
            return;
        }
        let points = 2.0 + commas as f32 + (chars / 100).min(3) as f32;
        let mut at = to;
        for level in 0..5_u8 {
            if at == 0 || self.tree.name(at) == "html" {
                return;
            }
            let score = scores[at].get_or_insert_with(|| self.base(at, rules));
            *score += points
                / match level {
                    0 => 1.0,
                    1 => 2.0,
                    level => f32::from(level) * 3.0,
                };
            at = self.tree.parent(at);
        }
    }

    fn weight(&self, id: Id, rules: Rules) -> f32 {
        if rules.weights { f32::from(self.hints.of(id).weight) } else { 0.0 }
    }

    fn base(&self, id: Id, rules: Rules) -> f32 {
        let points = match self.tree.name(id) {
            "div" => 5.0,
            "pre" | "td" | "blockquote" => 3.0,
            "address" | "ol" | "ul" | "dl" | "dd" | "dt" | "li" | "form" => -3.0,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "th" => -5.0,
            _ => 0.0,
        };
        points + self.weight(id, rules)
    }

    /// The element with the highest score, or an ancestor that holds several high ones.
    fn top(&self, body: Id, stats: &[Stat], scores: &mut [Option<f32>], rules: Rules) -> Id {
        let tree = self.tree;
        let mut best: Vec<(f32, Id)> = Vec::new();
        for id in 0..tree.len() {
            if let Some(score) = scores[id] {
                let score = score * (1.0 - stats[id].link_density());
                scores[id] = Some(score);
                let at = best.iter().position(|&(value, _)| score > value).unwrap_or(best.len());
                best.insert(at, (score, id));
                best.truncate(5);
            }
        }
        let Some(&(most, first)) = best.first().filter(|&&(_, id)| id != body) else {
            return body;
        };
        let mut top = first;
        let near: Vec<Id> =
            best.iter().skip(1).filter(|pair| pair.0 / most >= 0.75).map(|pair| pair.1).collect();
        if near.len() >= 3 {
            let around = tree.ancestors(top).take_while(|&outer| outer != body).find(|&outer| {
                near.iter().filter(|&&id| outer < id && id < tree.end(outer)).count() >= 3
            });
            top = around.unwrap_or(top);
        }
        if scores[top].is_none() {
            scores[top] = Some(self.base(top, rules));
        }
        let mut last = scores[top].unwrap_or_default();
        let threshold = last / 3.0;
        for outer in tree.ancestors(top).take_while(|&outer| outer != body) {
            let Some(score) = scores[outer] else { continue };
            if score < threshold {
                break;
            }
            if score > last {
                top = outer;
                break;
            }
            last = score;
        }
        loop {
            let outer = tree.parent(top);
            if outer <= body
                || (tree.elements(outer).nth(1).is_some() || tree.elements(outer).next().is_none())
            {
                break;
            }
            top = outer;
        }
        if scores[top].is_none() {
            scores[top] = Some(self.base(top, rules));
        }
        top
    }

    fn with_siblings(&self, top: Id, body: Id, stats: &[Stat], scores: &[Option<f32>]) -> Vec<Id> {
        let tree = self.tree;
        if top == body {
            return vec![body];
        }
        let score = scores[top].unwrap_or_default();
        let threshold = (score * 0.2).max(10.0);
        let class = tree.attribute(top, "class").unwrap_or_default();
        let mut roots = Vec::new();
        for sibling in tree.elements(tree.parent(top)) {
            let same = !class.is_empty() && tree.attribute(sibling, "class") == Some(class);
            let bonus = if same { score * 0.2 } else { 0.0 };
            let stat = &stats[sibling];
            let joins = sibling == top
                || scores[sibling].is_some_and(|score| score + bonus >= threshold)
                || ((tree.name(sibling) == "p" || self.as_paragraph[sibling]) && {
                    let density = stat.link_density();
                    (stat.chars > 80 && density < 0.25)
                        || (stat.chars > 0 && stat.chars < 80 && density == 0.0 && {
                            let text = tree.all_text(sibling);
                            text.ends_with('.') || text.contains(". ")
                        })
                });
            if joins {
                roots.push(sibling);
            }
        }
        roots
    }

    /// Leaves out parts of an article that are not its text.
    fn clean(&self, root: Id, gone: &mut [bool], stats: &mut [Stat], rules: Rules) {
        let tree = self.tree;
        let data = self.data_tables(root, gone);
        for pass in [&["form", "fieldset"][..], &[], &["table"], &["ul", "ol"], &["div"]] {
            for id in (root..tree.end(root)).rev() {
                if gone[id] || !tree.is_element(id) {
                    continue;
                }
                let name = tree.name(id);
                if pass == ["div"] && self.is_heading(id, &stats[id], gone) {
                    let links: Vec<Id> = tree
                        .elements(id)
                        .filter(|&node| stats[node].chars < 20 && stats[node].link_density() > 0.5)
                        .filter(|&node| !gone[node])
                        .collect();
                    links.into_iter().for_each(|link| self.remove(link, gone, stats));
                    continue;
                }
                let remove = if pass.is_empty() {
                    matches!(name, "footer" | "aside" | "button")
                        || (matches!(name, "h1" | "h2") && self.weight(id, rules) < 0.0)
                        || (id != root && self.hints.of(id).share && stats[id].chars < 500)
                } else {
                    id != root
                        && pass.contains(&name)
                        && !self.as_paragraph[id]
                        && rules.clean
                        && self.is_junk(id, &stats[id], &data, rules)
                };
                if remove {
                    self.remove(id, gone, stats);
                }
            }
        }
    }

    /// Whether an element is a heading with a link beside it, such as one to edit the section, in front
    /// of a text.
    fn is_heading(&self, id: Id, stat: &Stat, gone: &[bool]) -> bool {
        let tree = self.tree;
        let heading_tag = |node: Id| matches!(tree.name(node), "h2" | "h3" | "h4" | "h5" | "h6");
        if tree.name(id) != "div" || stat.chars > 200 || stat.heading * 2 < stat.chars {
            return false;
        }
        if !tree.elements(id).any(|child| heading_tag(child) && stat.heading > 0) {
            return false;
        }
        let (mut next, end) = (tree.end(id), tree.end(tree.parent(id)));
        while next < end && (gone[next] || !tree.is_element(next)) {
            next = tree.end(next);
        }
        next < end && matches!(tree.name(next), "p" | "pre" | "dl" | "blockquote")
    }

    /// Tables with data, by their markup or their size.
    fn data_tables(&self, root: Id, gone: &[bool]) -> Vec<Id> {
        let tree = self.tree;
        let mut data = Vec::new();
        let mut at = root;
        while at < tree.end(root) {
            if gone[at] {
                at = tree.end(at);
                continue;
            }
            if tree.name(at) == "table" && is_data_table(tree, at) {
                data.push(at);
            }
            at += 1;
        }
        data
    }

    fn is_junk(&self, id: Id, stat: &Stat, data: &[Id], rules: Rules) -> bool {
        let tree = self.tree;
        let name = tree.name(id);
        if data.contains(&id)
            || tree.ancestors(id).any(|outer| tree.name(outer) == "code" || data.contains(&outer))
            || data.iter().any(|&table| id < table && table < tree.end(id))
        {
            return false;
        }
        let weight = self.weight(id, rules);
        if weight < 0.0 {
            return true;
        }
        if stat.commas >= 10 {
            return false;
        }
        let chars = stat.chars as f32;
        let share = |part: u32| if stat.chars == 0 { 0.0 } else { part as f32 / chars };
        let is_list = matches!(name, "ul" | "ol") || share(stat.list) > 0.9;
        let in_figure = tree.ancestors(id).any(|outer| tree.name(outer) == "figure");
        let items = i64::from(stat.items) - 100;
        let (images, paragraphs) = (f64::from(stat.images), f64::from(stat.paragraphs));
        let density = stat.link_density();
        let junk = (!in_figure && images > 1.0 && paragraphs / images < 0.5)
            || (!is_list && items > i64::from(stat.paragraphs))
            || stat.inputs > stat.paragraphs / 3
            || (!is_list
                && !in_figure
                && share(stat.heading) < 0.9
                && chars < 25.0
                && (images == 0.0 || images > 2.0)
                && density > 0.0)
            || (!is_list && weight < 25.0 && density > 0.2)
            || (weight >= 25.0 && density > 0.5)
            || (stat.embeds == 1 && chars < 75.0)
            || stat.embeds > 1
            || (images == 0.0 && share(stat.textish) == 0.0);
        if junk && is_list {
            let simple = tree.elements(id).all(|child| tree.elements(child).count() <= 1);
            if simple && stat.items > 0 && stat.images == stat.items {
                return false;
            }
        }
        junk
    }
}

fn is_byline(tree: &Tree, id: Id, named: bool) -> bool {
    named
        || tree.attribute(id, "rel") == Some("author")
        || tree.attribute(id, "itemprop").is_some_and(|what| what.contains("author"))
}

fn is_data_table(tree: &Tree, id: Id) -> bool {
    if tree.attribute(id, "role") == Some("presentation")
        || tree.attribute(id, "datatable") == Some("0")
    {
        return false;
    }
    if tree.attribute(id, "summary").is_some_and(|summary| !summary.is_empty()) {
        return true;
    }
    let (mut rows, mut columns, mut here) = (0, 0, 0);
    for inner in tree.descendants(id) {
        match tree.name(inner) {
            "caption" if tree.end(inner) > inner + 1 => return true,
            "col" | "colgroup" | "tfoot" | "thead" | "th" => return true,
            "table" => return false,
            "tr" => (rows, here) = (rows + 1, 0),
            "td" => {
                here += 1;
                columns = columns.max(here);
            }
            _ => {}
        }
    }
    rows > 1 && columns > 1 && (rows >= 10 || columns > 4 || rows * columns > 10)
}

/// The share of the second text's words that also occur in the first, by length.
pub(crate) fn similar(first: &str, second: &str) -> f32 {
    let words = |text: &str| -> Vec<String> {
        text.to_lowercase()
            .split(|character: char| !character.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (first, second) = (words(first), words(second));
    if first.is_empty() || second.is_empty() {
        return 0.0;
    }
    let length = |words: &[&String]| words.iter().map(|word| word.len() + 1).sum::<usize>() as f32;
    let extra: Vec<&String> = second.iter().filter(|word| !first.contains(word)).collect();
    1.0 - length(&extra) / length(&second.iter().collect::<Vec<_>>())
}
