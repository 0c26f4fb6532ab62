//! Decodes Arrow arrays into the model's values.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Float64Array, Int64Array, ListArray, StringArray,
    TimestampMicrosecondArray,
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
            Type::Text => Self::Text(array.as_string_opt::<i32>()?.clone()),
            Type::Time => Self::Time(array.as_primitive_opt::<TimestampMicrosecondType>()?.clone()),
            Type::Bytes => Self::Bytes(array.as_binary_opt::<i32>()?.clone()),
            Type::ListI64 => {
                let list = array.as_list_opt::<i32>()?;
                list.values().as_primitive_opt::<Int64Type>()?;
                Self::ListI64(list.clone())
            }
        })
    }

    /// Returns the value of a row; null beyond the last.
    pub(crate) fn value(&self, row: usize) -> Value<'_> {
        let array: &dyn Array = match self {
            Self::I64(array) => array,
            Self::F64(array) => array,
            Self::Bool(array) => array,
            Self::Text(array) => array,
            Self::Time(array) => array,
            Self::Bytes(array) => array,
            Self::ListI64(array) => array,
            Self::Missing => return Value::Null,
        };
        if row >= array.len() || array.is_null(row) {
            return Value::Null;
        }
        match self {
            Self::I64(array) => Value::I64(array.value(row)),
            Self::F64(array) => Value::F64(array.value(row)),
            Self::Bool(array) => Value::Bool(array.value(row)),
            Self::Text(array) => Value::Text(Cow::Borrowed(array.value(row))),
            Self::Time(array) => Value::Time(Time::from_micros(array.value(row))),
            Self::Bytes(array) => Value::Bytes(array.value(row)),
            Self::ListI64(array) => list(array, row),
            Self::Missing => Value::Null,
        }
    }
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
