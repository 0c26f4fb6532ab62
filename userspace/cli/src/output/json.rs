//! The summary as one JSON object.

use super::{Source, aeth, flow_rows, opcode_rows};
use rocescope_engine::Outcome;
use rocescope_engine::live::LiveReport;
use rocescope_engine::recorder::RecorderSummary;
use rocescope_model::json::Writer;
use rocescope_model::{Time, Value};
use rocescope_record::Cut;
use rocescope_wire::tunnel::Encapsulation;
use rocescope_wire::{Malformed, NotRoce};

/// The AETH kinds that are always there, with 0 where none was seen.
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

/// The summary, indented, with a newline at its end.
#[must_use]
pub fn summary(source: &Source<'_>, outcome: &Outcome) -> String {
    let (summary, counters) = (&outcome.summary, &outcome.counters);
    let totals = &summary.totals;
    let mut json = Writer::pretty();
    json.begin_object();
    json.key("source").string(&source.name);
    json.key("input_error");
    match &source.input_error {
        Some(error) => json.string(error),
        None => json.value(&Value::Null),
    };
    json.key("start").value(
        &summary
            .span_ns
            .map_or(Value::Null, |(start, _)| time(start)),
    );
    json.key("end")
        .value(&summary.span_ns.map_or(Value::Null, |(_, end)| time(end)));
    for (name, count) in [
        ("frames", counters.frames),
        (
            "roce_packets",
            counters.roce_packets - totals.filtered_packets,
        ),
        ("not_roce", counters.not_roce()),
        ("malformed", counters.malformed()),
        ("fragments", counters.fragments),
        ("filtered", counters.filtered + totals.filtered_packets),
        ("snapped", counters.snapped),
        ("lost", counters.lost_packets),
        ("late", totals.late_packets),
    ] {
        json.key(name).integer(count);
    }
    json.key("live");
    match &source.live {
        Some(live) => write_live(&mut json, live),
        None => {
            json.value(&Value::Null);
        }
    }
    json.key("icrc_bad");
    optional(&mut json, source.verify_icrc.then_some(totals.icrc_bad));
    json.key("icrc_unverifiable");
    optional(
        &mut json,
        source.verify_icrc.then_some(totals.icrc_unverifiable),
    );
    let all = totals.all();
    json.key("frame_bytes").integer(all.frame_bytes);
    json.key("payload_bytes").integer(all.payload_bytes);
    json.key("messages").integer(totals.messages);
    json.key("flows").integer(summary.flows);
    json.key("flows_standard_error")
        .value(&Value::F64(summary.flows_standard_error));
    json.key("exact").bool(summary.exact);
    json.key("windows").integer(summary.windows);
    json.key("window_ns")
        .integer(i128::try_from(source.window.as_nanos()).unwrap_or(i128::MAX));
    json.key("events").integer(summary.events);
    json.key("ecn_ce_packets")
        .integer(totals.congestion_experienced);

    let mirror = summary.mirror;
    json.key("mirror_lost_packets");
    optional(&mut json, mirror.map(|mirror| mirror.lost_packets));
    json.key("mirror_loss_ratio");
    let ratio = mirror.and_then(|mirror| mirror.loss_ratio(all.packets));
    json.value(&ratio.map_or(Value::Null, Value::F64));
    json.key("mirrored_twice_packets");
    optional(&mut json, mirror.map(|mirror| mirror.duplicate_packets));
    for (name, count) in [
        ("mirrored_frames", counters.mirrored_frames),
        ("mirror_gap_frames", counters.mirror_lost),
        ("mirror_unfollowed_frames", counters.mirror_unfollowed),
        ("truncated_packets", counters.truncated_packets),
        ("snapped_packets", counters.snapped_packets),
    ] {
        json.key(name).integer(count);
    }

    json.key("opcodes").begin_object();
    let mut opcodes = opcode_rows(summary);
    opcodes.sort_by_key(|row| row.opcode_number);
    for (at, row) in opcodes.iter().enumerate() {
        json.key(&row.opcode)
            .row(&opcodes, at, |column| OPCODE_COLUMNS.contains(&column.name));
    }
    json.end_object();

    json.key("aeth").begin_object();
    let mut counts = aeth(summary);
    for kind in AETH {
        counts.entry(kind).or_default();
    }
    for (kind, count) in counts {
        json.key(kind).integer(count);
    }
    json.end_object();

    json.key("top_flows").begin_array();
    let flows = flow_rows(summary);
    for at in 0..flows.len() {
        json.row(&flows, at, |column| FLOW_COLUMNS.contains(&column.name));
    }
    json.end_array();

    reasons(
        &mut json,
        "not_roce_reasons",
        &NotRoce::NAMES,
        &counters.not_roce,
    );
    reasons(
        &mut json,
        "malformed_reasons",
        &Malformed::NAMES,
        &counters.malformed,
    );
    reasons(
        &mut json,
        "encapsulated",
        &Encapsulation::NAMES,
        &counters.encapsulated,
    );
    reasons(&mut json, "runs", &Cut::NAMES, &counters.published);

    json.key("recorder");
    match &outcome.recorder {
        Some(recorder) => write_recorder(&mut json, recorder),
        None => {
            json.value(&Value::Null);
        }
    }

    json.key("dataset");
    match (source.out, &outcome.store) {
        (Some(out), Some((store, gone))) => {
            json.begin_object();
            json.key("path").string(&out.display().to_string());
            json.key("refused_windows").integer(store.refused_windows);
            json.key("deleted_segments").integer(gone.deleted_segments);
            json.key("deleted_bytes").integer(gone.deleted_bytes);
            json.key("tables").begin_object();
            for table in &store.tables {
                json.key(table.table).begin_object();
                json.key("segments").integer(table.segments);
                json.key("rows").integer(table.rows);
                json.key("bytes").integer(table.bytes);
                json.end_object();
            }
            json.end_object();
            json.end_object();
        }
        _ => {
            json.value(&Value::Null);
        }
    }
    json.end_object();
    let mut text = json.finish();
    text.push('\n');
    text
}

