//! Rows of every table that is rolled up, from a seed.

use rocescope_model::time::{HOUR_NS, SECOND_NS};
use rocescope_model::{
    ConnectionRow, CounterRow, EventRow, FlowRow, LinkLoadRow, LinkRow, OpcodeRow, PdcRow, SlaRow, SpreadRow,
    SwitchDropRow, SwitchPortRow, Text, Time, VerdictRow, WindowRow, WindowRows,
};
use rocescope_sketches::random::SplitMix64;
use rocescope_store::{Options, Writer};
use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, Instant};

/// 2026-11-21 02:00:00 UTC.
pub(crate) const START: i64 = 1_795_226_400 * SECOND_NS;

/// What a dataset is made of.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) seed: u64,
    /// Windows of a second.
    pub(crate) windows: i64,
    /// From one to the next, in seconds.
    pub(crate) step: i64,
    pub(crate) flows: u64,
}

fn below(random: &mut SplitMix64, end: u64) -> u64 {
    random.bits() % end
}

fn address(number: u64) -> IpAddr {
    IpAddr::from([10, 1, (number >> 8) as u8, number as u8])
}

/// The rows of one window of a capture. `windows` lists all flows.
pub(crate) fn window(observer: &str, start: i64, flows: u64, random: &mut SplitMix64) -> WindowRows {
    let observer: Text = observer.to_owned().into();
    let mut rows = WindowRows::default();
    let mut total = WindowRow {
        observer: observer.clone(),
        window_start: Time(start),
        window_start_ns: start,
        window_ns: SECOND_NS,
        not_roce_frames: below(random, 5),
        fabric_lost_packets: (below(random, 3) > 0).then(|| below(random, 9)),
        mirror_lost_packets: Some(below(random, 9)),
        boundary_slack_ns: below(random, 9) as i64,
        ..WindowRow::default()
    };
    let seen = (0..flows).filter(|_| below(random, 3) > 0).collect::<Vec<_>>();
    for number in seen {
        let packets = 1 + below(random, 50);
        let frame_bytes = packets * (100 + below(random, 1_000));
        let sprayed = number % 7 == 3;
        let flow = FlowRow {
            observer: observer.clone(),
            window_start: Time(start),
            window_start_ns: start,
            window_ns: SECOND_NS,
            rank: number as u32 + 1,
            flow_hash: (number as i64).wrapping_mul(0x1357_9bdf_2468_ace1),
            src: address(number),
            dst: address(number / 3 + 1_000),
            udp_src_port: (!sprayed).then_some(49_152 + number as u16),
            udp_src_ports: Some(1 + number % 3),
            port_imbalance_ratio: sprayed.then(|| below(random, 100) as f64 / 128.0),
            dst_qpn: number as u32,
            vlan: number.is_multiple_of(5).then_some(7),
            service: if below(random, 4) == 0 { "" } else { "RC" }.into(),
            packets,
            frame_bytes,
            payload_bytes: frame_bytes / 2,
            messages: packets / 2,
            elephant: below(random, 9) == 0,
            ecn_ce_packets: below(random, 3),
            retransmitted_packets: (below(random, 2) == 0).then(|| below(random, 5)),
            first_ns: start + 5,
            last_ns: start + 900 + below(random, 9) as i64,
            direction_key: Some(number as i64 * 11),
            ..FlowRow::default()
        };
        let ports = if sprayed { 1 + packets.min(3) } else { 0 };
        for port in 0..ports.saturating_sub(1) {
            let share = packets / (ports - 1) + u64::from(port < packets % (ports - 1));
            rows.spread.push(SpreadRow {
                observer: observer.clone(),
                window_start: Time(start),
                window_start_ns: start,
                window_ns: SECOND_NS,
                direction_key: number as i64 * 11,
                src: flow.src,
                dst: flow.dst,
                dst_qpn: flow.dst_qpn,
                vlan: flow.vlan,
                udp_src_port: 50_000 + port as u16,
                packets: share,
                frame_bytes: share * 90,
                ..SpreadRow::default()
            });
        }
        total.roce_packets += packets;
        total.frame_bytes += frame_bytes;
        total.payload_bytes += flow.payload_bytes;
        total.messages += flow.messages;
        rows.flows.push(flow);
    }
    total.frames = total.roce_packets + total.not_roce_frames;
    total.flows = rows.flows.len() as u64;
    total.flows_exact = true;
    total.estimated_flows = total.flows as f64 + 0.25;
    let ratio = |of: u64, among: u64| (among > 0).then(|| of as f64 / among as f64);
    let mirror = total.mirror_lost_packets.unwrap_or_default();
    total.mirror_loss_ratio = ratio(mirror, mirror + total.roce_packets);
    rows.flows.iter_mut().for_each(rocescope_model::Row::recompute);
    // Some windows lack the ports of a direction.
    if below(random, 4) == 0 {
        rows.spread.pop();
    }
    rows.opcodes.push(OpcodeRow {
        observer: observer.clone(),
        window_start: Time(start),
        window_start_ns: start,
        window_ns: SECOND_NS,
        opcode: "RC_SEND_ONLY".into(),
        opcode_number: 4,
        packets: total.roce_packets,
        frame_bytes: total.frame_bytes,
        payload_bytes: total.payload_bytes,
        messages: total.messages,
        ..OpcodeRow::default()
    });
    if below(random, 3) == 0 {
        rows.events.push(EventRow {
            observer: observer.clone(),
            time: Time(start + 17),
            time_ns: start + 17,
            kind: "retransmission".into(),
            count: 1 + below(random, 4),
            value: Some(0.5),
            ..EventRow::default()
        });
    }
    rows.connections = (0..2)
        .map(|number| ConnectionRow {
            observer: observer.clone(),
            time: Time(start + number),
            time_ns: start + number,
            connection: number,
            role: "a_to_b".into(),
            src: address(number as u64),
            dst: address(7),
            packets: below(random, 1_000),
            rtt_p50_ns: (below(random, 2) == 0).then(|| below(random, 99)),
            rtt_histogram: vec![1, below(random, 9) as i64],
            last_ns: start,
            ..ConnectionRow::default()
        })
        .collect();
    rows.pdcs = (0..2)
        .map(|number| PdcRow {
            observer: observer.clone(),
            window_start: Time(start),
            window_start_ns: start,
            window_ns: SECOND_NS,
            src: address(1),
            dst: address(2),
            src_pdc: Some(number),
            mode: "RUD".into(),
            packets: below(random, 99),
            frame_bytes: below(random, 9_999),
            rtt_min_ns: Some(below(random, 99)),
            rtt_p50_ns: Some(5),
            ..PdcRow::default()
        })
        .collect();
    rows.pdcs.iter_mut().for_each(rocescope_model::Row::recompute);
    rows.windows.push(total);
    rows
}

