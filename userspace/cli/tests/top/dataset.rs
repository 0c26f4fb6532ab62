//! Stepping through a dataset.

use crate::input;
use crate::terminal::Terminal;

#[test]
fn windows_are_stepped_through_and_played() {
    let line = format!("$ROCESCOPE top {} --speed 4", input::dataset());
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
