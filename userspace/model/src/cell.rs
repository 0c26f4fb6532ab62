//! The Rust types that a row can contain, and their conversion to a [`Value`] and back.
//!
//! The type of a field determines the type of its column and whether it may be null. Counts are `u64` in rows, because
//! they cannot be negative, and `int64` in files, because Spark reads `u64` as a decimal. The only conversion is here,
//! and saturates at `i64::MAX`.

use crate::recent::{Memo, Recent};
use crate::{Rule, SparseBytes, Text, Time, Type, Value};
use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr};

/// A Rust type that can be a field of a row.
pub trait Cell: Clone + PartialEq {
    /// Type of its column.
    const TYPE: Type;
    /// Whether its column may hold null.
    const NULLABLE: bool = false;

    /// Returns the value in a row's `Default`: zero, empty or null.
    fn empty() -> Self;

    /// Returns the borrowed value.
    fn value(&self) -> Value<'_>;

    /// Returns the cell of this value; `None` if the value has another type or is out of range.
    fn read(value: Value<'_>) -> Option<Self>;

    /// What makes it faster to read the cells of a column one after another.
    type Memo: Memo;

    /// Same as [`read`](Self::read), for a cell of the same column as the cells before.
    fn read_next(cell: &impl StoredCell, _: &mut Self::Memo) -> Option<Self> {
        Self::read(cell.value())
    }

    /// Merges the cell of the next row into this one. A rule that is undefined for the type, or that uses other
    /// columns, changes nothing.
    fn merge(&mut self, other: &Self, rule: Rule) {
        match rule {
            Rule::Last => self.clone_from(other),
            Rule::Sketch | Rule::None => *self = Self::empty(),
            _ => {}
        }
    }
}

/// A cell where it is stored. Integers and texts are read without a [`Value`] between: they are most of the cells of tables
/// with millions of rows.
pub trait StoredCell {
    /// Returns the value.
    fn value(&self) -> Value<'_>;

    /// Whether it is null.
    fn is_null(&self) -> bool;

    /// Returns the integer; `None` if it is null or of another type.
    fn integer(&self) -> Option<i64>;

    /// Returns the text; `None` if it is null or of another type.
    fn text(&self) -> Option<&str>;
}

macro_rules! integer_cells {
    ($($integer:ty),+) => {$(
        impl Cell for $integer {
            type Memo = ();
            const TYPE: Type = Type::I64;

            fn empty() -> Self {
                0
            }

            fn value(&self) -> Value<'_> {
                Value::I64(i64::try_from(*self).unwrap_or(i64::MAX))
            }

            fn read(value: Value<'_>) -> Option<Self> {
                match value {
                    Value::I64(number) => Self::try_from(number).ok(),
                    _ => None,
                }
            }

            #[inline]
            fn read_next(cell: &impl StoredCell, (): &mut ()) -> Option<Self> {
                Self::try_from(cell.integer()?).ok()
            }

            fn merge(&mut self, other: &Self, rule: Rule) {
                match rule {
                    Rule::Sum | Rule::Whole => *self = self.saturating_add(*other),
                    Rule::Min => *self = (*self).min(*other),
                    Rule::Max => *self = (*self).max(*other),
                    Rule::Last => *self = *other,
                    Rule::None => *self = 0,
                    _ => {}
                }
            }
        }
    )+};
}

integer_cells!(u8, u16, u32, u64, i64);

impl Cell for f64 {
    type Memo = ();
    const TYPE: Type = Type::F64;

    fn empty() -> Self {
        0.0
    }

    fn value(&self) -> Value<'_> {
        Value::F64(*self)
    }

    fn read(value: Value<'_>) -> Option<Self> {
        match value {
            Value::F64(number) => Some(number),
            _ => None,
        }
    }

    fn merge(&mut self, other: &Self, rule: Rule) {
        match rule {
            Rule::Sum | Rule::Whole => *self += other,
            Rule::Min => *self = self.min(*other),
            Rule::Max => *self = self.max(*other),
            Rule::Last => *self = *other,
            Rule::None => *self = 0.0,
            _ => {}
        }
    }
}

impl Cell for bool {
    type Memo = ();
    const TYPE: Type = Type::Bool;

    fn empty() -> Self {
        false
    }

    fn value(&self) -> Value<'_> {
        Value::Bool(*self)
    }

    fn read(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    fn merge(&mut self, other: &Self, rule: Rule) {
        match rule {
            Rule::Any => *self |= other,
            Rule::Last => *self = *other,
            Rule::None => *self = false,
            _ => {}
        }
    }
}

impl Cell for Text {
    type Memo = Recent<()>;
    const TYPE: Type = Type::Text;

