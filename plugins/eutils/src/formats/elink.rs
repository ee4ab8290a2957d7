//! ELink → links between records, and which links there are. Pure.
//!
//! ```text
//! eLinkResult
//!   LinkSet…
//!     DbFrom, IdList/Id…
//!     LinkSetDb…                  DbTo, LinkName, Link… (Id, Score)
//!     LinkSetDbHistory…           DbTo, LinkName, QueryKey     and WebEnv beside them
//!     IdCheckList/IdLinkSet…      Id, LinkInfo… (DbTo, LinkName, MenuTag, Priority), Id @HasLinkOut
//!     IdUrlList/IdUrlSet…         Id, ObjUrl… (Url, Attribute…, Provider/Name)
//!     ERROR                       no links for this set
//!   ERROR                         the request failed
//! ```
//!
//! One document holds a `LinkSet` for each requested identifier, or one for all of them; each has
//! links by name, or keys of the history server, or checks whether links exist.

use std::borrow::Cow;

use carrel_pdk::Error;
use carrel_pdk::xml::XmlReader;
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::{article::Text, elements::once, report};

/// The links of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Links<'d> {
    /// Links by source and name.
    pub links: Vec<Link<'d>>,
    /// What NCBI reports of single sources.
    pub errors: Vec<String>,
    /// Whether single records have links of a kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check<'d>>,
    /// Places outside NCBI that records link to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<LinkOut<'d>>,
}

/// Links of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Link<'d> {
    /// Such as pubmed_pubmed_citedin.
    pub link_name: Text<'d>,
    /// The record it starts from; several, separated by commas, when they were asked for as one.
    pub from: Text<'d>,
    /// The records it leads to, in the database that db_to names.
    pub to: Vec<Target<'d>>,
    /// The database it starts from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db_from: Option<Text<'d>>,
    /// The database it leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db_to: Option<Text<'d>>,
    /// The result's number in the history session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_key: Option<Text<'d>>,
    /// The history session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web_env: Option<Text<'d>>,
    /// Its entry in menus, when only kinds of links were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub menu_tag: Option<Text<'d>>,
    /// Its rank among kinds of links, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u64>,
}

/// A record that a link leads to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Target<'d> {
    /// Its identifier: of PubMed, when that is the database the link leads to.
    pub pmid: Text<'d>,
    /// How near it is; scores compare within one list only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<u64>,
}

/// Whether a record has links.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Check<'d> {
    /// The record.
    pub id: Text<'d>,
    /// Whether there are links to places outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_link_out: Option<bool>,
    /// Whether there are links inside the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_neighbor: Option<bool>,
}

/// A place outside NCBI.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LinkOut<'d> {
    /// The record that links there.
    pub id: Text<'d>,
    /// Its address.
    pub url: Text<'d>,
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<Text<'d>>,
    /// Such as free resource, full-text online.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<Text<'d>>,
}

/// Reads a document.
///
/// # Errors
///
/// `invalid_document` with a position when it is no `eLinkResult`; `upstream_error` when it reports
/// that the request failed for all sources.
pub fn parse(document: &str) -> Result<Links<'_>, Error> {
    let mut xml = XmlReader::new(document, &[]);
    let root = xml.root("an answer of ELink")?;
    if root.local != "eLinkResult" {
        return Err(report::unexpected(&mut xml, root, root.local, "eLinkResult")?);
    }
    let mut found = Links::default();
    let mut whole = true;
    while let Some(element) = xml.child()? {
        match element.local {
            "LinkSet" => whole &= !link_set(&mut xml, &mut found)?,
            "ERROR" => {
                if let Some(words) = xml.text()? {
                    return Err(report::error(&words));
                }
            }
            _ => xml.skip()?,
        }
    }
    xml.finish()?;
    let nothing = found.links.is_empty() && found.checks.is_empty() && found.urls.is_empty();
    match found.errors.first() {
        Some(_) if nothing && whole => Err(report::error(&found.errors.join("; "))),
        _ => Ok(found),
    }
}

/// The open `LinkSet`; whether it was answered.
fn link_set<'d>(xml: &mut XmlReader<'d>, found: &mut Links<'d>) -> Result<bool, Error> {
    let first = found.links.len();
    let mut ids: Vec<Text<'d>> = Vec::new();
    let (mut db_from, mut web_env) = (None, None);
    let mut answered = true;
    while let Some(element) = xml.child()? {
        match element.local {
            "DbFrom" => once(&mut db_from, xml.text()?),
            "IdList" => crate::formats::elements::texts(xml, "Id", &mut ids)?,
            "LinkSetDb" | "LinkSetDbHistory" => found.links.extend(links(xml, &mut found.errors)?),
            "WebEnv" => once(&mut web_env, xml.text()?),
            "IdCheckList" => checks(xml, found)?,
            "IdUrlList" => urls(xml, found)?,
            "ERROR" => {
                if let Some(words) = xml.text()? {
                    answered = false;
                    found.errors.push(words.into_owned());
                }
            }
            _ => xml.skip()?,
        }
    }
    let from = match &*ids {
        [id] => id.clone(),
        several => Cow::Owned(several.join(",")),
    };
    for link in found.links.iter_mut().skip(first) {
        link.db_from.clone_from(&db_from);
        if link.from.is_empty() {
            link.from.clone_from(&from);
        }
        if link.query_key.is_some() {
            link.web_env.clone_from(&web_env);
        }
    }
    Ok(answered)
}

