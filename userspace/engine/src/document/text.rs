//! The summary as text.

use super::color::Color;
use super::losses::Losses;
use super::{Source, aeth, files, flow_rows, live, no_roce, opcode_rows};
use crate::Outcome;
use crate::recorder::RecorderSummary;
use rocescope_diagnose::incidents;
use rocescope_model::human::{grouped as count, plural, readable};
use rocescope_model::render::{self, Options};
use rocescope_model::{Time, Unit, Value};
use rocescope_pipeline::pdcs::PdcTotals;
use rocescope_pipeline::summary::Summary;
use rocescope_record::Counters;
use rocescope_store::{Retained, Summary as Stored};
use rocescope_wire::uet::Kind;
use rocescope_wire::{Malformed, NotRoce};
use std::fmt::Write;
use std::path::Path;

/// Incidents that stand before the figures.
const SHOWN: usize = 3;
const OPCODE_COLUMNS: [&str; 4] = ["opcode", "packets", "frame_bytes", "payload_bytes"];
const FLOW_COLUMNS: [&str; 10] = [
    "rank",
    "src",
    "dst",
    "udp_src_port",
    "dst_qpn",
    "service",
    "packets",
    "frame_bytes",
    "frame_bps",
    "messages",
];

/// The summary, with a newline at its end.
#[must_use]
pub fn summary(source: &Source<'_>, outcome: &Outcome, color: Color) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_summary(&mut text, source, outcome, color);
    text
}

fn write_summary(out: &mut String, source: &Source<'_>, outcome: &Outcome, color: Color) -> std::fmt::Result {
    let (summary, counters) = (&outcome.summary, &outcome.counters);
    if let Some(found) = source.incidents {
        writeln!(out, "{}", found.brief(SHOWN, source.width))?;
    }
    write!(out, "{}", source.name)?;
    if let Some((start, end)) = summary.span_ns {
        let time = |ns: u64| Time(ns.min(i64::MAX as u64) as i64);
        write!(
            out,
            "  {:.0} to {:.0}, {} of {}",
            time(start),
            time(end),
            plural(summary.windows, "window"),
            humantime::format_duration(source.window)
        )?;
    }
    writeln!(out, "\n")?;
    if let Some(why) = &outcome.ended_early {
        writeln!(out, "{}\n", color.trouble(true, &format!("Input     {why}")))?;
    }
    if outcome.untimed_frames > 0 {
        let frames = plural(outcome.untimed_frames, "frame");
        let text = format!(
            "Times     {frames} without a time count at 1970: rates, round trips and windows of them mean nothing"
        );
        writeln!(out, "{}\n", color.trouble(true, &text))?;
    }
    if let Some(hint) = no_roce::hint(counters, source.udp_ports) {
        writeln!(out, "{}\n", color.trouble(true, &hint))?;
    }
    let losses = Losses::of(source, outcome);
    losses.write(out, color)?;
    writeln!(out)?;
    write_frames(out, summary, counters)?;
    out.push_str(&files::text(source.files));
    if let Some(live) = &source.live {
        live::write(out, live, counters.frames)?;
    }
    write_mirrored(out, counters)?;
    write_uet(out, counters, &summary.pdcs, color)?;
    reasons(out, "Other     ", &NotRoce::NAMES, &counters.not_roce)?;
    let protocols = no_roce::protocols(counters);
    if !protocols.is_empty() {
        writeln!(out, "Protocols {protocols}")?;
    }
    reasons(out, "Malformed ", &Malformed::NAMES, &counters.malformed)?;
    write_totals(out, source, summary)?;
    write_estimate(out, summary, &losses)?;
    write_tables(out, source, summary)?;
    if let Some(written) = &outcome.frames {
        let (frames, path) = (plural(written.frames, "frame"), written.path.display());
        write!(out, "\nWritten   {frames} to {path}")?;
        if written.files > 1 {
            write!(out, " in {}", plural(written.files, "file"))?;
        }
        if written.deleted_files > 0 {
            write!(out, ", of which the oldest {} deleted", count(written.deleted_files))?;
        }
        writeln!(out)?;
    }
    if let Some(recorder) = &outcome.recorder {
        write_recorder(out, recorder)?;
    }
    if let (Some(path), Some((store, gone))) = (source.out, &outcome.store) {
        write_dataset(out, path, store, gone)?;
    }
    // On a terminal the first lines are out of sight by now.
    if let Some(closing) = source.incidents.and_then(incidents::Document::closing) {
        writeln!(out, "\n{}", color.trouble(true, &closing))?;
    }
    Ok(())
}

