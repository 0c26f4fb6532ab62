//! The summary as one JSON object.

use super::files::FilesDocument;
use super::losses::Losses;
use super::{Source, aeth, flow_rows, opcode_rows};
use crate::Outcome;
use crate::live::{Cost, LiveReport, VerdictReason};
use crate::recorder::RecorderSummary;
use rocescope_diagnose::incidents::Incident;
use rocescope_model::json::{self, Object, Row, Rows};
use rocescope_model::{Column, FlowRow, OpcodeRow, Time};
use rocescope_pipeline::pdcs::PdcTotals;
use rocescope_record::{Counters, Cut};
use rocescope_wire::tunnel::Encapsulation;
use rocescope_wire::uet::{self, Kind};
use rocescope_wire::{Malformed, NotRoce};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// The AETH kinds that are always present, with 0 if none was seen.
const AETH: [&str; 6] = [
    "ack",
    "rnr_nak",
    "nak_psn_sequence_error",
    "nak_invalid_request",
    "nak_remote_access_error",
    "nak_remote_operational_error",
];

const OPCODE_COLUMNS: [&str; 3] = ["packets", "frame_bytes", "payload_bytes"];

const FLOW_COLUMNS: [&str; 17] = [
    "src",
    "dst",
    "udp_src_port",
    "dst_qpn",
    "vlan",
    "inner_vlan",
    "vni",
    "service",
    "packets",
    "frame_bytes",
    "payload_bytes",
    "messages",
    "error_packets",
    "error_frame_bytes",
    "ecn_ce_packets",
    "first_ns",
    "last_ns",
];

type Counts<K = &'static str> = Object<K, u64>;
type Wanted = fn(&Column) -> bool;

#[derive(Serialize)]
struct Document<'a> {
    source: &'a str,
    incidents: &'a [Incident],
    notes: &'a [String],
    input_error: Option<&'a str>,
    start: Option<Time>,
    end: Option<Time>,
    #[serde(flatten)]
    frames: Counts,
    files: Option<FilesDocument<'a>>,
    live: Option<LiveDocument<'a>>,
    icrc_bad: Option<u64>,
    icrc_unverifiable: Option<u64>,
    frame_bytes: u64,
    payload_bytes: u64,
    messages: u64,
    flows: u64,
    #[serde(serialize_with = "json::float")]
    flows_standard_error: f64,
    exact: bool,
    windows: u64,
    window_ns: u128,
    events: u64,
    ecn_ce_packets: u64,
    fabric_lost_packets: Option<u64>,
    fabric_lost_upstream_packets: Option<u64>,
    fabric_lost_downstream_packets: Option<u64>,
    unresolved_packets: Option<u64>,
    retransmitted_packets: Option<u64>,
    sampled_one_of: Option<u64>,
    estimated_packets: Option<u64>,
    estimated_frame_bytes: Option<u64>,
    estimated_payload_bytes: Option<u64>,
    untracked_packets: Option<u64>,
    yielded_packets: Option<u64>,
    mirror_lost_packets: Option<u64>,
    #[serde(serialize_with = "json::float")]
    mirror_loss_ratio: Option<f64>,
    mirror_duplicate_packets: Option<u64>,
    #[serde(flatten)]
    mirrors: Counts,
    opcodes: Object<&'a str, Row<'a, OpcodeRow, Wanted>>,
    aeth: BTreeMap<&'static str, u64>,
    top_flows: Rows<'a, Vec<FlowRow>, Wanted>,
    not_roce_reasons: Counts,
    not_roce_protocols: Counts<String>,
    malformed_reasons: Counts,
    encapsulated: Counts,
    uet: Counts,
    pdcs: Counts,
    runs: Counts,
    written: Option<WrittenDocument<'a>>,
    recorder: Option<RecorderDocument<'a>>,
    dataset: Option<DatasetDocument<'a>>,
}

/// The file of frames.
#[derive(Serialize)]
struct WrittenDocument<'a> {
    path: Cow<'a, str>,
    frames: u64,
    files: u64,
    deleted_files: u64,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct DatasetDocument<'a> {
    path: Cow<'a, str>,
    #[serde(flatten)]
    counts: Counts,
    damaged_journals: Vec<DamagedDocument<'a>>,
    tables: Object<&'static str, Counts>,
}

