//! Classifies pages: first whether it is the content, or a challenge, a login form or a paywall.

use crate::dom::{Id, Tree};
use crate::measure::Stat;
use crate::meta::Meta;
use crate::needles::Needles;
use crate::seen::{Shown, visible};

/// Pages that are shown in place of another, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wall {
    /// A bot challenge.
    Challenge,
    /// A form to log in.
    Login,
    /// A cookie consent form.
    Consent,
    /// A "not found" page.
    NotFound,
    /// A paywall: a part of a text, and an offer to buy the rest.
    Paywall,
}

impl Wall {
    /// The document's kind.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Challenge => "challenge",
            Self::Login => "login",
            Self::Consent => "consent",
            Self::NotFound => "not_found",
            Self::Paywall => "paywall",
        }
    }

    /// The message for a person.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Challenge => {
                "the site asks whether a person reads: its page was not given; open it in a browser"
            }
            Self::Login => "the page is a form to log in: log in with a browser and save the page",
            Self::Consent => {
                "the page only asks for consent to cookies: answer in a browser and save the page"
            }
            Self::NotFound => "the site says that there is no such page: check the address",
            Self::Paywall => "the site gives this text, or the rest of it, to subscribers only",
        }
    }
}

/// Measurements of a page.
pub(crate) struct View {
    /// Its title and first headings, in lower case.
    head: String,
    /// The beginning of its text, in lower case; empty for a page that is too long for a wall.
    text: String,
    /// Characters of its text, links included.
    chars: usize,
    /// Fields for passwords.
    passwords: usize,
    /// Characters of long texts that do not mention consent.
    other: usize,
}

/// A page with this many characters is no wall.
const LONGEST_WALL: usize = 6000;
/// The most characters of the text that are searched.
const LOOK: usize = 12_000;

impl View {
    /// Measures a page.
    pub(crate) fn new(tree: &Tree, shown: &Shown, title: &str) -> Self {
        let mut view = Self {
            head: format!("{title}\n").to_lowercase(),
            text: String::new(),
            chars: 0,
            passwords: 0,
            other: 0,
        };
        let mut raw = String::new();
        let mut headings = 0;
        let mut at = 0;
        while at < tree.len() {
            if shown.gone[at] {
                let secret =
                    tree.name(at) == "input" && tree.attribute(at, "type") == Some("password");
                view.passwords += usize::from(secret);
                at = tree.end(at);
                continue;
            }
            if matches!(tree.name(at), "h1" | "h2") && headings < 3 {
                headings += 1;
                view.head.push_str(&tree.all_text(at).to_lowercase());
                view.head.push('\n');
            }
            if let Some(text) = tree.text(at) {
                let chars = visible(text);
                view.chars += chars;
                if chars > 60 && view.other < 5_000 {
                    view.other += if CONSENTS.any(text) { 0 } else { chars };
                }
                if chars > 0 && raw.len() < LOOK {
                    raw.push_str(text);
                    raw.push(' ');
                }
            }
            at += 1;
        }
        if view.chars < LONGEST_WALL {
            view.text = carrel_pdk::text::collapse(&raw).to_lowercase();
        }
        view
    }

    /// Whether the page has no visible content.
    pub(crate) fn is_empty(&self) -> bool {
        self.chars == 0
    }

    fn heads(&self, words: &Needles) -> bool {
        words.any(&self.head)
    }

    fn says(&self, words: &Needles) -> bool {
        words.any(&self.text)
    }

    fn count(&self, words: &Needles) -> usize {
        words.count(&self.text)
    }
}

