//! Tells persons apart in all citations: rules `all-names` and `primary-name`.

use std::collections::{HashMap, HashSet};

use crate::item::name::Name;
use crate::processor::Processor;
use crate::render::{Given, Persons};
use crate::style::options::GivenRule;

/// Expands the given names of different persons whose names are shown alike.
pub(super) fn expand_everywhere(processor: &mut Processor, order: &[usize], rule: GivenRule) {
    let primary = matches!(rule, GivenRule::PrimaryName | GivenRule::PrimaryNameWithInitials);
    let initials =
        matches!(rule, GivenRule::AllNamesWithInitials | GivenRule::PrimaryNameWithInitials);
    let mut persons: HashMap<String, HashSet<Name>> = HashMap::new();
    for &item in order {
        let lists = processor.shown_lists(item).into_iter().chain(processor.entry_lists(item));
        for (people, shown) in lists {
            let count = if primary { 1 } else { shown };
            for person in people.into_iter().take(count).filter(|person| person.literal.is_none()) {
                persons.entry(family(&person)).or_default().insert(person);
            }
        }
    }
    let mut levels = HashMap::new();
    for same in persons.values().filter(|same| same.len() > 1) {
        for person in same {
            if let Some(level) = needed(processor, person, same, initials) {
                levels.insert(person.clone(), level);
            }
        }
    }
    processor.persons = Persons { primary, levels };
}

fn family(name: &Name) -> String {
    format!("{} {} {}", name.dropping, name.non_dropping, name.family)
}

/// How much of a given name distinguishes a person from those with the same family name.
fn needed(
    processor: &Processor,
    person: &Name,
    same: &HashSet<Name>,
    initials: bool,
) -> Option<Given> {
    let with = processor.style.citation_initialize_with();
    let namesakes = || same.iter().filter(|namesake| *namesake != person);
    if namesakes().all(|namesake| namesake.given == person.given) {
        return None;
    }
    let Some(with) = with else { return Some(Given::Full) };
    let short = |name: &Name| crate::render::initialize(&name.given, &with, false, true);
    let own = short(person);
    if initials {
        return namesakes().any(|namesake| short(namesake) != own).then_some(Given::Initials);
    }
    if namesakes().all(|namesake| short(namesake) != own) {
        return Some(Given::Initials);
    }
    let alike = namesakes().filter(|namesake| short(namesake) == own);
    if alike.into_iter().all(|namesake| namesake.given == person.given) {
        Some(Given::Initials)
    } else {
        Some(Given::Full)
    }
}