/// A damaged journal, where it is now.
#[derive(Serialize)]
struct DamagedDocument<'a> {
    path: Cow<'a, str>,
    reason: &'a str,
}

/// The summary, indented, with a newline at its end.
#[must_use]
pub fn summary(source: &Source<'_>, outcome: &Outcome) -> String {
    written(source, outcome, |document| json::pretty(document))
}

/// The summary as the last of several lines: an object with the key `summary`, with a newline at its end.
#[must_use]
pub fn line(source: &Source<'_>, outcome: &Outcome) -> String {
    written(source, outcome, |document| {
        json::compact(&Object(vec![("summary", document)]))
    })
}

fn written(source: &Source<'_>, outcome: &Outcome, write: impl Fn(&Document<'_>) -> String) -> String {
    let (summary, counters) = (&outcome.summary, &outcome.counters);
    let (totals, losses) = (&summary.totals, Losses::of(source, outcome));
    // Of a sample, no loss is known.
    let delivery = losses.delivery.filter(|_| losses.sampled_one_of.is_none());
    let untracked = losses.delivery;
    let all = totals.all();
    let icrc = |count| source.verify_icrc.then_some(count);
    let mut opcodes = opcode_rows(summary);
    opcodes.sort_by_key(|row| row.opcode_number);
    let opcode: Wanted = |column| OPCODE_COLUMNS.contains(&column.name);
    let mut syndromes = aeth(summary);
    for kind in AETH {
        syndromes.entry(kind).or_default();
    }
    write(&Document {
        source: &source.name,
        incidents: source.incidents.map_or(&[], |found| &found.incidents),
        notes: source.incidents.map_or(&[], |found| &found.notes),
        input_error: outcome.ended_early.as_deref(),
        start: summary.span_ns.map(|(start, _)| time(start)),
        end: summary.span_ns.map(|(_, end)| time(end)),
        frames: Object(vec![
            ("frames", counters.frames),
            ("roce_packets", counters.roce_packets - totals.filtered_packets),
            ("not_roce", counters.not_roce()),
            ("malformed", counters.malformed()),
            ("fragments", counters.fragments),
            ("filtered", counters.filtered + totals.filtered_packets),
            ("snapped", counters.snapped),
            ("capture_lost_frames", losses.capture_frames()),
            ("lost", counters.lost_packets),
            ("late", totals.late_packets),
            ("untimed_frames", outcome.untimed_frames),
        ]),
        files: FilesDocument::of(source.files),
        live: source.live.as_ref().map(LiveDocument::of),
        icrc_bad: icrc(totals.icrc_bad),
        icrc_unverifiable: icrc(totals.icrc_unverifiable),
        frame_bytes: all.frame_bytes,
        payload_bytes: all.payload_bytes,
        messages: totals.messages,
        flows: summary.flows,
        flows_standard_error: summary.flows_standard_error,
        exact: summary.exact,
        windows: summary.windows,
        window_ns: source.window.as_nanos(),
        events: summary.events,
        ecn_ce_packets: totals.congestion_experienced,
        fabric_lost_packets: delivery.map(|delivery| delivery.fabric_lost()),
        fabric_lost_upstream_packets: delivery.map(|delivery| delivery.fabric_lost_upstream_packets),
        fabric_lost_downstream_packets: delivery.map(|delivery| delivery.fabric_lost_downstream_packets),
        unresolved_packets: delivery.map(|delivery| delivery.unresolved_packets),
        retransmitted_packets: delivery.map(|delivery| delivery.retransmitted_packets),
        sampled_one_of: losses.sampled_one_of,
        estimated_packets: losses.estimate(all.packets),
        estimated_frame_bytes: losses.estimate(all.frame_bytes),
        estimated_payload_bytes: losses.estimate(all.payload_bytes),
        untracked_packets: untracked.map(|delivery| delivery.untracked_packets),
        yielded_packets: untracked.map(|delivery| delivery.yielded_packets),
        mirror_lost_packets: delivery.map(|delivery| delivery.mirror_lost_packets),
        mirror_loss_ratio: delivery.and_then(|delivery| delivery.mirror_loss_ratio(all.packets)),
        mirror_duplicate_packets: delivery.map(|delivery| delivery.mirror_duplicate_packets),
        mirrors: Object(vec![
            ("mirrored_frames", counters.mirrored_frames),
            ("mirror_gap_frames", counters.mirror_lost),
            ("mirror_unfollowed_frames", counters.mirror_unfollowed),
            ("truncated_packets", counters.truncated_packets),
            ("truncated_arrived_bytes", counters.truncated_arrived_bytes),
            ("snapped_packets", counters.snapped_packets),
            ("trimmed_packets", counters.trimmed_packets),
        ]),
        opcodes: opcodes.iter().map(|row| (&*row.opcode, Row(row, opcode))).collect(),
        aeth: syndromes,
        top_flows: Rows(&flow_rows(summary), |column| FLOW_COLUMNS.contains(&column.name)),
        not_roce_reasons: reasons(&NotRoce::NAMES, &counters.not_roce),
        not_roce_protocols: counters
            .foreign_protocols()
            .map(|(protocol, frames)| (protocol.to_string(), frames))
            .collect(),
        malformed_reasons: reasons(&Malformed::NAMES, &counters.malformed),
        encapsulated: reasons(&Encapsulation::NAMES, &counters.encapsulated),
        uet: uet_counts(counters),
        pdcs: pdc_counts(&summary.pdcs),
        runs: reasons(&Cut::NAMES, &counters.published),
        written: outcome.frames.as_ref().map(|frames| WrittenDocument {
            path: frames.path.to_string_lossy(),
            frames: frames.frames,
            files: frames.files,
            deleted_files: frames.deleted_files,
            error: frames.error.as_deref(),
        }),
        recorder: outcome.recorder.as_ref().map(RecorderDocument::of),
        dataset: source.out.and_then(|out| dataset(out, outcome)),
    }) + "\n"
}

