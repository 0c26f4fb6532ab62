//! Traffic of a flow, from Count-Min sketches.

use super::aggregate::{Merge, merging};
use super::{arrays, bad, column, of_each};
use datafusion::arrow::array::{ArrayRef, Int64Array};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::common::cast::as_int64_array;
use datafusion::logical_expr::{AggregateUDF, ColumnarValue, ScalarUDF, Volatility, create_udf};
use rocescope_sketches::{CountMin, FlowHash};
use std::sync::Arc;

/// `flow_bytes(count_min_bytes, flow_hash)`: at least what the flow sent. With `count_min_packets`, in packets.
pub(super) fn flow_bytes() -> ScalarUDF {
    let types = vec![DataType::BinaryView, DataType::Int64];
    create_udf(
        "flow_bytes",
        types,
        DataType::Int64,
        Volatility::Immutable,
        Arc::new(evaluate),
    )
}

fn evaluate(arguments: &[ColumnarValue]) -> Result<ColumnarValue> {
    // Mostly one sketch and many flows: it is read once.
    if let [ColumnarValue::Scalar(sketch), ColumnarValue::Array(flows)] = arguments {
        let sketch = of_each(&sketch.to_array()?, read)?.pop().flatten();
        let flows = as_int64_array(flows)?.iter();
        let found = flows.map(|flow| flow.zip(sketch.as_ref()).map(|(flow, sketch)| at_least(sketch, flow)));
        return Ok(column(found.collect::<Int64Array>()));
    }
    let [sketches, flows]: &[ArrayRef] = &arrays(arguments)?[..] else {
        return Err(bad("flow_bytes(sketch, flow_hash) has two arguments"));
    };
    let sketches = of_each(sketches, read)?;
    let flows = as_int64_array(flows)?.iter().zip(&sketches);
    let found = flows.map(|(flow, sketch)| flow.zip(sketch.as_ref()).map(|(flow, sketch)| at_least(sketch, flow)));
    Ok(column(found.collect::<Int64Array>()))
}

fn at_least(sketch: &CountMin, flow: i64) -> i64 {
    let estimate = sketch.estimate(FlowHash(flow.cast_unsigned()));
    i64::try_from(estimate).unwrap_or(i64::MAX)
}

fn read(bytes: &[u8]) -> Result<CountMin> {
    CountMin::from_spark(bytes).map_err(bad)
}

/// `merge_count_min(sketch)`: the sketch of the traffic of all rows.
pub(super) fn merge_count_min() -> AggregateUDF {
    merging::<CountMin>("merge_count_min")
}

impl Merge for CountMin {
    fn read(bytes: &[u8]) -> Result<Self> {
        read(bytes)
    }

    fn add(&mut self, other: &Self) -> Result<()> {
        self.merge(other).map_err(bad)
    }

    fn write(&self) -> Vec<u8> {
        self.to_spark()
    }

    /// An estimate must not be below the truth.
    fn without() -> Result<()> {
        Err(bad(
            "a window that lists all its flows has no Count-Min sketch: merge those of window_sketches, which makes them, \
             or leave out rows where it is null",
        ))
    }
}
