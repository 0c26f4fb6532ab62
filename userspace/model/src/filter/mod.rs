//! The filter language, which selects rows, flows or packets.
//!
//! ```text
//! host 10.0.0.1 and not service cnp
//! src net 10.1.0.0/16 or (qp 17 and frame_bps >= 1G)
//! opcode RC_RDMA_WRITE_* and vlan 100
//! rtt_p99_ns > 50us and unfilled_gaps > 0
//! ```
//!
//! Every term compares a column of the registry; the keywords `host`, `net`, `qp`, `port`, `opcode`, `service`, `vlan`,
//! `ecn`, `psn`, `syndrome`, `nak` and `rnr` are shorthand for comparisons of one or several columns. So a filter can use everything that a table
//! contains, and nothing else.
//!
//! | module | what it holds |
//! |---|---|
//! | `token` | words, numbers and operators, each with its position |
//! | `parse` | terms and operator precedence |
//! | `literal` | the values to compare with: numbers with units, addresses, patterns |
//! | `domain` | the valid values of a column, if not every value of its type |
//! | `expression` | the expression tree, and its evaluation for partly known rows |
//! | `suggest` | the column that an unknown name is most likely meant to be |
//! | `rows` | a filter for the rows of one table |
//! | `error` | errors with their position |

mod domain;
mod error;
mod expression;
mod literal;
mod parse;
mod rows;
mod suggest;
mod token;

pub use error::{FilterError, TextSpan};
pub use expression::{Expression, Test};
pub use literal::{Comparison, Literal, Prefix, matches};
pub use parse::Names;
pub use rows::RowFilter;

use crate::hosts::Hosts;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// A filter: its text and its expression tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    text: String,
    expression: Expression,
}

impl Filter {
    /// Returns the expression tree.
    #[must_use]
    pub const fn expression(&self) -> &Expression {
        &self.expression
    }

    /// Parses a filter of an object that has these columns: suggestions are among them. `of` names the object, as in
    /// `packets`. `names`: those that `host` takes besides addresses.
    ///
    /// # Errors
    /// Returns a [`FilterError`] with a message and its position, also for a term without a column of this list.
    pub fn parse_for(text: &str, columns: &[&str], of: &str, names: Names<'_>) -> Result<Self, FilterError> {
        let filter = Self {
            expression: parse::parse(text, Some((columns, of)), names)?,
            text: text.into(),
        };
        filter.expect_columns(columns, of)?;
        Ok(filter)
    }

    /// Parses a filter in which `host` takes `names` too: a name is all its addresses.
    ///
    /// # Errors
    /// Those of [`from_str`](Self::from_str), and a name that there is not.
    pub fn parse_with(text: &str, names: Names<'_>) -> Result<Self, FilterError> {
        Ok(Self {
            expression: parse::parse(text, None, names)?,
            text: text.into(),
        })
    }

    /// Replaces the names after `host` by their addresses.
    ///
    /// # Errors
    /// A name that `hosts` does not have.
    pub fn resolve(&self, hosts: &Hosts) -> Result<Self, FilterError> {
        Self::parse_with(&self.text, Names::Of(hosts))
    }

    /// Returns the text of the filter.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl FromStr for Filter {
    type Err = FilterError;

    /// Parses a filter.
    ///
    /// # Errors
    /// Returns a [`FilterError`] with a message and its position.
    fn from_str(text: &str) -> Result<Self, FilterError> {
        Self::parse_with(text, Names::None)
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