fn dataset<'a>(out: &'a Path, outcome: &'a Outcome) -> Option<DatasetDocument<'a>> {
    let (store, gone) = outcome.store.as_ref()?;
    let damaged = store.damaged.iter().chain(&store.repaired.damaged);
    let damaged = damaged.map(|journal| DamagedDocument {
        path: journal.path.to_string_lossy(),
        reason: &journal.reason,
    });
    let tables = store.tables.iter().map(|table| {
        let counts = Object(vec![
            ("segments", table.segments),
            ("rows", table.rows),
            ("bytes", table.bytes),
        ]);
        (table.table, counts)
    });
    Some(DatasetDocument {
        path: out.to_string_lossy(),
        counts: Object(vec![
            ("refused_windows", store.refused_windows),
            ("deleted_segments", gone.deleted_segments),
            ("deleted_bytes", gone.deleted_bytes),
            ("waiting_segments", gone.waiting_segments),
        ]),
        damaged_journals: damaged.collect(),
        tables: tables.collect(),
    })
}

/// The part of a live capture.
#[derive(Serialize)]
struct LiveDocument<'a> {
    interfaces: Vec<InterfaceDocument<'a>>,
    direction: &'static str,
    xdp_refused: Option<&'a str>,
    verdict: Option<&'a str>,
    verdict_reason: Option<&'a str>,
    clock_source: &'a str,
    boundary_slack_ns: u64,
    interface_dropped: Option<u64>,
    driver_drops: Counts<&'a str>,
    #[serde(flatten)]
    drops: Counts,
    cost: Cost,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct InterfaceDocument<'a> {
    name: &'a str,
    mode: &'a str,
}

