//! Contributors: authors, editors, groups, with affiliations and identifiers.

use std::collections::HashMap;

use carrel_pdk::document::Person;
use carrel_pdk::xml::tree::Node;

use crate::inline;
use crate::reader::Reader;

/// Affiliations by the key that contributors name.
pub(crate) type Affiliations = HashMap<String, String>;

/// The text of an affiliation without its mark.
pub(crate) fn affiliation(reader: &mut Reader<'_, '_>, node: Node) -> Option<String> {
    let tree = reader.tree;
    // A number in front, raised or not, only links the affiliation to names.
    let first = tree.children(node).find(|&child| !tree.is_blank(child));
    let marked =
        first.is_some_and(|first| tree.name(first) == "sup") && tree.child(node, "label").is_none();
    let except: &[&str] = if marked { &["label", "sup"] } else { &["label"] };
    inline::without(reader, node, except).map(|text| text.replace('\n', " "))
}

/// Collects the affiliations below a node, and adds those to the metadata that have no key.
pub(crate) fn affiliations(reader: &mut Reader<'_, '_>, node: Node) -> Affiliations {
    let tree = reader.tree;
    let mut found = Affiliations::new();
    for inner in tree.descendants(node).filter(|&inner| tree.name(inner) == "aff") {
        let (id, text) = (reader.attribute(inner, "id"), affiliation(reader, inner));
        if let (Some(id), Some(text)) = (id, text) {
            found.insert(id, text);
        }
    }
    found
}

/// Reads the names of a `<contrib>`, `<author>` or name.
fn names(reader: &mut Reader<'_, '_>, node: Node, person: &mut Person) {
    let tree = reader.tree;
    let mut given = Vec::new();
    for child in tree.elements(node) {
        match tree.name(child) {
            "surname" => person.family = reader.line(child),
            "given-names" | "forename" => given.extend(reader.line(child)),
            "suffix" | "genName" => person.suffix = reader.line(child),
            _ => {}
        }
    }
    person.given = Some(given.join(" ")).filter(|given| !given.is_empty());
    if person.family.is_none() && person.given.is_none() {
        person.literal = reader.line(node);
    }
}

/// A name as references have it: family name first.
pub(crate) fn name_in_reference(reader: &mut Reader<'_, '_>, node: Node) -> Option<String> {
    let tree = reader.tree;
    let holder = match tree.name(node) {
        "author" | "editor" => {
            let inner =
                ["persName", "orgName", "name"].iter().find_map(|name| tree.child(node, name));
            inner.unwrap_or(node)
        }
        _ => node,
    };
    // Names with words between their parts are kept unchanged.
    if reader.has_text(holder) {
        return reader.line(holder);
    }
    let mut person = Person::default();
    names(reader, holder, &mut person);
    let prefix = reader.child_line(holder, "prefix");
    let parts = [person.literal, prefix, person.family, person.given, person.suffix];
    let name = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    Some(name).filter(|name| !name.is_empty())
}

/// Reads a `<contrib-group>`: authors go into the document; other contributors, and all of another
/// article, into its metadata.
pub(crate) fn group(reader: &mut Reader<'_, '_>, group: Node, known: &Affiliations, own: bool) {
    let tree = reader.tree;
    let contributors: Vec<Node> =
        tree.elements(group).filter(|&node| tree.name(node) == "contrib").collect();
    let linked = contributors.iter().any(|&contributor| {
        let mut inner = tree.descendants(contributor);
        inner.any(|node| {
            tree.name(node) == "aff" || tree.attribute(node, "ref-type").as_deref() == Some("aff")
        })
    });
    // An affiliation of the whole group applies to all members, unless some name theirs.
    let mut shared = Vec::new();
    if !linked {
        let nodes: Vec<Node> =
            tree.elements(group).filter(|&node| tree.name(node) == "aff").collect();
        shared.extend(nodes.into_iter().filter_map(|node| affiliation(reader, node)));
    }
    for node in contributors {
        let mut person = contributor(reader, node, known);
        if person.affiliations.is_empty() {
            person.affiliations.clone_from(&shared);
        }
        let kind = reader.attribute(node, "contrib-type");
        let writes =
            kind.as_deref().is_none_or(|kind| kind.starts_with("author") || kind == "collab");
        let name = person.name();
        if own && writes {
            if !name.is_empty() {
                reader.document.authors.push(person);
            }
            continue;
        }
        let mut value = vec![name];
        value.append(&mut person.roles);
        value.append(&mut person.affiliations);
        value.extend(person.orcid);
        value.extend(person.email);
        value.retain(|part| !part.is_empty());
        reader.state(kind.as_deref().unwrap_or("contributor"), None, Some(value.join(", ")), node);
    }
    for child in tree.elements(group) {
        if !matches!(tree.name(child), "contrib" | "aff" | "aff-alternatives") {
            reader.state_rest(child);
        }
    }
}

