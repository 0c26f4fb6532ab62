//! Documents: what a capture found, as text and as JSON.
//!
//! [`text`] and [`mod@json`] are the summary of a capture, with the same content; `losses` comes first.
//! [`mod@files`] adds the capture files; [`connections`] is the document of connections, [`check`] of the verdict on the
//! port, and [`ports`] of the list of interfaces, each as text or JSON.

pub mod check;
pub mod color;
pub mod connections;
pub mod files;
pub mod json;
mod live;
mod losses;
pub(crate) mod no_roce;
pub mod ports;
pub mod text;

use crate::live::LiveReport;
use rocescope_capture::file::FileSpan;
use rocescope_diagnose::incidents;
use rocescope_model::hosts::Hosts;
use rocescope_model::{FlowRow, OpcodeRow, Text, Time};
use rocescope_pipeline::Summary;
use rocescope_pipeline::fields::{address, vlan, vni};
use rocescope_pipeline::rows;
use rocescope_wire::extension::Syndrome;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The source of a capture.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// Name of the file, or of the interfaces.
    pub name: String,
    /// Directory of the dataset.
    pub out: Option<&'a Path>,
    /// Length of a window.
    pub window: Duration,
    /// UDP destination ports that carry RoCEv2.
    pub udp_ports: &'a [u16],
    /// Names of addresses.
    pub hosts: &'a Hosts,
    /// Whether ICRCs were verified.
    pub verify_icrc: bool,
    /// The capture files; empty for interfaces.
    pub files: &'a [FileSpan],
    /// The report of a live capture.
    pub live: Option<LiveReport>,
    /// What is wrong.
    pub incidents: Option<&'a incidents::Document>,
    /// Columns of the terminal, if the text is for one.
    pub width: Option<usize>,
}

/// ACKNOWLEDGE packets by the name of their syndrome.
fn aeth(summary: &Summary) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for (syndrome, count) in (0..=255u8).zip(summary.totals.syndromes.iter()) {
        if *count > 0 {
            *counts.entry(Syndrome(syndrome).name()).or_default() += count;
        }
    }
    counts
}

/// The totals of the capture as rows of `opcodes`, whose window is the whole capture.
fn opcode_rows(summary: &Summary) -> Vec<OpcodeRow> {
    let mut rows: Vec<OpcodeRow> = rows::opcode_rows(&summary.totals.opcodes).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.frame_bytes));
    rows
}

/// The top flows of the capture as rows of `flows`, whose window is the whole capture.
#[must_use]
pub fn flow_rows(summary: &Summary) -> Vec<FlowRow> {
    let (start, end) = summary.span_ns.unwrap_or_default();
    let flows = summary.top_flows.iter().zip(1..);
    flows
        .map(|(bounded, rank)| {
            let (key, counts) = (&bounded.flow.key, &bounded.flow.counts);
            FlowRow {
                window_start: Time(start as i64),
                window_start_ns: start as i64,
                window_ns: (end - start) as i64,
                rank,
                flow_hash: bounded.flow.hash().0.cast_signed(),
                src: address(key.src),
                dst: address(key.dst),
                udp_src_port: (key.udp_src_port != 0).then_some(key.udp_src_port),
                // Known only for each window.
                udp_src_ports: None,
                dst_qpn: key.dst_qpn,
                vlan: vlan(key.vlan),
                inner_vlan: vlan(key.inner_vlan),
                vni: vni(key.vni),
                service: Text::from_static(bounded.flow.opcode.transport().name()),
                packets: counts.packets,
                frame_bytes: counts.frame_bytes,
                payload_bytes: counts.payload_bytes,
                messages: counts.messages,
                error_packets: bounded.error_packets,
                error_frame_bytes: bounded.error_frame_bytes,
                frame_bps: counts.frame_bytes as f64 * 8e9 / (end - start).max(1) as f64,
                ecn_ce_packets: counts.congestion_experienced,
                retransmitted_packets: None,
                out_of_order_packets: None,
                first_ns: counts.first_ns as i64,
                last_ns: counts.last_ns as i64,
                ..FlowRow::default()
            }
        })
        .collect()
}
