//! Arguments of commands without text of their own, and the commands that the reader knows.

use std::sync::LazyLock;

/// A command's arguments: `*` a star, `o` one in brackets and `m` one in braces that are skipped,
/// `t` one that is read as text. `None` for a command that is not in the list.
pub(crate) fn arguments(name: &str) -> Option<&'static str> {
    // Sorted once: a document has thousands of commands, and the list about a thousand names.
    static SORTED: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
        let named = |&(takes, names): &(&'static str, &'static str)| {
            names.split(' ').filter(|name| !name.is_empty()).map(move |name| (name, takes))
        };
        let mut all: Vec<_> = TAKES.iter().flat_map(named).collect();
        all.sort_by_key(|&(name, _)| name); // stable, so that the first entry of a name is kept
        all.dedup_by_key(|&mut (name, _)| name);
        all
    });
    let at = SORTED.binary_search_by_key(&name, |&(own, _)| own).ok()?;
    SORTED.get(at).map(|&(_, takes)| takes)
}

/// Commands that a document cannot redefine for this reader, because they make the structure.
pub(crate) fn is_structural(name: &str) -> bool {
    STRUCTURE.split_whitespace().any(|own| own == name)
}

/// Whether the reader knows a command.
pub(crate) fn is_known(name: &str) -> bool {
    is_structural(name)
        || arguments(name).is_some()
        || crate::signs::sign(name).is_some()
        || crate::signs::is_accent(name)
}

/// Environments that the reader knows.
pub(crate) fn is_environment(name: &str) -> bool {
    let plain = name.trim_end_matches('*');
    is_math(plain) || ENVIRONMENTS.split_whitespace().any(|own| own == plain)
}

/// Environments that are formulas.
pub(crate) fn is_math(name: &str) -> bool {
    matches!(
        name,
        "equation"
            | "align"
            | "gather"
            | "multline"
            | "eqnarray"
            | "flalign"
            | "alignat"
            | "xalignat"
            | "displaymath"
            | "math"
            | "dmath"
            | "dgroup"
            | "IEEEeqnarray"
            | "empheq"
    )
}

/// Verbatim environments.
pub(crate) fn is_verbatim(name: &str) -> bool {
    matches!(
        name.trim_end_matches('*'),
        "verbatim"
            | "Verbatim"
            | "lstlisting"
            | "minted"
            | "alltt"
            | "BVerbatim"
            | "LVerbatim"
            | "verbatimtab"
            | "code"
            | "Code"
            | "CodeInput"
            | "CodeOutput"
            | "Sinput"
            | "Soutput"
    )
}

const ENVIRONMENTS: &str = "document abstract itemize enumerate description compactitem compactenum compactdesc \
    inparaenum asparaenum list trivlist figure table wrapfigure wraptable SCfigure sidewaysfigure sidewaystable \
    subfigure subtable algorithm algorithm2e algorithmic tabular tabularx tabulary longtable supertabular tabbing \
    deluxetable thebibliography verbatim Verbatim lstlisting minted alltt comment quote quotation verse proof \
    filecontents references biblist bibdiv tikzpicture picture pspicture CCSXML acknowledgments acknowledgements \
    acknowledgement appendix appendices keywords IEEEkeywords";

const STRUCTURE: &str = "begin end section subsection subsubsection paragraph subparagraph chapter part item \
    title author caption cite citep citet footnote footnotetext thanks label ref eqref input include subfile import \
    subimport bibliography bibliographystyle printbibliography bibitem document documentclass usepackage newcommand \
    renewcommand providecommand def let abstract maketitle date newtheorem newenvironment url href and \
    includegraphics if else fi iffalse iftrue verb emph textbf textit frac sqrt left right";

