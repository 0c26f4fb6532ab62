//! `rocescope collective import` and `rocescope diagnose collective`, over small runs.
//!
//! | module | what it holds |
//! |---|---|
//! | `formats` | what jobs write |
//! | `nccl` | failed transfers in the log of NCCL, reports of its RAS |
//! | `wire` | `capture --collectives`, and the names of ranks from the log of NCCL |
//! | `taps` | queues from captures on both sides of a switch, pauses of hosts, ECN marks |

mod formats;
mod nccl;
mod taps;
mod wire;

use rocescope_model::COLLECTIVE_TABLES;
use rocescope_store::{Options, Writer};
use rocescope_testkit::run;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tempfile::TempDir;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Imports a folder; returns the dataset and the messages.
fn imported(format: &str, input: &Path, into: &TempDir) -> (PathBuf, String) {
    let dataset = into.path().join("dataset");
    let output = run(&[
        "collective",
        "import",
        "--format",
        format,
        text(input),
        "--out",
        text(&dataset),
    ]);
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{messages}");
    (dataset, messages)
}

/// Writes the rows of a simulated run to a dataset.
fn simulated(folder: &Path) -> PathBuf {
    let (steps, telemetry) = rocescope_lab::vedrfolnir::read(folder);
    let dataset = folder.join("dataset");
    let options = Options {
        tables: COLLECTIVE_TABLES,
        ..Options::new("test")
    };
    let mut writer = Writer::create(&dataset, options).unwrap();
    writer.append_cells(&steps, Instant::now()).unwrap();
    writer.append_cells(&telemetry, Instant::now()).unwrap();
    writer.finish().unwrap();
    dataset
}

