//! Native, generic and packet sockets count the frames of the file.

use crate::live::namespace::Namespace;
use crate::live::replay::{each, replay};
use crate::live::running::Live;
use rocescope_testkit::binary;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A tag, IPv6, and frames larger than a page.
const CAPTURES: [&str; 3] = ["vlan100_write_bw", "ipv6_linklocal_send_bw", "jumbo_mtu4096"];

/// A capture of the whole collection or of the project; neither has all of them.
pub(crate) fn capture(name: &str) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    [
        format!("../../../shared/captures/{name}.pcap"),
        format!("tests/captures/{name}.pcap.gz"),
    ]
    .iter()
    .map(|path| here.join(path))
    .find(|path| path.exists())
}

/// Values that do not depend on when and where frames were captured.
fn totals(summary: &Value) -> Value {
    let mut totals = serde_json::Map::new();
    for key in [
        "frames",
        "roce_packets",
        "not_roce",
        "not_roce_reasons",
        "malformed",
        "fragments",
        "filtered",
        "lost",
        "frame_bytes",
        "payload_bytes",
        "messages",
        "flows",
        "ecn_ce_packets",
        "opcodes",
        "aeth",
    ] {
        totals.insert(key.into(), summary[key].clone());
    }
    let flows = summary["top_flows"].as_array().unwrap().iter();
    let flows = flows.map(|flow| json!([flow["dst_qpn"], flow["vlan"], flow["packets"], flow["frame_bytes"]]));
    totals.insert("top_flows".into(), flows.collect());
    totals.into()
}

fn of_file(path: &Path, more: &[&str]) -> Value {
    let mut command = Command::new(binary());
    command.args(["capture", "-o", "json", "-r"]).arg(path).args(more);
    let output = command.output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn every_capture(mode: &str, name_of_mode: &str) {
    let begin = |namespace: &Namespace| Live::begin(namespace, &["--mode", mode]);
    each(&CAPTURES, begin, |name, path, summary| {
        assert_eq!(summary["live"]["interfaces"][0]["mode"], name_of_mode);
        assert_eq!(totals(summary), totals(&of_file(path, &[])), "{name}");
    });
}

#[test]
fn native() {
    every_capture("native", "xdp native");
}

#[test]
fn generic() {
    every_capture("generic", "xdp generic");
}

#[test]
fn packet_sockets() {
    every_capture("af-packet", "af_packet");
}

/// Frames rejected in the kernel and in user space together equal those filtered from a file, and nothing else changes.
#[test]
fn a_live_filter_equals_a_filter_on_a_file() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let path = capture("cm_rping").unwrap();
    let flow = &of_file(&path, &[])["top_flows"][0];
    let (src, dst) = (flow["src"].as_str().unwrap(), flow["dst"].as_str().unwrap());
    let shared = |words: &str| format!("filter: the kernel applies `{words}`, user space the whole filter\n");
    for (filter, said) in [
        (
            format!("src host {src} and not opcode *SEND*"),
            shared(&format!("src host {src}")),
        ),
        (format!("dst host {dst}"), shared(&format!("dst host {dst}"))),
        (
            "host 203.0.113.1 or vlan 9".into(),
            shared("host 203.0.113.1 or vlan 9"),
        ),
        (
            "not service cnp and opcode *WRITE*".into(),
            "filter: applied in user space; the kernel cannot apply any part of it\n".into(),
        ),
    ] {
        let more = ["--filter", &filter];
        let mut live = Live::begin(&namespace, &[&["--mode", "native"], &more[..]].concat());
        assert_eq!(live.line(), said);
        replay(&namespace, &path);
        let (summary, _) = live.stop();
        let file = of_file(&path, &more);
        assert!(file["filtered"].as_u64().unwrap() > 0, "{filter}");
        assert_eq!(totals(&summary), totals(&file), "{filter}");
    }
}

/// Runs in many slices and windows sum to the sent frames.
#[test]
fn a_long_capture_is_written_window_by_window() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    let path = capture("vlan100_write_bw").unwrap();
    let live = Live::begin(&namespace, &["--out", root, "--window", "100ms", "--lateness", "100ms"]);
    for _ in 0..20 {
        replay(&namespace, &path);
    }
    live.signal("-TERM");
    let (summary, _) = live.end();
    let file = of_file(&path, &[]);
    for key in ["frames", "roce_packets", "frame_bytes", "messages"] {
        let (found, once) = (summary[key].as_u64(), file[key].as_u64());
        assert_eq!(found, once.map(|once| 20 * once), "{key}");
    }
    assert_eq!(summary["late"], 0);
    let scan = rocescope_store::scan(folder.path()).unwrap();
    assert_eq!((scan.open.len(), scan.unreadable.len()), (0, 0));
    assert_eq!(scan.row_count("windows"), summary["windows"].as_u64().unwrap());
}
