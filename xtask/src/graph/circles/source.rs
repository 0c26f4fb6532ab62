//! The items, names and paths of one module: a scan of its tokens, macros included, tests excluded.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// The segments of a path.
pub(super) type Path = Vec<String>;

/// One module.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// Child modules: `None` for those in a file of their own.
    pub(super) children: Vec<(String, Option<Self>)>,
    /// Names of the items that the module defines.
    pub(super) items: BTreeSet<String>,
    pub(super) uses: Vec<Use>,
    /// Paths of two or more segments, outside of `use`.
    pub(super) paths: BTreeSet<Path>,
    /// All words outside of `use`.
    pub(super) words: BTreeSet<String>,
}

/// A name that `use` brings into a module.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// `*` for all names of a module.
    pub(super) name: String,
    pub(super) path: Path,
    /// `pub use`, with any visibility.
    pub(super) is_public: bool,
}

/// Keywords before the name of an item.
const ITEMS: [&str; 8] = ["const", "enum", "fn", "static", "struct", "trait", "type", "union"];

impl Source {
    pub(super) fn read(tokens: TokenStream) -> Self {
        let mut source = Self::default();
        source.scan(tokens, true);
        source
    }

    fn scan(&mut self, tokens: TokenStream, is_top: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = self.step(&tokens, at, is_top);
        }
    }

    /// Reads the item or path at a token; returns the index of the next.
    fn step(&mut self, tokens: &[TokenTree], at: usize, is_top: bool) -> usize {
        let TokenTree::Ident(_) = &tokens[at] else {
            if is_char(tokens.get(at), '#') && is_for_tests(tokens.get(at + 1)) {
                return after_item(tokens, at + 2);
            }
            if let TokenTree::Group(group) = &tokens[at] {
                self.scan(group.stream(), false);
            }
            return at + 1;
        };
        let word = text(&tokens[at]);
        let next = tokens.get(at + 1);
        match (&*word, next) {
            ("pub", Some(TokenTree::Group(group))) if group.delimiter() == Delimiter::Parenthesis => at + 2,
            ("mod", Some(TokenTree::Ident(name))) => {
                let body = match tokens.get(at + 2) {
                    Some(TokenTree::Group(body)) => Some(Self::read(body.stream())),
                    _ => None,
                };
                self.children.push((name.to_string(), body));
                at + 3
            }
            ("use", Some(first)) if !is_char(Some(first), '<') => {
                let end = tokens[at..].iter().position(|token| is_char(Some(token), ';'));
                let end = end.map_or(tokens.len(), |length| at + length);
                self.names(&tokens[at + 1..end], &[], is_public(&tokens[..at]));
                end + 1
            }
            _ => {
                if let Some(TokenTree::Ident(name)) = next
                    && is_top
                    && ITEMS.contains(&&*word)
                {
                    self.items.insert(name.to_string());
                }
                if let (true, Some(name)) = (word == "macro_rules", tokens.get(at + 2)) {
                    self.items.insert(text(name));
                }
                let path = path(tokens, at);
                let behind = at + 1 + 3 * (path.len() - 1);
                self.words.insert(word);
                if path.len() > 1 && !is_separator(tokens, at.wrapping_sub(2)) {
                    self.paths.insert(path);
                }
                behind
            }
        }
    }

    /// Collects the names of a `use` tree below `prefix`.
    fn names(&mut self, tree: &[TokenTree], prefix: &[String], is_public: bool) {
        if is_separator(tree, 0) && prefix.is_empty() {
            // From another crate.
            return;
        }
        let (mut path, mut name) = (prefix.to_vec(), None);
        let mut tokens = tree.iter();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => {
                    let stream: Vec<TokenTree> = group.stream().into_iter().collect();
                    for tree in stream.split(|token| is_char(Some(token), ',')) {
                        self.names(tree, &path, is_public);
                    }
                    return;
                }
                TokenTree::Ident(word) if word == "as" => name = tokens.next().map(text),
                TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                TokenTree::Ident(word) => path.push(word.to_string()),
                token if is_char(Some(token), '*') => name = Some("*".to_owned()),
                _ => {}
            }
        }
        if let Some(name) = name.or(path.last().cloned()) {
            let path = path.clone();
            self.uses.push(Use { name, path, is_public });
        }
    }
}