/// Frames by their outcome.
fn write_frames(out: &mut String, summary: &Summary, counters: &Counters) -> std::fmt::Result {
    let totals = &summary.totals;
    writeln!(
        out,
        "Frames    {} = {} RoCEv2 + {} not RoCEv2 + {} malformed + {} fragments + {} filtered + {} snapped",
        count(counters.frames),
        count(counters.roce_packets - totals.filtered_packets),
        count(counters.not_roce()),
        count(counters.malformed()),
        count(counters.fragments),
        count(counters.filtered + totals.filtered_packets),
        count(counters.snapped),
    )?;
    writeln!(
        out,
        "RoCEv2    {} = {} in runs + {} capture loss",
        count(counters.roce_packets - totals.filtered_packets),
        count(totals.all().packets),
        count(counters.lost_packets),
    )
}

/// Sums over all packets.
fn write_totals(out: &mut String, source: &Source<'_>, summary: &Summary) -> std::fmt::Result {
    let totals = &summary.totals;
    if source.verify_icrc {
        writeln!(
            out,
            "ICRC      {} wrong, {} not verifiable",
            count(totals.icrc_bad),
            count(totals.icrc_unverifiable)
        )?;
    }
    if totals.late_packets > 0 {
        writeln!(
            out,
            "Late      {} arrived after their window was closed; they count in the oldest open window",
            plural(totals.late_packets, "packet")
        )?;
    }
    let all = totals.all();
    writeln!(
        out,
        "Bytes     {} in frames, {} payload",
        readable(&integer(all.frame_bytes), Unit::Bytes),
        readable(&integer(all.payload_bytes), Unit::Bytes)
    )?;
    if summary.exact {
        writeln!(out, "Flows     {} (exact)", count(summary.flows))?;
    } else {
        writeln!(
            out,
            "Flows     {} ± {} (estimate: more flows than --exact-flows)",
            count(summary.flows),
            count(summary.flows_standard_error.ceil() as u64)
        )?;
    }
    writeln!(out, "Messages  {}", count(totals.messages))?;
    let acknowledges: Vec<String> = aeth(summary)
        .iter()
        .map(|(kind, number)| format!("{kind} {}", count(*number)))
        .collect();
    if !acknowledges.is_empty() {
        writeln!(out, "AETH      {}", acknowledges.join(", "))?;
    }
    if totals.congestion_experienced > 0 {
        writeln!(out, "ECN CE    {} packets", count(totals.congestion_experienced))?;
    }

    if let Some(number) = summary.delivery.map(|delivery| delivery.mirror_duplicate_packets)
        && number > 0
    {
        writeln!(out, "Mirror    {} duplicate packets", count(number))?;
    }
    Ok(())
}

/// What passed a mirror that samples.
fn write_estimate(out: &mut String, summary: &Summary, losses: &Losses) -> std::fmt::Result {
    let all = summary.totals.all();
    let (Some(one_of), Some(packets)) = (losses.sampled_one_of, losses.estimate(all.packets)) else {
        return Ok(());
    };
    let bytes = |counted: u64| readable(&integer(losses.estimate(counted).unwrap_or(counted)), Unit::Bytes);
    writeln!(
        out,
        "Estimate  about {} passed the mirror, {} in frames, {} payload: {one_of} times those that it copied",
        plural(packets, "packet"),
        bytes(all.frame_bytes),
        bytes(all.payload_bytes)
    )
}