/// The open `LinkSetDb` or `LinkSetDbHistory`; `None` when it has no name.
fn links<'d>(xml: &mut XmlReader<'d>, errors: &mut Vec<String>) -> Result<Option<Link<'d>>, Error> {
    let mut name = None;
    let mut link = Link::default();
    while let Some(element) = xml.child()? {
        match element.local {
            "DbTo" => once(&mut link.db_to, xml.text()?),
            "LinkName" => once(&mut name, xml.text()?),
            "QueryKey" => once(&mut link.query_key, xml.text()?),
            "Link" => {
                let (mut id, mut score) = (None, None);
                while let Some(element) = xml.child()? {
                    match element.local {
                        "Id" => once(&mut id, xml.text()?),
                        "Score" => score = crate::formats::elements::count(xml)?,
                        _ => xml.skip()?,
                    }
                }
                link.to.extend(id.map(|pmid| Target { pmid, score }));
            }
            "ERROR" => errors.extend(xml.text()?.map(Cow::into_owned)),
            // Info says "Empty result", which an empty list already states.
            _ => xml.skip()?,
        }
    }
    Ok(name.map(|link_name| Link { link_name, ..link }))
}

/// The open `IdCheckList`: whether there are links, or which kinds there are.
fn checks<'d>(xml: &mut XmlReader<'d>, found: &mut Links<'d>) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        match element.local {
            "Id" => {
                let flag = |name| xml.attribute(name).map(|value| value == "Y");
                let (has_link_out, has_neighbor) = (flag("HasLinkOut"), flag("HasNeighbor"));
                let check = |id| Check { id, has_link_out, has_neighbor };
                found.checks.extend(xml.text()?.map(check));
            }
            "IdLinkSet" => {
                let first = found.links.len();
                let mut id = None;
                while let Some(element) = xml.child()? {
                    match element.local {
                        "Id" => once(&mut id, xml.text()?),
                        "LinkInfo" => found.links.extend(kind_of_link(xml)?),
                        _ => xml.skip()?,
                    }
                }
                if let Some(id) = id {
                    found.links.iter_mut().skip(first).for_each(|link| link.from = id.clone());
                }
            }
            "ERROR" => {
                if let Some(words) = xml.text()? {
                    found.errors.push(words.into_owned());
                }
            }
            _ => xml.skip()?,
        }
    }
    Ok(())
}

/// The open `LinkInfo`: a kind of link, without the records it leads to.
fn kind_of_link<'d>(xml: &mut XmlReader<'d>) -> Result<Option<Link<'d>>, Error> {
    let mut name = None;
    let mut link = Link::default();
    while let Some(element) = xml.child()? {
        match element.local {
            "DbTo" => once(&mut link.db_to, xml.text()?),
            "LinkName" => once(&mut name, xml.text()?),
            "MenuTag" => once(&mut link.menu_tag, xml.text()?),
            "Priority" => link.priority = crate::formats::elements::count(xml)?,
            _ => xml.skip()?,
        }
    }
    Ok(name.map(|link_name| Link { link_name, ..link }))
}

/// The open `IdUrlList`.
fn urls<'d>(xml: &mut XmlReader<'d>, found: &mut Links<'d>) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        if element.local != "IdUrlSet" {
            xml.skip()?;
            continue;
        }
        let first = found.urls.len();
        let mut id = None;
        while let Some(element) = xml.child()? {
            match element.local {
                "Id" => once(&mut id, xml.text()?),
                "ObjUrl" => found.urls.extend(link_out(xml)?),
                _ => xml.skip()?,
            }
        }
        if let Some(id) = id {
            found.urls.iter_mut().skip(first).for_each(|url| url.id = id.clone());
        } else {
            found.urls.truncate(first);
        }
    }
    Ok(())
}

fn link_out<'d>(xml: &mut XmlReader<'d>) -> Result<Option<LinkOut<'d>>, Error> {
    let mut url = None;
    let mut out = LinkOut::default();
    while let Some(element) = xml.child()? {
        match element.local {
            "Url" => once(&mut url, xml.text()?),
            "Attribute" => out.attributes.extend(xml.text()?),
            "Provider" => {
                while let Some(element) = xml.child()? {
                    match element.local {
                        "Name" => once(&mut out.provider, xml.text()?),
                        _ => xml.skip()?,
                    }
                }
            }
            _ => xml.skip()?,
        }
    }
    Ok(url.map(|url| LinkOut { url, ..out }))
}
