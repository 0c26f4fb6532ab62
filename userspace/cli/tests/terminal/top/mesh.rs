//! The probe mesh of a dataset.

use crate::simulated;
use crate::top::input::rocescope;
use crate::top::terminal::Terminal;
use serde_json::Value;
use tempfile::TempDir;

/// A dataset with only probes, with or without an analysis.
fn dataset(analysed: bool) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("mesh");
    let root = root.to_str().unwrap().to_owned();
    let (fabric, _) = simulated::dataset(folder.path().join("mesh").as_path());
    if analysed {
        simulated::analyse(&fabric, folder.path(), "mesh");
    }
    (folder, root)
}

#[track_caller]
fn drive(width: u16, height: u16) {
    let (folder, _) = dataset(true);
    let line = format!("cd {}; $ROCESCOPE top mesh", folder.path().display());
    let terminal = Terminal::run(width, height, &line);
    // Only probes: the view opens the mesh, at the window of the worst incident.
    let screen = terminal.wait("19:00:00.000  +20 s");
    assert!(screen.contains("loss: r1>s0: "), "{screen}");
    terminal.press(&["H"]);
    let screen = terminal.wait("18:59:20.000  +20 s");
    for text in [
        "mesh  dataset of 6 windows",
        "5 Mesh 48",
        "NIC drops 0.0 %",
        "network drops 0.0 %",
        "P99.9",
    ] {
        assert!(screen.contains(text), "{text}\n{screen}");
    }
    terminal.press(&["Left"]);
    terminal.wait("this is the first window");
    // The third window is the first with the fault.
    terminal.press(&["Right", "Right"]);
    terminal.wait("19:00:00.000  +20 s");
    let screen = terminal.wait("loss: r1>s0: ");
    assert!(screen.contains("Verdicts 1"), "{screen}");
    assert!(
        screen.contains("/rail1 to rail"),
        "the cursor is on the worst pair\n{screen}"
    );
    assert!(screen.contains("paths: r1 > s"), "{screen}");
    terminal.press(&["n", "p", "Down", "Up", ">"]);
    terminal.wait("Network P50");
    terminal.press(&["Enter"]);
    let screen = terminal.wait("all fields of the row");
    assert!(screen.contains("verdict ") && screen.contains("because "), "{screen}");
    terminal.press(&["Escape", "E"]);
    terminal.wait("19:01:00.000  +20 s");
    terminal.press(&["1"]);
    terminal.wait("no packets were captured at this time");
    terminal.quit();
}

#[test]
fn a_mesh_at_80_by_24() {
    drive(80, 24);
}

#[test]
fn a_mesh_at_120_by_40() {
    drive(120, 40);
}

#[test]
fn without_an_analysis_its_command_is_named() {
    let (_folder, root) = dataset(false);
    let terminal = Terminal::run(120, 40, &format!("$ROCESCOPE top {root} --ascii --theme none"));
    let screen = terminal.wait("no SLA: this window is not analyzed yet");
    assert!(screen.contains("3,200 probes") && screen.is_ascii(), "{screen}");
    terminal.quit();
}

#[test]
fn a_mesh_is_printed() {
    let (_folder, root) = dataset(true);
    let once = |options: &[&str]| rocescope(&[&["top", &root, "--once"], options].concat());
    let text = once(&["--windows", "6", "--top", "3"]);
    assert_eq!(text.matches("pairs: 3 of 48 rows").count(), 6, "{text}");
    assert_eq!(text.matches("loss  r1>s0: ").count(), 4, "{text}");
    let json = once(&["-o", "json", "--windows", "6"]);
    let windows: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(windows.len(), 6);
    for (at, window) in windows.iter().enumerate() {
        let rows = |table: &str| window[table].as_array().unwrap();
        assert_eq!(rows("windows").len(), 0);
        assert_eq!(
            (rows("pairs").len(), rows("sla").len(), rows("links").len()),
            (48, 1, 48)
        );
        assert_eq!(rows("verdicts").len(), usize::from(at > 1));
        let sum = |column: &str| -> u64 { rows("pairs").iter().map(|pair| pair[column].as_u64().unwrap()).sum() };
        assert_eq!(sum("probes"), rows("sla")[0]["probes"].as_u64().unwrap());
        assert_eq!(sum("timeouts"), rows("sla")[0]["timeouts"].as_u64().unwrap());
    }
    let csv = once(&["-o", "csv"]);
    assert!(csv.starts_with("observer,window_start,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 48);
    let csv = once(&["-o", "csv", "--table", "verdicts", "--windows", "6"]);
    assert_eq!(csv.lines().count(), 1 + 4);
    let csv = once(&["-o", "csv", "--filter", "observer = h1 and src_nic = rail0"]);
    assert_eq!(csv.lines().count(), 1 + 3);
}
