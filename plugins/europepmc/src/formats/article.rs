//! An article in Europe PMC's JSON and terms: the members that the record uses.
//!
//! One type for all lists: `core` and `lite` results, citations and references each have members
//! that the others lack.
//!
//! ```text
//! core       authorList, journalInfo, abstractText, fullTextUrlList, commentCorrectionList, grantsList…
//! lite       authorString, journalTitle, journalVolume, journalIssn ("0140-6736; 1474-547x; "), pubType ("a; b")
//! cited      citationType, journalAbbreviation, volume, pubYear as a number, unstructuredInformation
//! flags      "Y" or "N"
//! ```

use carrel_pdk::json::lenient::{Count, List, Text, object};

object! {
    /// An article, a preprint, a patent, a book.
    Article {
        "id" => id: Text<'d>,
        "source" => source: Text<'d>,
        "pmid" => pmid: Text<'d>,
        "pmcid" => pmcid: Text<'d>,
        "doi" => doi: Text<'d>,
        "title" => title: Text<'d>,
        "authorString" => author_string: Text<'d>,
        "authorList" => authors: Authors<'d>,
        "journalInfo" => journal_info: JournalInfo<'d>,
        "bookOrReportDetails" => book: Book<'d>,
        "journalTitle" => journal_title: Text<'d>,
        "journalAbbreviation" => journal_abbreviation: Text<'d>,
        "publicationTitle" => publication_title: Text<'d>,
        "journalVolume" => journal_volume: Text<'d>,
        "volume" => volume: Text<'d>,
        "issue" => issue: Text<'d>,
        "pageInfo" => page_info: Text<'d>,
        "journalIssn" => journal_issn: Text<'d>,
        "issn" => issn: Text<'d>,
        "essn" => essn: Text<'d>,
        "isbn" => isbn: Text<'d>,
        "publisherName" => publisher_name: Text<'d>,
        "pubYear" => pub_year: Count,
        "firstPublicationDate" => first_publication_date: Text<'d>,
        "electronicPublicationDate" => electronic_publication_date: Text<'d>,
        "pubType" => pub_type: Text<'d>,
        "citationType" => citation_type: Text<'d>,
        "pubTypeList" => pub_types: PubTypes<'d>,
        "abstractText" => summary: Text<'d>,
        "language" => language: Text<'d>,
        "keywordList" => keywords: Keywords<'d>,
        "meshHeadingList" => mesh: MeshHeadings<'d>,
        "fullTextUrlList" => full_texts: Option<FullTexts<'d>>,
        "isOpenAccess" => is_open_access: Text<'d>,
        "inEPMC" => in_epmc: Text<'d>,
        "inPMC" => in_pmc: Text<'d>,
        "hasPDF" => has_pdf: Text<'d>,
        "license" => license: Text<'d>,
        "grantsList" => grants: Grants<'d>,
        "citedByCount" => cited_by_count: Count,
        "commentCorrectionList" => corrections: Corrections<'d>,
        "unstructuredInformation" => unstructured: Text<'d>,
    }
}

object! {
    /// The authors of `core`.
    Authors {
        "author" => author: List<Author<'d>>,
    }
}

object! {
    /// A person or a group.
    Author {
        "fullName" => full_name: Text<'d>,
        "firstName" => first_name: Text<'d>,
        "lastName" => last_name: Text<'d>,
        "initials" => initials: Text<'d>,
        "suffix" => suffix: Text<'d>,
        "collectiveName" => collective_name: Text<'d>,
        "authorId" => ids: List<AuthorId<'d>>,
        "authorAffiliationDetailsList" => affiliations: Affiliations<'d>,
        "affiliation" => affiliation: Text<'d>,
    }
}

object! {
    /// An identifier of a person.
    AuthorId {
        "type" => kind: Text<'d>,
        "value" => value: Text<'d>,
    }
}

object! {
    /// The affiliations of an author.
    Affiliations {
        "authorAffiliation" => items: List<Affiliation<'d>>,
    }
}

object! {
    /// One affiliation.
    Affiliation {
        "affiliation" => name: Text<'d>,
    }
}

object! {
    /// The issue that holds an article.
    JournalInfo {
        "issue" => issue: Text<'d>,
        "volume" => volume: Text<'d>,
        "dateOfPublication" => date: Text<'d>,
        "yearOfPublication" => year: Count,
        "monthOfPublication" => month: Count,
        "printPublicationDate" => print_date: Text<'d>,
        "journal" => journal: Journal<'d>,
    }
}

object! {
    /// A journal.
    Journal {
        "title" => title: Text<'d>,
        "medlineAbbreviation" => abbreviation: Text<'d>,
        "issn" => issn: Text<'d>,
        "essn" => essn: Text<'d>,
    }
}

object! {
    /// The container of a book, a report or a preprint.
    Book {
        "publisher" => publisher: Text<'d>,
        "comprisingTitle" => title: Text<'d>,
        "isbn10" => isbn10: Text<'d>,
        "isbn13" => isbn13: Text<'d>,
        "yearOfPublication" => year: Count,
    }
}

object! {
    /// Types of publication.
    PubTypes {
        "pubType" => items: List<Text<'d>>,
    }
}

object! {
    /// Keywords.
    Keywords {
        "keyword" => items: List<Text<'d>>,
    }
}

object! {
    /// Headings of MeSH.
    MeshHeadings {
        "meshHeading" => items: List<MeshHeading<'d>>,
    }
}

object! {
    /// A heading of MeSH.
    MeshHeading {
        "descriptorName" => name: Text<'d>,
    }
}

object! {
    /// Where the article is.
    FullTexts {
        "fullTextUrl" => items: List<FullText<'d>>,
    }
}

object! {
    /// A form of the article: `availabilityCode` is OA, F (free) or S (subscription).
    FullText {
        "availabilityCode" => availability: Text<'d>,
        "documentStyle" => style: Text<'d>,
        "site" => site: Text<'d>,
        "url" => url: Text<'d>,
    }
}

object! {
    /// Grants.
    Grants {
        "grant" => items: List<Grant<'d>>,
    }
}

object! {
    /// A grant.
    Grant {
        "grantId" => id: Text<'d>,
        "agency" => agency: Text<'d>,
        "acronym" => acronym: Text<'d>,
    }
}

object! {
    /// Comments, corrections, retractions.
    Corrections {
        "commentCorrection" => items: List<Correction<'d>>,
    }
}

object! {
    /// A comment or a correction, such as `Erratum in`.
    Correction {
        "id" => id: Text<'d>,
        "source" => source: Text<'d>,
        "reference" => reference: Text<'d>,
        "type" => kind: Text<'d>,
    }
}
