//! EInfo → what a database offers, or which databases there are. Pure.
//!
//! ```text
//! eInfoResult
//!   DbList              DbName…                                    without a database in the request
//!   DbInfo              DbName, MenuName, Description, DbBuild, Count, LastUpdate
//!     FieldList         Field… (Name, FullName, Description, TermCount, IsDate, IsNumerical, …: Y | N)
//!     LinkList          Link… (Name, Menu, Description, DbTo)
//!   ERROR               the request failed
//! ```

use carrel_pdk::Error;
use carrel_pdk::xml::XmlReader;
use schemars::JsonSchema;
use serde::Serialize;

use crate::formats::{
    article::Text,
    elements::{self, once},
    report,
};

/// What a database offers, or the list of databases: one of the two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Info<'d> {
    /// The databases, when no one was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<Text<'d>>,
    /// Name of the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db_name: Option<Text<'d>>,
    /// The name a person reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub menu_name: Option<Text<'d>>,
    /// What it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'d>>,
    /// Its build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db_build: Option<Text<'d>>,
    /// Records in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// When it was last updated, in NCBI's words: 2024/04/11 11:05, Washington time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_update: Option<Text<'d>>,
    /// Fields to search in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<Field<'d>>>,
    /// Links to other databases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<LinkName<'d>>>,
}

/// A field to search in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Field<'d> {
    /// Its tag, such as AUTH.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Text<'d>>,
    /// Its name, such as Author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_name: Option<Text<'d>>,
    /// What it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'d>>,
    /// Terms in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub term_count: Option<u64>,
    /// Whether it holds dates.
    pub is_date: bool,
    /// Whether it holds numbers.
    pub is_numerical: bool,
    /// Whether its terms are single words.
    pub single_token: bool,
    /// Whether its terms stand in a hierarchy.
    pub hierarchy: bool,
    /// Whether it is hidden from people.
    pub is_hidden: bool,
    /// Whether its terms can be truncated.
    pub is_truncatable: bool,
    /// Whether ranges can be searched.
    pub is_rangable: bool,
}

/// A kind of link to other records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LinkName<'d> {
    /// Its name, such as pubmed_pubmed_citedin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Text<'d>>,
    /// Its entry in menus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub menu: Option<Text<'d>>,
    /// What it links to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'d>>,
    /// The database it leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db_to: Option<Text<'d>>,
}

/// Reads a document.
///
/// # Errors
///
/// `invalid_document` with a position when it is no `eInfoResult`; `upstream_error` when it reports
/// that the request failed.
pub fn parse(document: &str) -> Result<Info<'_>, Error> {
    let mut xml = XmlReader::new(document, &[]);
    let root = xml.root("an answer of EInfo")?;
    if root.local != "eInfoResult" {
        return Err(report::unexpected(&mut xml, root, root.local, "eInfoResult")?);
    }
    let mut info = Info::default();
    while let Some(element) = xml.child()? {
        match element.local {
            "DbList" => elements::texts(&mut xml, "DbName", &mut info.databases)?,
            "DbInfo" => database(&mut xml, &mut info)?,
            "ERROR" => {
                if let Some(words) = xml.text()? {
                    return Err(report::error(&words));
                }
            }
            _ => xml.skip()?,
        }
    }
    xml.finish()?;
    if info.databases.is_empty() && info.db_name.is_none() {
        return Err(xml.error("expected databases but found none"));
    }
    Ok(info)
}

fn database<'d>(xml: &mut XmlReader<'d>, info: &mut Info<'d>) -> Result<(), Error> {
    while let Some(element) = xml.child()? {
        match element.local {
            "DbName" => once(&mut info.db_name, xml.text()?),
            "MenuName" => once(&mut info.menu_name, xml.text()?),
            "Description" => once(&mut info.description, xml.text()?),
            "DbBuild" => once(&mut info.db_build, xml.text()?),
            "Count" => info.count = elements::count(xml)?,
            "LastUpdate" => once(&mut info.last_update, xml.text()?),
            "FieldList" => {
                let fields = info.fields.get_or_insert_with(Vec::new);
                while let Some(element) = xml.child()? {
                    match element.local {
                        "Field" => fields.push(field(xml)?),
                        _ => xml.skip()?,
                    }
                }
            }
            "LinkList" => {
                let links = info.links.get_or_insert_with(Vec::new);
                while let Some(element) = xml.child()? {
                    match element.local {
                        "Link" => links.push(link(xml)?),
                        _ => xml.skip()?,
                    }
                }
            }
            _ => xml.skip()?,
        }
    }
    info.fields.get_or_insert_with(Vec::new);
    info.links.get_or_insert_with(Vec::new);
    Ok(())
}

fn field<'d>(xml: &mut XmlReader<'d>) -> Result<Field<'d>, Error> {
    let mut field = Field::default();
    while let Some(element) = xml.child()? {
        match element.local {
            "Name" => once(&mut field.name, xml.text()?),
            "FullName" => once(&mut field.full_name, xml.text()?),
            "Description" => once(&mut field.description, xml.text()?),
            "TermCount" => field.term_count = elements::count(xml)?,
            "IsDate" => field.is_date = yes(xml)?,
            "IsNumerical" => field.is_numerical = yes(xml)?,
            "SingleToken" => field.single_token = yes(xml)?,
            "Hierarchy" => field.hierarchy = yes(xml)?,
            "IsHidden" => field.is_hidden = yes(xml)?,
            "IsTruncatable" => field.is_truncatable = yes(xml)?,
            "IsRangable" => field.is_rangable = yes(xml)?,
            _ => xml.skip()?,
        }
    }
    Ok(field)
}

fn link<'d>(xml: &mut XmlReader<'d>) -> Result<LinkName<'d>, Error> {
    let mut link = LinkName::default();
    while let Some(element) = xml.child()? {
        match element.local {
            "Name" => once(&mut link.name, xml.text()?),
            "Menu" => once(&mut link.menu, xml.text()?),
            "Description" => once(&mut link.description, xml.text()?),
            "DbTo" => once(&mut link.db_to, xml.text()?),
            _ => xml.skip()?,
        }
    }
    Ok(link)
}

fn yes(xml: &mut XmlReader<'_>) -> Result<bool, Error> {
    Ok(xml.text()?.as_deref() == Some("Y"))
}
