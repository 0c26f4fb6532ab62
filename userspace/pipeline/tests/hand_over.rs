//! More flows in a window than its bitmap can tell apart: a HyperLogLog takes over.

use bytemuck::Zeroable;
use rocescope_model::WindowRow;
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::{Counters, RunRecord};
use rocescope_sketches::HyperLogLog;
use rocescope_wire::FlowKey;
use rocescope_wire::link::NO_VLAN;
use rocescope_wire::tunnel::NO_VNI;

const RC_RDMA_WRITE_ONLY: u8 = 0x0a;

/// One window with so many flows of one packet each.
fn window(flows: u32, exact_flows: usize) -> WindowRow {
    let mut pipeline = Pipeline::new(Settings {
        exact_flows,
        flow_rows: 10,
        ..Settings::default()
    })
    .unwrap();
    let counters = Counters::zeroed();
    pipeline.turn(0, &counters);
    for flow in 0..flows {
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
    pipeline.rows().windows.remove(0)
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
    let hll = HyperLogLog::from_datasketches(&row.hll_flows.unwrap()).unwrap();
    assert_eq!(hll.estimate(), row.estimated_flows);
}

#[test]
fn the_hyper_log_log_does_not_depend_on_which_flows_were_exact() {
    let sketched = window(100_000, 1_000).hll_flows;
    assert!(sketched.is_some());
    assert_eq!(window(100_000, 200_000).hll_flows, sketched);
}
