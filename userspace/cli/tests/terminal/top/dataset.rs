//! Stepping through a dataset.

use crate::top::input;
use crate::top::terminal::Terminal;
use rocescope_model::{Time, WindowRow, WindowRows, footer};
use rocescope_store::{Options, Writer};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A dataset with a window of this mode that started ten minutes ago; `is_cut`: its writer did not end it.
fn ten_minutes_old(folder: &Path, mode: &str, is_cut: bool) -> PathBuf {
    let root = folder.join(format!("{mode}-{is_cut}"));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i64;
    let start_ns = now - 600_500_000_000;
    let options = Options {
        metadata: vec![(footer::MODE.into(), mode.into())],
        ..Options::new("box")
    };
    let rows = WindowRows {
        windows: vec![WindowRow {
            observer: "box".into(),
            window_start: Time(start_ns),
            window_start_ns: start_ns,
            window_ns: 1_000_000_000,
            ..WindowRow::default()
        }],
        ..WindowRows::default()
    };
    let mut writer = Writer::create(&root, options.clone()).unwrap();
    writer.append(&rows, Instant::now()).unwrap();
    writer.finish().unwrap();
    if is_cut {
        let mut writer = Writer::create(&root, options).unwrap();
        writer.append(&rows, Instant::now()).unwrap();
        // As if killed: the journal stays.
        std::mem::forget(writer);
    }
    root
}

/// The data of a capture that was cut must not look current; one that ended is old, not stale, and a capture file has no
/// newer data to wait for.
#[test]
fn the_age_of_the_newest_data_is_on_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let live = [false, true].map(|is_cut| ten_minutes_old(folder.path(), "af_packet", is_cut));
    for (is_cut, live) in [false, true].into_iter().zip(&live) {
        let terminal = Terminal::run(120, 40, &format!("$ROCESCOPE top {}", live.display()));
        let screen = terminal.wait(", 10 min ago");
        assert_eq!(screen.contains("STALE: newest "), is_cut, "{screen}");
        terminal.quit();
    }
    let file = ten_minutes_old(folder.path(), "file", false);
    for line in [
        format!("$ROCESCOPE top {} --to now", live[1].display()),
        format!("$ROCESCOPE top {}", file.display()),
    ] {
        let terminal = Terminal::run(120, 40, &line);
        let screen = terminal.wait("PAUSED");
        assert!(!screen.contains("newest"), "{screen}");
        terminal.quit();
    }
}

#[test]
fn windows_are_stepped_through_and_played() {
    // Without a time it opens at the worst incident.
    let terminal = Terminal::run(120, 40, &format!("$ROCESCOPE top {}", input::dataset()));
    let screen = terminal.wait("incident open");
    assert!(
        screen.contains("network_loss") && screen.contains("one path of several"),
        "{screen}"
    );
    terminal.quit();
    let line = format!(
        "$ROCESCOPE top {} --speed 4 --at 2026-01-01T00:00:00Z",
        input::dataset()
    );
    let terminal = Terminal::run(120, 40, &line);
    // Paused, at the beginning.
    terminal.wait("00:00:00.000  +100 ms");
    let screen = terminal.wait("PAUSED");
    // The dataset has their totals only at its end, four seconds later: nothing would be shown until there.
    assert!(
        screen.contains("until 00:00:0") && screen.contains("RTT p50"),
        "{screen}"
    );
    assert!(!screen.contains("3 Connections 0 "), "{screen}");
    terminal.press(&["Left"]);
    terminal.wait("this is the first window");
    terminal.press(&["Right"]);
    terminal.wait("00:00:00.100  +100 ms");
    terminal.press(&["Right", "Right", "Left"]);
    terminal.wait("00:00:00.200  +100 ms");
    // Merged with the windows before it.
    terminal.press(&["+"]);
    terminal.wait("00:00:00.100  +200 ms");
    terminal.press(&["-", "E"]);
    terminal.wait("00:00:03.000  +100 ms");
    terminal.press(&["H"]);
    terminal.wait("00:00:00.000  +100 ms");
    // Played to the end, where it pauses again.
    terminal.press(&["Space"]);
    terminal.wait("×4");
    terminal.wait("00:00:03.000  +100 ms");
    terminal.wait("PAUSED");
    let screen = terminal.wait("RTT p50");
    assert!(screen.contains("10.10.0."), "{screen}");
    terminal.quit();
}

#[test]
fn at_opens_the_window_of_a_time() {
    let line = format!("$ROCESCOPE top {} --at 2026-01-01T00:00:02.15Z", input::dataset());
    let terminal = Terminal::run(80, 24, &line);
    terminal.wait("00:00:02.100  +100 ms");
    terminal.quit();
}