/// Marks of challenge providers in the page's source.
static CHALLENGERS: Needles = Needles::new(&[
    "_cf_chl_opt",
    "cf-browser-verification",
    "cf_chl_",
    "/cdn-cgi/challenge-platform/",
    "cf-challenge",
    "jschl_vc",
    "jschl-answer",
    "cf_captcha_kind",
    "cf-captcha-container",
    "sucuri_cloudproxy_js",
    "px-captcha",
    "_incapsula_resource",
    "captcha-delivery.com",
    "awswafintegration",
    "awswaf.com",
    "gokuprops",
    "aws-waf-token",
    "g-recaptcha",
    "h-captcha",
    "hcaptcha.com",
    "turnstile",
    "distil_r_captcha",
    "perimeterx",
    "ddos-guard",
    "anubis_challenge",
    "cf-error-details",
]);
static CHALLENGES: Needles = Needles::new(&[
    "just a moment",
    "attention required",
    "checking your browser",
    "verify you are human",
    "verifying you are human",
    "verify that you are human",
    "are you a robot",
    "i'm not a robot",
    "not a bot",
    "ddos protection",
    "please complete the security check",
    "security check",
    "access denied",
    "request blocked",
    "you have been blocked",
    "one more step",
    "enable javascript and cookies to continue",
    "please enable cookies",
    "bot verification",
    "unusual traffic",
    "pardon our interruption",
    "human verification",
    "you are being redirected",
    "please stand by, while we are checking",
    "complete the captcha",
    "captcha",
]);
static NOT_FOUND: Needles = Needles::new(&[
    "404",
    "page not found",
    "not found",
    "page cannot be found",
    "page can't be found",
    "page can’t be found",
    "couldn't find",
    "couldn’t find",
    "could not find",
    "cannot find the page",
    "page doesn't exist",
    "page doesn’t exist",
    "page does not exist",
    "no longer available",
    "no longer exists",
    "nothing here",
    "page is missing",
    "page missing",
    "page unavailable",
    "seite nicht gefunden",
    "nicht gefunden",
    "page introuvable",
    "introuvable",
    "n'existe pas",
    "n’existe pas",
    "página no encontrada",
    "no encontrada",
    "no existe",
    "pagina non trovata",
    "não encontrada",
    "pagina niet gevonden",
    "sidan hittades inte",
    "страница не найдена",
    "ページが見つかりません",
    "页面不存在",
    "页面未找到",
]);
const CONSENT: &[&str] = &[
    "cookie",
    "consent",
    "we value your privacy",
    "your privacy",
    "accept all",
    "reject all",
    "accept",
    "manage preferences",
    "manage options",
    "partners",
    "legitimate interest",
    "personal data",
    "personalised ads",
    "personalized ads",
    "before you continue",
    "akzeptier",
    "einwillig",
    "mit werbung",
    "widerruf",
    "zustimm",
    "datenschutz",
    "tout accepter",
    "vie privée",
    "aceptar",
    "privacidad",
    "accetta",
    "akkoord",
];
static CONSENTS: Needles = Needles::new(CONSENT);
/// Words of which a consent form has at least one.
static TOPICS: Needles = Needles::new(&["cookie", "consent", "privacy", "datenschutz"]);
/// Names of paywall software in a page's source.
static WALLS: Needles =
    Needles::new(&["paywall", "regwall", "metered-content", "subscription-wall"]);
static PAYWALL: Needles = Needles::new(&[
    "subscribe to continue",
    "subscribe to read",
    "subscribe to keep reading",
    "to continue reading",
    "to read the full",
    "subscribers only",
    "subscriber-only",
    "for subscribers",
    "already a subscriber",
    "already subscribed",
    "already a member",
    "become a subscriber",
    "become a member to",
    "unlock this article",
    "this article is for",
    "this content is for",
    "purchase access",
    "buy this article",
    "get full access",
    "access through your institution",
    "rent this article",
    "start your free trial",
    "start your subscription",
    "you have reached your limit",
    "you've reached your",
    "you’ve reached your",
    "free articles",
    "subscription required",
    "jetzt weiterlesen",
    "weiterlesen mit",
    "abonnieren sie",
    "nur für abonnenten",
    "réservé aux abonnés",
    "réservée aux abonnés",
    "réservé à nos abonnés",
    "il vous reste",
    "abonnez-vous",
    "suscríbete para",
    "contenido exclusivo",
    "riservato agli abbonati",
    "abbonati per",
    "solo para suscriptores",
    "para seguir leyendo",
    "word abonnee",
    "abonnee om",
    "voor abonnees",
    "assine para",
    "para assinantes",
    "wykup subskrypcję",
    "dla subskrybentów",
    "czytać dalej",
    "bli prenumerant",
    "för prenumeranter",
    "for abonnenter",
    "会員限定",
    "有料会員",
    "только для подписчиков",
]);
static LOGIN: Needles = Needles::new(&[
    "log in",
    "login",
    "sign in",
    "anmelden",
    "einloggen",
    "se connecter",
    "connexion",
    "iniciar sesión",
    "accedi",
    "forgot password",
    "forgot your password",
    "password",
    "passwort",
    "mot de passe",
]);

/// Whether a text offers the rest to subscribers.
pub(crate) fn offers(text: &str) -> bool {
    let text = text.to_lowercase();
    PAYWALL.any(&text)
}

/// Whether the page is shown in place of another one.
pub(crate) fn wall(page: &str, view: &View, meta: &Meta) -> Option<Wall> {
    if view.chars >= LONGEST_WALL {
        return None;
    }
    // An article about paywalls is longer than a paywall.
    let (short, small) = (view.chars < 700, view.chars < 1800);
    if small {
        let marked = contains_any(page, &CHALLENGERS);
        if (marked && (view.heads(&CHALLENGES) || view.says(&CHALLENGES) || view.chars < 60))
            || (short && (view.heads(&CHALLENGES) || view.count(&CHALLENGES) > 1))
        {
            return Some(Wall::Challenge);
        }
    }
    let article = meta.is_a(ARTICLES) && view.chars >= 700;
    if small && !article && view.heads(&NOT_FOUND) && (short || is_main_topic(view, &NOT_FOUND)) {
        return Some(Wall::NotFound);
    }
    if view.chars < 3000 && view.other < 200 && view.count(&CONSENTS) >= 3 && view.says(&TOPICS) {
        let hits: usize =
            CONSENT.iter().map(|word| view.text.matches(word).count() * word.len()).sum();
        if hits * 25 >= view.chars || short {
            return Some(Wall::Consent);
        }
    }
    if small
        && view.passwords > 0
        && (view.heads(&LOGIN) || (short && view.count(&LOGIN) > 1))
        && !article
    {
        return Some(Wall::Login);
    }
    let offers = view.count(&PAYWALL);
    if (meta.not_free && offers > 0)
        || (offers > 1 && contains_any(page, &WALLS))
        || (view.chars < 2500 && offers > 1)
    {
        return Some(Wall::Paywall);
    }
    None
}

