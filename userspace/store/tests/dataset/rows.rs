//! Test rows: every column has a value other than its default.

pub(crate) use rocescope_model::time::{HOUR_NS, SECOND_NS};
use rocescope_model::{EventRow, FlowRow, OpcodeRow, PdcRow, Text, Time, WindowRow, WindowRows};
use std::path::{Path, PathBuf};

/// 2026-11-21 02:30:00 UTC plus a few nanoseconds, which files must preserve.
pub(crate) const START: i64 = 1_795_228_200 * SECOND_NS + 123;

/// Returns the rows of one window that starts `offset` nanoseconds after [`START`].
pub(crate) fn window(offset: i64) -> WindowRows {
    let observer: Text = String::from("rail3").into();
    let start = START + offset;
    let opcode = |name: &'static str, number| OpcodeRow {
        observer: observer.clone(),
        window_start: Time(start),
        window_start_ns: start,
        window_ns: SECOND_NS,
        opcode: name.into(),
        opcode_number: number,
        packets: 5,
        frame_bytes: 5_320,
        payload_bytes: 5_000,
        messages: 1,
        frame_bps: 42_560.0,
        rate_pps: 5.0,
    };
    WindowRows {
        windows: vec![totals(&observer, start)],
        flows: vec![flow(&observer, start, 1), flow(&observer, start, 2)],
        opcodes: vec![opcode("RC_SEND_ONLY", 4), opcode("CNP", 129)],
        events: vec![event(&observer, start)],
        connections: Vec::new(),
        pdcs: vec![pdc(&observer, start)],
        spread: Vec::new(),
        steps: Vec::new(),
        small_flows: Vec::new(),
    }
}

fn pdc(observer: &Text, start: i64) -> PdcRow {
    PdcRow {
        observer: observer.clone(),
        window_start: Time(start),
        window_start_ns: start,
        window_ns: SECOND_NS,
        src_pdc: Some(7),
        mode: "RUD".into(),
        job: Some(77),
        packets: 6,
        nack_reasons: Some("trimmed 3".into()),
        rtt_p50_ns: Some(21_000),
        frame_bps: 8.0,
        ..PdcRow::default()
    }
}

fn totals(observer: &Text, start: i64) -> WindowRow {
    WindowRow {
        observer: observer.clone(),
        window_start: Time(start),
        window_start_ns: start,
        window_ns: SECOND_NS,
        frames: 12,
        roce_packets: 10,
        not_roce_frames: 1,
        malformed_frames: 1,
        fragment_frames: 0,
        filtered_frames: 0,
        snapped_frames: 2,
        roce_v1_frames: 1,
        frame_bytes: 10_640,
        payload_bytes: u64::MAX >> 1,
        messages: 2,
        flows: 2,
        flows_exact: true,
        estimated_flows: 2.000_03,
        estimated_flows_stderr_ratio: 0.01,
        elephant_flows: 1,
        mouse_flows: 1,
        ecn_ce_packets: 3,
        cnp_packets: 4,
        nak_packets: 5,
        rnr_nak_packets: 6,
        icrc_bad_packets: Some(7),
        icrc_unverifiable_packets: None,
        unknown_opcode_packets: 8,
        capture_lost_packets: 9,
        capture_dropped_frames: Some(3),
        late_packets: 10,
        fabric_lost_packets: Some(11),
        retransmitted_packets: Some(11),
        mirror_lost_packets: Some(11),
        mirror_loss_ratio: Some(0.5),
        mirror_duplicate_packets: Some(12),
        mirror_gap_frames: Some(13),
        boundary_slack_ns: 4_000_000,
        jitter_events: 12,
        linear_counting: Some(vec![0b1010_0001; 64].into()),
        hll_flows: Some(vec![2, 1, 7, 12].into()),
        count_min_packets: Some([&[0, 0, 0, 1], &[0; 96][..], &[9]].concat().into()),
        count_min_bytes: None,
    }
}

fn flow(observer: &Text, start: i64, rank: u32) -> FlowRow {
    FlowRow {
        observer: observer.clone(),
        window_start: Time(start),
        window_start_ns: start,
        window_ns: SECOND_NS,
        rank,
        flow_hash: -7 * i64::from(rank),
        src: "10.0.0.1".parse().unwrap_or([0; 4].into()),
        dst: "fd00::3:1".parse().unwrap_or([0; 4].into()),
        udp_src_port: Some(65_535),
        udp_src_ports: Some(1),
        port_imbalance_ratio: (rank == 1).then_some(0.125),
        dst_qpn: 0xff_ffff,
        vlan: Some(100),
        inner_vlan: None,
        vni: Some(0xff_ffff),
        service: "RC".into(),
        packets: 5,
        frame_bytes: 5_320,
        payload_bytes: 5_000,
        messages: 1,
        frame_bps: 42_560.0,
        payload_bps: 40_000.0,
        error_packets: 1,
        error_frame_bytes: 1_064,
        elephant: rank == 1,
        ecn_ce_packets: 3,
        retransmitted_packets: Some(2),
        out_of_order_packets: None,
        first_ns: start,
        last_ns: start + SECOND_NS - 1,
        direction_key: Some(-9),
    }
}

fn event(observer: &Text, start: i64) -> EventRow {
    EventRow {
        observer: observer.clone(),
        time: Time(start + 1),
        time_ns: start + 1,
        kind: "nak".into(),
        src: Some([10, 0, 0, 1].into()),
        dst: None,
        udp_src_port: Some(49_152),
        dst_qpn: Some(17),
        vlan: None,
        psn: Some(0xff_fffe),
        syndrome: Some("nak_psn_sequence_error".into()),
        value: None,
        previous: Some(-0.5),
        count: 1,
        detail: String::from("asks for PSN 16777214 \"again\"\n").into(),
        direction_key: None,
    }
}

/// Merges the rows of several windows.
pub(crate) fn together(parts: impl IntoIterator<Item = WindowRows>) -> WindowRows {
    parts.into_iter().fold(WindowRows::default(), |mut all, mut part| {
        all.append(&mut part);
        all
    })
}

/// Returns a directory for a test that seals thousands of times: in memory, where syncing is cheap.
pub(crate) fn scratch() -> tempfile::TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory.or_else(|_| tempfile::tempdir()).unwrap()
}

/// `few`, or `all` where the environment asks for it: a step of `cargo xtask ci --full` does, which takes minutes.
pub(crate) fn unless_exhaustive(few: usize, all: usize) -> usize {
    match std::env::var_os("EXHAUSTIVE") {
        Some(_) => all,
        None => few,
    }
}

/// Reads the whole dataset, table by table.
pub(crate) fn read(root: &Path) -> Result<WindowRows, rocescope_store::Error> {
    let scan = rocescope_store::scan(root)?;
    Ok(WindowRows {
        windows: scan.rows()?,
        flows: scan.rows()?,
        opcodes: scan.rows()?,
        events: scan.rows()?,
        connections: scan.rows()?,
        pdcs: scan.rows()?,
        spread: scan.rows()?,
        steps: scan.rows()?,
        small_flows: Vec::new(),
    })
}

/// Returns the relative paths of all files under `root`, sorted.
pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in directory.read_dir().into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if let Ok(below) = path.strip_prefix(root) {
                found.push(below.to_owned());
            }
        }
    }
    found.sort();
    found
}
