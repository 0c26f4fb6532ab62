//! Parses terms with precedence: `not` before `and` before `or`.

use super::domain;
use super::error::{FilterError, TextSpan};
use super::expression::{Expression, Test};
use super::literal::{Comparison, Literal, Prefix};
use super::token::{Token, TokenKind, tokens};
use crate::nearest::nearest;
use crate::{Column, DERIVED_TABLES, ROCE_UDP_PORT, TABLES, Type};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Keywords that are shorthand for comparisons, the columns that they compare, and the value that follows.
const WORDS: [(&str, &[&str], &str); 8] = [
    ("host", &["src", "dst"], "an IP address"),
    ("net", &["src", "dst"], "a network, such as 10.0.0.0/8"),
    ("qp", &["src_qpn", "dst_qpn"], "a queue pair number"),
    ("port", &["udp_src_port"], "a UDP source port"),
    ("opcode", &["opcode"], "an opcode, such as RC_SEND_ONLY or *WRITE*"),
    ("service", &["service"], "a service: RC, UC, UD, XRC or CNP"),
    ("vlan", &["vlan", "inner_vlan"], "a VLAN ID"),
    ("ecn", &["ecn_ce_packets"], "`ce`"),
];

/// Maximum nesting depth, which bounds the recursion; deeper than any readable filter.
const DEPTH: usize = 64;

/// Columns that the filter may use, and what has them.
type Scope<'a> = Option<(&'a [&'a str], &'a str)>;

/// Parses a filter; `scope` restricts suggestions.
pub(super) fn parse(text: &str, scope: Scope<'_>) -> Result<Expression, FilterError> {
    let mut parser = Parser {
        text,
        scope,
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
        if let Some(Token {
            kind: TokenKind::Comparison(comparison),
            place: sign,
        }) = self.peek()
        {
            self.next += 1;
            if is_word(word) && !is_column(word) {
                let message = format!("no operator after `{word}`: write `{word} VALUE`");
                return Err(self.error(message, sign));
            }
            let column = self.column(word, place)?;
            let (value, value_place) = self.value(column.name, "a value", place)?;
            let test = self.test(word, column, comparison, value, value_place)?;
            return Ok(term(Vec::from([test]), place, value_place));
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
        for name in columns {
            let column = self.column(name, place)?;
            tests.push(self.worded(word, column, value, value_place)?);
        }
        Ok(term(tests, place, value_place))
    }

    /// Returns the comparison for a keyword.
    fn worded(&self, word: &str, column: &'static Column, value: &str, place: TextSpan) -> Result<Test, FilterError> {
        let network = |prefix: Result<Prefix, String>| match prefix {
            Ok(prefix) => Ok(Test {
                column,
                comparison: Comparison::Equal,
                literal: Literal::Network(prefix),
            }),
            Err(message) => Err(self.error(message, place)),
        };
        match word {
            "host" if value.contains('/') => Err(self.error("`host` needs an address: use `net` for a network", place)),
            "host" | "net" => network(Prefix::read(value)),
            "ecn" if value.eq_ignore_ascii_case("ce") => Ok(Test {
                column,
                comparison: Comparison::Above,
                literal: Literal::Integer(0),
            }),
            "ecn" => Err(self.error("`ecn` supports only `ce`: packets with congestion experienced", place)),
            _ => self.test(word, column, Comparison::Equal, value, place),
        }
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
        let words = WORDS.iter().map(|(name, _, _)| *name);
        let known: Vec<&str> = match self.scope {
            Some((columns, _)) => words.chain(columns.iter().copied()).collect(),
            None => words.chain(columns().map(|column| column.name)).collect(),
        };
        let message = match (nearest(word, known), self.scope) {
            (Some(near), _) => format!("unknown column `{word}`; did you mean `{near}`?"),
            (None, Some((columns, of))) => format!("unknown column `{word}`; {}", available(columns, of)),
            (None, None) => format!("unknown column `{word}`; `rocescope schema` prints the columns of every table"),
        };
        self.error(message, place)
    }
}

/// What to use instead of a column that is not there: a short list, or where the list is.
pub(super) fn available(columns: &[&str], of: &str) -> String {
    match columns.len() {
        ..=LISTED => format!("{of} have {}", columns.join(", ")),
        _ => format!("`rocescope schema` prints the columns of {of}"),
    }
}

/// Longer lists of columns are not printed in a message.
const LISTED: usize = 16;

fn is_word(word: &str) -> bool {
    WORDS.iter().any(|(name, _, _)| *name == word)
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
