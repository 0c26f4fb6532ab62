//! One flipped bit in any file of a dataset: no number changes without a word, and nothing panics.

use crate::rows::{SECOND_NS, START, files, read, scratch, together, unless_exhaustive, window};
use rocescope_model::{
    CAPTURE_TABLES, Cells, CounterRow, FlowPathRow, HostVerdictRow, IncidentNoteRow, IncidentRow, LinkLoadRow, LinkRow,
    LoopbackRow, PathRow, ProbeRow, QueuePairRow, RunRow, STEP_CAPTURE_TABLES, SlaRow, SmallFlowRow, StepProbeRow,
    StepRow, SwitchDropRow, SwitchPortRow, TABLES, TelemetryRow, Time, VerdictRow, WindowRows,
};
use rocescope_store::{Numbered, Options, Scan, Unreadable, Writer, repair, scan, verify};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Flips in each segment of a capture, and of a mesh: in every run, and in an exhaustive one.
const FLIPS: [usize; 2] = [60, 250];
const MESH_FLIPS: [usize; 2] = [20, 50];
/// Flips in a journal of a collector.
const JOURNAL_FLIPS: usize = 200;

/// Positions of `count` bits in a file of this many bytes, the same in every run.
fn bits(count: usize, bytes: usize) -> impl Iterator<Item = usize> {
    let mut state = 7_u64;
    (0..count).map(move |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % (bytes * 8)
    })
}

fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    damaged[bit / 8] ^= 1 << (bit % 8);
    damaged
}

/// Flips bits of every segment: `read` returns the same rows, or those without the table of a segment that it names.
/// `verify` names the segment always.
fn flip<T: PartialEq + std::fmt::Debug>(
    what: &str,
    root: &Path,
    [few, all]: [usize; 2],
    read: impl Fn(&Scan) -> T,
    without: impl Fn(&T, &str) -> T,
) {
    let flips = unless_exhaustive(few, all);
    let whole = read(&scan(root).unwrap());
    assert_eq!(verify(root).unwrap().problems, []);
    assert_eq!(verify(root).unwrap().unverified, [] as [&Path; 0]);
    let segments = scan(root).unwrap().segments;
    let (mut noticed, mut harmless) = (0, 0);
    for segment in &segments {
        let bytes = fs::read(&segment.path).unwrap();
        for bit in bits(flips, bytes.len()) {
            fs::write(&segment.path, flipped(&bytes, bit)).unwrap();
            let found = scan(root).unwrap();
            let (rows, named) = (read(&found), found.damaged());
            let at = format!("{} bit {bit}", segment.table);
            if named.is_empty() {
                assert_eq!(rows, whole, "{at}: changed without a word");
                harmless += 1;
            } else {
                assert_eq!(paths(&named), std::slice::from_ref(&segment.path), "{at}");
                assert_eq!(rows, without(&whole, &segment.table), "{at}");
                noticed += 1;
            }
            let verified = verify(root).unwrap();
            assert_eq!(paths(&verified.problems), std::slice::from_ref(&segment.path), "{at}");
        }
        fs::write(&segment.path, bytes).unwrap();
    }
    assert_eq!(read(&scan(root).unwrap()), whole);
    let count = flips * segments.len();
    println!(
        "{what:<20} {count:>4} flips: {noticed:>4} noticed by readers, {harmless:>4} harmless to them; verify: all"
    );
}

fn paths(files: &[Unreadable]) -> Vec<PathBuf> {
    files.iter().map(|file| file.path.clone()).collect()
}

