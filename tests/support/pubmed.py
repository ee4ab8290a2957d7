"""Makes NCBI's responses: a small invented record with any number."""

from __future__ import annotations

BASE = "/entrez/eutils"
IDCONV = "/tools/idconv/api/v1/articles/"
PROLOG = b'<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD" "https://x">\n'

ARTICLE = """<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID>{pmid}</PMID><Article>
<Journal><ISSN>2049-3630</ISSN><JournalIssue><Volume>12</Volume><Issue>3</Issue><PubDate>
<Year>2024</Year><Month>Mar</Month><Day>15</Day></PubDate></JournalIssue>
<Title>Annals of Desks</Title>
<ISOAbbreviation>Ann Desks</ISOAbbreviation></Journal>
<ArticleTitle>Oak &amp; 5% attention.</ArticleTitle>
<Pagination><MedlinePgn>737-8</MedlinePgn></Pagination>
<ELocationID EIdType="doi" ValidYN="Y">10.5555/oak.{pmid}</ELocationID>
<Abstract><AbstractText>Readers looked up.</AbstractText></Abstract>
<AuthorList><Author><LastName>Reader</LastName><ForeName>Ada Mae</ForeName><Initials>AM</Initials>
<AffiliationInfo><Affiliation>Library.</Affiliation></AffiliationInfo></Author>
<Author><LastName>Shelf</LastName><ForeName>Jean-Paul</ForeName></Author></AuthorList>
<Language>eng</Language>
<GrantList><Grant><GrantID>G1</GrantID><Agency>Fund</Agency></Grant></GrantList>
<PublicationTypeList><PublicationType>Journal Article</PublicationType></PublicationTypeList>
</Article>
<MeshHeadingList><MeshHeading><DescriptorName UI="D006801" MajorTopicYN="N">Humans</DescriptorName>
</MeshHeading></MeshHeadingList></MedlineCitation><PubmedData><ArticleIdList>
<ArticleId IdType="pmc">PMC{pmid}</ArticleId></ArticleIdList><ReferenceList><Reference>
<Citation>Cited.</Citation></Reference></ReferenceList></PubmedData></PubmedArticle>"""


#: Further elements of a retracted article's record.
RETRACTION = """<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn">
<RefSource>Ann Desks. 2025 Jan;13(1):2. doi: 10.5555/notice.</RefSource><PMID>99</PMID>
</CommentsCorrections></CommentsCorrectionsList>"""


def articles(*pmids: str, retracted: tuple[str, ...] = ()) -> bytes:
    found = "".join(
        ARTICLE.format(pmid=pmid).replace(
            "</Article>\n", f"</Article>\n{RETRACTION}" if pmid in retracted else "</Article>\n"
        )
        for pmid in pmids
    )
    return PROLOG + f"<PubmedArticleSet>{found}</PubmedArticleSet>".encode()


def found(*pmids: str, count: int | None = None, extra: str = "") -> bytes:
    ids = "".join(f"<Id>{pmid}</Id>" for pmid in pmids)
    return (
        f"<eSearchResult><Count>{len(pmids) if count is None else count}</Count>"
        f"<RetMax>{len(pmids)}</RetMax><RetStart>0</RetStart><QueryKey>1</QueryKey>"
        f"<WebEnv>MCID_1</WebEnv><IdList>{ids}</IdList>{extra}</eSearchResult>"
    ).encode()


def summaries(*pmids: str, retracted: tuple[str, ...] = ()) -> bytes:
    notice = (
        "<References><Reference><RefSource>Ann Desks. 2025 Jan;13(1):2</RefSource>"
        "<RefType>Retraction in</RefType><PMID>99</PMID></Reference></References>"
    )
    found = "".join(
        f'<DocumentSummary uid="{pmid}"><PubDate>2024 Mar 15</PubDate><Source>Ann Desks</Source>'
        f"<Authors><Author><Name>Reader AM</Name></Author></Authors><Title>Oak {pmid}</Title>"
        "<ArticleIds><ArticleId><IdType>pubmed</IdType>"
        f"<Value>{pmid}</Value></ArticleId><ArticleId><IdType>doi</IdType>"
        f"<Value>10.5555/oak.{pmid}</Value></ArticleId></ArticleIds>"
        f"{notice if pmid in retracted else ''}</DocumentSummary>"
        for pmid in pmids
    )
    whole = f"<DocumentSummarySet>{found}</DocumentSummarySet>"
    return f"<eSummaryResult>{whole}</eSummaryResult>".encode()


def links(name: str, *pmids: str, source: str = "100") -> bytes:
    found = "".join(f"<Link><Id>{pmid}</Id><Score>{900 - at}</Score></Link>"
                    for at, pmid in enumerate(pmids))  # fmt: skip
    return (
        f"<eLinkResult><LinkSet><DbFrom>pubmed</DbFrom><IdList><Id>{source}</Id></IdList>"
        f"<LinkSetDb><DbTo>pubmed</DbTo><LinkName>{name}</LinkName>{found}</LinkSetDb>"
        "</LinkSet></eLinkResult>"
    ).encode()
