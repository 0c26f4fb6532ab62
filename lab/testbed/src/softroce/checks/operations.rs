//! The latency of RDMA operations: between the NICs of a guest, beside the mirror; and between the agents of both guests,
//! which a controller in the second one introduces, beside perftest.

use super::mesh;
use crate::softroce::fabric::{Fabric, LIMIT, json, number};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::product::text;

/// Runs of an operation whose median is a row.
const RUNS: u64 = 5;
const ALONE: &str = "rm -rf alone; rocescope probe --backend verbs -i eth0 eth1 --duration 6s --max-cpu 1 --timeout 2s \
                     --operations 1s --out alone -q -o json";

pub(super) fn run(fabric: &mut Fabric) -> Result<()> {
    alone(fabric)?;
    agents(fabric)
}

/// Every operation that was measured is on the wire five times.
fn alone(fabric: &mut Fabric) -> Result<()> {
    let (mirror, printed) = fabric.mirrored("alone.pcap", |fabric| fabric.first.run(ALONE, LIMIT))?;
    fabric.keep("alone.txt", &printed)?;
    let summary = json(&printed)?;
    let rows = number(&summary["dataset"], "operations")?;
    let tallies = tallies(&summary)?;
    let measured: u64 = tallies.iter().map(|tally| tally.measured).sum();
    ensure!(
        measured == rows && measured >= 24,
        "{measured} measured, {rows} rows: {printed}"
    );
    let printed = fabric.product(&["connections", "-r", &text(&mirror), "-o", "json"])?;
    fabric.keep("alone.json", &printed)?;
    let connections = json(&printed)?;
    let connections = connections["connections"].as_array().context("no connections")?;
    // SENDs and WRITEs are messages, and so are the responses of READs. Requests for READs count again when repeated.
    let (mut messages, mut reads) = (0, 0);
    for connection in connections.iter().filter(|connection| connection["service"] == "RC") {
        for direction in ["a_to_b", "b_to_a"] {
            messages += number(&connection[direction], "unique_messages")?;
            reads += number(&connection[direction], "read_packets")?;
        }
    }
    // A slow processor repeats requests.
    let expected = tallies.iter().filter(|tally| tally.operation.starts_with("read"));
    let expected = RUNS * expected.map(|tally| tally.measured).sum::<u64>();
    ensure!(
        messages == RUNS * measured && reads >= expected,
        "the mirror has {messages} messages and {reads} READs, {} and {expected} expected",
        RUNS * measured
    );
    println!("between the NICs of a guest: {measured} medians of {RUNS} runs, {rows} rows; all on the mirror");
    Ok(())
}

/// Two agents and a controller, on the guests' network.
fn agents(fabric: &mut Fabric) -> Result<()> {
    let agents = mesh::run(fabric)?;
    // What perftest measures of the same operation from the first guest to the second one, in microseconds.
    let mut perftest = Vec::new();
    for program in ["ib_read_lat", "ib_write_lat", "ib_send_lat"] {
        let server = format!("{program} -d rxe0 -i 1 -x 1 -F -u 18 -s 8 -n 50");
        let (_, said) = fabric.pair(&server, 18515, &format!("{server} 10.77.0.2"))?;
        fabric.keep(&format!("{program}.txt"), &said)?;
        perftest.push(format!("{program} {} µs", typical(&said)?));
    }
    // The first agent ends before the second one, which then measures one more operation from each NIC in vain.
    for ((name, summary), failures) in mesh::NAMES.iter().zip(&agents).zip([0, 1]) {
        let found = tallies(summary)?;
        ensure!(
            found.len() == 6,
            "{name} measured {found:?}, not three operations of two NICs: {summary}"
        );
        for tally in found {
            ensure!(tally.failed <= failures && tally.measured >= 5, "{name}: {tally:?}");
            println!(
                "{name}: {} to {}, {:.0} to {:.0} µs, {} medians",
                tally.operation,
                tally.peer,
                tally.min_ns as f64 / 1e3,
                tally.max_ns as f64 / 1e3,
                tally.measured
            );
        }
    }
    println!(
        "perftest: {} (SEND and WRITE: half of a round trip)",
        perftest.join(", ")
    );
    Ok(())
}

#[derive(Debug)]
struct Tally {
    operation: String,
    peer: String,
    measured: u64,
    failed: u64,
    min_ns: u64,
    max_ns: u64,
}

fn tallies(summary: &Value) -> Result<Vec<Tally>> {
    let rows = summary["operations"].as_array();
    let rows = rows.with_context(|| format!("no operations were measured: {summary}"))?;
    let word = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    rows.iter()
        .map(|row| {
            Ok(Tally {
                operation: word(row, "operation"),
                peer: word(row, "peer"),
                measured: number(row, "measured")?,
                failed: number(row, "failed")?,
                min_ns: number(row, "min_ns")?,
                max_ns: number(row, "max_ns")?,
            })
        })
        .collect()
}

/// The column `t_typical` of a latency test of perftest.
fn typical(said: &str) -> Result<String> {
    let mut lines = said.lines().skip_while(|line| !line.trim().starts_with("#bytes"));
    let header = lines.next().context("perftest printed no result")?;
    let column = header
        .split_whitespace()
        .position(|title| title.starts_with("t_typical"));
    let row = lines.next().context("perftest printed no row")?;
    let cell = row.split_whitespace().nth(column.context("no t_typical")?);
    Ok(cell.context("an empty row of perftest")?.to_owned())
}