/// The path that begins at a word.
fn path(tokens: &[TokenTree], mut at: usize) -> Path {
    let mut path = vec![text(&tokens[at])];
    while let (true, Some(TokenTree::Ident(word))) = (is_separator(tokens, at + 1), tokens.get(at + 3)) {
        path.push(word.to_string());
        at += 3;
    }
    path
}

/// Whether `::` is at a token.
fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    let joint = matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.spacing() == Spacing::Joint);
    joint && is_char(tokens.get(at), ':') && is_char(tokens.get(at.wrapping_add(1)), ':')
}

fn is_char(token: Option<&TokenTree>, character: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}

/// Whether the tokens before a `use` make it public.
fn is_public(before: &[TokenTree]) -> bool {
    let words = match before {
        [words @ .., TokenTree::Group(_)] | words => words,
    };
    words.last().is_some_and(|word| text(word) == "pub")
}

/// `[cfg(test)]`, and `[cfg(all(test, …))]`.
fn is_for_tests(attribute: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Group(attribute)) = attribute else {
        return false;
    };
    let attribute = attribute.stream().to_string().replace(' ', "");
    attribute == "cfg(test)" || attribute.starts_with("cfg(all(test,")
}

/// The end of the item that begins at a token.
fn after_item(tokens: &[TokenTree], at: usize) -> usize {
    let is_last = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        token => is_char(Some(token), ';'),
    };
    let length = tokens[at..].iter().position(is_last);
    length.map_or(tokens.len(), |length| at + length + 1)
}

fn text(token: &TokenTree) -> String {
    token.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::read(text.parse().unwrap())
    }

    fn uses(text: &str) -> Vec<String> {
        let uses = source(text).uses.into_iter();
        let shown = uses.map(|one| {
            let public = if one.is_public { "pub " } else { "" };
            format!("{public}{} = {}", one.name, one.path.join("::"))
        });
        shown.collect()
    }

    #[test]
    fn every_name_of_a_tree_is_read() {
        let names = uses("use crate::{a::{self, B as C}, d::*}; pub(crate) use super::e::F; use ::g::H;");
        let expected = ["a = crate::a", "C = crate::a::B", "* = crate::d", "pub F = super::e::F"];
        assert_eq!(names, expected);
    }

    #[test]
    fn paths_are_read_in_bodies_types_and_macros() {
        let text = "fn f<T: super::A>(x: crate::b::C) -> u8 { m![self::d::E]; Vec::<crate::G>::new() }";
        let paths: Vec<String> = source(text).paths.iter().map(|path| path.join("::")).collect();
        assert_eq!(paths, ["crate::G", "crate::b::C", "self::d::E", "super::A"]);
        assert!(source("pub(in crate::a) struct B { c: D, e: ::f::G }").paths.is_empty());
    }

    #[test]
    fn tests_are_left_out() {
        let text = "#[cfg(test)] mod tests { use super::*; } #[cfg(test)] use a::B; fn c() { a::d() }";
        let source = source(text);
        assert!(source.uses.is_empty() && source.children.is_empty());
        assert_eq!(source.paths.len(), 1);
    }

    #[test]
    fn items_are_those_of_the_module_itself() {
        let text =
            "pub const fn a() { struct B; } impl C { fn d() {} } macro_rules! e { () => {} } mod f { enum G {} }";
        let source = source(text);
        let expected = ["a", "e", "fn"].map(String::from);
        assert_eq!(source.items, expected.into());
        assert!(source.children[0].1.as_ref().unwrap().items.contains("G"));
    }
}
