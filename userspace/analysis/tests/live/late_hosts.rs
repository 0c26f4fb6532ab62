//! Rows of hosts that come late: their windows are analyzed again, and what that changes is stored and reported.

use crate::collector::{Collector, SECOND, START, WINDOW, counted};
use rocescope_model::HostVerdictRow;
use rocescope_store::scan;
use std::time::{Duration, Instant};

#[test]
fn late_rows_open_windows_of_hosts_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut collector = Collector::start(&directory.path().join("dataset"), START, None);
    let mut withheld = Vec::new();
    for window in 0..30 {
        collector.store(&counted(1, window, 0));
        // The second host does not reach the collector for a while, and has no buffers in a part of it.
        let rows = counted(2, window, if (12..16).contains(&window) { 40 } else { 0 });
        match window {
            10..25 => withheld.extend(rows),
            _ => collector.store(&rows),
        }
        collector.advance_to(START + (window + 1) * WINDOW + 2 * SECOND);
        assert_eq!(collector.due(), [""; 0]);
    }
    collector.store(&withheld);
    let begun = Instant::now();
    let mut verdicts = Vec::new();
    while verdicts.is_empty() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
        verdicts = collector.due();
    }
    assert_eq!(verdicts, ["slow_receiver began 1", "slow_receiver ended 1"]);
    // The thread ends, and its changes are reported once.
    let has_line = |collector: &Collector| collector.lines.lock().unwrap().contains("found in rows that came late");
    while !has_line(&collector) && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(collector.due(), [""; 0]);
    }
    let lines = collector.lines.lock().unwrap().clone();
    assert_eq!(
        lines.matches("found in rows that came late: slow_receiver").count(),
        1,
        "{lines}"
    );
    // The same rows again find what is known.
    collector.store(&withheld);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(4) {
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(collector.due(), [""; 0]);
    }
    collector.writer.take().unwrap().finish().unwrap();
    let stored = scan(&collector.dataset).unwrap().rows::<HostVerdictRow>().unwrap();
    assert_eq!(stored.len(), 2);
    assert!(
        stored
            .iter()
            .all(|row| row.since_ns == START + 12 * WINDOW && row.revision == Some(1))
    );
}