/// What a live capture has to say beside.
fn write_live(json: &mut Writer, live: &LiveReport) {
    json.begin_object();
    json.key("interfaces").begin_array();
    for (name, mode) in &live.interfaces {
        json.begin_object();
        json.key("name").string(name);
        json.key("mode").string(mode);
        json.end_object();
    }
    json.end_array();
    json.key("verdict");
    match &live.verdict {
        Some(verdict) => json.string(verdict.name()),
        None => json.value(&Value::Null),
    };
    json.key("verdict_reason");
    match &live.verdict {
        Some(verdict) => json.string(&verdict.reason),
        None => json.value(&Value::Null),
    };
    json.key("clock_source").string(live.clock_source);
    json.key("boundary_slack_ns")
        .integer(live.boundary_slack_ns);
    json.key("interface_dropped");
    optional(json, live.nic_dropped);
    json.key("driver_drops").begin_object();
    for (name, grown) in &live.driver_drops {
        json.key(name).integer(*grown);
    }
    json.end_object();
    for (name, count) in [
        ("socket_dropped", live.socket_dropped),
        ("lost_runs", live.lost_runs),
        ("lost_events", live.lost_events),
        ("blind_intervals", live.blind_intervals),
        ("blind_ns", live.blind_ns),
    ] {
        json.key(name).integer(count);
    }
    json.key("warnings").begin_array();
    for said in &live.warnings {
        json.string(said);
    }
    json.end_array();
    json.end_object();
}

/// What the flight recorder wrote, and what it did not.
fn write_recorder(json: &mut Writer, recorder: &RecorderSummary) {
    json.begin_object();
    json.key("path")
        .string(&recorder.folder.display().to_string());
    json.key("events").begin_object();
    for (kind, count) in recorder.kinds() {
        json.key(kind).integer(count);
    }
    json.end_object();
    json.key("recorded_events").integer(recorder.recorded);
    json.key("refused_events").begin_object();
    for (reason, count) in recorder.refusals() {
        json.key(reason).integer(count);
    }
    json.end_object();
    for (name, count) in [
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
    ] {
        json.key(name).integer(count);
    }
    json.key("held_ns");
    optional(json, recorder.held_ns);
    json.key("error");
    match &recorder.error {
        Some(error) => json.string(error),
        None => json.value(&Value::Null),
    };
    json.end_object();
}

fn time(ns: u64) -> Value<'static> {
    Value::Time(Time(ns.min(i64::MAX as u64) as i64))
}

fn optional(json: &mut Writer, count: Option<u64>) {
    match count {
        Some(count) => json.integer(count),
        None => json.value(&Value::Null),
    };
}

/// The reasons that were met, by name.
fn reasons(json: &mut Writer, key: &str, names: &[&str], counts: &[u64]) {
    json.key(key).begin_object();
    for (name, count) in names.iter().zip(counts).filter(|(_, count)| **count > 0) {
        json.key(name).integer(*count);
    }
    json.end_object();
}