fn is_main_topic(view: &View, words: &Needles) -> bool {
    // A 404 page has a title, one or two sentences, and the site's navigation.
    view.count(words) > 1 || view.head.lines().next().is_some_and(|title| words.any(title))
}

fn contains_any(page: &str, words: &Needles) -> bool {
    words.any(page.get(..page.len().min(400_000)).unwrap_or(page))
}

/// Types of things whose page is one text.
pub(crate) const ARTICLES: &[&str] = &[
    "article",
    "newsarticle",
    "blogposting",
    "scholarlyarticle",
    "reportagenewsarticle",
    "report",
    "opinionnewsarticle",
    "analysisnewsarticle",
    "medicalscholarlyarticle",
    "liveblogposting",
    "review",
    "recipe",
    "howto",
    "advertisercontentarticle",
    "posting",
];
const FORUMS: &[&str] =
    &["discussionforumposting", "qapage", "question", "answer", "discussionforum"];
const PRODUCTS: &[&str] =
    &["product", "productgroup", "individualproduct", "vehicle", "book.product"];
const LISTINGS: &[&str] = &[
    "collectionpage",
    "itemlist",
    "searchresultspage",
    "offercatalog",
    "blog",
    "datafeed",
    "productcollection",
];
const DOCUMENTATION: &[&str] = &["techarticle", "apireference", "softwaresourcecode", "faqpage"];

/// The kind of a page with text.
pub(crate) fn of_content(tree: &Tree, stats: &[Stat], meta: &Meta, posts: &[Id]) -> &'static str {
    let class_of = |name: &str| {
        let at = tree.find(0, name);
        at.and_then(|id| tree.attribute(id, "class")).unwrap_or_default().to_ascii_lowercase()
    };
    let generator = meta.first(&["generator"]).unwrap_or_default().to_ascii_lowercase();
    let forums = [
        "discourse",
        "phpbb",
        "vbulletin",
        "xenforo",
        "mybb",
        "flarum",
        "nodebb",
        "invision",
        "smf",
    ];
    let articles = meta.is_a(ARTICLES);
    let forum = meta.is_a(FORUMS) && !meta.is_a(&["faqpage"]) && !articles;
    if forum || (posts.len() > 1 && !articles) || forums.iter().any(|app| generator.contains(app)) {
        return "forum";
    }
    if meta.is_a(DOCUMENTATION)
        || ["sphinx", "docusaurus", "mkdocs", "gitbook", "vuepress", "mdbook", "jsdoc", "doxygen"]
            .iter()
            .any(|tool| generator.contains(tool))
    {
        return "documentation";
    }
    if meta.is_a(PRODUCTS) && !articles {
        return "product";
    }
    if articles {
        return "article";
    }
    if meta.is_a(LISTINGS) {
        return "listing";
    }
    let body = class_of("body");
    let has = |words: &[&str]| words.iter().any(|word| body.contains(word));
    if has(&["single-product", "product-page", "template-product", "productpage"]) {
        return "product";
    }
    if has(&["single-post", "single ", "article"]) {
        return "article";
    }
    if has(&["archive", "category", "search-results", "template-collection", "tag-", "listing"]) {
        return "listing";
    }
    if is_listing(tree, stats) {
        return "listing";
    }
    "page"
}

/// Whether most of the text is in items that are built alike and are each headed by a link.
fn is_listing(tree: &Tree, stats: &[Stat]) -> bool {
    let total = stats.first().map_or(0, |stat| stat.chars);
    for id in tree.descendants(0) {
        if stats[id].chars * 2 < total || stats[id].chars < 200 {
            continue;
        }
        let mut alike = std::collections::HashMap::<(&str, &str), (u32, u32)>::new();
        for child in tree.elements(id) {
            let key = (tree.name(child), tree.attribute(child, "class").unwrap_or_default());
            if stats[child].link > 0.0 && !matches!(key.0, "p" | "h2" | "h3" | "h4") {
                let counts = alike.entry(key).or_default();
                *counts = (counts.0 + 1, counts.1 + stats[child].chars);
            }
        }
        if alike.values().any(|&(count, chars)| count >= 6 && chars * 2 > stats[id].chars) {
            return true;
        }
    }
    false
}
