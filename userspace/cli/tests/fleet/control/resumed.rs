//! A collector that starts again lists the faults of hosts that go on, and ends those that are gone.

use crate::control::rig::{Rig, spawn, until_file_has};
use rocescope_model::{COUNTER_TABLES, CounterRow, HostVerdictRow, Time};
use rocescope_store::{Options, Writer, repair, scan};
use rocescope_testkit::{binary, until};
use std::process::{Child, Command};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

const SECOND: i64 = 1_000_000_000;

fn now_ns() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}

/// A port that was up until `down_ns`, read every second up to `end_ns`.
fn counters(from_ns: i64, down_ns: i64, end_ns: i64) -> Vec<CounterRow> {
    let reads = (0..)
        .map(|read| from_ns + read * SECOND)
        .take_while(|at_ns| *at_ns < end_ns);
    let rows = reads.flat_map(|at_ns| {
        ["state", "phys_state"].map(|metric| {
            let (up, down) = if metric == "state" { (4.0, 1.0) } else { (5.0, 2.0) };
            CounterRow {
                observer: "gpu-1".into(),
                time: Time(at_ns),
                time_ns: at_ns,
                interval_ns: Some(SECOND),
                device: "mlx5_0".into(),
                port: Some(1),
                driver: "mlx5".into(),
                name: metric.into(),
                metric: Some(metric.into()),
                kind: "state".into(),
                value: Some(if at_ns < down_ns { up } else { down }),
                ..CounterRow::default()
            }
        })
    });
    rows.collect()
}

fn collect(rig: &Rig, log: &str) -> Child {
    let mut command = Command::new(binary());
    command.env("COLLECT_TIME_SCALE", "10");
    command.args([
        "collector",
        "run",
        "--listen",
        "127.0.0.1:0",
        "--diagnose",
        "--lateness",
        "100ms",
        // Rows of an open segment are not readable beside the collector.
        "--segment-age",
        "1s",
    ]);
    for (option, file) in [
        ("--out", "dataset"),
        ("--cert", "collector.pem"),
        ("--key", "collector.key"),
        ("--client-ca", "ca.pem"),
    ] {
        command.arg(option).arg(rig.path(file));
    }
    spawn(&mut command, &rig.path(log))
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn stored(rig: &Rig) -> Vec<(String, i64)> {
    repair(&rig.path("dataset")).unwrap();
    let mut rows = scan(&rig.path("dataset")).unwrap().rows::<HostVerdictRow>().unwrap();
    rows.sort_by_key(|row| row.time_ns);
    rows.iter().map(|row| (row.state.to_string(), row.since_ns)).collect()
}

#[test]
fn a_fault_that_goes_on_is_listed_and_one_that_is_gone_ends() {
    let rig = Rig::new();
    let write = |rows: &[CounterRow]| {
        let options = Options {
            tables: COUNTER_TABLES,
            ..Options::new("gpu-1")
        };
        let mut writer = Writer::create(&rig.path("dataset"), options).unwrap();
        writer.append_cells(&rows.to_vec(), Instant::now()).unwrap();
        writer.finish().unwrap();
    };
    let now = now_ns();
    write(&counters(now - 60 * SECOND, now - 40 * SECOND, now));
    // No collector has reported it.
    let first = collect(&rig, "first.log");
    until_file_has(&rig.path("first.log"), "link_down: gpu-1 mlx5_0/1");
    until("its begin is stored", || !stored(&rig).is_empty());
    kill(first);
    let began = stored(&rig);
    assert_eq!(began.iter().map(|(state, _)| &**state).collect::<Vec<_>>(), ["began"]);

    // It goes on, however often the collector is killed.
    for log in ["second.log", "third.log"] {
        let again = collect(&rig, log);
        until_file_has(&rig.path(log), "  link_down: gpu-1 mlx5_0/1");
        kill(again);
        let said = std::fs::read_to_string(rig.path(log)).unwrap();
        assert!(
            said.contains("goes on since ") && said.contains("  link_down: gpu-1 mlx5_0/1"),
            "{said}"
        );
        assert_eq!(stored(&rig), began, "{said}");
    }

    // Its port came up while no collector ran.
    let now = now_ns();
    write(&counters(now - 25 * SECOND, now, now));
    let last = collect(&rig, "last.log");
    until_file_has(
        &rig.path("last.log"),
        "resolved or no longer seen: link_down at gpu-1 mlx5_0/1",
    );
    until("its end is stored", || stored(&rig).len() >= 2);
    kill(last);
    let all = stored(&rig);
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!((&*all[1].0, all[1].1), ("ended", began[0].1), "the same fault");
}