/// Opcodes and top flows.
fn write_tables(out: &mut String, source: &Source<'_>, summary: &Summary) -> std::fmt::Result {
    let opcodes = opcode_rows(summary);
    if !opcodes.is_empty() {
        let columns = Options {
            columns: Some(&OPCODE_COLUMNS),
            human: true,
            ..Options::default()
        };
        write!(out, "\nOpcodes\n{}", indented(&render::table(&opcodes, columns)))?;
    }
    let flows = flow_rows(summary);
    if !flows.is_empty() {
        let mut columns = FLOW_COLUMNS.to_vec();
        if flows.iter().any(|flow| flow.vlan.is_some()) {
            columns.insert(5, "vlan");
        }
        if !summary.exact {
            columns.push("error_frame_bytes");
        }
        let options = Options {
            columns: Some(&columns),
            human: true,
            hosts: Some(source.hosts),
            ..Options::default()
        };
        let shown = if (flows.len() as u64) < summary.flows {
            format!("Top {} of {} flows", flows.len(), count(summary.flows))
        } else {
            "Flows".into()
        };
        write!(out, "\n{shown}\n{}", indented(&render::table(&flows, options)))?;
    }
    Ok(())
}

/// What was stored, deleted and kept.
fn write_dataset(out: &mut String, path: &Path, store: &Stored, gone: &Retained) -> std::fmt::Result {
    writeln!(out, "\nDataset   {}", path.display())?;
    for table in &store.tables {
        writeln!(
            out,
            "  {:<11}  {} in {}, {}",
            table.table,
            plural(table.rows, "row"),
            plural(table.segments, "segment"),
            readable(&integer(table.bytes), Unit::Bytes)
        )?;
    }
    for damaged in store.damaged.iter().chain(&store.repaired.damaged) {
        let (path, reason) = (damaged.path.display(), &damaged.reason);
        writeln!(out, "  damaged      {path}: {reason}; what is whole of it is sealed")?;
    }
    if gone.deleted_segments > 0 {
        writeln!(
            out,
            "  {} old segments deleted, {}",
            count(gone.deleted_segments),
            readable(&integer(gone.deleted_bytes), Unit::Bytes)
        )?;
    }
    if gone.waiting_segments > 0 {
        let waiting = plural(gone.waiting_segments, "old segment");
        writeln!(out, "  {waiting} kept until `rocescope dataset ship` has copied them")?;
    }
    Ok(())
}

/// Frames numbered by mirrors, and packets truncated by a mirror or the capture.
fn write_mirrored(out: &mut String, counters: &Counters) -> std::fmt::Result {
    let (seen, lost) = (counters.mirrored_frames, counters.mirror_lost);
    if seen > 0 {
        writeln!(
            out,
            "Mirrored  {} numbered = {} seen + {} mirror loss",
            count(seen + lost),
            count(seen),
            count(lost)
        )?;
    }
    if counters.mirror_unfollowed > 0 {
        writeln!(
            out,
            "Mirrored  {} frames of sessions beyond the number that can be tracked",
            count(counters.mirror_unfollowed)
        )?;
    }
    let (truncated, snapped) = (counters.truncated_packets, counters.snapped_packets);
    if truncated + snapped > 0 {
        let length = counters.truncated_length();
        let length = length.map_or(String::new(), |length| format!("; the mirror leaves {length}"));
        writeln!(
            out,
            "Truncated {} packets by the mirror, {} by the capture: lengths come from their headers{length}",
            count(truncated),
            count(snapped)
        )?;
    }
    if counters.trimmed_packets > 0 {
        writeln!(
            out,
            "Trimmed   {} packets by switches whose queue was full: their payload did not arrive",
            count(counters.trimmed_packets)
        )?;
    }
    Ok(())
}

