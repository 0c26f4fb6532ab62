//! The mesh pane: snapshots of screens (`UPDATE_SNAPSHOTS=1` rewrites them), the cursor, metrics, losses.

use super::{Rig, window};
use crate::header::Header;
use crate::pane::Pane;
use crate::view::{Effect, Mouse, Options, Seek};
use crate::{Glyphs, Theme};
use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};
use rocescope_diagnose::hostmesh::{Analyzer, Settings};
use rocescope_diagnose::mesh::Pairs;
use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::{Fabric, Fault, FaultKind, FaultLocation, LinkDirection, Rails, Role};
use rocescope_model::{FlowRow, MeshRows, SlaRow};
use std::path::Path;

const WINDOW: i64 = 20_000_000_000;
const START: i64 = 1_767_225_600_000_000_000;

/// A window of four hosts with `nics` NICs each, where the link from rail switch 1 to spine 0 loses a fifth.
fn mesh(nics: u32) -> MeshRows {
    let rails = Rails::two_tiers(4, nics, 2);
    let mut fabric = Fabric::new(rails.build().unwrap(), 3);
    let topology = fabric.topology;
    let leaf = topology.node(Role::Rail { group: 0, rail: 1 });
    let link = topology.between(leaf, topology.node(Role::Spine(0))).unwrap();
    fabric.faults.push(Fault {
        kind: FaultKind::Loss { probability: 0.2 },
        place: FaultLocation::Direction(LinkDirection { link, up: true }),
        from_ns: START,
        until_ns: i64::MAX,
    });
    let (agents, names) = (Mesh::default(), Names::new(&fabric));
    let mut analyzer = Analyzer::new(Settings::default(), "test").unwrap();
    for link in (0..topology.links()).map(rocescope_fabric::LinkId) {
        let (lower, upper) = topology.ends(link);
        analyzer.know(topology.address(link, false), &topology.name(lower));
        analyzer.know(topology.address(link, true), &topology.name(upper));
    }
    let mut pairs = Pairs::default();
    agents.probes(&fabric, START, START + WINDOW, |probe| {
        let row = names.probe(&fabric, &agents, &probe);
        analyzer.probe(&row);
        pairs.probe(&row);
    });
    agents.paths(&fabric, START, |tuple, hops| {
        for row in names.path(&fabric, tuple, START, &hops) {
            analyzer.path(&row);
            pairs.path(&row);
        }
    });
    let diagnosis = analyzer.finish().remove(0);
    MeshRows {
        start_ns: START,
        window_ns: WINDOW,
        pairs: pairs.rows(START, WINDOW),
        links: analyzer.link_rows(&diagnosis),
        sla: vec![diagnosis.sla],
        verdicts: diagnosis.verdicts,
    }
}

/// A dataset of probes alone.
fn rig(width: u16, height: u16, mesh: MeshRows) -> Rig {
    let options = Options {
        seekable: true,
        ..Options::default()
    };
    let mut rig = Rig::new(width, height, options);
    rig.view.replace(Vec::new());
    rig.view.turn_to_pane(Pane::Mesh);
    rig.view.mesh(mesh);
    rig
}

#[track_caller]
pub(super) fn compare(name: &str, rig: &mut Rig) {
    let lines = rig.lines();
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    let found = lines.join("\n") + "\n";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/draw/tests/snapshots");
    let path = folder.join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{name} is not\n{found}");
}

#[test]
fn screens_match_their_snapshots() {
    compare("mesh-80x24.txt", &mut rig(80, 24, mesh(4)));
    compare("mesh-120x40.txt", &mut rig(120, 40, mesh(4)));
    let mut eight = rig(80, 24, mesh(8));
    eight.press("> >");
    compare("mesh-8-nics-p99-80x24.txt", &mut eight);
    let mut detail = rig(120, 40, mesh(4));
    detail.press("enter");
    compare("mesh-detail-120x40.txt", &mut detail);
}

/// The verdict matches the fault; otherwise the snapshots prove nothing.
#[test]
fn the_fault_is_on_the_screen() {
    let mut rig = rig(80, 24, mesh(4));
    rig.shows(&["loss: r1>s0: ", "Verdicts 1", "network drops", "5 Mesh 48"]);
    // The cursor starts on the worst pair.
    let worst = rig.view.mesh_shown().unwrap().pairs.iter();
    let worst = worst.filter_map(|pair| pair.drop_ratio).fold(0.0, f64::max);
    assert_eq!(rig.view.pair().unwrap().drop_ratio, Some(worst));
    assert_eq!(&*rig.view.pair().unwrap().src_nic, "rail1");
}