fn contributor(reader: &mut Reader<'_, '_>, node: Node, known: &Affiliations) -> Person {
    let tree = reader.tree;
    let mut person = Person::default();
    for child in tree.elements(node) {
        match tree.name(child) {
            "name" | "string-name" if person.name().is_empty() => names(reader, child, &mut person),
            "name-alternatives" | "collab-alternatives" => {
                let first = tree.elements(child).next();
                if let Some(first) = first.filter(|_| person.name().is_empty()) {
                    names(reader, first, &mut person);
                }
                for variant in tree.elements(child).skip(1) {
                    let mut form = Person::default();
                    names(reader, variant, &mut form);
                    reader.state("name_form", Some(person.name()), Some(form.name()), variant);
                }
            }
            "collab" => {
                let literal = inline::without(reader, child, &["contrib-group"]);
                person.literal = literal.map(|text| text.replace('\n', " "));
                let collab = person.literal.clone();
                members(reader, child, collab.as_ref());
            }
            "contrib-id" => {
                let text = reader.line(child).unwrap_or_default();
                let tail: String =
                    text.chars().rev().take(19).collect::<Vec<_>>().into_iter().rev().collect();
                let is_orcid = tail.len() == 19
                    && tail.bytes().enumerate().all(|(at, byte)| match at {
                        4 | 9 | 14 => byte == b'-',
                        18 => byte.is_ascii_digit() || byte == b'X',
                        _ => byte.is_ascii_digit(),
                    });
                if is_orcid {
                    person.orcid = Some(tail);
                } else {
                    let kind = reader.attribute(child, "contrib-id-type");
                    reader.state("contributor_id", kind, Some(text), child);
                }
            }
            "email" => person.email = person.email.take().or_else(|| reader.line(child)),
            "address" | "author-comment" => {
                let email = tree.find(child, "email").and_then(|email| reader.line(email));
                person.email = person.email.take().or(email);
                reader.state_rest(child);
            }
            "role" => person.roles.extend(reader.line(child)),
            "aff" => person.affiliations.extend(affiliation(reader, child)),
            "xref" if tree.attribute(child, "ref-type").as_deref() == Some("aff") => {
                let keys = reader.attribute(child, "rid").unwrap_or_default();
                person
                    .affiliations
                    .extend(keys.split(' ').filter_map(|key| known.get(key).cloned()));
            }
            // Marks of notes, which are read elsewhere.
            "xref" => {}
            "anonymous" => person.literal = Some("Anonymous".to_owned()),
            _ => reader.state_rest(child),
        }
    }
    person
}

/// Adds the members of a group to the metadata: they are not individual authors of the document.
fn members(reader: &mut Reader<'_, '_>, collab: Node, name: Option<&String>) {
    let tree = reader.tree;
    for node in tree.descendants(collab).filter(|&node| tree.name(node) == "contrib") {
        let mut member = Person::default();
        if let Some(holder) = tree.child(node, "name").or_else(|| tree.child(node, "string-name")) {
            names(reader, holder, &mut member);
        }
        for aff in tree.elements(node).filter(|&aff| tree.name(aff) == "aff") {
            member.affiliations.extend(affiliation(reader, aff));
        }
        let mut value = vec![member.name()];
        value.append(&mut member.affiliations);
        for child in tree.elements(node) {
            if !matches!(tree.name(child), "name" | "string-name" | "aff" | "xref") {
                value.extend(reader.line(child));
            }
        }
        reader.state("group_member", name.cloned(), Some(value.join(", ")), node);
    }
}

/// Reads an `<author>` of a TEI header.
pub(crate) fn tei_author(reader: &mut Reader<'_, '_>, node: Node) -> Option<Person> {
    let tree = reader.tree;
    let mut person = Person::default();
    let holder = ["persName", "orgName", "name"].iter().find_map(|name| tree.child(node, name));
    match holder {
        Some(holder) => names(reader, holder, &mut person),
        None if reader.has_text(node) => person.literal = reader.line(node),
        None => {}
    }
    for child in tree.elements(node) {
        match tree.name(child) {
            "email" => person.email = reader.line(child),
            "idno" => {
                let text = reader.line(child).unwrap_or_default();
                let bare = text.rsplit('/').next().unwrap_or_default().to_owned();
                if reader
                    .attribute(child, "type")
                    .is_some_and(|kind| kind.eq_ignore_ascii_case("orcid"))
                {
                    person.orcid = Some(bare).filter(|id| id.len() == 19);
                } else {
                    reader.state_rest(child);
                }
            }
            "affiliation" => {
                let raw = tree.elements(child).find(|&note| {
                    tree.name(note) == "note"
                        && tree.attribute(note, "type").as_deref() == Some("raw_affiliation")
                });
                let text = match raw {
                    Some(raw) => reader.line(raw),
                    None => leaves(reader, child),
                };
                person.affiliations.extend(text);
            }
            "role" => person.roles.extend(reader.line(child)),
            _ => {}
        }
    }
    Some(person).filter(|person| !person.name().is_empty())
}

/// The texts of the elements inside, with commas between.
fn leaves(reader: &mut Reader<'_, '_>, node: Node) -> Option<String> {
    let tree = reader.tree;
    let mut texts = Vec::new();
    let mut done: Option<Node> = None;
    for inner in std::iter::once(node).chain(tree.descendants(node)) {
        if tree.name(inner).is_empty() || done.is_some_and(|done| tree.contains(done, inner)) {
            continue;
        }
        if reader.has_text(inner) {
            texts.extend(reader.line(inner));
            done = Some(inner);
        }
    }
    Some(texts.join(", ")).filter(|text| !text.is_empty())
}
