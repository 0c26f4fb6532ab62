//! Decodes Arrow arrays into the model's values.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayAccessor, ArrayRef, BinaryArray, BooleanArray, Float64Array, Int32Array, Int64Array, ListArray,
    StringArray, TimestampMicrosecondArray,
};
use rocescope_model::{Column, Time, Type, Value};
use std::borrow::Cow;

/// One column of a batch.
#[derive(Debug)]
pub(crate) enum Decoded {
    I64(Int64Array),
    F64(Float64Array),
    Bool(BooleanArray),
    Text(StringArray),
    /// Texts by their number in a dictionary: equal texts are one text in memory.
    Coded(Int32Array, StringArray),
    Time(TimestampMicrosecondArray),
    Bytes(BinaryArray),
    ListI64(ListArray),
    /// Missing in the file, or not requested.
    Missing,
}

impl Decoded {
    /// Converts the array to the column's type in the registry; `None` if it has another type.
    pub(crate) fn new(column: &Column, array: &ArrayRef) -> Option<Self> {
        Some(match column.kind {
            Type::I64 => Self::I64(array.as_primitive_opt::<Int64Type>()?.clone()),
            Type::F64 => Self::F64(array.as_primitive_opt::<Float64Type>()?.clone()),
            Type::Bool => Self::Bool(array.as_boolean_opt()?.clone()),
            Type::Text => match array.as_dictionary_opt::<Int32Type>() {
                Some(coded) => Self::Coded(coded.keys().clone(), coded.values().as_string_opt::<i32>()?.clone()),
                None => Self::Text(array.as_string_opt::<i32>()?.clone()),
            },
            Type::Time => Self::Time(array.as_primitive_opt::<TimestampMicrosecondType>()?.clone()),
            Type::Bytes => Self::Bytes(array.as_binary_opt::<i32>()?.clone()),
            Type::ListI64 => {
                let list = array.as_list_opt::<i32>()?;
                list.values().as_primitive_opt::<Int64Type>()?;
                Self::ListI64(list.clone())
            }
        })
    }

    /// Whether the value of a row is null, or beyond the last.
    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        match self {
            Self::I64(array) => at(array, row).is_none(),
            Self::Coded(..) | Self::Text(_) => self.text(row).is_none(),
            other => matches!(other.value(row), Value::Null),
        }
    }

    /// Returns the integer of a row; `None` if it is null, beyond the last or of another type.
    #[inline]
    pub(crate) fn integer(&self, row: usize) -> Option<i64> {
        match self {
            Self::I64(array) => at(array, row),
            _ => None,
        }
    }

    /// Returns the text of a row; `None` if it is null, beyond the last or of another type.
    #[inline]
    pub(crate) fn text(&self, row: usize) -> Option<&str> {
        match self {
            Self::Coded(codes, texts) => at(texts, usize::try_from(at(codes, row)?).ok()?),
            Self::Text(array) => at(array, row),
            _ => None,
        }
    }

    /// Returns the value of a row; null beyond the last.
    pub(crate) fn value(&self, row: usize) -> Value<'_> {
        // Typed, not over `dyn Array`: this runs for every cell.
        match self {
            Self::I64(array) => at(array, row).map_or(Value::Null, Value::I64),
            Self::F64(array) => at(array, row).map_or(Value::Null, Value::F64),
            Self::Bool(array) => at(array, row).map_or(Value::Null, Value::Bool),
            Self::Text(_) | Self::Coded(..) => {
                let text = self.text(row);
                text.map_or(Value::Null, |text| Value::Text(Cow::Borrowed(text)))
            }
            Self::Time(array) => at(array, row).map_or(Value::Null, |time| Value::Time(Time::from_micros(time))),
            Self::Bytes(array) => at(array, row).map_or(Value::Null, Value::Bytes),
            Self::ListI64(array) if row < array.len() && array.is_valid(row) => list(array, row),
            Self::ListI64(_) | Self::Missing => Value::Null,
        }
    }
}

/// The value of a row; `None` if it is null, or beyond the last.
#[inline]
fn at<A: ArrayAccessor + Copy>(array: A, row: usize) -> Option<A::Item> {
    (row < array.len() && array.is_valid(row)).then(|| array.value(row))
}

fn list(array: &ListArray, row: usize) -> Value<'_> {
    let bounds = array.value_offsets();
    let bound = |i: usize| bounds.get(i).and_then(|&b| usize::try_from(b).ok());
    let numbers = array.values().as_primitive_opt::<Int64Type>();
    numbers
        .zip(bound(row).zip(bound(row + 1)))
        .and_then(|(numbers, (from, to))| numbers.values().get(from..to))
        .map_or(Value::Null, Value::ListI64)
}