#[test]
fn the_cursor_goes_from_cell_to_cell_and_stays_on_its_pair() {
    let mut rig = rig(80, 24, mesh(4));
    let at = |rig: &Rig| rig.view.matrix.place(rig.view.pair().unwrap()).unwrap();
    rig.press("page-up page-up page-up p p p p");
    // The first cell of the diagonal holds no pair.
    assert!([(0, 1), (1, 0)].contains(&at(&rig)));
    rig.press("n n n n n");
    assert_eq!(at(&rig).1, 3);
    while at(&rig).0 < 2 {
        rig.press("down");
    }
    rig.press("down");
    assert_eq!(at(&rig), (4, 3), "over the diagonal");
    rig.shows(&["h1/rail0 to rail3"]);
    rig.view.mesh(mesh(4));
    assert_eq!(at(&rig), (4, 3));
    rig.press("home");
    assert!(rig.view.pair().unwrap().drop_ratio > Some(0.1));
    let plan = rig.view.mesh_plan(rig.view.areas().panes[0].1);
    let row = plan.first_row;
    let (x, y) = plan.place(row, 1 - (row % 4).min(1)).unwrap();
    rig.view.mouse(Mouse::Press(x + 2, y));
    assert_eq!(at(&rig), (row, 1 - (row % 4).min(1)));
}

#[test]
fn metrics_are_stepped_through_and_chosen_from_the_list() {
    let mut rig = rig(80, 24, mesh(4));
    for title in ["Drops", "Network P50", "Network P99", "Host P50", "Host P99", "Drops"] {
        rig.shows(&[title]);
        rig.press(">");
    }
    rig.press("s end enter");
    assert_eq!(rig.press("left"), Effect::Seek(Seek::Meshes(-1)));
    rig.press("1");
    assert_eq!(rig.press("left"), Effect::Seek(Seek::Windows(-1)));
    rig.shows(&["no packets were captured at this time"]);
}

#[test]
fn rows_are_filtered_and_a_mesh_without_probes_gives_the_reason() {
    let mut rig = rig(80, 24, mesh(4));
    rig.view.set_filter("observer = h2 and drop_ratio > 0").unwrap();
    assert!(rig.view.matrix.rows.iter().all(|(host, _)| &**host == "h2"));
    rig.view.set_filter("observer = absent").unwrap();
    rig.shows(&["nothing matches `observer = absent`"]);
    rig.view.set_filter("").unwrap();
    rig.view.mesh(MeshRows {
        window_ns: WINDOW,
        ..MeshRows::default()
    });
    rig.shows(&["no probe in this window"]);
    rig.view.mesh(MeshRows::default());
    *rig.view.header() = Header {
        no_mesh: Some("this dataset has no probes".into()),
        ..Header::default()
    };
    rig.shows(&["this dataset has no probes"]);
}

#[test]
fn a_window_that_is_not_analysed_or_not_judged_gives_the_reason() {
    let mut rows = mesh(4);
    rows.sla.clear();
    rows.verdicts.clear();
    rows.links.clear();
    let mut rig = rig(120, 40, rows.clone());
    rig.shows(&[
        "not analyzed yet: run `rocescope diagnose mesh",
        "demo.pcap --write`",
        "no SLA",
        "3,200 probes",
    ]);
    rows.sla = vec![SlaRow {
        unjudged: "only 7 probes, 100 are needed".into(),
        ..SlaRow::default()
    }];
    rig.view.mesh(rows.clone());
    rig.shows(&["not judged: only 7 probes"]);
    rows.sla = vec![SlaRow::default()];
    rig.view.mesh(rows.clone());
    rig.shows(&["no problem found in this window"]);
    rows.sla = vec![SlaRow {
        probes: 3_200,
        timeouts: 2,
        ..SlaRow::default()
    }];
    rig.view.mesh(rows);
    rig.shows(&["2 of 3,200 probes lost in 1 window"]);
}

/// With captured traffic: verdicts are in every header, flows with the pair, and a frozen screen keeps both.
#[test]
fn captured_flows_are_with_the_pair_and_verdicts_in_every_header() {
    let rows = mesh(4);
    let mut rig = Rig::new(120, 40, Options::default());
    rig.view.mesh(rows.clone());
    rig.shows(&["verdicts 1"]);
    rig.press("m");
    rig.shows(&["none captured at these NICs", "+20 s"]);
    let pair = rig.view.pair().unwrap().clone();
    let mut captured = window(3);
    captured.flows.push(FlowRow {
        src: pair.src,
        dst: pair.dst,
        udp_src_port: Some(50_001),
        ..FlowRow::default()
    });
    rig.view.window(captured);
    rig.shows(&["port 50001"]);
    rig.press("f");
    rig.view.mesh(MeshRows {
        pairs: Vec::new(),
        ..rows
    });
    rig.shows(&["FROZEN", "5 Mesh 48"]);
    rig.press("f");
    rig.shows(&["no probe in this window"]);
}

#[test]
fn severity_is_seen_without_colours_and_beyond_ascii() {
    let options = Options {
        glyphs: Glyphs::Ascii,
        theme: Theme::Plain,
        ..Options::default()
    };
    let mut rig = Rig::new(80, 24, options);
    rig.view.mesh(mesh(4));
    rig.press("m");
    let screen = rig.lines().join("\n");
    assert!(
        screen.is_ascii() && screen.contains(" !") && screen.contains(" +"),
        "{screen}"
    );
    let cells = &rig.terminal.backend().buffer().content;
    assert!(
        cells
            .iter()
            .all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset)
    );
    let reversed = |cell: &&Cell| cell.modifier.contains(Modifier::REVERSED);
    assert!(cells.iter().filter(reversed).count() > 8);
}
