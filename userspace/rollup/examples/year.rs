//! Writes the windows of a capture box over some days, as many as a measurement of rollups needs:
//!
//!     year DATASET END_HOUR HOURS WINDOW_SECONDS FLOWS
//!
//! `END_HOUR` counts from 1970. All flows are in every window, with packets and bytes that vary; windows have no sketches
//! but the bitmap. `docs/journal/2026-11-29-rollups.md` has the commands.

use rocescope_model::time::{HOUR_NS, SECOND_NS};
use rocescope_model::{FlowRow, OpcodeRow, Row, Text, Time, WindowRow, WindowRows};
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
