//! Owners of connections: a column and lines where agents report them, nothing elsewhere.

use super::{Rig, window};
use crate::pane::Pane;
use crate::view::Options;
use rocescope_diagnose::owners::Owners;
use rocescope_model::{ConnectionRow, QueuePairRow, WindowRows};
use std::sync::Arc;

/// The connection of the window with queue pair numbers, and one without owners.
fn connected(second: i64) -> WindowRows {
    let mut rows = window(second);
    let start_ns = rows.windows[0].window_start_ns;
    let known = ConnectionRow {
        src_qpn: Some(7),
        dst_qpn: Some(257),
        first_ns: Some(start_ns),
        last_ns: start_ns,
        time_ns: start_ns,
        ..rows.connections[0].clone()
    };
    let other = ConnectionRow {
        connection: 2,
        src_qpn: Some(8),
        dst_qpn: Some(258),
        ..known.clone()
    };
    rows.connections = vec![known, other];
    rows
}

fn owners() -> Arc<Owners> {
    let pair = |host: u8, qpn, rank| QueuePairRow {
        observer: format!("gpu-{host}").into(),
        device: "mlx5_0".into(),
        local_qpn: qpn,
        pid: Some(42),
        process: "python".into(),
        job_id: Some("4711".into()),
        rank: Some(rank),
        local_address: Some([10, 10, 0, host].into()),
        // Of before the window, and not gone.
        first_ns: window(0).windows[0].window_start_ns - 1_000_000_000,
        time_ns: window(0).windows[0].window_start_ns,
        ..QueuePairRow::default()
    };
    let mut owners = Owners::default();
    owners.row(&pair(1, 7, 3));
    owners.row(&pair(21, 257, 9));
    Arc::new(owners)
}

fn rig(width: u16, owners: Option<Arc<Owners>>) -> Rig {
    let mut rig = Rig::new(width, 24, Options::default());
    rig.view.replace(vec![connected(0)]);
    if let Some(owners) = owners {
        rig.view.owners(owners);
    }
    rig.view.turn_to_pane(Pane::Connections);
    rig
}

#[test]
fn a_column_has_both_ends_if_any_is_known() {
    rig(120, Some(owners())).shows(&["Owners", "4711/3 > 4711/9"]);
    let without = rig(120, None).lines().join("\n");
    assert!(!without.contains("Owners"), "{without}");
    // What no agent reported is a dash.
    let narrow = rig(80, Some(owners())).lines().join("\n");
    let row = narrow.lines().find(|line| line.contains(" 258 ")).unwrap();
    assert!(row.contains(" - "), "{narrow}");
}

#[test]
fn the_page_of_a_row_has_all_that_is_known_and_no_more() {
    let mut rig = rig(120, Some(owners()));
    // Names are at the end.
    rig.press("enter end");
    rig.shows(&[
        "src_host",
        "gpu-1",
        "dst_host",
        "gpu-21",
        "dst_process",
        "python",
        "dst_rank",
    ]);
    let page = rig.lines().join("\n");
    assert!(!page.contains("src_pod"), "{page}");
    rig.press("esc down enter end");
    let page = rig.lines().join("\n");
    assert!(
        page.contains("unresolved_packets") && !page.contains("owners"),
        "{page}"
    );
}

#[test]
fn owners_are_filtered_and_sorted_by() {
    let mut rig = rig(120, Some(owners()));
    rig.view.set_filter("src_job_id = 4711 and dst_rank = 9").unwrap();
    rig.shows(&["3 Connections 1 of 2"]);
    rig.view.set_filter("4711/9").unwrap();
    rig.shows(&["3 Connections 1 of 2"]);
    rig.view.set_filter("").unwrap();
    rig.view.sort(Pane::Connections, "owners").unwrap();
    rig.shows(&["Owners▲", "3 Connections 2 "]);
}
