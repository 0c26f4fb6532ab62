//! The line that a live capture prints at an interval: what it sees, and what it lost.

use crate::arguments::CaptureArguments;
use rocescope_engine::intake::Tap;
use rocescope_model::{Time, WindowRow, WindowRows};
use rocescope_runtime::status;
use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::time::Duration;

/// On a terminal, if no interval is set.
const INTERVAL: Duration = Duration::from_secs(10);

/// The sums since the last line.
#[derive(Debug)]
struct StatusLine {
    interval_ns: i64,
    /// Whether connections are tracked: otherwise retransmissions and fabric loss are unknown.
    connections: bool,
    covered_ns: i64,
    packets: u64,
    bytes: u64,
    flows: u64,
    retransmitted: u64,
    fabric_lost: u64,
    yielded: u64,
    capture_lost: u64,
}

/// A tap that prints the line; `None` if none is wanted.
pub(crate) fn tap(arguments: &CaptureArguments) -> Option<Tap> {
    if arguments.quiet || arguments.check.is_some() {
        return None;
    }
    let interval = arguments.status_interval;
    let interval = interval.or_else(|| stderr().is_terminal().then_some(INTERVAL))?;
    let mut line = StatusLine::new(interval, !arguments.no_connections);
    Some(Box::new(move |rows| {
        if let Some(line) = line.add(rows) {
            status!("{line}");
        }
        ControlFlow::Continue(())
    }))
}

impl StatusLine {
    fn new(interval: Duration, connections: bool) -> Self {
        Self {
            interval_ns: i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX),
            connections,
            covered_ns: 0,
            packets: 0,
            bytes: 0,
            flows: 0,
            retransmitted: 0,
            fabric_lost: 0,
            yielded: 0,
            capture_lost: 0,
        }
    }

    /// Adds the rows of finished windows; returns the line when they cover the interval.
    fn add(&mut self, rows: &WindowRows) -> Option<String> {
        for event in &rows.events {
            match &*event.kind {
                "retransmission" => self.retransmitted += event.count,
                "loss" => self.fabric_lost += event.count,
                "yielded" => self.yielded += event.count,
                _ => {}
            }
        }
        for window in &rows.windows {
            self.covered_ns += window.window_ns;
            self.packets += window.roce_packets;
            self.bytes += window.frame_bytes;
            self.flows = self.flows.max(window.flows);
            self.capture_lost += window.capture_lost_packets + window.capture_dropped_frames.unwrap_or(0);
        }
        let last = rows.windows.last().filter(|_| self.covered_ns >= self.interval_ns)?;
        let line = self.line(last);
        *self = Self::new(Duration::from_nanos(self.interval_ns.unsigned_abs()), self.connections);
        Some(line)
    }

    fn line(&self, last: &WindowRow) -> String {
        let end = Time(last.window_start_ns.saturating_add(last.window_ns));
        let seconds = self.covered_ns.max(1) as f64 / 1e9;
        let mut line = format!(
            "{end:.0}  packets/s {:.0}  Gbit/s {:.3}  flows {}",
            self.packets as f64 / seconds,
            self.bytes as f64 * 8.0 / seconds / 1e9,
            self.flows
        );
        for (name, count) in [("retransmitted", self.retransmitted), ("fabric loss", self.fabric_lost)] {
            // Writing to a string cannot fail.
            let _ = match self.connections {
                true => write!(line, "  {name} {count}"),
                false => write!(line, "  {name} unknown"),
            };
        }
        let _ = write!(line, "  capture loss {}", self.capture_lost);
        if self.yielded > 0 {
            let _ = write!(line, "  left out of connections {}", self.yielded);
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::StatusLine;
    use rocescope_model::{EventRow, WindowRow, WindowRows};
    use std::time::Duration;

    fn second(start_s: i64, roce_packets: u64) -> WindowRows {
        WindowRows {
            windows: vec![WindowRow {
                window_start_ns: start_s * 1_000_000_000,
                window_ns: 1_000_000_000,
                roce_packets,
                frame_bytes: 1_000 * roce_packets,
                flows: roce_packets.min(3),
                capture_lost_packets: 1,
                capture_dropped_frames: Some(2),
                ..WindowRow::default()
            }],
            events: vec![EventRow {
                kind: "loss".into(),
                count: 4,
                ..EventRow::default()
            }],
            ..WindowRows::default()
        }
    }

    #[test]
    fn a_line_covers_the_interval_and_silence_is_zero() {
        let mut line = StatusLine::new(Duration::from_secs(2), true);
        assert_eq!(line.add(&second(0, 1_000)), None);
        let said = line.add(&second(1, 2_000)).unwrap();
        let expected = "1970-01-01T00:00:02Z  packets/s 1500  Gbit/s 0.012  flows 3  retransmitted 0  fabric loss 8  \
                        capture loss 6";
        assert_eq!(said, expected);
        assert_eq!(line.add(&second(2, 0)), None);
        let said = line.add(&second(3, 0)).unwrap();
        assert!(said.contains("packets/s 0  Gbit/s 0.000  flows 0 "), "{said}");
        let mut line = StatusLine::new(Duration::from_secs(1), false);
        let said = line.add(&second(0, 1)).unwrap();
        assert!(
            said.contains("retransmitted unknown  fabric loss unknown  capture loss 3"),
            "{said}"
        );
    }
}