/// What UET's packets are, and how they fared.
fn write_uet(out: &mut String, counters: &Counters, pdcs: &PdcTotals, color: Color) -> std::fmt::Result {
    let uet = counters.uet_packets(|_| true);
    if uet == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "UET       {} packets: {} retransmitted, {} ACKs and NACKs with ECN echo, {} NACKs for trimmed packets",
        count(uet),
        count(counters.uet_packets(Kind::is_retransmission)),
        count(counters.uet_packets(Kind::is_ecn_echo)),
        count(counters.uet_packets(Kind::is_nack_trimmed))
    )?;
    let not_read = [
        (counters.uet_unread, "encrypted or cut"),
        (counters.uet_filtered + pdcs.filtered_packets, "filtered"),
        (pdcs.untracked_packets, "of too many PDCs"),
        (counters.lost_uet, "capture loss by a full ring"),
    ];
    let not_read: Vec<String> = not_read
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, reason)| format!(", {} {reason}", count(number)))
        .collect();
    let lost = pdcs.fabric_lost_upstream_packets + pdcs.fabric_lost_downstream_packets;
    let line = format!(
        "PDCs      {} with {}{}: fabric loss {} upstream of the tap, {} downstream; {} trimmed, {} unanswered",
        count(pdcs.contexts),
        plural(pdcs.packets, "packet"),
        not_read.concat(),
        count(pdcs.fabric_lost_upstream_packets),
        count(pdcs.fabric_lost_downstream_packets),
        count(pdcs.trimmed_packets),
        count(pdcs.unanswered_packets)
    );
    writeln!(
        out,
        "{}",
        color.trouble(lost + pdcs.trimmed_packets + counters.lost_uet > 0, &line)
    )
}

/// What the flight recorder wrote and refused.
fn write_recorder(out: &mut String, recorder: &RecorderSummary) -> std::fmt::Result {
    let named = |counts: Vec<(&str, u64)>| {
        let counted = counts.into_iter().filter(|(_, number)| *number > 0);
        let named: Vec<String> = counted
            .map(|(name, number)| format!("{name} {}", count(number)))
            .collect();
        named.join(", ")
    };
    writeln!(out, "\nRecorder  {}", recorder.folder.display())?;
    let refused: u64 = recorder.refused.iter().sum();
    write!(
        out,
        "  {} events = {} in files + {} refused",
        count(recorder.recorded + refused),
        count(recorder.recorded),
        count(refused)
    )?;
    for some in [recorder.kinds().collect(), recorder.refusals().collect()].map(named) {
        if !some.is_empty() {
            write!(out, "; {some}")?;
        }
    }
    writeln!(
        out,
        "\n  {} frames in {} files, {}",
        count(recorder.frames),
        count(recorder.files),
        readable(&integer(recorder.bytes), Unit::Bytes)
    )?;
    let seconds = |ns: u64| ns as f64 / 1e9;
    if let Some(held_ns) = recorder.held_ns {
        writeln!(
            out,
            "  kept {:.3} s instead of {} s (and {} s until jitter is known): {} frames overwritten early; raise --keep-frames-memory",
            seconds(held_ns),
            seconds(recorder.before_ns),
            seconds(recorder.reach_ns),
            count(recorder.overwritten)
        )?;
    }
    if recorder.missed > 0 {
        writeln!(
            out,
            "  {} frames of later events are missing from their file: older than its start, or overwritten before the event was known",
            count(recorder.missed)
        )?;
    }
    if recorder.deleted.files > 0 {
        writeln!(
            out,
            "  {} earlier files deleted, {}",
            count(recorder.deleted.files),
            readable(&integer(recorder.deleted.bytes), Unit::Bytes)
        )?;
    }
    if recorder.cut > 0 {
        writeln!(
            out,
            "  the last file ends early: the recordings have reached --keep-frames-disk"
        )?;
    }
    if let Some(error) = &recorder.error {
        writeln!(out, "  recording stopped: {error}")?;
    }
    Ok(())
}

fn integer(number: u64) -> Value<'static> {
    Value::I64(i64::try_from(number).unwrap_or(i64::MAX))
}

fn indented(table: &str) -> String {
    table.lines().map(|line| format!("  {line}\n")).collect()
}

/// Writes the reasons with a count, by name; nothing if there are none.
fn reasons(out: &mut String, title: &str, names: &[&str], counts: &[u64]) -> std::fmt::Result {
    let counted: Vec<String> = names
        .iter()
        .zip(counts)
        .filter(|(_, number)| **number > 0)
        .map(|(name, number)| format!("{name} {}", count(*number)))
        .collect();
    if counted.is_empty() {
        Ok(())
    } else {
        writeln!(out, "{title}{}", counted.join(", "))
    }
}
