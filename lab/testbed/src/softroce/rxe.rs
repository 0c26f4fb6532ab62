//! What the driver counts.

use super::fabric::{LIMIT, json};
use super::guest::Guest;
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;

/// Counters of a device by name.
pub(super) type Counters = BTreeMap<String, u64>;

/// Reads the counters of the first device of a guest.
pub(super) fn read(guest: &mut Guest) -> Result<Counters> {
    parse(&json(&guest.run("rdma -j statistic show link rxe0/1", LIMIT)?)?)
}

/// Reads the document of `rdma statistic`.
pub(super) fn parse(printed: &Value) -> Result<Counters> {
    let link = printed[0].as_object().context("rdma statistic shows no link")?;
    let counters = link
        .iter()
        .filter(|(name, _)| !["ifindex", "port"].contains(&name.as_str()));
    Ok(counters
        .filter_map(|(name, value)| Some((name.clone(), value.as_u64()?)))
        .collect())
}

/// By how much a counter grew.
pub(super) fn grew(before: &Counters, after: &Counters, name: &str) -> Result<u64> {
    let value = |from: &Counters| from.get(name).copied().with_context(|| format!("rxe has no {name}"));
    Ok(value(after)? - value(before)?)
}
