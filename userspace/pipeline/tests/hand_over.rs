//! With more flows in a window than its bitmap can distinguish, a HyperLogLog counts them.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use bytemuck::Zeroable;
use core::ops::Range;
use rocescope_model::{WindowRow, WindowRows};
use rocescope_pipeline::merge::{Part, Target, merge_window};
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::{Counters, RunRecord};
use rocescope_sketches::HyperLogLog;
use rocescope_wire::FlowKey;
use rocescope_wire::link::NO_VLAN;
use rocescope_wire::tunnel::NO_VNI;

const RC_RDMA_WRITE_ONLY: u8 = 0x0a;

/// One window with `flows` flows of one packet each.
fn window(flows: u32, exact_flows: usize) -> WindowRow {
    part(0..flows, exact_flows).windows.remove(0)
}

/// The rows of a window with these flows.
fn part(flows: Range<u32>, exact_flows: usize) -> Part {
    let mut pipeline = Pipeline::new(Settings {
        exact_flows,
        flow_rows: 10,
        ..Settings::default()
    })
    .unwrap();
    let counters = Counters::zeroed();
    pipeline.turn(0, &counters);
    for flow in flows {
        pipeline.ingest(&RunRecord {
            flow: FlowKey {
                dst_qpn: flow % 65_536,
                udp_src_port: (flow / 65_536) as u16,
                vni: NO_VNI,
                vlan: NO_VLAN,
                inner_vlan: NO_VLAN,
                ..FlowKey::zeroed()
            },
            packets: 1,
            only: 1,
            frame_bytes: 100,
            only_frame_bytes: 100,
            opcode: RC_RDMA_WRITE_ONLY,
            ..RunRecord::zeroed()
        });
    }
    pipeline.finish(&counters);
    let WindowRows {
        windows,
        flows,
        opcodes,
        spread,
        ..
    } = std::mem::take(pipeline.rows());
    Part {
        windows,
        flows,
        opcodes,
        spread,
    }
}

fn error(row: &WindowRow, flows: u32) -> f64 {
    (row.estimated_flows / f64::from(flows) - 1.0).abs()
}

#[test]
fn few_flows_need_no_hyper_log_log() {
    let row = window(30_000, 131_072);
    assert!(row.flows_exact && row.hll_flows.is_none());
    assert!(error(&row, 30_000) < 0.02);
}

#[test]
fn a_full_bitmap_hands_over() {
    const FLOWS: u32 = 600_000;
    let row = window(FLOWS, 131_072);
    assert!(!row.flows_exact);
    assert!(row.estimated_flows_stderr_ratio < 0.01);
    assert!(error(&row, FLOWS) < 0.025, "{}", row.estimated_flows);
    let hll = HyperLogLog::from_datasketches(&row.hll_flows.unwrap().to_vec()).unwrap();
    assert_eq!(hll.estimate(), row.estimated_flows);
}

#[test]
fn the_hyper_log_log_does_not_depend_on_which_flows_were_exact() {
    let sketched = window(100_000, 1_000).hll_flows;
    assert!(sketched.is_some());
    assert_eq!(window(100_000, 200_000).hll_flows, sketched);
}

#[test]
fn boxes_merge_to_the_bytes_of_one() {
    let whole = window(400_000, 131_072);
    let parts = [part(0..250_000, 131_072), part(200_000..400_000, 50_000)];
    let target = Target {
        observer: "both".into(),
        elephant_bps: 1e9,
    };
    let merged = merge_window(&parts, &target).unwrap().windows.remove(0);
    assert_eq!(merged.observer.as_str(), "both");
    assert_eq!(merged.linear_counting, whole.linear_counting);
    assert_eq!(merged.hll_flows, whole.hll_flows);
    assert_eq!(merged.estimated_flows, whole.estimated_flows);
    assert_eq!(merged.roce_packets, 450_000);
}

/// A small box lists all its flows: that is as good as a HyperLogLog.
#[test]
fn a_box_without_a_hyper_log_log_joins_by_its_list() {
    let mut small = part(300_000..300_005, 10);
    assert!(small.windows[0].hll_flows.is_none());
    let target = Target {
        observer: "both".into(),
        elephant_bps: 1e9,
    };
    let parts = [part(0..300_000, 131_072), small.clone()];
    let merged = merge_window(&parts, &target).unwrap().windows.remove(0);
    assert_eq!(merged.hll_flows, window(300_005, 131_072).hll_flows);

    // One flow is missing from the list, and it is unknown which.
    small.flows.pop();
    let merged = merge_window(&[parts[0].clone(), small], &target).unwrap();
    assert_eq!(merged.windows[0].hll_flows, None);
}
