//! The figures as one JSON object, keyed by the columns of the registry.

use crate::Report;
use crate::csv::windows;
use crate::sections;
use rocescope_model::json::Writer;
use rocescope_model::{Cells, Column, ConnectionRow, Rule, Time, Type, Value};

/// Columns that say nothing of a sum.
const OF_ROWS: [&str; 4] = ["observer", "window_start", "window_start_ns", "window_ns"];

/// Columns that are the same in all rows of a span.
const OF_SPAN: [&str; 3] = ["window_start", "window_start_ns", "window_ns"];

/// The object, indented, with a newline at its end.
#[must_use]
pub fn document(report: &Report) -> String {
    let mut json = Writer::pretty();
    json.begin_object();
    origin(&mut json, report);
    totals(&mut json, report);
    json.key("opcodes");
    rows(&mut json, &report.opcodes.rows, |column| {
        !OF_ROWS.contains(&column.name) && !["frame_bps", "rate_pps"].contains(&column.name)
    });
    flows(&mut json, report);
    connections(&mut json, report);
    events(&mut json, report);
    series(&mut json, report);
    mesh(&mut json, report);
    findings(&mut json, report);
    json.end_object();
    let mut text = json.finish();
    text.push('\n');
    text
}

fn origin(json: &mut Writer, report: &Report) {
    let (origin, scope) = (&report.origin, &report.scope);
    json.key("dataset").string(&origin.dataset);
    strings(json, "observers", report.observers.iter());
    strings(json, "source", origin.sources.iter());
    strings(json, "mode", origin.modes.iter());
    strings(json, "clock_source", origin.clocks.iter());
    let time = |time: Option<Time>| time.map_or(Value::Null, Value::Time);
    json.key("from").value(&time(scope.from));
    json.key("to").value(&time(scope.to));
    json.key("filter").value(&match &scope.filter {
        Some(filter) => Value::Text(filter.to_string().into()),
        None => Value::Null,
    });
    json.key("unreadable").begin_array();
    for (path, reason) in &origin.unreadable {
        json.begin_object();
        json.key("path").string(path);
        json.key("reason").string(reason);
        json.end_object();
    }
    json.end_array();
    json.key("open_segments")
        .integer(origin.open_segments as u64);
}

fn totals(json: &mut Writer, report: &Report) {
    let totals = &report.totals;
    let instant = |ns: i64| {
        if report.is_empty() {
            Value::Null
        } else {
            Value::Time(Time(ns))
        }
    };
    json.key("start").value(&instant(totals.start_ns));
    json.key("end").value(&instant(totals.end_ns));
    json.key("windows").integer(totals.windows);
    json.key("window_ns").integer(totals.window_ns.0);
    json.key("covered_ns").integer(totals.covered_ns);
    json.key("complete").bool(totals.complete());
    json.key("unaccounted_frames")
        .integer(totals.unaccounted_frames());
    json.key("totals");
    let sums = vec![totals.sums.clone()];
    // Flows are not summed over windows; `flows` of the report has them.
    json.row(&sums, 0, |column| {
        matches!(column.aggregate.time, Rule::Sum | Rule::Ratio { .. })
    });
    json.key("rates").begin_object();
    for (name, mean, peak) in [
        ("frame_bps", totals.mean_bps(), totals.peak_bps),
        ("rate_pps", totals.mean_pps(), totals.peak_pps),
    ] {
        json.key(name).begin_object();
        json.key("mean").value(&Value::F64(mean));
        json.key("peak").value(&Value::F64(peak.rate));
        json.key("peak_window_start").value(&instant(peak.start_ns));
        json.end_object();
    }
    json.end_object();
}

fn flows(json: &mut Writer, report: &Report) {
    let flows = &report.flows;
    json.key("flows").begin_object();
    json.key("distinct").integer(flows.distinct);
    json.key("distinct_exact").bool(flows.distinct_exact);
    json.key("elephant_flows").integer(flows.elephants);
    for (name, list) in [("top", &flows.rows), ("marked", &flows.marked)] {
        json.key(name);
        rows(json, list, |column| {
            column.name == "observer" || !OF_ROWS.contains(&column.name)
        });
    }
    json.end_object();
}

