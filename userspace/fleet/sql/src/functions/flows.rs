//! Numbers of flows, from bitmaps (Linear Counting) and from HyperLogLog sketches.

use super::aggregate::{Merge, merging};
use super::{arrays, bad, column, of_each};
use datafusion::arrow::array::Float64Array;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{AggregateUDF, ColumnarValue, ScalarUDF, Volatility, create_udf};
use rocescope_sketches::{HyperLogLog, LinearCounting};
use std::sync::Arc;

/// Bytes of the rows that Spark merges.
const ROW_BYTES: usize = 4_096;

/// `flow_count(linear_counting)`: flows as Linear Counting estimates them. A full bitmap gives its largest estimate.
pub(super) fn flow_count() -> ScalarUDF {
    estimate("flow_count", |bytes| Ok(bitmap(bytes)?.estimate().flows))
}

/// `hll_flow_count(hll_flows)`: flows as HyperLogLog estimates them.
pub(super) fn hll_flow_count() -> ScalarUDF {
    estimate("hll_flow_count", |bytes| {
        Ok(HyperLogLog::from_datasketches(bytes).map_err(bad)?.estimate())
    })
}

fn estimate(name: &str, value: fn(&[u8]) -> Result<f64>) -> ScalarUDF {
    let evaluate = move |arguments: &[ColumnarValue]| {
        let [sketches] = &arrays(arguments)?[..] else {
            return Err(bad("one sketch, one argument"));
        };
        Ok(column(Float64Array::from(of_each(sketches, value)?)))
    };
    let types = vec![DataType::BinaryView];
    create_udf(
        name,
        types,
        DataType::Float64,
        Volatility::Immutable,
        Arc::new(evaluate),
    )
}

/// `merge_bitmap(linear_counting)`: the bitmap of the flows of all rows.
pub(super) fn merge_bitmap() -> AggregateUDF {
    merging::<LinearCounting>("merge_bitmap")
}

/// `merge_hll(hll_flows)`: the sketch of the flows of all rows.
pub(super) fn merge_hll() -> AggregateUDF {
    merging::<HyperLogLog>("merge_hll")
}

fn bitmap(bytes: &[u8]) -> Result<LinearCounting> {
    let rows: Vec<&[u8]> = bytes.chunks(ROW_BYTES).collect();
    LinearCounting::from_row_bytes(&rows).map_err(bad)
}

impl Merge for LinearCounting {
    fn read(bytes: &[u8]) -> Result<Self> {
        bitmap(bytes)
    }

    fn add(&mut self, other: &Self) -> Result<()> {
        self.merge(other).map_err(bad)
    }

    fn write(&self) -> Vec<u8> {
        self.row_bytes().flatten().collect()
    }
}

impl Merge for HyperLogLog {
    fn read(bytes: &[u8]) -> Result<Self> {
        Self::from_datasketches(bytes).map_err(bad)
    }

    fn add(&mut self, other: &Self) -> Result<()> {
        self.merge(other);
        Ok(())
    }

    fn write(&self) -> Vec<u8> {
        self.to_datasketches()
    }
}
