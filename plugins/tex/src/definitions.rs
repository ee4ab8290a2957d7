//! Reads a preamble: definitions of commands and theorems, packages, languages.

use crate::engine::Engine;
use crate::token::{Token, written};

impl Engine<'_> {
    /// Handles the preamble's commands.
    #[inline(never)]
    pub(crate) fn definition(&mut self, name: &str) -> bool {
        match name {
            "newcommand" | "renewcommand" | "DeclareRobustCommand" => self.new_command(false),
            "providecommand" => self.new_command(true),
            "def" | "gdef" | "edef" | "xdef" => self.define_plain(),
            "let" => self.let_command(),
            "futurelet" => {
                self.next();
                self.next();
            }
            "DeclareMathOperator" => self.operator(),
            "newenvironment" | "renewenvironment" | "provideenvironment" => self.new_environment(),
            "NewDocumentCommand"
            | "RenewDocumentCommand"
            | "DeclareDocumentCommand"
            | "ProvideDocumentCommand" => {
                self.document_command();
            }
            "newtheorem" | "spnewtheorem" | "declaretheorem" => self.new_theorem(name),
            "newif" => {
                if let Some(Token::Command(name)) = self.next() {
                    self.flags.insert(name.to_string(), false);
                }
            }
            "fi" | "else" | "or" => {
                if name == "else" || name == "or" {
                    self.skip_branch(false);
                }
            }
            "ifthenelse" => {
                let test = self.argument();
                let (yes, no) = (self.argument(), self.argument());
                let test = written(&test);
                let flag = test.split_once("\\boolean{").and_then(|(_, rest)| rest.split_once('}'));
                let holds = flag
                    .is_some_and(|(flag, _)| self.flags.get(&format!("if{flag}")) == Some(&true));
                let holds = holds != test.starts_with("\\not");
                self.push_tokens(if holds && flag.is_some() { yes } else { no });
            }
            "iftoggle" | "ifbool" => {
                let flag = self.argument_name();
                let (yes, no) = (self.argument(), self.argument());
                let holds = self.flags.get(&format!("if{flag}")) == Some(&true);
                self.push_tokens(if holds { yes } else { no });
            }
            "newtoggle" | "newbool" | "newboolean" => {
                let flag = self.argument_name();
                self.flags.insert(format!("if{flag}"), false);
            }
            "toggletrue" | "booltrue" | "togglefalse" | "boolfalse" => {
                let flag = self.argument_name();
                self.flags.insert(format!("if{flag}"), name.ends_with("true"));
            }
            "setboolean" | "setbool" | "settoggle" => {
                let (flag, value) = (self.argument_name(), self.argument_name());
                self.flags.insert(format!("if{flag}"), value.trim() == "true");
            }
            "numberwithin" => {
                self.optional();
                let counter = self.argument_name();
                let within = self.argument_name();
                self.numbered_within |= counter == "equation" && within == "section";
            }
            "makeatletter" => self.at_letter(true),
            "makeatother" => self.at_letter(false),
            "endinput" => self.end_input(),
            "usepackage" | "RequirePackage" | "documentclass" | "LoadClass" => self.packages(name),
            "csname" => {
                let mut name = String::new();
                while let Some(token) = self.next() {
                    match token {
                        Token::Command(end) if &*end == "endcsname" => break,
                        Token::Char(character) if name.len() < 200 => name.push(character),
                        Token::Space => {}
                        _ => break,
                    }
                }
                self.push_back(Token::Command(name.as_str().into()));
            }
            "expandafter" | "noexpand" | "protect" | "relax" => {}
            _ => {
                let flag = name.strip_suffix("true").or_else(|| name.strip_suffix("false"));
                match flag
                    .map(|flag| format!("if{flag}"))
                    .filter(|flag| self.flags.contains_key(flag))
                {
                    Some(flag) => {
                        self.flags.insert(flag, name.ends_with("true"));
                    }
                    None => return false,
                }
            }
        }
        true
    }

    pub(crate) fn new_theorem(&mut self, command: &str) {
        let star = self.star();
        if command == "declaretheorem" {
            let options = self.optional().map(|tokens| written(&tokens)).unwrap_or_default();
            let name = self.argument_name();
            let behind = self.optional().map(|tokens| written(&tokens)).unwrap_or_default();
            let all = format!("{options},{behind}");
            let title = all
                .split(',')
                .find_map(|part| part.trim().strip_prefix("name=").map(str::to_owned));
            let mut letters = name.chars();
            let usual = letters.next().map(|first| first.to_uppercase().chain(letters).collect());
            self.theorems.insert(name.clone(), (title.or(usual).unwrap_or_default(), name));
            return;
        }
        let name = self.argument_name();
        let shared = self.optional().map(|tokens| written(&tokens));
        let title = self.argument_text().unwrap_or_default();
        self.optional();
        if command == "spnewtheorem" {
            self.argument();
            self.argument();
        }
        let counter = if star { String::new() } else { shared.unwrap_or_else(|| name.clone()) };
        if !crate::commands::is_environment(&name)
            && self.theorems.len() < 1000
            && !title.is_empty()
        {
            self.theorems.insert(name, (title, counter));
        }
    }

    pub(crate) fn packages(&mut self, command: &str) {
        let options = self.optional().map(|tokens| written(&tokens)).unwrap_or_default();
        let names = self.argument_name();
        self.optional();
        for name in names.split(',').map(str::trim) {
            if name == "babel" || (command == "documentclass" && self.document.language.is_none()) {
                let last = options.split(',').map(str::trim).filter_map(language).next_back();
                self.document.language = last.map(str::to_owned).or(self.document.language.take());
            }
            // A class's code is not text; a package of the authors may contain their macros.
            if command == "usepackage"
                && let Some(file) = self.find(name, &[".sty"])
                && file.bytes.len() < 60_000
            {
                self.input(file, true);
            }
        }
    }
}

/// The tag of a language by babel's name.
pub(crate) fn language(name: &str) -> Option<&'static str> {
    Some(match name {
        "english" | "british" | "american" | "USenglish" | "UKenglish" | "australian" => "en",
        "french" | "francais" | "frenchb" | "acadian" => "fr",
        "german" | "ngerman" | "austrian" | "naustrian" => "de",
        "spanish" => "es",
        "italian" => "it",
        "portuguese" | "brazil" | "brazilian" | "portuges" => "pt",
        "russian" => "ru",
        "dutch" => "nl",
        "polish" => "pl",
        "czech" => "cs",
        "greek" => "el",
        "turkish" => "tr",
        "ukrainian" => "uk",
        "swedish" => "sv",
        "danish" => "da",
        "finnish" => "fi",
        "norsk" => "no",
        "hungarian" | "magyar" => "hu",
        _ => return None,
    })
}
