//! Parses terms with precedence: `not` before `and` before `or`.

use super::domain;
use super::error::{FilterError, TextSpan};
use super::expression::{Expression, Test};
use super::literal::{Comparison, Literal, Prefix};
use super::suggest::suggestion;
use super::token::{Token, TokenKind, tokens};
use crate::hosts::Hosts;
use crate::nearest::nearest;
use crate::{Column, DERIVED_TABLES, ROCE_UDP_PORT, TABLES, Type};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Keywords that are shorthand for comparisons, the columns that they compare, and the value that follows.
const WORDS: [(&str, &[&str], &str); 10] = [
    ("host", &["src", "dst"], "an IP address"),
    ("net", &["src", "dst"], "a network, such as 10.0.0.0/8"),
    ("qp", &["src_qpn", "dst_qpn"], "a queue pair number"),
    ("port", &["udp_src_port"], "a UDP source port"),
    ("opcode", &["opcode"], "an opcode, such as RC_SEND_ONLY or *WRITE*"),
    ("service", &["service"], "a service: RC, UC, UD, XRC or CNP"),
    ("vlan", &["vlan", "inner_vlan"], "a VLAN ID"),
    ("ecn", &["ecn_ce_packets"], "`ce`"),
    ("psn", &["psn"], "a packet sequence number"),
    (
        "syndrome",
        &["syndrome"],
        "a syndrome, such as nak_psn_sequence_error or rnr_nak",
    ),
];

/// Keywords without a value, the syndromes that they select, and the columns that count the same in other tables.
const FLAGS: [(&str, &str, &[&str]); 2] = [
    ("nak", "nak_*", &["nak_packets", "nak_psn_sequence", "nak_fatal"]),
    ("rnr", "rnr_nak", &["rnr_nak_packets", "rnr_nak"]),
];

/// The names that `host` takes besides addresses.
#[derive(Debug, Clone, Copy)]
pub enum Names<'a> {
    /// None.
    None,
    /// Any; they match nothing until [`Filter::resolve`](super::Filter::resolve).
    Later,
    /// Those of a hosts file.
    Of(&'a Hosts),
}

/// Maximum nesting depth, which bounds the recursion; deeper than any readable filter.
const DEPTH: usize = 64;

/// Columns that the filter may use, and what has them.
type Scope<'a> = Option<(&'a [&'a str], &'a str)>;

/// Parses a filter; `scope` restricts suggestions. `names` are those that `host` takes besides addresses.
pub(super) fn parse(text: &str, scope: Scope<'_>, names: Names<'_>) -> Result<Expression, FilterError> {
    let mut parser = Parser {
        text,
        scope,
        names,
        tokens: tokens(text)?,
        next: 0,
        depth: 0,
    };
    let expression = parser.any()?;
    match parser.peek() {
        None => Ok(expression),
        Some(Token {
            kind: TokenKind::Close,
            place,
        }) => Err(parser.error("unmatched closing parenthesis", place)),
        Some(token) => Err(parser.error("expected `and` or `or` before this", token.place)),
    }
}

