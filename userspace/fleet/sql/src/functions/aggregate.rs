//! Aggregates that merge the sketches of all rows into one.

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::cast::as_binary_view_array;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{Accumulator, AggregateUDF, Volatility, create_udaf};
use std::fmt::Debug;
use std::sync::Arc;

/// A sketch that can be merged.
pub(super) trait Merge: Sized + Debug + Send + Sync + 'static {
    /// Reads the bytes of a column.
    fn read(bytes: &[u8]) -> Result<Self>;
    /// Adds another sketch; an error if its parameters differ.
    fn add(&mut self, other: &Self) -> Result<()>;
    /// The bytes for a column.
    fn write(&self) -> Vec<u8>;
    /// Whether rows without the sketch are left out; an error if what is merged would be wrong then.
    fn without() -> Result<()> {
        Ok(())
    }
}

/// The aggregate with this name; null without any sketch.
pub(super) fn merging<T: Merge>(name: &str) -> AggregateUDF {
    let binary = || Arc::new(DataType::BinaryView);
    create_udaf(
        name,
        vec![DataType::BinaryView],
        binary(),
        Volatility::Immutable,
        Arc::new(|_| Ok(Box::new(Merged::<T>::default()))),
        Arc::new(vec![DataType::BinaryView]),
    )
}

#[derive(Debug)]
struct Merged<T> {
    sketch: Option<T>,
    bytes: usize,
}

impl<T> Default for Merged<T> {
    fn default() -> Self {
        Self { sketch: None, bytes: 0 }
    }
}

impl<T: Merge> Accumulator for Merged<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        if values.iter().any(|sketches| sketches.null_count() > 0) {
            T::without()?;
        }
        self.merge_batch(values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::BinaryView(self.sketch.as_ref().map(T::write)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.bytes
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let Some(sketches) = states.first() else { return Ok(()) };
        for bytes in as_binary_view_array(sketches)?.iter().flatten() {
            let sketch = T::read(bytes)?;
            self.bytes = bytes.len();
            match &mut self.sketch {
                Some(merged) => merged.add(&sketch)?,
                merged @ None => *merged = Some(sketch),
            }
        }
        Ok(())
    }
}