#[test]
fn a_flipped_bit_of_a_segment_is_named_and_the_segment_is_skipped() {
    let root = scratch();
    let mut windows = [window(0), window(SECOND_NS), window(2 * SECOND_NS)];
    windows[1].steps.push(StepRow {
        time: Time(START + SECOND_NS),
        time_ns: START + SECOND_NS,
        awaited_step: Some(1),
        ..StepRow::default()
    });
    let options = Options {
        tables: STEP_CAPTURE_TABLES,
        ..Options::new("rail3")
    };
    let mut writer = Writer::create(root.path(), options).unwrap();
    for rows in &windows {
        writer.append(rows, Instant::now()).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(read(root.path()).unwrap(), together(windows));
    assert_eq!(scan(root.path()).unwrap().segments.len(), STEP_CAPTURE_TABLES.len());
    let read = |found: &Scan| WindowRows {
        windows: found.rows().unwrap(),
        flows: found.rows().unwrap(),
        opcodes: found.rows().unwrap(),
        events: found.rows().unwrap(),
        connections: found.rows().unwrap(),
        pdcs: found.rows().unwrap(),
        spread: found.rows().unwrap(),
        steps: found.rows().unwrap(),
        small_flows: Vec::new(),
    };
    flip("segments (capture)", root.path(), FLIPS, read, |rows, table| {
        let mut rows = rows.clone();
        match table {
            "windows" => rows.windows.clear(),
            "flows" => rows.flows.clear(),
            "opcodes" => rows.opcodes.clear(),
            "events" => rows.events.clear(),
            "connections" => rows.connections.clear(),
            "pdcs" => rows.pdcs.clear(),
            "steps" => rows.steps.clear(),
            _ => rows.spread.clear(),
        }
        rows
    });
}

/// The tables of probes, of their analysis, of counters, and of loopback tests.
#[derive(Clone, Debug, PartialEq)]
struct Mesh {
    probes: Vec<ProbeRow>,
    paths: Vec<PathRow>,
    sla: Vec<SlaRow>,
    verdicts: Vec<VerdictRow>,
    links: Vec<LinkRow>,
    counters: Vec<CounterRow>,
    queue_pairs: Vec<QueuePairRow>,
    flow_paths: Vec<FlowPathRow>,
    link_loads: Vec<LinkLoadRow>,
    host_verdicts: Vec<HostVerdictRow>,
    incidents: Vec<IncidentRow>,
    incident_notes: Vec<IncidentNoteRow>,
    loopback: Vec<LoopbackRow>,
    small_flows: Vec<SmallFlowRow>,
    telemetry: Vec<TelemetryRow>,
    step_probes: Vec<StepProbeRow>,
    runs: Vec<RunRow>,
    switch_ports: Vec<SwitchPortRow>,
    switch_drops: Vec<SwitchDropRow>,
}

/// A probe of a number, due that many seconds after [`START`].
fn probe(number: i64) -> ProbeRow {
    let due_ns = START + number * SECOND_NS;
    ProbeRow {
        observer: "h0".into(),
        time: Time(due_ns),
        time_ns: due_ns,
        src_nic: "h0n0".into(),
        dst_nic: "h0n1".into(),
        sequence: number.unsigned_abs(),
        outcome: "received".into(),
        network_latency_ns: (number % 3 > 0).then_some(1_000 + number),
        clock_source: "kernel software".into(),
        ..ProbeRow::default()
    }
}

/// As many rows of each table.
fn mesh(count: i64) -> Mesh {
    let at = |number: i64| (Time(START + number * SECOND_NS), START + number * SECOND_NS);
    Mesh {
        probes: (0..count).map(probe).collect(),
        paths: (0..count)
            .map(|number| PathRow {
                observer: "h0".into(),
                time: at(number).0,
                time_ns: at(number).1,
                ..PathRow::default()
            })
            .collect(),
        sla: (0..count)
            .map(|number| SlaRow {
                window_start: at(number).0,
                window_start_ns: at(number).1,
                ..SlaRow::default()
            })
            .collect(),
        verdicts: (0..count)
            .map(|number| VerdictRow {
                window_start: at(number).0,
                window_start_ns: at(number).1,
                ..VerdictRow::default()
            })
            .collect(),
        links: (0..count)
            .map(|number| LinkRow {
                window_start: at(number).0,
                window_start_ns: at(number).1,
                ..LinkRow::default()
            })
            .collect(),
        counters: (0..count)
            .map(|number| CounterRow {
                time: at(number).0,
                time_ns: at(number).1,
                device: "mlx5_0".into(),
                port: (number % 2 > 0).then_some(1),
                value: Some(number as f64),
                increase: (number > 0).then_some(1),
                ..CounterRow::default()
            })
            .collect(),
        queue_pairs: (0..count)
            .map(|number| QueuePairRow {
                time: at(number).0,
                time_ns: at(number).1,
                local_qpn: 17,
                ..QueuePairRow::default()
            })
            .collect(),
        flow_paths: (0..count)
            .map(|number| FlowPathRow {
                time: at(number).0,
                time_ns: at(number).1,
                ..FlowPathRow::default()
            })
            .collect(),
        link_loads: (0..count)
            .map(|number| LinkLoadRow {
                window_start: at(number).0,
                window_start_ns: at(number).1,
                ..LinkLoadRow::default()
            })
            .collect(),
        host_verdicts: (0..count)
            .map(|number| HostVerdictRow {
                time: at(number).0,
                time_ns: at(number).1,
                ..HostVerdictRow::default()
            })
            .collect(),
        loopback: (0..count)
            .map(|number| LoopbackRow {
                window_start: at(number).0,
                window_start_ns: at(number).1,
                nic: "mlx5_0".into(),
                measured_bps: (number % 2 > 0).then_some(number as f64),
                ..LoopbackRow::default()
            })
            .collect(),
        small_flows: (0..count)
            .map(|number| SmallFlowRow {
                time: at(number).0,
                time_ns: at(number).1,
                ..SmallFlowRow::default()
            })
            .collect(),
        telemetry: (0..count)
            .map(|number| TelemetryRow {
                time: at(number).0,
                time_ns: at(number).1,
                src_port: (number % 2 > 0).then_some(4_791),
                ..TelemetryRow::default()
            })
            .collect(),
        incidents: (0..count)
            .map(|number| IncidentRow {
                time: at(number).0,
                time_ns: at(number).1,
                until_ns: (number % 2 > 0).then_some(at(number).1),
                ..IncidentRow::default()
            })
            .collect(),
        incident_notes: (0..count)
            .map(|number| IncidentNoteRow {
                time: at(number).0,
                time_ns: at(number).1,
                ..IncidentNoteRow::default()
            })
            .collect(),
        step_probes: (0..count)
            .map(|number| StepProbeRow {
                time: at(number).0,
                time_ns: at(number).1,
                ..StepProbeRow::default()
            })
            .collect(),
        runs: (0..count)
            .map(|number| RunRow {
                time: at(number).0,
                time_ns: at(number).1,
                exit_status: (number % 2 > 0).then_some(1),
                ..RunRow::default()
            })
            .collect(),
        switch_ports: (0..count)
            .map(|number| SwitchPortRow {
                time: at(number).0,
                time_ns: at(number).1,
                queue: (number % 2 > 0).then_some(3),
                rx_power_dbm: (number % 2 > 0).then_some(-3.1),
                ..SwitchPortRow::default()
            })
            .collect(),
        switch_drops: (0..count)
            .map(|number| SwitchDropRow {
                time: at(number).0,
                time_ns: at(number).1,
                ..SwitchDropRow::default()
            })
            .collect(),
    }
}

#[test]
fn a_flipped_bit_of_a_segment_of_the_mesh_is_named_and_the_segment_is_skipped() {
    let root = scratch();
    let rows = mesh(20);
    let mut writer = Writer::create(root.path(), Options::new("h0")).unwrap();
    let tables: [&dyn Cells; 19] = [
        &rows.probes,
        &rows.paths,
        &rows.sla,
        &rows.verdicts,
        &rows.links,
        &rows.counters,
        &rows.queue_pairs,
        &rows.flow_paths,
        &rows.link_loads,
        &rows.host_verdicts,
        &rows.incidents,
        &rows.incident_notes,
        &rows.loopback,
        &rows.small_flows,
        &rows.telemetry,
        &rows.step_probes,
        &rows.runs,
        &rows.switch_ports,
        &rows.switch_drops,
    ];
    assert_eq!(
        tables.len() + STEP_CAPTURE_TABLES.len(),
        TABLES.len(),
        "every table is flipped"
    );
    for cells in tables {
        writer.append_cells(cells, Instant::now()).unwrap();
    }
    writer.finish().unwrap();
    for segment in scan(root.path()).unwrap().segments {
        // The empty ones of a capture: another test flips them.
        if CAPTURE_TABLES.iter().any(|table| table.name == segment.table) {
            fs::remove_file(segment.path).unwrap();
        }
    }
    let read = |found: &Scan| Mesh {
        probes: found.rows().unwrap(),
        paths: found.rows().unwrap(),
        sla: found.rows().unwrap(),
        verdicts: found.rows().unwrap(),
        links: found.rows().unwrap(),
        counters: found.rows().unwrap(),
        queue_pairs: found.rows().unwrap(),
        flow_paths: found.rows().unwrap(),
        link_loads: found.rows().unwrap(),
        host_verdicts: found.rows().unwrap(),
        incidents: found.rows().unwrap(),
        incident_notes: found.rows().unwrap(),
        loopback: found.rows().unwrap(),
        small_flows: found.rows().unwrap(),
        telemetry: found.rows().unwrap(),
        step_probes: found.rows().unwrap(),
        runs: found.rows().unwrap(),
        switch_ports: found.rows().unwrap(),
        switch_drops: found.rows().unwrap(),
    };
    assert_eq!(read(&scan(root.path()).unwrap()), rows);
    flip("segments (mesh)", root.path(), MESH_FLIPS, read, |rows, table| {
        let mut rows = rows.clone();
        match table {
            "probes" => rows.probes.clear(),
            "paths" => rows.paths.clear(),
            "sla" => rows.sla.clear(),
            "verdicts" => rows.verdicts.clear(),
            "links" => rows.links.clear(),
            "counters" => rows.counters.clear(),
            "queue_pairs" => rows.queue_pairs.clear(),
            "flow_paths" => rows.flow_paths.clear(),
            "link_loads" => rows.link_loads.clear(),
            "host_verdicts" => rows.host_verdicts.clear(),
            "incidents" => rows.incidents.clear(),
            "incident_notes" => rows.incident_notes.clear(),
            "loopback" => rows.loopback.clear(),
            "small_flows" => rows.small_flows.clear(),
            "telemetry" => rows.telemetry.clear(),
            "step_probes" => rows.step_probes.clear(),
            "switch_ports" => rows.switch_ports.clear(),
            "switch_drops" => rows.switch_drops.clear(),
            _ => rows.runs.clear(),
        }
        rows
    });
}

/// The journal of a collector, whose batches have numbers: a flip costs one batch at most, by name, and what agents
/// send again is not stored twice.
#[test]
fn a_flipped_bit_of_a_numbered_journal_is_named_and_doubles_nothing() {
    let root = scratch();
    let batches: Vec<Vec<ProbeRow>> = (0..3)
        .map(|batch| (2 * batch..2 * batch + 2).map(probe).collect())
        .collect();
    let store = |writer: &mut Writer| {
        for (batch, number) in batches.iter().zip(1..) {
            let numbered = Numbered::new("h0", 7, number, batch).unwrap();
            writer.append_numbered(&[numbered], Instant::now()).unwrap();
        }
    };
    let options = || Options {
        tables: &[],
        ..Options::new("collector")
    };
    let mut writer = Writer::create(root.path(), options()).unwrap();
    store(&mut writer);
    let journal = scan(root.path()).unwrap().open[0].clone();
    let whole = fs::read(&journal).unwrap();
    drop(writer);
    for bit in bits(JOURNAL_FLIPS, whole.len()) {
        for file in files(root.path()) {
            fs::remove_file(root.path().join(file)).unwrap();
        }
        let damaged = flipped(&whole, bit);
        fs::write(&journal, &damaged).unwrap();
        let repaired = repair(root.path()).unwrap();
        assert_eq!(repaired.damaged.len(), 1, "bit {bit}");
        assert_eq!(fs::read(&repaired.damaged[0].path).unwrap(), damaged, "bit {bit}");
        assert_eq!(verify(root.path()).unwrap().problems.len(), 1, "bit {bit}");
        let rows: Vec<ProbeRow> = scan(root.path()).unwrap().rows().unwrap();
        let stored = |rows: &[ProbeRow]| -> Vec<usize> {
            let times = |batch: &Vec<ProbeRow>| rows.windows(2).filter(|two| *two == batch.as_slice()).count();
            batches.iter().map(times).collect()
        };
        let before = stored(&rows);
        assert_eq!(
            before.iter().sum::<usize>() * 2,
            rows.len(),
            "bit {bit}: whole batches only"
        );
        assert!(
            before.iter().all(|times| *times <= 1) && (rows.is_empty() || rows.len() >= 4),
            "bit {bit}: {before:?}"
        );
        let mut writer = Writer::create(root.path(), options()).unwrap();
        store(&mut writer);
        writer.finish().unwrap();
        let mut rows: Vec<ProbeRow> = scan(root.path()).unwrap().rows().unwrap();
        rows.sort_by_key(|row| row.sequence);
        assert!(stored(&rows).iter().all(|times| *times <= 1), "bit {bit}: stored twice");
        assert!(rows.len() >= 4, "bit {bit}");
    }
    println!(
        "{:<20} {JOURNAL_FLIPS:>4} flips: {JOURNAL_FLIPS:>4} noticed",
        "journal (collector)"
    );
}