fn diagnosed(dataset: &Path, more: &[&str]) -> String {
    let output = run(&[&["diagnose", "collective", text(dataset)], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn document(dataset: &Path, more: &[&str]) -> Value {
    serde_json::from_str(&diagnosed(dataset, &[more, &["-o", "json"]].concat())).unwrap()
}

/// Two hosts that exchange two steps over one switch; a flow of others is in the queue of the slow second step.
fn small_run(folder: &Path) {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write(
        "topology.txt",
        "4 1 3\n0\n1 0 25Gbps 0.003ms 0\n2 0 25Gbps 0.003ms 0\n3 0 25Gbps 0.003ms 0\n",
    );
    write(
        "fct.txt",
        "1 2 1 1 2 10000 10000 1000 0 10000000 10000000\n\
         2 1 1 2 1 10000 10000 1000 0 11000000 10000000\n\
         ### 3 2 10001 10001 9000 12000000 30000000 9000000\n\
         2 1 2 2 1 10000 10000 1000 11000000 10000000 10000000\n\
         1 2 2 2 2 10000 10000 1000 11000000 30000000 10000000\n",
    );
    write(
        "telemetry_0.txt",
        "time 21000000\n\npolling\n\nepoch now\n\nport telemetry data for port 2\n\
         enqQdepth pfcPausedPacketNum packetNum\n60 0 12\n\n\
         flow telemetry data for port 2\n\
         flowIdx srcIp dstIp srcPort dstPort protocol minSeq maxSeq packetNum enqQdepth pfcPausedPacketNum\n\
         7 0b000101 0b000201 10000 10000 17 0 9 6 30 0\n\
         8 0b000301 0b000201 10001 10001 17 0 9 6 30 0\n\n\
         epoch last\n\nport telemetry data for port 2\n\
         enqQdepth pfcPausedPacketNum packetNum\n0 0 0\n\n\
         flow telemetry data for port 2\n\
         flowIdx srcIp dstIp srcPort dstPort protocol minSeq maxSeq packetNum enqQdepth pfcPausedPacketNum\n\nend\n",
    );
}

#[test]
fn a_small_run_names_step_flow_port_and_cost() {
    let folder = TempDir::new().unwrap();
    small_run(folder.path());
    let dataset = simulated(folder.path());
    let found = document(&dataset, &[]);
    // Step 2 of host 1 waited for step 1 of host 2.
    assert_eq!(found["critical_path"]["total_ns"], 41_000_000);
    let vertices = found["critical_path"]["vertices"].as_array().unwrap();
    assert_eq!(
        vertices[1..3],
        [
            json!({"host": "1", "step": 2, "event": "begin"}),
            json!({"host": "2", "step": 1, "event": "end"})
        ]
    );
    // Packets alternate, and each finds five: three of the other flow before most of them.
    let other = json!({"src": "11.0.3.1", "dst": "11.0.2.1", "src_port": 10_001});
    let of = |value: &Value| json!({"src": value["src"], "dst": value["dst"], "src_port": value["src_port"]});
    assert_eq!(found["windows"][0]["start_ns"], 20_000_000);
    let rating = &found["windows"][0]["contributors"][0];
    assert_eq!((of(rating), &rating["rating"]), (other.clone(), &json!(12.0)));
    assert_eq!(
        rating["delayed"],
        json!({"src": "11.0.1.1", "dst": "11.0.2.1", "src_port": 10_000})
    );
    assert_eq!(of(&found["contributors"][0]), other);
    // Its weight is the excess of step 2 of host 1 by that of all. The reader of JSON here may round the last digit.
    let rating = found["contributors"][0]["rating"].as_f64().unwrap();
    assert!((rating - 12.0 * 20.0 / 21.0).abs() < 1e-9, "{found}");
    let cause = &found["root_causes"][0];
    assert_eq!(
        (&cause["kind"], &cause["switch"], &cause["port"]),
        (&json!("flow_contention"), &json!("0"), &json!("2"))
    );
    assert_eq!(cause["path"], json!([{"switch": "0", "port": "2"}]));
    assert_eq!(cause["flows"], json!([other]));
    let text = diagnosed(&dataset, &[]);
    assert!(
        text.starts_with("The critical path has 2 steps and takes 41.000 ms.\n"),
        "{text}"
    );
    let sentence = "the slowest is step 2 of host 1 to 2, by 20.000 ms. Most of it is due to the flow 11.0.3.1 > 11.0.2.1 \
                    from port 10001, by flow contention at switch 0, port 2.";
    assert!(text.contains(sentence), "{text}");
    let graph = diagnosed(&dataset, &["-o", "dot"]);
    assert!(
        graph.starts_with("digraph collective {\n") && graph.ends_with("}\n"),
        "{graph}"
    );
    assert!(
        graph.contains("\"1 step 2 begin\" -> \"2 step 1 end\" [label=\"0 ms\"];"),
        "{graph}"
    );
}

#[test]
fn what_cannot_be_is_refused_in_a_line() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("dataset");
    for (arguments, why) in [
        (
            &[
                "collective",
                "import",
                "--format",
                "comma",
                text(folder.path()),
                "--out",
                text(&out),
            ][..],
            "has no steps and no telemetry in this format: nothing was written",
        ),
        (&["diagnose", "collective", text(folder.path())][..], "rocescope"),
    ] {
        let output = run(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && message.contains(why),
            "{arguments:?}: {message}"
        );
    }
    small_run(folder.path());
    let dataset = simulated(folder.path());
    let output = run(&["diagnose", "collective", text(&dataset), "--collective", "another"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("there is no collective another in this dataset and time: it has"),
        "{message}"
    );
}

#[test]
fn the_report_draws_the_steps_and_what_they_waited_for() {
    let folder = TempDir::new().unwrap();
    small_run(folder.path());
    let dataset = simulated(folder.path());
    let page = folder.path().join("page.html");
    let output = run(&["report", text(&dataset), "--html", text(&page), "-o", "json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["collective"], document(&dataset, &[]));
    let page = fs::read_to_string(page).unwrap();
    let chart = |kind: &str| {
        let start = page.find(&format!("data-kind=\"{kind}\"")).unwrap();
        &page[start..start + page[start..].find("</svg>").unwrap()]
    };
    let steps = chart("steps");
    assert_eq!(
        steps.matches("<rect").count(),
        report["collective"]["steps"].as_u64().unwrap() as usize
    );
    let critical = report["collective"]["critical_path"]["parts"].as_array().unwrap().len();
    assert_eq!(steps.matches(" critical\"").count(), critical);
    let graph = chart("graph");
    for name in ["11.0.3.1 &gt; 11.0.2.1", "switch 0 port 2"] {
        assert!(graph.contains(name), "{name}: {graph}");
    }
    assert!(page.contains("by flow contention at switch 0, port 2."));
}