    fn empty() -> Self {
        Self::default()
    }

    fn value(&self) -> Value<'_> {
        Value::Text(Cow::Borrowed(self.as_str()))
    }

    fn read(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Text(text) => Some(Arc::<str>::from(&*text).into()),
            _ => None,
        }
    }

    #[inline]
    fn read_next(cell: &impl StoredCell, recent: &mut Self::Memo) -> Option<Self> {
        Some(recent.get(cell.text()?, |_| Some(()))?.0.clone())
    }

    fn merge(&mut self, other: &Self, rule: Rule) {
        match rule {
            Rule::First if !self.is_empty() => {}
            Rule::First | Rule::Last => self.clone_from(other),
            Rule::Same if self == other => {}
            Rule::Same | Rule::None => *self = Self::default(),
            _ => {}
        }
    }
}

/// An address, stored as text.
impl Cell for IpAddr {
    type Memo = Recent<Self>;
    const TYPE: Type = Type::Text;

    fn empty() -> Self {
        Self::V4(Ipv4Addr::UNSPECIFIED)
    }

    fn value(&self) -> Value<'_> {
        Value::Text(Cow::Owned(self.to_string()))
    }

    fn read(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    #[inline]
    fn read_next(cell: &impl StoredCell, recent: &mut Self::Memo) -> Option<Self> {
        Some(recent.get(cell.text()?, |text| text.parse().ok())?.1)
    }
}

impl Cell for Time {
    type Memo = ();
    const TYPE: Type = Type::Time;

    fn empty() -> Self {
        Self::default()
    }

    fn value(&self) -> Value<'_> {
        Value::Time(*self)
    }

    fn read(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Time(time) => Some(time),
            _ => None,
        }
    }

    fn merge(&mut self, other: &Self, rule: Rule) {
        self.0.merge(&other.0, rule);
    }
}

impl Cell for SparseBytes {
    type Memo = ();
    const TYPE: Type = Type::Bytes;

    fn empty() -> Self {
        Self::builder(0).finish()
    }

    fn value(&self) -> Value<'_> {
        Value::Sparse(self)
    }

    fn read(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => Some(bytes.into()),
            Value::Sparse(bytes) => Some(bytes.clone()),
            _ => None,
        }
    }
}

impl Cell for Vec<i64> {
    type Memo = ();
    const TYPE: Type = Type::ListI64;

    fn empty() -> Self {
        Self::new()
    }

    fn value(&self) -> Value<'_> {
        Value::ListI64(self)
    }

    fn read(value: Value<'_>) -> Option<Self> {
        match value {
            Value::ListI64(list) => Some(list.to_vec()),
            _ => None,
        }
    }
}

impl<C: Cell> Cell for Option<C> {
    type Memo = C::Memo;
    const TYPE: Type = C::TYPE;
    const NULLABLE: bool = true;

    fn empty() -> Self {
        None
    }

    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, C::value)
    }

    fn read(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => C::read(value).map(Some),
        }
    }

    #[inline]
    fn read_next(cell: &impl StoredCell, memo: &mut Self::Memo) -> Option<Self> {
        match cell.is_null() {
            true => Some(None),
            false => C::read_next(cell, memo).map(Some),
        }
    }

    /// Null adds nothing, unless the rule requires all cells.
    fn merge(&mut self, other: &Self, rule: Rule) {
        match (&mut *self, other) {
            (_, _) if matches!(rule, Rule::None | Rule::Sketch) => *self = None,
            (ours, theirs) if rule == Rule::Same && *ours != *theirs => *self = None,
            (Some(ours), Some(theirs)) => ours.merge(theirs, rule),
            (_, None) if rule == Rule::Whole => *self = None,
            (None, Some(theirs)) if rule != Rule::Whole => *self = Some(theirs.clone()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cell;
    use crate::Value;
    use core::net::IpAddr;

    #[test]
    fn counts_beyond_the_signed_range_stop_at_its_end() {
        assert_eq!(u64::MAX.value(), Value::I64(i64::MAX));
        assert_eq!(u64::read(Value::I64(-1)), None);
        assert_eq!(u16::read(Value::I64(65_536)), None);
    }

    #[test]
    fn null_fits_only_options() {
        assert_eq!(Option::<u64>::read(Value::Null), Some(None));
        assert_eq!(u64::read(Value::Null), None);
        assert_eq!(Option::<u64>::read(Value::Bool(true)), None);
    }

    #[test]
    fn addresses_come_back_from_their_text() {
        let address: IpAddr = "fd00::7".parse().unwrap();
        assert_eq!(IpAddr::read(address.value()), Some(address));
        assert_eq!(IpAddr::read(Value::Text("rail-3".into())), None);
    }
}