/// Argument specifications and their commands.
const TAKES: &[(&str, &str)] = &[
    (
        "",
        "maketitle tableofcontents listoffigures listoftables newpage clearpage cleardoublepage pagebreak \
         nopagebreak linebreak nolinebreak noindent indent centering raggedright raggedleft relax par \
         bf it rm sf tt sl sc em tiny scriptsize footnotesize small normalsize large Large LARGE huge Huge \
         bfseries itshape rmfamily sffamily ttfamily slshape scshape upshape mdseries normalfont boldmath unboldmath \
         smallskip medskip bigskip vfill hfill hfil vfil hss dotfill hrulefill protect ignorespaces unskip \
         appendixpage frontmatter mainmatter backmatter onecolumn twocolumn flushbottom raggedbottom sloppy fussy \
         hline toprule midrule bottomrule endfirsthead endhead endfoot endlastfoot hrule vrule leavevmode \
         allowbreak goodbreak break nobreak obeylines obeyspaces newline bigbreak medbreak smallbreak \
         displaystyle textstyle scriptstyle null strut phantomsection makeatletter makeatother bgroup egroup \
         begingroup endgroup global long outer noexpand expandafter csname endcsname number the romannumeral \
         nonumber notag qed qedhere samepage onehalfspacing doublespacing singlespacing selectfont balance \
         IEEEpeerreviewmaketitle IEEEoverridecommandlockouts printindex makeindex acknowledgmentsname \
         BibitemOpen EOS hfuzz vfuzz tolerance makeglossaries printglossaries normalem frenchspacing nonfrenchspacing \
         ignorespacesafterend endinput raggedcolumns clearfloats FloatBarrier textnormal @ unpenalty penalty",
    ),
    ("o", "footnotemark nocomma"),
    (
        "m",
        "vspace hspace vspace* hspace* pagestyle thispagestyle pagenumbering bibliographystyle hypersetup graphicspath \
         geometry setcitestyle captionsetup label nocite usetikzlibrary pgfplotsset tikzset lstset columnwidth \
         input@path DeclareGraphicsExtensions urlstyle theoremstyle hyphenation allowdisplaybreaks phantom hphantom \
         vphantom index glossary linespread setstretch bibliographyunit BibitemShut enlargethispage addvspace \
         shorttitle shortauthors shortauthor titlerunning authorrunning received accepted revised published preprint \
         copyrightyear acmYear acmVolume acmNumber acmArticle acmMonth acmPrice acmISBN setcopyright acmJournal \
         acmConference ccsdesc citestyle orcid inst fnref corref cormark tnoteref selectlanguage \
         markright typeout message errmessage PackageWarning includeonly excludecomment includecomment \
         stepcounter refstepcounter usecounter value arabic roman Roman alph Alph fnsymbol thefootnote \
         noalign cmidrule cline special write16 ProcessOptions ExecuteOptions NeedsTeXFormat \
         RequirePackage LoadClass crefrangeconjunction pdfbookmark@ \
         rowfont arrayrulecolor rowcolor cellcolor columncolor pagecolor todo listoftodos missingfigure \
         bibinfo@ newcounter newlength newsavebox newtoks newdimen newskip newcount newbox newwrite newread \
         bstctlcite tabletypesize tablewidth tablenum tablecolumns tableline colnumbers usebox \
         linenumbers nolinenumbers modulolinenumbers hyphenpenalty@ Crefname@ mathtoolsset sisetup \
         authorcontributions@ firstpage lastpage doinum issn pubvolume pubyear articlenumber externaleditor \
         histories datereceived daterevised dateaccepted datepublished inputencoding fontfamily fontseries fontshape \
         restylefloat floatstyle bibpunct setlist urldef@ thanksref fntext mathversion",
    ),
    (
        "om",
        "color includegraphics usepackage documentclass documentstyle RequirePackageWithOptions linewidth@ addbibresource@ \
            rule@ includepdf pgfimage psfig epsfig epsfbox cmidrule@ setdefaultlanguage setotherlanguage setmainfont \
            setsansfont setmonofont lstinputlisting@ parbox@ makebox@ citenum@ footnotemark@ tnotetext@ includestandalone",
    ),
    (
        "mm",
        "setlength addtolength setcounter addtocounter settowidth settoheight settodepth fontsize markboth \
            definecolor@ crefname Crefname newrefformat newunit numberwithin@ counterwithin DeclareUnicodeCharacter \
            newfont resizebox* hyperref@ pdfbookmark pagestyles setbox write immediate@ textcolor@ addto \
            DeclareMathSymbol@ sbox savebox@ tnotetext@ appto preto AtBeginEnvironment SetKwInput \
            SetKwFunction@ contentsline newcolumntype bibAnnoteFile ifpackageloaded@ urldef patchcmd@",
    ),
    (
        "mmm",
        "definecolor addcontentsline DeclareFontShape@ setkeys@ titleformat@ titlespacing colorlet@ crefrangelabelformat \
             SetMathAlphabet@ includegraphics@ newglossaryentry@ newacronym@ putbib@",
    ),
    ("omm", "rule"),
    ("oomm", "raisebox@"),
    ("*m", "vspace hspace"),
    (
        "t",
        "textbf textit textrm textsf texttt textsl textsc emph textmd textup textnormal mbox hbox vbox text underline \
           uline uuline sout MakeUppercase MakeLowercase uppercase lowercase fbox framebox@ centerline leftline rightline \
           ensuretext hl st textlf bibnamefont bibfnamefont citenamefont so ul mathrm@ noun smash llap rlap \
           mdf bm@ vcenter IEEEauthorblockN@ natexlab capitalize makefirstuc boxed@ nobreakdash term firstname \
           lastname texorpdf@ dedicatory epigraph@ nohyphens centertext bfit cref@ subtitle@ ack \
           acs latin textgreek foreignterm name@ collab collaboration acronymfont",
    ),
    (
        "mt",
        "textcolor foreignlanguage href@ bibinfo bibfield colorbox scalebox rotatebox@ ensurelanguage hyperlink \
            hypertarget hyperref@ raisebox otherlanguage@ contour languagename@ hyper@linkstart cellcolors",
    ),
    ("mmt", "resizebox fcolorbox"),
    ("omt", "parbox rotatebox scalebox@ acro@"),
    ("oot", "makebox framebox"),
    ("ot", "textquote@ acks"),
    ("tm", "texorpdfstring"),
];
