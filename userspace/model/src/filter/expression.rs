//! The tree of a filter.

use super::error::TextSpan;
use super::literal::{Comparison, Literal};
use crate::Column;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// One comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// The column.
    pub column: &'static Column,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what.
    pub literal: Literal,
}

/// A filter's meaning.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// All hold.
    And(Vec<Expression>),
    /// One holds.
    Or(Vec<Expression>),
    /// It does not hold.
    Not(Box<Expression>),
    /// One of the tests holds, of those whose columns there are: `host` is two, of `src` and of
    /// `dst`.
    Term {
        /// The tests.
        tests: Vec<Test>,
        /// Where the term stands.
        place: TextSpan,
    },
}

impl Expression {
    /// What the filter says, where `ask` knows some of the answers: `None` when it hangs on one
    /// that is not known (Kleene's three values).
    pub fn holds(&self, ask: &mut impl FnMut(&Test) -> Option<bool>) -> Option<bool> {
        match self {
            Self::And(parts) => {
                let mut all = Some(true);
                for part in parts {
                    match part.holds(ask) {
                        Some(true) => {}
                        Some(false) => return Some(false),
                        None => all = None,
                    }
                }
                all
            }
            Self::Or(parts) => any(parts.iter().map(|part| part.holds(ask))),
            Self::Not(part) => part.holds(ask).map(|truth| !truth),
            Self::Term { tests, .. } => any(tests.iter().map(ask)),
        }
    }

    /// Calls `each` with every term, in the order of the text.
    pub fn terms<E>(
        &self,
        each: &mut impl FnMut(&[Test], TextSpan) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::And(parts) | Self::Or(parts) => {
                parts.iter().try_for_each(|part| part.terms(each))
            }
            Self::Not(part) => part.terms(each),
            Self::Term { tests, place } => each(tests, *place),
        }
    }
}

fn any(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut none = Some(false);
    for answer in answers {
        match answer {
            Some(true) => return Some(true),
            Some(false) => {}
            None => none = None,
        }
    }
    none
}