fn connections(json: &mut Writer, report: &Report) {
    let connections = &report.connections;
    json.key("connections").begin_object();
    for (name, count) in [
        ("count", connections.count),
        ("paired_by_cm", connections.paired[0]),
        ("paired_by_ack", connections.paired[1]),
        ("not_paired", connections.paired[2]),
        ("troubled", connections.troubled),
        ("resending", connections.resending),
        ("rtt_connections", connections.timed),
        ("rtt_uneven_connections", connections.uneven),
    ] {
        json.key(name).integer(count);
    }
    json.key("totals").begin_object();
    for (name, sum) in connections.sums() {
        json.key(name).integer(sum);
    }
    json.end_object();
    for (name, list) in [
        ("worst", &connections.worst),
        ("slowest", &connections.slowest),
    ] {
        json.key(name).begin_array();
        for connection in list {
            json.begin_object();
            for (role, row) in [
                ("a_to_b", &connection.a_to_b),
                ("b_to_a", &connection.b_to_a),
            ] {
                json.key(role);
                match row {
                    Some(row) => direction(json, row),
                    None => {
                        json.value(&Value::Null);
                    }
                }
            }
            json.end_object();
        }
        json.end_array();
    }
    json.end_object();
}

fn direction(json: &mut Writer, row: &ConnectionRow) {
    json.row(&vec![row.clone()], 0, |column| column.kind != Type::ListI64);
}

fn events(json: &mut Writer, report: &Report) {
    let events = &report.events;
    json.key("events").begin_object();
    json.key("kinds").begin_array();
    for kind in &events.kinds {
        json.begin_object();
        json.key("kind").string(&kind.kind);
        json.key("events").integer(kind.rows);
        json.key("count").integer(kind.count);
        json.key("first").value(&Value::Time(Time(kind.first_ns)));
        json.key("last").value(&Value::Time(Time(kind.last_ns)));
        json.end_object();
    }
    json.end_array();
    json.key("telling");
    rows(json, &events.telling(report.scope.top), |_| true);
    json.end_object();
}

fn series(json: &mut Writer, report: &Report) {
    json.key("series").begin_object();
    json.key("joined_windows").integer(report.series.joined());
    json.key("periods").begin_array();
    let list = windows(report);
    for (at, (_, period)) in report.series.iter().enumerate() {
        json.begin_object();
        for (place, column) in list.table().columns.iter().enumerate() {
            if column.kind != Type::Bytes && column.name != "observer" {
                json.key(column.name).value(&list.value(at, place));
            }
        }
        json.key("windows").integer(period.windows);
        json.key("peak_frame_bps")
            .value(&Value::F64(period.peak_bps));
        json.key("peak_rate_pps")
            .value(&Value::F64(period.peak_pps));
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

fn mesh(json: &mut Writer, report: &Report) {
    json.key("mesh");
    let Some(mesh) = &report.mesh else {
        json.value(&Value::Null);
        return;
    };
    json.begin_object();
    json.key("start").value(&Value::Time(Time(mesh.start_ns)));
    json.key("end").value(&Value::Time(Time(mesh.end_ns)));
    json.key("pairs");
    rows(json, &mesh.pairs, |column| !OF_SPAN.contains(&column.name));
    json.key("unfollowed_probes").integer(mesh.unfollowed);
    json.key("windows").integer(mesh.total.windows);
    json.key("joined_windows").integer(mesh.series.joined());
    json.key("sla");
    rows(json, &mesh.sla(), |_| true);
    json.key("problems").begin_array();
    for problem in &mesh.problems {
        json.begin_object();
        json.key("verdict")
            .row(&vec![problem.last.clone()], 0, |_| true);
        json.key("until_ns").integer(problem.until_ns);
        json.key("windows").integer(problem.windows);
        json.key("probes").integer(problem.probes);
        json.key("anomalous").integer(problem.anomalous);
        json.end_object();
    }
    json.end_array();
    json.key("further_verdicts").integer(mesh.more_verdicts);
    json.key("links");
    rows(json, &mesh.links, |_| true);
    json.key("links_crossed_last").integer(mesh.last_links.0);
    json.key("links_learnt_last").integer(mesh.last_links.1);
    json.end_object();
}

fn findings(json: &mut Writer, report: &Report) {
    json.key("findings").begin_array();
    for section in sections::all(report) {
        for finding in section.findings {
            json.begin_object();
            json.key("section").string(section.id);
            json.key("level").string(finding.level.name());
            json.key("text").string(&finding.text);
            json.end_object();
        }
    }
    json.end_array();
}

fn rows(json: &mut Writer, cells: &dyn Cells, wanted: impl Fn(&Column) -> bool) {
    json.begin_array();
    for row in 0..cells.rows() {
        json.row(cells, row, &wanted);
    }
    json.end_array();
}

fn strings<'a>(json: &mut Writer, key: &str, list: impl Iterator<Item = &'a String>) {
    json.key(key).begin_array();
    for text in list {
        json.string(text);
    }
    json.end_array();
}
