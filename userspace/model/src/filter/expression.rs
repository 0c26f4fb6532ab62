//! The expression tree of a filter.

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
    /// The comparison operator.
    pub comparison: Comparison,
    /// The value to compare with.
    pub literal: Literal,
}

/// A node of the expression tree.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// True if all parts are true.
    And(Vec<Expression>),
    /// True if any part is true.
    Or(Vec<Expression>),
    /// True if the part is false.
    Not(Box<Expression>),
    /// True if any test is true, among those whose columns exist: `host` has two, for `src` and `dst`.
    Term {
        /// The tests.
        tests: Vec<Test>,
        /// Position of the term.
        place: TextSpan,
    },
}

impl Expression {
    /// Evaluates the filter with three-valued logic (Kleene). `ask` returns `None` for a test with an unknown result;
    /// so does this function if the result depends on one.
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

    /// Calls `each` with every term, in text order.
    pub fn terms<E>(&self, each: &mut impl FnMut(&[Test], TextSpan) -> Result<(), E>) -> Result<(), E> {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().try_for_each(|part| part.terms(each)),
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
