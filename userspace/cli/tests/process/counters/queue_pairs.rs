//! Queue pairs, as rows and as text.

use super::{Tree, printed};
use rocescope_model::QueuePairRow;
use rocescope_store::scan;
use rocescope_testkit::binary;
use serde_json::Value;
use std::process::Command;

/// With `--out`, queue pairs are a table of their own beside the counters; where the kernel has no RDMA, an empty one.
#[test]
fn queue_pairs_are_written_beside_counters() {
    let tree = Tree::new();
    let dataset = tree.path("dataset");
    let out = dataset.to_str().unwrap();
    let output = Command::new(binary())
        .args(["counters", "--queue-pairs", "--quiet", "--interval", "20ms"])
        .args(["--duration", "60ms", "--observer", "host-1", "--out", out])
        .output()
        .unwrap();
    printed(&output);
    let found = scan(&dataset).unwrap();
    assert!(found.row_count("counters") > 0);
    assert!(found.segments.iter().any(|segment| segment.table == "queue_pairs"));
    for row in found.rows::<QueuePairRow>().unwrap() {
        assert_eq!((&*row.observer, row.event.is_some()), ("host-1", true));
    }
    let without = Command::new(binary())
        .args(["counters", "--queue-pairs", "--duration", "1s"])
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&without.stderr).contains("add --out"),
        "{without:?}"
    );
}

/// Where the kernel has no RDMA, there are no queue pairs, and that is no error.
#[test]
fn queue_pairs_are_listed() {
    let mut command = Command::new(binary());
    let output = command
        .args(["counters", "--queue-pairs", "-o", "json"])
        .output()
        .unwrap();
    let all: Value = serde_json::from_str(&printed(&output)).unwrap();
    assert!(all.as_array().unwrap().iter().all(|pair| pair["local_qpn"].is_u64()));
}
