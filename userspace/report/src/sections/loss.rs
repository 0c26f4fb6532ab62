//! Was everything captured?

use super::grid::{Cell, Grid, Head};
use super::periods::{rate, sampled, span, steps};
use super::section::{Finding, Section};
use crate::Report;
use crate::chart::lines::{Line, Lines};
use crate::chart::{Chart, Plot};
use crate::words::{percent, plural, share};
use rocescope_model::human::{grouped, readable};
use rocescope_model::{Row, Unit, Value, WindowRow};

pub(super) fn section(report: &Report) -> Section {
    let totals = &report.totals;
    let parts = totals.parts();
    let identity: Vec<String> = parts
        .iter()
        .map(|(name, count)| format!("{} {}", grouped(*count), title(name)))
        .collect();
    let identity = format!("{} = {}", grouped(totals.sums.frames), identity.join(" + "));
    Section {
        id: "loss",
        title: "Loss",
        findings: findings(report),
        facts: vec![("Frames".into(), identity)],
        grids: vec![reasons(report)],
        charts: chart(report).into_iter().collect(),
    }
}

fn title(name: &str) -> String {
    let columns = WindowRow::TABLE.columns;
    let column = columns.iter().find(|column| column.name == name);
    column
        .map_or(name, |column| column.title)
        .to_lowercase()
        .replace("rocev2", "RoCEv2")
}

fn findings(report: &Report) -> Vec<Finding> {
    let totals = &report.totals;
    let sums = &totals.sums;
    let mut findings = Vec::new();
    let missing = totals.unaccounted_frames();
    if !report.origin.unreadable.is_empty() {
        findings.push(Finding::bad(
            "Incomplete: segments are unreadable, so the figures below lack their rows.",
        ));
    }
    if report.is_complete() {
        findings.push(Finding::good(format!(
            "Complete: all {} frames are accounted for, and there is no capture loss.",
            grouped(sums.frames)
        )));
    }
    if sums.capture_lost_packets > 0 {
        let seen = sums.capture_lost_packets.saturating_add(sums.roce_packets);
        findings.push(Finding::bad(format!(
            "Capture loss {}: of {} RoCEv2 packets that the kernel counted, {} did not fit into a full ring; all figures below lack them.",
            percent(share(sums.capture_lost_packets, seen)),
            grouped(seen),
            grouped(sums.capture_lost_packets)
        )));
    }
    if let Some(dropped) = sums.capture_dropped_frames.filter(|dropped| *dropped > 0) {
        let all = dropped.saturating_add(sums.frames);
        findings.push(Finding::bad(format!(
            "Capture loss {}: of {} frames that reached the host, {} were dropped because the packet socket was full; \
             all figures below lack them. XDP loses less: see `rocescope doctor`.",
            percent(share(dropped, all)),
            grouped(all),
            grouped(dropped)
        )));
    }
    if missing != 0 {
        let more = if missing > 0 { "more" } else { "fewer" };
        let text = format!(
            "{} frames {more} were seen than are accounted for",
            grouped(missing.unsigned_abs())
        );
        let at_edges = sums.late_packets > 0 || report.scope.from.is_some() || report.scope.to.is_some();
        findings.push(if report.origin.open_segments > 0 {
            Finding::note(format!(
                "{text}: the dataset is being written, or needs `rocescope dataset repair`, and their packets are in a window \
                 that is not sealed yet."
            ))
        } else if at_edges {
            Finding::note(format!(
                "{text}: packets at the edges of the time range are in a neighbouring window."
            ))
        } else {
            Finding::bad(format!(
                "{text}: windows are missing, or this is a defect of rocescope."
            ))
        });
    }
    findings.extend(report.agreement.problems().into_iter().map(Finding::bad));
    findings.push(fabric(report));
    findings.push(mirror(report));
    if sums.malformed_frames > 0 {
        findings.push(Finding::note(format!(
            "{} of the frames are malformed: their headers contradict the frame length or each other.",
            percent(share(sums.malformed_frames, sums.frames))
        )));
    }
    if let Some(bad) = sums.icrc_bad_packets.filter(|bad| *bad > 0) {
        findings.push(Finding::bad(format!(
            "{} with a wrong ICRC: the fabric corrupts packets.",
            plural(bad, "packet")
        )));
    }
    findings
}

/// Returns what is known about fabric loss, in the windows of the report.
fn fabric(report: &Report) -> Finding {
    let sums = &report.totals.sums;
    let unresolved = report.connections.sum("unresolved_packets");
    let sampled = report.incidents.as_ref().and_then(|found| found.sampled_one_of);
    if let Some(one_of) = sampled {
        return Finding::note(format!(
            "Fabric loss is unknown: the mirror samples about 1 of {one_of} packets. About {} and {} of frames passed it.",
            plural(sums.roce_packets.saturating_mul(one_of), "packet"),
            readable(
                &Value::I64(i64::try_from(sums.frame_bytes.saturating_mul(one_of)).unwrap_or(i64::MAX)),
                Unit::Bytes
            )
        ));
    }
    match report.fabric_lost_packets() {
        Some(lost) if unresolved > 0 => Finding::bad(format!(
            "Fabric loss is unknown of {} that nothing answered, repeats included: they or their answers were lost, or the \
             other end is gone. Of all others the network dropped {}.",
            plural(unresolved, "packet"),
            plural(lost, "packet")
        )),
        None => Finding::note("Fabric loss is unknown: the capture had `--no-connections`."),
        Some(0) => Finding::good("No fabric loss: the network dropped no packet of a tracked connection."),
        Some(lost) => Finding::bad(format!(
            "Fabric loss {}: the network dropped {} of tracked connections.",
            percent(share(lost, lost.saturating_add(sums.roce_packets))),
            plural(lost, "packet")
        )),
    }
}

