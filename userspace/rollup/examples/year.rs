//! Writes the windows of a capture box over some days, as many as a measurement of rollups needs:
//!
//!     year DATASET END_HOUR HOURS WINDOW_SECONDS FLOWS
//!
//! `END_HOUR` counts from 1970. All flows are in every window, with packets and bytes that vary; windows have no sketches
//! but the bitmap. Each flow is a direction of a connection, with a row a minute, or a window if that is longer.
//! `docs/journal/2026-11-29-rollups.md` has the commands.

use rocescope_model::time::{HOUR_NS, MINUTE_NS, SECOND_NS};
use rocescope_model::{ConnectionRow, FlowRow, OpcodeRow, Row, Text, Time, WindowRow, WindowRows};
use rocescope_sketches::random::SplitMix64;
use rocescope_store::{Options, Writer};
use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dataset, numbers @ ..] = arguments.as_slice() else {
        return Err("expected DATASET END_HOUR HOURS WINDOW_SECONDS FLOWS".into());
    };
    let numbers = numbers
        .iter()
        .map(|text| text.parse())
        .collect::<Result<Vec<i64>, _>>()?;
    let [end, hours, seconds, flows] = numbers[..] else {
        return Err("expected four numbers after the dataset".into());
    };
    let options = Options {
        max_age: Duration::from_secs(60),
        ..Options::new("box1")
    };
    let mut writer = Writer::create(Path::new(dataset), options)?;
    let mut random = SplitMix64::new(1);
    let (begun, first) = (Instant::now(), (end - hours) * HOUR_NS);
    let windows = hours * 3_600 / seconds;
    for number in 0..windows {
        let rows = window(
            first + number * seconds * SECOND_NS,
            seconds,
            flows.unsigned_abs(),
            &mut random,
        );
        // Segments are sealed by the time of the capture, not by that of this program.
        writer.append(&rows, begun + Duration::from_secs((number * seconds).unsigned_abs()))?;
    }
    writer.finish()?;
    println!("{windows} windows in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// The same flows in every window; each has a size of its own, of which a window has more or less.
fn window(start: i64, seconds: i64, flows: u64, random: &mut SplitMix64) -> WindowRows {
    let mut rows = WindowRows::default();
    let observer = Text::from_static("box1");
    let (window_start, window_ns) = (Time(start), seconds * SECOND_NS);
    let mut total = WindowRow {
        observer: observer.clone(),
        window_start,
        window_start_ns: start,
        window_ns,
        flows,
        flows_exact: true,
        estimated_flows: flows as f64,
        linear_counting: Some(vec![0x5a_u8; 4_096].into()),
        ..WindowRow::default()
    };
    for number in 0..flows {
        let packets = (100_000 / (1 + number) + random.bits() % 50).max(1) * seconds.unsigned_abs();
        let address = |host: u64| IpAddr::from([10, 1, (host >> 8) as u8, host as u8]);
        let flow = FlowRow {
            observer: observer.clone(),
            window_start,
            window_start_ns: start,
            window_ns,
            rank: u32::try_from(number + 1).unwrap_or(u32::MAX),
            flow_hash: (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).cast_signed(),
            src: address(number % 500),
            dst: address(500 + number / 2),
            udp_src_port: u16::try_from(49_152 + number % 16_000).ok(),
            dst_qpn: 0x100 + u32::try_from(number).unwrap_or(0),
            service: Text::from_static("RC"),
            packets,
            frame_bytes: packets * 4_166,
            payload_bytes: packets * 4_096,
            messages: packets / 16,
            ecn_ce_packets: random.bits() % 3,
            retransmitted_packets: Some(0),
            out_of_order_packets: Some(0),
            first_ns: start + (random.bits() % 1_000_000).cast_signed(),
            last_ns: start + window_ns - (random.bits() % 1_000_000).cast_signed(),
            direction_key: Some((number + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9).cast_signed()),
            ..FlowRow::default()
        };
        if (start + window_ns) % MINUTE_NS == 0 {
            rows.connections.push(connection(&flow, start + window_ns - 1, random));
        }
        total.roce_packets += flow.packets;
        total.frame_bytes += flow.frame_bytes;
        total.payload_bytes += flow.payload_bytes;
        total.messages += flow.messages;
        rows.flows.push(flow);
    }
    total.frames = total.roce_packets;
    rows.flows.iter_mut().for_each(Row::recompute);
    let mut opcode = OpcodeRow {
        observer,
        window_start,
        window_start_ns: start,
        window_ns,
        opcode: Text::from_static("RC_RDMA_WRITE_MIDDLE"),
        opcode_number: 7,
        packets: total.roce_packets,
        frame_bytes: total.frame_bytes,
        payload_bytes: total.payload_bytes,
        messages: total.messages,
        ..OpcodeRow::default()
    };
    opcode.recompute();
    rows.opcodes.push(opcode);
    rows.windows.push(total);
    rows
}

/// The row of a connection at the end of a window: its totals grow with time, its times vary.
fn connection(flow: &FlowRow, time_ns: i64, random: &mut SplitMix64) -> ConnectionRow {
    let number = i64::from(flow.rank) - 1;
    // As of the rate of this window since the connection began, which lasts a day.
    let age = time_ns.rem_euclid(24 * HOUR_NS) / flow.window_ns.max(1) + 1;
    let count = |of_window: u64| of_window * age.unsigned_abs();
    let rtt = 4_000 + random.bits() % 4_000;
    let buckets = [0, 1, 2, 3, 5, 9].map(|step| [900 + step, count(1 + random.bits() % 90).cast_signed()]);
    ConnectionRow {
        observer: flow.observer.clone(),
        time: Time(time_ns),
        time_ns,
        connection: number / 2 + 1,
        role: Text::from_static(if number % 2 == 0 { "a_to_b" } else { "b_to_a" }),
        state: Text::from_static("active"),
        service: flow.service.clone(),
        paired_by: Text::from_static("ack"),
        src: flow.src,
        dst: flow.dst,
        src_qpn: Some(flow.dst_qpn ^ 1),
        dst_qpn: Some(flow.dst_qpn),
        udp_src_port: flow.udp_src_port,
        path_mtu_bytes: Some(4_096),
        first_ns: Some(time_ns - time_ns.rem_euclid(24 * HOUR_NS) + number * 1_000),
        last_ns: flow.last_ns,
        packets: count(flow.packets),
        frame_bytes: count(flow.frame_bytes),
        payload_bytes: count(flow.payload_bytes),
        unique_payload_bytes: count(flow.payload_bytes),
        messages: count(flow.messages),
        unique_messages: count(flow.messages),
        ack_packets: count(flow.messages),
        ecn_ce_packets: count(flow.ecn_ce_packets),
        rtt_samples: count(flow.messages),
        rtt_min_ns: Some(rtt / 2),
        rtt_p50_ns: Some(rtt),
        rtt_p99_ns: Some(rtt * 3),
        rtt_max_ns: Some(rtt * 5 + random.bits() % 1_000),
        completion_samples: count(flow.messages),
        completion_p50_ns: Some(rtt * 2),
        completion_p99_ns: Some(rtt * 6),
        rtt_histogram: [12].into_iter().chain(buckets.into_iter().flatten()).collect(),
        message_sizes: [0; 12]
            .into_iter()
            .chain([count(flow.messages).cast_signed()])
            .collect(),
        direction_key: flow.direction_key,
        ..ConnectionRow::default()
    }
}
