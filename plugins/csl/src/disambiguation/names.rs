//! Shows more names, and more of given names, in citations that read alike.
//!
//! Changes are tried step by step: initials of the first name, its full given name, one more name,
//! initials of that one, and so on. A step that tells some of the citations apart is kept for them; the
//! others go on with the next one. The order in which groups are worked off decides how many names
//! citations have that were told apart on the way, so it is that of citeproc-js.

use std::collections::VecDeque;

use crate::processor::Processor;
use crate::render::Given;

/// The most names of a list that are changed.
const MOST_NAMES: usize = 50;
/// The most scans of a group; each renders its citations.
const MOST_SCANS: usize = 400;

/// What is shown of the names of a citation.
#[derive(Clone, Default)]
struct Shown {
    least: Vec<usize>,
    givens: Vec<Vec<Given>>,
}

/// A change of what is shown: of a list, to a name.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Given(usize, usize, Given),
    More(usize, usize),
}

/// Tells the citations of a group apart, as far as names can.
pub(super) fn settle(processor: &mut Processor, mut group: Vec<usize>, names: bool, givens: bool) {
    if !(names || givens) {
        return;
    }
    group.sort_by(|left, right| processor.items[*left].id.cmp(&processor.items[*right].id));
    let steps = steps(processor, &group, names, givens);
    let mut next = 0;
    let mut scans = 0;
    let mut clashes = group.len() - 1;
    let mut reached = Shown::default();
    let mut queue = VecDeque::from([(group, Shown::default())]);
    let mut first = true;
    while let Some((mut list, start)) = queue.pop_front() {
        let mut accepted = start.clone();
        let mut base = Shown { least: max(&start.least, &reached.least), ..start };
        if !first {
            let more = steps.iter().position(|step| match step {
                Step::More(list, count) => base.least.get(*list).is_none_or(|least| least < count),
                Step::Given(..) => false,
            });
            next = more.unwrap_or(steps.len());
        }
        first = false;
        apply(&steps, &mut next, &mut base);
        while !list.is_empty() && scans < MOST_SCANS {
            scans += 1;
            let (partners, others) = scan(processor, &list, &base);
            let before = std::mem::replace(&mut clashes, partners.len() - 1);
            if clashes == 0 {
                register(processor, &partners, &base);
                accepted = base.clone();
                if others.len() == 1 {
                    register(processor, &others, &base);
                    break;
                }
                list = others;
            } else if others.len() == 1 {
                accepted = base.clone();
                register(processor, &others, &base);
                list = partners;
            } else if clashes < before {
                accepted = base.clone();
                queue.push_back((others, accepted.clone()));
                list = partners;
            } else if next < steps.len() {
                base.givens.clone_from(&accepted.givens);
                apply(&steps, &mut next, &mut base);
            } else {
                register(processor, &partners, &accepted);
                base = accepted.clone();
                list = others;
            }
        }
        reached = base;
        if scans >= MOST_SCANS {
            register(processor, &list, &accepted);
        }
    }
}

fn max(left: &[usize], right: &[usize]) -> Vec<usize> {
    let at = |list: &[usize], index: usize| list.get(index).copied().unwrap_or(0);
    (0..left.len().max(right.len())).map(|index| at(left, index).max(at(right, index))).collect()
}

/// The steps for a group, in their order.
fn steps(processor: &Processor, group: &[usize], names: bool, givens: bool) -> Vec<Step> {
    let mut sizes: Vec<(usize, usize)> = Vec::new();
    for &item in group {
        for (list, (people, shown)) in processor.shown_lists(item).into_iter().enumerate() {
            if sizes.len() <= list {
                sizes.resize(list + 1, (0, 0));
            }
            sizes[list] = (sizes[list].0.max(shown), sizes[list].1.max(people.len()));
        }
    }
    let mut steps = Vec::new();
    for (list, (shown, all)) in sizes.into_iter().enumerate() {
        let last = if names { all } else { shown };
        for name in 0..last.min(MOST_NAMES) {
            if name >= shown {
                steps.push(Step::More(list, name + 1));
            }
            if givens {
                steps.push(Step::Given(list, name, Given::Initials));
                steps.push(Step::Given(list, name, Given::Full));
            }
        }
    }
    steps
}

/// Applies the next step.
fn apply(steps: &[Step], next: &mut usize, base: &mut Shown) {
    match steps.get(*next) {
        Some(&Step::More(list, count)) => {
            if base.least.len() <= list {
                base.least.resize(list + 1, 0);
            }
            base.least[list] = base.least[list].max(count);
        }
        Some(&Step::Given(list, name, level)) => {
            if base.givens.len() <= list {
                base.givens.resize(list + 1, Vec::new());
            }
            let levels = &mut base.givens[list];
            if levels.len() <= name {
                levels.resize(name + 1, Given::Style);
            }
            levels[name] = levels[name].max(level);
        }
        None => {}
    }
    *next += 1;
}

/// The items whose citations read like that of the first one, itself included, and the others.
fn scan(processor: &mut Processor, list: &[usize], base: &Shown) -> (Vec<usize>, Vec<usize>) {
    register(processor, list, base);
    let first = processor.bare_citation(list[0]);
    list.iter().partition(|item| **item == list[0] || processor.bare_citation(**item) == first)
}

/// Decides what is shown of items.
fn register(processor: &mut Processor, items: &[usize], shown: &Shown) {
    for &item in items {
        let decided = &mut processor.decided[item];
        decided.least_names.clone_from(&shown.least);
        decided.givens.clone_from(&shown.givens);
    }
}
