//! The programs and the traffic of each measurement.

use rocescope_capture::xdp::measure::{Body, Case, ORDER};
use rocescope_fabric::random::Draws;

/// A row of the table.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) case: Case,
}

/// Payload of the frame: a RoCE path MTU of 1,024.
const PAYLOAD: usize = 1_024;

/// All rows, or those whose names begin with `only` plus the wrapper and the rival. Each is compared with the wrapper
/// before it. With `other`, the rows of the XDP program are repeated with another build of it.
pub(super) fn rows(only: &str, other: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for version in [4, 6] {
        let mut add = |name: &str, body, flows: Vec<u32>, stride| {
            rows.push(Row {
                name: format!("IPv{version} {name}"),
                case: Case {
                    body,
                    flows,
                    stride,
                    frame: frame(version),
                    version,
                },
            });
        };
        add("wrapper alone", Body::Nothing, uniform(32), 1);
        add("parse by hand to the BTH", Body::Hand, uniform(32), 1);
        add("parse as ours", Body::Parse, uniform(32), 1);
        add("one ring record per packet", Body::Each, uniform(32), 1);
        for (flows, label) in [(1, "1 flow"), (32, "32 flows")] {
            add(&format!("ours, {label}"), Body::Ours, uniform(flows), 1);
        }
        add("ours, every packet starts a run", Body::Ours, uniform(32), 2);
        // The wrapper has a number for each flow: its own cache misses are not those of the program.
        add("wrapper, 1,024 flows", Body::Nothing, uniform(1_024), 1);
        add("ours, 1,024 flows", Body::Ours, uniform(1_024), 1);
        for (flows, label) in [(16_384, "16 k"), (100_000, "100 k")] {
            add(&format!("wrapper, {label} flows"), Body::Nothing, uniform(flows), 1);
            add(&format!("ours, {label} flows"), Body::Ours, uniform(flows), 1);
            add(&format!("wrapper, {label} flows, Zipf"), Body::Nothing, zipf(flows), 1);
            add(&format!("ours, {label} flows, Zipf"), Body::Ours, zipf(flows), 1);
        }
    }
    let is_rival = |name: &str| name.contains("wrapper") || name.ends_with("one ring record per packet");
    rows.retain(|row| row.name.starts_with(only) || is_rival(&row.name));
    if other {
        rows = rows.into_iter().flat_map(Row::twice).collect();
    }
    rows
}

impl Row {
    /// The row, followed by the same row of the other build if it is one of ours.
    fn twice(self) -> Vec<Self> {
        let mut both = vec![self];
        if let [Self { name, case }] = &both[..]
            && case.body == Body::Ours
        {
            let (name, mut case) = (format!("{name}, the other build"), case.clone());
            case.body = Body::Other;
            both.push(Self { name, case });
        }
        both
    }
}

fn uniform(flows: u32) -> Vec<u32> {
    (0..flows).collect()
}

/// Flows of which the n-th occurs 1/n times as often as the first, in a fixed order.
fn zipf(flows: u32) -> Vec<u32> {
    let mut sums = Vec::new();
    let mut sum = 0.0;
    for rank in 1..=flows {
        sum += 1.0 / f64::from(rank);
        sums.push(sum);
    }
    let mut draws = Draws::new(1);
    (0..ORDER)
        .map(|_| {
            let place = draws.unit() * sum;
            sums.partition_point(|sum| *sum < place) as u32
        })
        .collect()
}

/// A MIDDLE packet of an RDMA WRITE.
fn frame(version: u8) -> Vec<u8> {
    let udp_bytes = (8 + 12 + PAYLOAD + 4) as u16;
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    if version == 4 {
        frame.extend([0x08, 0x00, 0x45, 2]);
        frame.extend((udp_bytes + 20).to_be_bytes());
        frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    } else {
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
        frame.extend(udp_bytes.to_be_bytes());
        frame.extend([17, 64]);
        for host in [1, 2] {
            frame.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
        }
    }
    frame.extend([0xc0, 0x01, 0x12, 0xb7]);
    frame.extend(udp_bytes.to_be_bytes());
    frame.extend([0, 0]);
    frame.extend([0x07, 0x40, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
    frame.resize(frame.len() + PAYLOAD + 4, 0);
    frame
}
