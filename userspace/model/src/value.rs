//! A borrowed cell of any row.

use crate::{SparseBytes, Time, Type};
use alloc::borrow::Cow;

/// The content of one cell, independent of the type of its row. Stores and the writers of JSON and text tables read it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// No value: not measured, or not applicable.
    Null,
    /// An integer.
    I64(i64),
    /// A float. May be infinite or NaN; JSON writes both as null.
    F64(f64),
    /// True or false.
    Bool(bool),
    /// A name or an address.
    Text(Cow<'a, str>),
    /// An instant. Files store it in microseconds.
    Time(Time),
    /// A sketch.
    Bytes(&'a [u8]),
    /// A sketch as the pieces that are not zero.
    Sparse(&'a SparseBytes),
    /// A list of integers.
    ListI64(&'a [i64]),
}

impl Value<'_> {
    /// Returns the type of a column that holds this value; `None` for null, which every nullable column can hold.
    #[must_use]
    pub const fn kind(&self) -> Option<Type> {
        match self {
            Self::Null => None,
            Self::I64(_) => Some(Type::I64),
            Self::F64(_) => Some(Type::F64),
            Self::Bool(_) => Some(Type::Bool),
            Self::Text(_) => Some(Type::Text),
            Self::Time(_) => Some(Type::Time),
            Self::Bytes(_) | Self::Sparse(_) => Some(Type::Bytes),
            Self::ListI64(_) => Some(Type::ListI64),
        }
    }
}