/// Returns what is known about mirror loss.
fn mirror(report: &Report) -> Finding {
    let sums = &report.totals.sums;
    let connections = &report.connections;
    if report
        .incidents
        .as_ref()
        .is_some_and(|found| found.sampled_one_of.is_some())
    {
        return Finding::note("Mirror loss is unknown: the mirror samples packets.");
    }
    if let Some(lost) = sums.mirror_lost_packets {
        let share = percent(share(lost, lost.saturating_add(sums.roce_packets)));
        return if lost == 0 {
            Finding::good("No mirror loss: the capture saw every packet that an endpoint acknowledged.")
        } else {
            Finding::bad(format!(
                "Mirror loss {share}: {} acknowledged by an endpoint, but not delivered by the mirror.",
                plural(lost, "packet")
            ))
        };
    }
    match connections.sum("unfilled_gaps_acknowledged") {
        _ if connections.count == 0 => Finding::note("Mirror loss is unknown: the capture had `--no-connections`."),
        0 => Finding::good("No sign of mirror loss: no receiver acknowledged a packet that the capture did not see."),
        gaps => Finding::bad(format!(
            "Mirror loss: in {}, receivers acknowledged packets that the capture did not see.",
            plural(gaps, "gap")
        )),
    }
}

/// Returns the table of reasons with their counts.
fn reasons(report: &Report) -> Grid {
    let sums = &report.totals.sums;
    let mut reasons = report.totals.parts().to_vec();
    reasons.extend([
        ("roce_v1_frames", sums.roce_v1_frames),
        ("unknown_opcode_packets", sums.unknown_opcode_packets),
        ("late_packets", sums.late_packets),
    ]);
    let optional = [
        ("capture_dropped_frames", sums.capture_dropped_frames),
        ("icrc_bad_packets", sums.icrc_bad_packets),
        ("icrc_unverifiable_packets", sums.icrc_unverifiable_packets),
        ("fabric_lost_packets", sums.fabric_lost_packets),
        ("retransmitted_packets", sums.retransmitted_packets),
        ("mirror_lost_packets", sums.mirror_lost_packets),
    ];
    reasons.extend(optional.iter().filter_map(|(name, n)| Some((*name, (*n)?))));
    // That nothing was lost is an answer; that no frame was malformed is none.
    reasons.retain(|(name, count)| *count > 0 || name.contains("lost"));
    let row = |(name, count): (&str, u64)| {
        let columns = WindowRow::TABLE.columns;
        let column = columns.iter().find(|column| column.name == name)?;
        let share = share(count, sums.frames);
        Some(vec![
            Cell::text(column.title),
            Cell::number(count as f64, grouped(count)),
            Cell::number(share, percent(share)),
            Cell::text(column.help.replace('`', "")),
        ])
    };
    let head = |title: &str, right| Head {
        title: title.into(),
        help: String::new(),
        right,
        is_prose: false,
    };
    Grid {
        title: "Frames by outcome".into(),
        heads: vec![
            head("Outcome", false),
            head("Count", true),
            head("Share", true),
            head("Meaning", false),
        ],
        rows: reasons.into_iter().filter_map(row).collect(),
        is_drawn: false,
        ..Grid::default()
    }
}

/// Returns the chart of loss and recovery over time; `None` without any.
fn chart(report: &Report) -> Option<Chart> {
    let events = |kind: &str| {
        steps(report, &report.events.series, |counts, seconds| {
            counts.0.get(kind).copied().unwrap_or(0) as f64 / seconds
        })
    };
    // Windows have them since format 1 has the columns; a window without events is 0, not unknown.
    let counted = |of: fn(&WindowRow) -> Option<u64>, kind: &str| match of(&report.totals.sums) {
        Some(_) => rate(report, |period| of(&period.sums).unwrap_or(0)),
        None => events(kind),
    };
    let lines = [
        (
            "retransmitted",
            0,
            counted(|row| row.retransmitted_packets, "retransmission"),
        ),
        ("fabric loss", 1, counted(|row| row.fabric_lost_packets, "loss")),
        ("NAK", 2, rate(report, |period| period.sums.nak_packets)),
        ("RNR NAK", 3, rate(report, |period| period.sums.rnr_nak_packets)),
        (
            "capture loss",
            4,
            rate(report, |period| {
                period.sums.capture_lost_packets + period.sums.capture_dropped_frames.unwrap_or(0)
            }),
        ),
    ];
    let lines = lines.map(|(name, colour, steps)| Line { name, colour, steps });
    let has_any = |line: &Line| line.steps.iter().any(|step| step.value > 0.0);
    let lines: Vec<Line> = lines.into_iter().filter(has_any).collect();
    (!lines.is_empty()).then(|| Chart {
        title: "Loss and recovery".into(),
        note: sampled(report),
        plot: Plot::Lines(Lines {
            unit: Unit::PacketsPerSecond,
            span: span(report),
            dashed: true,
            lines,
        }),
    })
}
