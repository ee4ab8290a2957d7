//! Takes the particles off the parts of a name: "van der" before the family name, "de" behind the
//! given name, "Jr." behind a comma.

use super::name::Name;

/// Takes particles and a suffix from `family` and `given`, where they are not given apart.
pub(super) fn parse(name: &mut Name) {
    if name.family.len() > 1 && name.family.starts_with('"') && name.family.ends_with('"') {
        name.family = name.family[1..name.family.len() - 1].to_owned();
        return;
    }
    if name.suffix.is_empty()
        && let Some((given, suffix)) = name.given.split_once(',')
    {
        let comma = suffix.starts_with('!');
        let suffix = suffix.trim_start_matches('!').trim().to_owned();
        if !suffix.is_empty() {
            name.comma_suffix = comma;
            name.suffix = suffix;
            name.given = given.trim().to_owned();
        }
    }
    let (particle, family) = leading(&name.family);
    if name.non_dropping.is_empty() && !particle.is_empty() && !family.is_empty() {
        name.non_dropping = particle.trim_end().to_owned();
        name.family = family.to_owned();
    }
    let (given, particle) = trailing(&name.given);
    if name.dropping.is_empty() && !particle.is_empty() && !given.is_empty() {
        let particle = particle.trim().to_owned();
        name.given = given.to_owned();
        name.dropping = particle;
    }
}

/// Splits the particles before a family name, with their blanks.
fn leading(family: &str) -> (&str, &str) {
    let mut at = 0;
    loop {
        let rest = &family[at..];
        let Some(end) = particle_end(rest) else { break };
        let word = &rest[..end];
        if word.chars().any(char::is_uppercase) || !word.chars().any(char::is_alphabetic) {
            break;
        }
        if rest[end..].trim().is_empty() {
            break;
        }
        at += end;
    }
    family.split_at(at)
}

/// The end of a word that can be a particle: behind a blank, an apostrophe or a hyphen.
fn particle_end(text: &str) -> Option<usize> {
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        match c {
            ' ' if at > 0 => return Some(end),
            '\'' | '’' | 'ʻ' | 'ʼ' if at > 0 && at <= 6 => {
                let after = text[end..].chars().next()?;
                if after == ' ' {
                    return Some(end + 1);
                }
                return after.is_alphabetic().then_some(end);
            }
            '-' | '‐' if at > 0 && at <= 4 => return Some(end),
            _ => {}
        }
    }
    None
}

/// Splits the particles behind a given name.
fn trailing(given: &str) -> (&str, &str) {
    let mut at = given.len();
    loop {
        let before = given[..at].trim_end();
        let Some(start) = before.rfind(' ') else { break };
        let word = &before[start + 1..];
        let lower = word.chars().any(char::is_alphabetic) && !word.chars().any(char::is_uppercase);
        if !lower || word.starts_with('-') {
            break;
        }
        at = start;
    }
    (given[..at].trim_end(), &given[at..])
}
