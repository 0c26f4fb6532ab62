//! The filter language: which rows, flows or packets are wanted.
//!
//! ```text
//! host 10.0.0.1 and not service cnp
//! src net 10.1.0.0/16 or (qp 17 and frame_bps >= 1G)
//! opcode RC_RDMA_WRITE_* and vlan 100
//! rtt_p99_ns > 50us and lost_gaps > 0
//! ```
//!
//! Every term is a comparison of a column of the registry; the words of the field (`host`, `net`,
//! `qp`, `port`, `opcode`, `service`, `vlan`, `ecn`) are short for comparisons of one or several
//! columns. So whatever a table holds can be asked for, and nothing that it does not hold.
//!
//! | module | what it holds |
//! |---|---|
//! | `token` | words, numbers and signs, each with its place |
//! | `parse` | terms and their order of binding |
//! | `literal` | what a column is compared with: numbers with units, addresses, patterns |
//! | `domain` | what a column can hold, where that is less than its type |
//! | `expression` | the tree, and what it says of a row of which not everything is known |
//! | `rows` | a filter held against the rows of one table |
//! | `error` | errors that point at their place |

mod domain;
mod error;
mod expression;
mod literal;
mod parse;
mod rows;
mod token;

pub use error::{FilterError, TextSpan};
pub use expression::{Expression, Test};
pub use literal::{Comparison, Literal, Prefix};
pub use rows::RowFilter;

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// A filter as it was written, and what it means.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    text: String,
    expression: Expression,
}

impl Filter {
    /// What it means.
    #[must_use]
    pub const fn expression(&self) -> &Expression {
        &self.expression
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl FromStr for Filter {
    type Err = FilterError;

    /// Reads a filter.
    ///
    /// # Errors
    /// [`FilterError`] says what is wrong and where.
    fn from_str(text: &str) -> Result<Self, FilterError> {
        Ok(Self {
            expression: parse::parse(text)?,
            text: text.into(),
        })
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