struct Parser<'a> {
    text: &'a str,
    scope: Scope<'a>,
    names: Names<'a>,
    tokens: Vec<Token<'a>>,
    next: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn error(&self, message: impl Into<String>, place: TextSpan) -> FilterError {
        FilterError::new(message, self.text, place)
    }

    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).copied()
    }

    /// Consumes the next token if it is of this kind.
    fn take(&mut self, kind: TokenKind<'_>) -> bool {
        let taken = self.peek().is_some_and(|token| token.kind == kind);
        self.next += usize::from(taken);
        taken
    }

    /// Returns the position after the text.
    fn end(&self) -> TextSpan {
        let end = self.text.trim_end().len();
        TextSpan { from: end, to: end }
    }

    fn any(&mut self) -> Result<Expression, FilterError> {
        let first = self.all()?;
        let mut parts = Vec::from([first]);
        while self.take(TokenKind::Or) {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Expression::Or))
    }

    fn all(&mut self) -> Result<Expression, FilterError> {
        let first = self.not()?;
        let mut parts = Vec::from([first]);
        while self.take(TokenKind::And) {
            parts.push(self.not()?);
        }
        Ok(one_or(parts, Expression::And))
    }

    fn not(&mut self) -> Result<Expression, FilterError> {
        let Some(token) = self.peek() else {
            return Err(self.error("expected a term here, such as `host 10.0.0.1`", self.end()));
        };
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error("nested too deeply", token.place));
        }
        let expression = match token.kind {
            TokenKind::Not => {
                self.next += 1;
                Expression::Not(Box::new(self.not()?))
            }
            TokenKind::Open => {
                self.next += 1;
                let inner = self.any()?;
                if !self.take(TokenKind::Close) {
                    return Err(self.error("unclosed parenthesis", token.place));
                }
                inner
            }
            TokenKind::Word(word) => {
                self.next += 1;
                self.term(word, token.place)?
            }
            _ => return Err(self.error("expected a term before this", token.place)),
        };
        self.depth -= 1;
        Ok(expression)
    }

    /// Parses a comparison, or a keyword and its value.
    fn term(&mut self, word: &str, place: TextSpan) -> Result<Expression, FilterError> {
        if let Some((comparison, _)) = self.comparison().filter(|_| !is_keyword(word) || compares_itself(word)) {
            self.next += 1;
            let column = self.column(word, place)?;
            let (value, value_place) = self.value(column.name, "a value", place)?;
            let test = self.test(word, column, comparison, value, value_place)?;
            return Ok(term(Vec::from([test]), place, value_place));
        }
        if let Some((word, syndromes, counts)) = FLAGS.iter().find(|(name, _, _)| *name == word) {
            if let Some((_, sign)) = self.comparison() {
                return Err(self.error(format!("`{word}` takes no value: write `{word}` or `not {word}`"), sign));
            }
            return self.flag(syndromes, counts, place);
        }
        let side = match word {
            "src" | "dst" => Some(word),
            _ => None,
        };
        let (word, word_place) = match (side, self.peek()) {
            (
                Some(_),
                Some(Token {
                    kind: TokenKind::Word(next),
                    place,
                }),
            ) => {
                self.next += 1;
                (next, place)
            }
            _ => (word, place),
        };
        let Some((word, columns, what)) = WORDS.iter().find(|(name, _, _)| *name == word) else {
            return Err(self.unknown(word, word_place));
        };
        let equality = self.equality(word)?;
        let (value, value_place) = self.value(word, what, place)?;
        let columns = columns
            .iter()
            .filter(|column| side.is_none_or(|side| column.starts_with(side)));
        let columns: Vec<&str> = columns.copied().collect();
        if columns.is_empty() || (side.is_some() && *word == "port") {
            return Err(self.error(format!("`{word}` does not support `src` or `dst`"), place));
        }
        if *word == "port" && value.parse() == Ok(ROCE_UDP_PORT) {
            return Err(self.error(
                "`port` is the UDP source port; every RoCEv2 packet has the destination port 4791, so leave this out \
                 (`udp_src_port = 4791` selects that source port)",
                value_place,
            ));
        }
        let mut tests = Vec::new();
        // `host = gpu03` is also about the column `host`, in the tables that have one.
        if equality.is_some() && side.is_none() && self.reaches(word) {
            tests.push(self.test(word, self.column(word, place)?, Comparison::Equal, value, value_place)?);
        }
        let is_optional = !tests.is_empty();
        for name in columns {
            let column = self.column(name, place)?;
            match self.worded(word, column, value, value_place, &mut tests) {
                Err(error) if !is_optional => return Err(error),
                _ => {}
            }
        }
        let term = term(tests, place, value_place);
        match equality {
            Some(Comparison::NotEqual) => Ok(Expression::Not(Box::new(term))),
            _ => Ok(term),
        }
    }

    /// Returns the next token if it is a comparison, and its position.
    fn comparison(&self) -> Option<(Comparison, TextSpan)> {
        match self.peek()?.kind {
            TokenKind::Comparison(comparison) => Some((comparison, self.peek()?.place)),
            _ => None,
        }
    }

    /// Whether there is a column with this name among those that the filter may use.
    fn reaches(&self, name: &str) -> bool {
        match self.scope {
            Some((columns, _)) => columns.contains(&name),
            None => is_column(name),
        }
    }

    /// Parses the `=` or `!=` that may follow a keyword.
    fn equality(&mut self, word: &str) -> Result<Option<Comparison>, FilterError> {
        let Some((comparison, sign)) = self.comparison() else {
            return Ok(None);
        };
        self.next += 1;
        match comparison {
            Comparison::Equal | Comparison::NotEqual => Ok(Some(comparison)),
            _ => Err(self.error(format!("`{word}` supports only `=` and `!=`"), sign)),
        }
    }

    /// Returns the term of a keyword without a value.
    fn flag(&self, syndromes: &str, counts: &[&str], place: TextSpan) -> Result<Expression, FilterError> {
        let syndrome = self.column("syndrome", place)?;
        let mut tests = Vec::from([self.test("syndrome", syndrome, Comparison::Equal, syndromes, place)?]);
        for name in counts {
            tests.push(Test {
                column: self.column(name, place)?,
                comparison: Comparison::Above,
                literal: Literal::Integer(0),
            });
        }
        Ok(term(tests, place, place))
    }

    /// Adds the comparisons for a keyword: several if `value` is a name of several addresses.
    fn worded(
        &self,
        word: &str,
        column: &'static Column,
        value: &str,
        place: TextSpan,
        tests: &mut Vec<Test>,
    ) -> Result<(), FilterError> {
        let equal = |literal| Test {
            column,
            comparison: Comparison::Equal,
            literal,
        };
        match word {
            "host" if value.contains('/') => {
                return Err(self.error("`host` needs an address: use `net` for a network", place));
            }
            "host" | "net" => match (Prefix::read(value), self.names) {
                (Ok(prefix), _) => tests.push(equal(Literal::Network(prefix))),
                (Err(_), Names::Later) if word == "host" => tests.push(equal(Literal::Pattern(value.into()))),
                (Err(message), Names::Of(hosts)) if word == "host" => {
                    let mut named = hosts
                        .addresses(value)
                        .map(|address| equal(Literal::Network(Prefix::host(address))));
                    let first = named.next();
                    let first = first.ok_or_else(|| self.error(nameless(&message, value, hosts), place))?;
                    tests.push(first);
                    tests.extend(named);
                }
                (Err(message), _) => return Err(self.error(message, place)),
            },
            "ecn" if value.eq_ignore_ascii_case("ce") => tests.push(Test {
                column,
                comparison: Comparison::Above,
                literal: Literal::Integer(0),
            }),
            "ecn" => return Err(self.error("`ecn` supports only `ce`: packets with congestion experienced", place)),
            _ => tests.push(self.test(word, column, Comparison::Equal, value, place)?),
        }
        Ok(())
    }

    /// `name` is the name that the user wrote for the column.
    fn test(
        &self,
        name: &str,
        column: &'static Column,
        comparison: Comparison,
        value: &str,
        place: TextSpan,
    ) -> Result<Test, FilterError> {
        let literal = Literal::read(name, column, value)
            .and_then(|literal| domain::check(name, column, &literal, value).map(|()| literal))
            .map_err(|message| self.error(message, place))?;
        if comparison.is_ordering() && !matches!(literal, Literal::Integer(_) | Literal::Number(_)) {
            let message = format!("`{}` supports only `=` and `!=`", column.name);
            return Err(self.error(message, place));
        }
        Ok(Test {
            column,
            comparison,
            literal,
        })
    }

    /// Parses the next word or quoted text.
    fn value(&mut self, of: &str, what: &str, place: TextSpan) -> Result<(&'a str, TextSpan), FilterError> {
        match self.peek() {
            Some(Token {
                kind: TokenKind::Word(value) | TokenKind::Quoted(value),
                place,
            }) => {
                self.next += 1;
                Ok((value, place))
            }
            Some(token) => Err(self.error(format!("expected {what} before this"), token.place)),
            None => Err(self.error(format!("`{of}` needs {what}"), place)),
        }
    }

    /// Returns the column with this name from any table: a name means the same in all tables.
    fn column(&self, name: &str, place: TextSpan) -> Result<&'static Column, FilterError> {
        columns()
            .find(|column| column.name == name)
            .ok_or_else(|| self.unknown(name, place))
    }

    fn unknown(&self, word: &str, place: TextSpan) -> FilterError {
        if is_column(word) {
            let message = format!("`{word}` needs a comparison, such as `{word} = …`");
            return self.error(message, place);
        }
        let all = columns().map(|column| column.name);
        let known: Vec<&str> = match self.scope {
            Some((columns, _)) => columns.to_vec(),
            None => all.collect(),
        };
        let message = match (suggestion(word, &known, keywords()), self.scope) {
            (Some(hint), _) => format!("unknown column `{word}`; {hint}"),
            (None, Some((columns, of))) => format!("unknown column `{word}`; {}", available(columns, of)),
            (None, None) => {
                format!("unknown column `{word}`; `rocescope dataset schema` prints the columns of every table")
            }
        };
        self.error(message, place)
    }
}

