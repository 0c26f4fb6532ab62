//! Functions for what datasets hold: addresses, bitmaps of flows, and sketches.
//!
//! | function | argument | result |
//! |---|---|---|
//! | `ip_in(address, prefix)` | a column of addresses, and a prefix as `10.0.0.0/8` | whether the address is in it |
//! | `flow_count(bitmap)` | `linear_counting` | estimated flows |
//! | `hll_flow_count(sketch)` | `hll_flows` | estimated flows |
//! | `flow_bytes(sketch, flow_hash)` | `count_min_bytes` or `count_min_packets` | upper bound of the flow's bytes or packets |
//! | `count_min(flow_hash, size)` | `packets` or `frame_bytes` of `flows` | aggregate: the sketch of these flows |
//! | `merge_bitmap(bitmap)` | `linear_counting` | aggregate: the bitmap of all flows |
//! | `merge_hll(sketch)` | `hll_flows` | aggregate: the sketch of all flows |
//! | `merge_count_min(sketch)` | `count_min_bytes` or `count_min_packets` | aggregate: the sketch of all traffic |

mod address;
mod aggregate;
mod count_min;
mod flows;
mod made_count_min;

use datafusion::arrow::array::{ArrayRef, BinaryViewArray};
use datafusion::common::cast::as_binary_view_array;
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::ColumnarValue;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// Makes all functions known.
pub(crate) fn register(context: &SessionContext) {
    for function in [
        address::ip_in(),
        flows::flow_count(),
        flows::hll_flow_count(),
        count_min::flow_bytes(),
    ] {
        context.register_udf(function);
    }
    for function in [
        flows::merge_bitmap(),
        flows::merge_hll(),
        count_min::merge_count_min(),
        made_count_min::count_min(),
    ] {
        context.register_udaf(function);
    }
}

/// An error of the sketch in an argument.
fn bad(error: impl std::fmt::Display) -> DataFusionError {
    DataFusionError::Execution(error.to_string())
}

/// The arguments as arrays of one length.
fn arrays(arguments: &[ColumnarValue]) -> Result<Vec<ArrayRef>> {
    ColumnarValue::values_to_arrays(arguments)
}

/// One value of a sketch, for each row.
fn of_each<T>(sketches: &ArrayRef, value: impl Fn(&[u8]) -> Result<T>) -> Result<Vec<Option<T>>> {
    let sketches: &BinaryViewArray = as_binary_view_array(sketches)?;
    sketches.iter().map(|bytes| bytes.map(&value).transpose()).collect()
}

/// An array as the result of a function.
fn column(array: impl datafusion::arrow::array::Array + 'static) -> ColumnarValue {
    ColumnarValue::Array(Arc::new(array))
}
