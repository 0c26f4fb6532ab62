//! `rocescope counters` beside `rdma statistic`.

use crate::softroce::fabric::{Fabric, LIMIT, json, number};
use crate::softroce::rxe::{self, Counters};
use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Both readings in one script, so that nothing is sent between them.
const READ: &str = "rdma -j statistic show link rxe0/1 && rocescope counters --once --device rxe0 -o json";

/// Reads the counters of a guest twice, with a WRITE of perftest in between.
pub(super) fn run(fabric: &mut Fabric) -> Result<()> {
    let before = read(fabric, "before")?;
    let options = "-d rxe0 -i 1 -x 1 -F -s 4096 -n 50";
    let (server, client) = (
        format!("ib_write_bw {options}"),
        format!("ib_write_bw {options} 10.77.0.2"),
    );
    fabric.pair(&server, 18515, &client)?;
    let after = read(fabric, "after")?;
    let sent = rxe::grew(&before, &after, "sent_pkts")?;
    // Four packets of 1,024 bytes a message, of which perftest sends one more to connect.
    ensure!(sent >= 200, "rxe counted {sent} packets of 50 messages of four packets");
    println!(
        "{} counters agree; sent_pkts grew by {sent}, rcvd_pkts by {}",
        after.len(),
        rxe::grew(&before, &after, "rcvd_pkts")?
    );
    Ok(())
}

/// Compares both readings; returns the values.
fn read(fabric: &mut Fabric, when: &str) -> Result<Counters> {
    let printed = fabric.first.run(READ, LIMIT)?;
    fabric.keep(&format!("{when}.txt"), &printed)?;
    let end = printed.find("]\n").context("rdma statistic printed no array")? + 2;
    let (kernel, ours) = printed.split_at(end);
    let (kernel, ours) = (json(kernel)?, json(ours)?);
    let kernel = rxe::parse(&kernel)?;
    let rows: &Vec<Value> = ours.as_array().context("counters printed no array")?;
    let mut found = Counters::new();
    for row in rows {
        let name = row["name"].as_str().unwrap_or_default();
        if kernel.contains_key(name) {
            found.insert(name.to_owned(), number(row, "value")?);
        }
    }
    ensure!(!kernel.is_empty(), "rdma statistic shows no counters");
    ensure!(found == kernel, "counters: {found:?}; rdma statistic: {kernel:?}");
    Ok(found)
}