impl<'a> LiveDocument<'a> {
    fn of(live: &'a LiveReport) -> Self {
        let verdict = live.verdict.as_ref();
        let drops = live.driver_drops.iter();
        Self {
            interfaces: live
                .interfaces
                .iter()
                .map(|(name, mode)| InterfaceDocument { name, mode })
                .collect(),
            direction: live.direction.name(),
            xdp_refused: live.xdp_refused.as_deref(),
            verdict: verdict.map(VerdictReason::name),
            verdict_reason: verdict.map(|verdict| verdict.reason.as_str()),
            clock_source: live.clock_source,
            boundary_slack_ns: live.boundary_slack_ns,
            interface_dropped: live.nic_dropped,
            driver_drops: drops.map(|(name, grown)| (name.as_str(), *grown)).collect(),
            drops: Object(vec![
                ("socket_dropped", live.socket_dropped),
                ("lost_runs", live.lost_runs),
                ("lost_events", live.lost_events),
                ("blind_intervals", live.blind_intervals),
                ("blind_ns", live.blind_ns),
            ]),
            cost: live.cost,
            warnings: &live.warnings,
        }
    }
}

/// What the flight recorder wrote and refused.
#[derive(Serialize)]
struct RecorderDocument<'a> {
    path: Cow<'a, str>,
    events: Counts,
    recorded_events: u64,
    refused_events: Counts,
    #[serde(flatten)]
    counts: Counts,
    held_ns: Option<u64>,
    error: Option<&'a str>,
}

impl<'a> RecorderDocument<'a> {
    fn of(recorder: &'a RecorderSummary) -> Self {
        Self {
            path: recorder.folder.to_string_lossy(),
            events: recorder.kinds().collect(),
            recorded_events: recorder.recorded,
            refused_events: recorder.refusals().collect(),
            counts: Object(vec![
                ("files", recorder.files),
                ("frames", recorder.frames),
                ("bytes", recorder.bytes),
                ("deleted_files", recorder.deleted.files),
                ("deleted_bytes", recorder.deleted.bytes),
                ("undeleted_files", recorder.deleted.failed),
                ("cut_files", recorder.cut),
                ("missed_frames", recorder.missed),
                ("overwritten_frames", recorder.overwritten),
                ("before_ns", recorder.before_ns),
                ("reach_ns", recorder.reach_ns),
            ]),
            held_ns: recorder.held_ns,
            error: recorder.error.as_deref(),
        }
    }
}

fn time(ns: u64) -> Time {
    Time(ns.min(i64::MAX as u64) as i64)
}

/// Sums over UET's packet delivery contexts.
fn pdc_counts(pdcs: &PdcTotals) -> Counts {
    Object(vec![
        ("pdcs", pdcs.contexts),
        ("packets", pdcs.packets),
        ("untracked_packets", pdcs.untracked_packets),
        ("filtered_packets", pdcs.filtered_packets),
        ("messages", pdcs.messages),
        ("nack_packets", pdcs.nack_packets),
        ("retransmitted_packets", pdcs.retransmitted_packets),
        ("trimmed_packets", pdcs.trimmed_packets),
        ("fabric_lost_upstream_packets", pdcs.fabric_lost_upstream_packets),
        ("fabric_lost_downstream_packets", pdcs.fabric_lost_downstream_packets),
        ("unanswered_packets", pdcs.unanswered_packets),
    ])
}

/// UET packets by PDS type, then those with a flag.
fn uet_counts(counters: &Counters) -> Counts {
    let types = uet::TYPES.iter().zip(0u8..);
    let types = types.map(|(name, number)| (*name, counters.uet_packets(|kind| kind.pds_type() == number)));
    let flags = [
        ("retransmitted", counters.uet_packets(Kind::is_retransmission)),
        ("ecn_echo", counters.uet_packets(Kind::is_ecn_echo)),
        ("nack_trimmed", counters.uet_packets(Kind::is_nack_trimmed)),
    ];
    let losses = [
        ("encrypted_or_cut", counters.uet_unread),
        ("filtered", counters.uet_filtered),
        ("capture_lost", counters.lost_uet),
    ];
    let counts = types.chain(flags).chain(losses);
    counts.filter(|(_, count)| *count > 0).collect()
}

/// The reasons with a count, by name.
fn reasons(names: &[&'static str], counts: &[u64]) -> Counts {
    let counts = names.iter().copied().zip(counts.iter().copied());
    counts.filter(|(_, count)| *count > 0).collect()
}
