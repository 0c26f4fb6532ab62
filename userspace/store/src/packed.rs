//! Columns of a journal whose values are packed: sketches without their zeros.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray};
use rocescope_model::SparseBytes;
use std::sync::Arc;

/// The packed values of a column.
///
/// # Errors
/// The column is not binary.
pub(crate) fn packed(array: &ArrayRef) -> Result<impl Iterator<Item = Option<&[u8]>>, &'static str> {
    let array = array.as_binary_opt::<i32>();
    Ok(array.ok_or("a column of sketches is not binary")?.iter())
}

/// One value.
///
/// # Errors
/// The bytes are something else.
pub(crate) fn unpack(packed: &[u8]) -> Result<SparseBytes, &'static str> {
    SparseBytes::from_packed(packed).ok_or("a sketch is not packed as it should be")
}

/// The column as it is in a segment.
///
/// # Errors
/// The column is not binary, or a value is something else.
pub(crate) fn unpacked(array: &ArrayRef) -> Result<ArrayRef, &'static str> {
    let values = packed(array)?.map(|value| value.map(unpack).transpose());
    let mut unpacked = Vec::with_capacity(array.len());
    for value in values {
        unpacked.push(value?.map(|sketch| sketch.to_vec()));
    }
    Ok(Arc::new(BinaryArray::from_iter(unpacked)))
}
