//! Definitions of a document and their expansion, in bounded steps.

use std::rc::Rc;

use crate::engine::Engine;
use crate::token::Token;

/// The most expansions of one document.
const MAX_STEPS: u64 = 400_000;
/// The most tokens from all expansions of one document.
const MAX_TOKENS: usize = 4_000_000;
/// The most tokens of one argument.
const MAX_ARGUMENT: usize = 400_000;
/// The most arguments of one macro.
const MAX_ARGUMENTS: usize = 9;

/// How an argument is written.
#[derive(Debug, Clone)]
pub(crate) enum Argument {
    Plain,
    /// In brackets, with its default.
    Optional(Vec<Token>),
    Star,
    /// Up to these tokens.
    Until(Vec<Token>),
}

/// A definition.
#[derive(Debug, Clone, Default)]
pub(crate) struct Macro {
    /// Tokens between the name and the first argument.
    before: Vec<Token>,
    arguments: Vec<Argument>,
    pub(crate) body: Vec<Token>,
}

impl Macro {
    pub(crate) fn plain(body: Vec<Token>) -> Self {
        Self { body, ..Self::default() }
    }
}

impl Engine<'_> {
    /// Counts an expansion; false when there have been too many.
    fn step(&mut self, tokens: usize) -> bool {
        self.steps += 1;
        self.expanded_tokens += tokens;
        let is_within_limits = self.steps <= MAX_STEPS && self.expanded_tokens <= MAX_TOKENS;
        if !is_within_limits && !std::mem::replace(&mut self.exhausted, true) {
            let message = "the macros expand to more than is read: further ones are left out";
            self.warn("expansion_limit", message);
        }
        is_within_limits
    }

    /// Pushes the body of a macro, with its arguments, onto the input.
    pub(crate) fn expand(&mut self, definition: &Rc<Macro>) {
        if !self.step(1) {
            return;
        }
        let mut arguments: Vec<Vec<Token>> = Vec::with_capacity(definition.arguments.len());
        for token in &definition.before {
            match self.next() {
                Some(found) if found == *token => {}
                Some(found) => {
                    self.push_back(found);
                    break;
                }
                None => break,
            }
        }
        for argument in &definition.arguments {
            arguments.push(match argument {
                Argument::Plain => self.argument(),
                Argument::Optional(usual) => self.optional().unwrap_or_else(|| usual.clone()),
                Argument::Star => {
                    if self.star() {
                        vec![Token::Char('*')]
                    } else {
                        Vec::new()
                    }
                }
                Argument::Until(end) => self.until(end),
            });
        }
        let mut out = Vec::with_capacity(definition.body.len());
        for token in &definition.body {
            match token {
                Token::Parameter(number) => {
                    if let Some(argument) = arguments.get(usize::from(*number) - 1) {
                        out.extend_from_slice(argument);
                    }
                }
                token => out.push(token.clone()),
            }
            if out.len() > MAX_TOKENS {
                break;
            }
        }
        if self.step(out.len()) {
            self.push_tokens(out);
        }
    }

    /// The next token; macros of the document are expanded.
    pub(crate) fn next_expanded(&mut self) -> Option<Token> {
        loop {
            let token = self.next()?;
            if let Token::Command(name) = &token
                && let Some(definition) = self.macros.get(name).cloned()
            {
                self.expand(&definition);
                continue;
            }
            return Some(token);
        }
    }

    pub(crate) fn skip_spaces(&mut self) {
        while let Some(token) = self.next() {
            if token != Token::Space {
                self.push_back(token);
                break;
            }
        }
    }

    pub(crate) fn star(&mut self) -> bool {
        self.skip_spaces();
        match self.next() {
            Some(Token::Char('*')) => true,
            Some(token) => {
                self.push_back(token);
                false
            }
            None => false,
        }
    }

    /// An argument: a group's content, or one token.
    pub(crate) fn argument(&mut self) -> Vec<Token> {
        loop {
            match self.next() {
                Some(Token::Space | Token::Paragraph) => {}
                Some(Token::Open) => return self.group(),
                // The enclosing group ends: there is no argument.
                Some(Token::Close) => {
                    self.push_back(Token::Close);
                    return Vec::new();
                }
                Some(token) => return vec![token],
                None => return Vec::new(),
            }
        }
    }

    /// The rest of a group, without its end.
    pub(crate) fn group(&mut self) -> Vec<Token> {
        let mut out = Vec::new();
        let mut depth = 0_u32;
        while let Some(token) = self.next() {
            match token {
                Token::Open => depth += 1,
                Token::Close if depth == 0 => break,
                Token::Close => depth -= 1,
                _ => {}
            }
            out.push(token);
            if out.len() > MAX_ARGUMENT {
                break;
            }
        }
        out
    }

    /// An argument in brackets, if one follows.
    pub(crate) fn optional(&mut self) -> Option<Vec<Token>> {
        let mut spaces = 0;
        loop {
            match self.next() {
                Some(Token::Space) => spaces += 1,
                Some(Token::Char('[')) => break,
                other => {
                    if let Some(token) = other {
                        self.push_back(token);
                    }
                    if spaces > 0 {
                        self.push_back(Token::Space);
                    }
                    return None;
                }
            }
        }
        Some(self.until(&[Token::Char(']')]))
    }

    /// The tokens up to a delimiter, which is consumed; groups are kept whole.
    pub(crate) fn until(&mut self, end: &[Token]) -> Vec<Token> {
        let mut out: Vec<Token> = Vec::new();
        let mut depth = 0_u32;
        while let Some(token) = self.next() {
            match token {
                Token::Open => depth += 1,
                Token::Close if depth == 0 => {
                    self.push_back(Token::Close);
                    break;
                }
                Token::Close => depth -= 1,
                _ => {}
            }
            out.push(token);
            if depth == 0 && out.ends_with(end) {
                out.truncate(out.len() - end.len());
                // One group alone is an argument in braces.
                if let [Token::Open, inner @ .., Token::Close] = out.as_slice() {
                    let mut depth = 0_i32;
                    let whole = inner.iter().all(|token| {
                        depth +=
                            i32::from(*token == Token::Open) - i32::from(*token == Token::Close);
                        depth >= 0
                    });
                    if whole {
                        return inner.to_vec();
                    }
                }
                break;
            }
            if out.len() > MAX_ARGUMENT {
                break;
            }
        }
        out
    }

    /// The name that a definition defines: `\name` or `{\name}`.
    fn name(&mut self) -> Option<Rc<str>> {
        let name = self.argument();
        match name.iter().find(|token| **token != Token::Space) {
            Some(Token::Command(name)) => Some(name.clone()),
            _ => None,
        }
    }

    /// Stores a definition, unless it is of a command that the reader knows.
    pub(crate) fn define(&mut self, name: Rc<str>, definition: Macro) {
        let structural = crate::commands::is_structural(&name);
        let internal = self.in_style()
            && definition
                .body
                .iter()
                .any(|token| matches!(token, Token::Command(name) if name.contains('@')));
        if structural || internal || self.macros.len() > 50_000 {
            return;
        }
        // A macro that expands to itself never ends.
        if definition.body.first() == Some(&Token::Command(name.clone()))
            && definition.arguments.is_empty()
        {
            return;
        }
        self.macros.insert(name, Rc::new(definition));
    }

    /// `\newcommand` and its kin.
    pub(crate) fn new_command(&mut self, only_new: bool) {
        self.star();
        let Some(name) = self.name() else { return };
        let arguments = self.counted_arguments();
        let body = self.argument();
        if !only_new || (!self.macros.contains_key(&name) && !crate::commands::is_known(&name)) {
            self.define(name, Macro { before: Vec::new(), arguments, body });
        }
    }

    fn counted_arguments(&mut self) -> Vec<Argument> {
        let count = self.optional().and_then(|count| crate::token::written(&count).parse().ok());
        let count: usize = count.unwrap_or(0).min(MAX_ARGUMENTS);
        let mut arguments = vec![Argument::Plain; count];
        if let Some(usual) = self.optional()
            && let Some(first) = arguments.first_mut()
        {
            *first = Argument::Optional(usual);
        }
        arguments
    }

    /// `\def` and its kin.
    pub(crate) fn define_plain(&mut self) {
        let Some(Token::Command(name)) = self.next_word() else { return };
        let mut before = Vec::new();
        let mut arguments = Vec::new();
        let mut pattern: Vec<Token> = Vec::new();
        loop {
            match self.next() {
                Some(Token::Open) => break,
                Some(Token::Parameter(_)) if arguments.len() < MAX_ARGUMENTS => {
                    close_pattern(&mut pattern, &mut arguments, &mut before);
                    arguments.push(Argument::Plain);
                }
                Some(Token::Close | Token::Paragraph) | None => return,
                Some(token) if pattern.len() < 64 => pattern.push(token),
                Some(_) => return,
            }
        }
        close_pattern(&mut pattern, &mut arguments, &mut before);
        let body = self.group();
        self.define(name, Macro { before, arguments, body });
    }

    fn next_word(&mut self) -> Option<Token> {
        self.skip_spaces();
        self.next()
    }

    /// `\let`: copies the definition of a macro; for another command, the new name is an alias.
    pub(crate) fn let_command(&mut self) {
        let Some(Token::Command(name)) = self.next_word() else { return };
        let mut target = self.next_word();
        if target == Some(Token::Char('=')) {
            target = self.next_word();
        }
        let Some(target) = target else { return };
        if let Token::Command(old) = &target {
            if let Some(meaning) = self.macros.get(old).cloned() {
                if !crate::commands::is_structural(&name) {
                    self.macros.insert(name, meaning);
                }
                return;
            }
            // A name that saves a command before its redefinition keeps the old meaning.
            if *old == name || !crate::commands::is_known(old) {
                return;
            }
        }
        if !crate::commands::is_known(&name) {
            self.define(name, Macro::plain(vec![target]));
        }
    }

    /// `\DeclareMathOperator`.
    pub(crate) fn operator(&mut self) {
        let star = self.star();
        let Some(name) = self.name() else { return };
        let body = self.argument();
        let command = if star { "operatorname*" } else { "operatorname" };
        let mut whole = vec![Token::Command(command.into()), Token::Open];
        whole.extend(body);
        whole.push(Token::Close);
        self.define(name, Macro::plain(whole));
    }

    /// `\newenvironment`.
    pub(crate) fn new_environment(&mut self) {
        self.star();
        let name = crate::token::written(&self.argument());
        let arguments = self.counted_arguments();
        let begin = self.argument();
        let end = self.argument();
        if !crate::commands::is_environment(&name)
            && !self.in_style()
            && self.environments.len() < 10_000
        {
            let begin = Macro { before: Vec::new(), arguments, body: begin };
            self.environments.insert(name, (Rc::new(begin), Rc::new(Macro::plain(end))));
        }
    }

    /// `\NewDocumentCommand` and its kin.
    pub(crate) fn document_command(&mut self) {
        let Some(name) = self.name() else { return };
        let kinds = self.argument();
        let body = self.argument();
        let mut arguments = Vec::new();
        let mut kinds = kinds.into_iter().peekable();
        while let Some(kind) = kinds.next() {
            arguments.push(match kind {
                Token::Char('m') => Argument::Plain,
                Token::Char('o') => Argument::Optional(Vec::new()),
                Token::Char('s') => Argument::Star,
                Token::Char('O') => {
                    let mut usual = Vec::new();
                    if kinds.next_if_eq(&Token::Open).is_some() {
                        usual.extend(kinds.by_ref().take_while(|token| *token != Token::Close));
                    }
                    Argument::Optional(usual)
                }
                _ => continue,
            });
            if arguments.len() == MAX_ARGUMENTS {
                break;
            }
        }
        self.define(name, Macro { before: Vec::new(), arguments, body });
    }
}

fn close_pattern(pattern: &mut Vec<Token>, arguments: &mut [Argument], before: &mut Vec<Token>) {
    if pattern.is_empty() {
        return;
    }
    let pattern = std::mem::take(pattern);
    match arguments.last_mut() {
        Some(last) => *last = Argument::Until(pattern),
        None => *before = pattern,
    }
}