/// What to use instead of a column that is not there: a short list, or where the list is.
pub(super) fn available(columns: &[&str], of: &str) -> String {
    match columns.len() {
        ..=LISTED => format!("{of} have {}", columns.join(", ")),
        _ => format!("`rocescope dataset schema` prints the columns of {of}"),
    }
}

/// Longer lists of columns are not printed in a message.
const LISTED: usize = 16;

/// Why a word after `host` is no address.
fn nameless(message: &str, name: &str, hosts: &Hosts) -> String {
    match nearest(name, hosts.iter().map(|(_, name)| name)) {
        Some(near) => format!("{message}, and no name of the hosts file; did you mean `{near}`?"),
        None => format!("{message}, and no name of the hosts file (`--hosts`)"),
    }
}

/// Returns all keywords.
fn keywords() -> impl Iterator<Item = &'static str> {
    let words = WORDS.iter().map(|(name, _, _)| *name);
    words.chain(FLAGS.iter().map(|(name, _, _)| *name))
}

fn is_keyword(word: &str) -> bool {
    keywords().any(|keyword| keyword == word)
}

/// Whether a keyword is also the name of one of its columns: an operator after it compares that column.
fn compares_itself(word: &str) -> bool {
    WORDS
        .iter()
        .any(|(name, columns, _)| *name == word && columns.contains(name))
}

fn is_column(word: &str) -> bool {
    columns().any(|column| column.name == word)
}

/// Returns all columns that can be compared.
fn columns() -> impl Iterator<Item = &'static Column> {
    let tables = TABLES.iter().chain(DERIVED_TABLES);
    tables
        .flat_map(|table| table.columns)
        .filter(|column| !matches!(column.kind, Type::Bytes | Type::ListI64))
}

fn term(tests: Vec<Test>, from: TextSpan, to: TextSpan) -> Expression {
    let place = TextSpan {
        from: from.from,
        to: to.to,
    };
    Expression::Term { tests, place }
}

fn one_or(mut parts: Vec<Expression>, many: fn(Vec<Expression>) -> Expression) -> Expression {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, Some(last)) => {
            parts.push(last);
            many(parts)
        }
        (_, None) => many(parts),
    }
}