/// Rows of an analyzer and of a host at one time, in the tables that are merged and kept; `revision` numbers the
/// analysis.
pub(crate) fn others(writer: &mut Writer, (start, now): (i64, Instant), revision: u32, random: &mut SplitMix64) {
    let observer: Text = "analyzer".into();
    let time = Time(start);
    let mut sla = SlaRow {
        observer: observer.clone(),
        window_start: time,
        window_start_ns: start,
        window_ns: SECOND_NS,
        revision: Some(revision),
        hosts: 3 + below(random, 5),
        probes: 90 + below(random, 9),
        rnic_drops: below(random, 9),
        network_p99_ns: Some(below(random, 9_999) as i64),
        ..SlaRow::default()
    };
    rocescope_model::Row::recompute(&mut sla);
    let verdict = VerdictRow {
        observer: observer.clone(),
        window_start: time,
        window_start_ns: start,
        window_ns: SECOND_NS,
        revision: Some(revision),
        symptom: "timeouts".into(),
        ..VerdictRow::default()
    };
    let link = LinkRow {
        observer: observer.clone(),
        window_start: time,
        window_start_ns: start,
        window_ns: SECOND_NS,
        revision: Some(revision),
        from: "leaf1".into(),
        to: "spine1".into(),
        probes: below(random, 99),
        weighted_votes: below(random, 99) as f64 / 7.0,
        ..LinkRow::default()
    };
    let load = LinkLoadRow {
        observer: observer.clone(),
        window_start: time,
        window_start_ns: start,
        window_ns: SECOND_NS,
        from: "leaf1".into(),
        flows: below(random, 99),
        flow_bps: Some(7.0),
        ..LinkLoadRow::default()
    };
    let counter = |name: &'static str| CounterRow {
        observer: observer.clone(),
        time,
        time_ns: start,
        device: "mlx5_0".into(),
        name: name.into(),
        value: Some(start as f64),
        raw_value: Some(start),
        increase: Some(7),
        interval_ns: Some(SECOND_NS),
        rate: Some(1.0),
        ..CounterRow::default()
    };
    let counters = vec![counter("out_of_sequence"), counter("rx_write_requests")];
    let port = SwitchPortRow {
        observer: observer.clone(),
        time,
        time_ns: start,
        switch: "leaf1".into(),
        port_name: "Ethernet4".into(),
        in_bytes: Some(below(random, 1 << 40)),
        queue_max_bytes: Some(below(random, 1 << 20)),
        ..SwitchPortRow::default()
    };
    let drop = SwitchDropRow {
        observer,
        time,
        time_ns: start,
        first_ns: start - 5,
        switch: "leaf1".into(),
        reason: "buffer".into(),
        dropped_frames: below(random, 9),
        ..SwitchDropRow::default()
    };
    let (sla, verdict, link, load) = (vec![sla], vec![verdict], vec![link], vec![load]);
    let (port, drop) = (vec![port], vec![drop]);
    writer
        .append_tables(&[&counters, &port, &drop, &load, &link, &verdict, &sla], now)
        .unwrap();
}

/// Writes a dataset.
pub(crate) fn write(root: &Path, shape: Shape) {
    let mut random = SplitMix64::new(shape.seed);
    // A segment for each three windows, however fast they are written.
    let options = |name: &str| Options {
        max_age: Duration::from_secs(3),
        ..Options::new(name)
    };
    let began = Instant::now();
    let mut writers = ["rail1", "rail2"].map(|name| Writer::create(root, options(name)).unwrap());
    let mut analyzer = Writer::create(root, options("analyzer")).unwrap();
    for number in 0..shape.windows {
        let start = START + number * shape.step * SECOND_NS;
        let now = began + Duration::from_secs(number.unsigned_abs());
        for (writer, name) in writers.iter_mut().zip(["rail1", "rail2"]) {
            let rows = window(name, start, shape.flows, &mut random);
            writer.append(&rows, now).unwrap();
        }
        others(&mut analyzer, (start, now), 0, &mut random);
        if number % 11 == 4 {
            others(&mut analyzer, (start, now), 1, &mut random);
        }
    }
    for writer in writers {
        writer.finish().unwrap();
    }
    analyzer.finish().unwrap();
}

/// The end of the hour in which a dataset of this shape ends.
pub(crate) fn end(shape: Shape) -> Time {
    let last = START + (shape.windows - 1) * shape.step * SECOND_NS;
    Time(last - last.rem_euclid(HOUR_NS) + HOUR_NS)
}

/// A directory in memory: these tests sync thousands of files.
pub(crate) fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => tempfile::tempdir_in(memory),
        false => tempfile::tempdir(),
    }
    .unwrap()
}
