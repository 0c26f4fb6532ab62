//! Count-Min sketches from rows of flows: those of windows that list all their flows, which have no sketch.

use super::bad;
use datafusion::arrow::array::{Array, ArrayRef, Int64Array};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::cast::{as_int64_array, as_list_array};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{Accumulator, AggregateUDF, Volatility, create_udaf};
use rocescope_sketches::{CountMin, FlowHash};
use std::collections::HashMap;
use std::sync::Arc;

/// `count_min(flow_hash, size)`: the sketch of flows with these sizes.
pub(super) fn count_min() -> AggregateUDF {
    let list = || DataType::List(Arc::new(Field::new_list_field(DataType::Int64, true)));
    create_udaf(
        "count_min",
        vec![DataType::Int64, DataType::Int64],
        Arc::new(DataType::BinaryView),
        Volatility::Immutable,
        Arc::new(|_| Ok(Box::new(Flows::default()))),
        Arc::new(vec![list(), list()]),
    )
}

/// The sum of the sizes of each flow. A table has half a megabyte, and a group for each window would have two.
#[derive(Debug, Default)]
struct Flows {
    sizes: HashMap<i64, u64>,
}

impl Flows {
    fn add(&mut self, flows: &Int64Array, sizes: &Int64Array) -> Result<()> {
        for (flow, size) in flows.iter().zip(sizes) {
            let Some((flow, size)) = flow.zip(size) else { continue };
            let sum = self.sizes.entry(flow).or_default();
            *sum = sum.saturating_add(u64::try_from(size).map_err(bad)?);
        }
        Ok(())
    }
}

impl Accumulator for Flows {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let [flows, sizes] = values else { return Ok(()) };
        self.add(as_int64_array(flows)?, as_int64_array(sizes)?)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut table = CountMin::default();
        for (flow, size) in &self.sizes {
            table.add(FlowHash(flow.cast_unsigned()), *size);
        }
        Ok(ScalarValue::BinaryView(Some(table.to_spark())))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.sizes.capacity() * size_of::<(i64, u64)>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let list = |values: Vec<i64>| {
            let values: Vec<ScalarValue> = values.into_iter().map(ScalarValue::from).collect();
            ScalarValue::List(ScalarValue::new_list_nullable(&values, &DataType::Int64))
        };
        let sizes = self.sizes.values().map(|size| i64::try_from(*size).unwrap_or(i64::MAX));
        Ok(vec![list(self.sizes.keys().copied().collect()), list(sizes.collect())])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [flows, sizes] = states else { return Ok(()) };
        let (flows, sizes) = (as_list_array(flows)?, as_list_array(sizes)?);
        for row in 0..flows.len() {
            self.add(as_int64_array(&flows.value(row))?, as_int64_array(&sizes.value(row))?)?;
        }
        Ok(())
    }
}
