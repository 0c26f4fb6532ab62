//! Tokens: words and operators.

use super::error::{FilterError, TextSpan};
use super::literal::Comparison;
use alloc::vec::Vec;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind<'a> {
    /// A word, a number, an address.
    Word(&'a str),
    /// Text in double quotes, without the quotes.
    Quoted(&'a str),
    /// A comparison operator.
    Comparison(Comparison),
    /// `(`
    Open,
    /// `)`
    Close,
    /// `and`, `&&`
    And,
    /// `or`, `||`
    Or,
    /// `not`, `!`
    Not,
}

/// A token and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub kind: TokenKind<'a>,
    pub place: TextSpan,
}

/// Operators; an operator precedes its prefixes.
const SIGNS: [(&str, TokenKind<'static>); 12] = [
    ("&&", TokenKind::And),
    ("||", TokenKind::Or),
    ("==", TokenKind::Comparison(Comparison::Equal)),
    ("!=", TokenKind::Comparison(Comparison::NotEqual)),
    ("<=", TokenKind::Comparison(Comparison::AtMost)),
    (">=", TokenKind::Comparison(Comparison::AtLeast)),
    ("=", TokenKind::Comparison(Comparison::Equal)),
    ("<", TokenKind::Comparison(Comparison::Below)),
    (">", TokenKind::Comparison(Comparison::Above)),
    ("!", TokenKind::Not),
    ("(", TokenKind::Open),
    (")", TokenKind::Close),
];

/// Whether a character ends a word.
fn ends_word(character: char) -> bool {
    character.is_whitespace() || "&|=!<>()\"".contains(character)
}

/// Splits `text` into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, FilterError> {
    let mut tokens = Vec::new();
    let mut from = 0;
    while let Some(rest) = text.get(from..) {
        let blank = rest.len() - rest.trim_start().len();
        from += blank;
        let rest = rest.trim_start();
        if rest.is_empty() {
            break;
        }
        let (kind, length) = token(rest).map_err(|message| {
            let to = text.len();
            FilterError::new(message, text, TextSpan { from, to })
        })?;
        let to = from + length;
        let place = TextSpan { from, to };
        tokens.push(Token { kind, place });
        from = to;
    }
    Ok(tokens)
}

/// Returns the first token of `rest` and its length.
fn token(rest: &str) -> Result<(TokenKind<'_>, usize), &'static str> {
    if let Some((sign, kind)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Ok((*kind, sign.len()));
    }
    if let Some(quoted) = rest.strip_prefix('"') {
        let end = quoted.find('"').ok_or("unclosed quotation mark")?;
        return Ok((TokenKind::Quoted(&quoted[..end]), end + 2));
    }
    let end = rest.find(ends_word).unwrap_or(rest.len());
    if end == 0 {
        return Err("single `&` or `|`: use `&&`, `||`, `and` or `or`");
    }
    let word = &rest[..end];
    let kind = match word {
        _ if word.eq_ignore_ascii_case("and") => TokenKind::And,
        _ if word.eq_ignore_ascii_case("or") => TokenKind::Or,
        _ if word.eq_ignore_ascii_case("not") => TokenKind::Not,
        _ => TokenKind::Word(word),
    };
    Ok((kind, end))
}
