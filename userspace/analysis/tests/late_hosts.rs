//! Rows of hosts that come late: their windows are analyzed again, and what that changes is stored and reported.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use rocescope_analysis::live::{self, Settings};
use rocescope_collector::server::Analysis;
use rocescope_engine::metrics::Diagnosed;
use rocescope_model::{AGENT_TABLES, Cells, CounterRow, HostVerdictRow, Row, Time, Value};
use rocescope_store::{Options, Parcel, Writer, parcel, scan};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const SECOND: i64 = 1_000_000_000;
const WINDOW: i64 = 10 * SECOND;
const START: i64 = 1_795_200_000 * SECOND;

/// A collector with a clock of its own.
struct Collector {
    dataset: PathBuf,
    writer: Option<Writer>,
    analysis: Box<dyn Analysis>,
    now: Arc<AtomicI64>,
    lines: Arc<Mutex<String>>,
}

impl Collector {
    fn start(dataset: &Path) -> Self {
        let (now, lines) = (Arc::new(AtomicI64::new(START)), Arc::new(Mutex::new(String::new())));
        let (clock, notices) = (Arc::clone(&now), Arc::clone(&lines));
        let settings = Settings {
            dataset: dataset.into(),
            observer: "collector".into(),
            lateness: Duration::from_secs(1),
            segment_age: Duration::ZERO,
            topology: None,
            scale: 1,
            quiet: false,
            clock: Arc::new(move || Time(clock.load(Ordering::Relaxed))),
            notices: Arc::new(move |line| *notices.lock().unwrap() += &format!("{line}\n")),
            diagnosed: Diagnosed::default(),
        };
        let options = Options {
            tables: AGENT_TABLES,
            max_age: Duration::ZERO,
            ..Options::new("collector")
        };
        Self {
            writer: Some(Writer::create(dataset, options).unwrap()),
            dataset: dataset.into(),
            analysis: live::start(&settings).unwrap(),
            now,
            lines,
        }
    }

    /// Stores rows, as the collector does.
    fn store(&mut self, rows: &dyn Cells) {
        let writer = self.writer.as_mut().unwrap();
        writer.append_cells(rows, Instant::now()).unwrap();
        for (_, stream) in parcel::encode(rows, usize::MAX).unwrap() {
            self.analysis.stored(&Parcel::split(&stream).unwrap().open().unwrap());
        }
        self.due();
    }

    /// Stores the rows that are due; returns the verdicts among them: class, state, and number of the analysis.
    fn due(&mut self) -> Vec<String> {
        let writer = self.writer.as_mut().unwrap();
        let mut verdicts = Vec::new();
        for cells in self.analysis.due() {
            writer.append_cells(&*cells, Instant::now()).unwrap();
            if cells.table() == HostVerdictRow::TABLE {
                let text = |name| match cells.value(0, HostVerdictRow::TABLE.position(name).unwrap()) {
                    Value::Text(text) => text.into_owned(),
                    Value::I64(number) => number.to_string(),
                    _ => String::new(),
                };
                verdicts.push(["class", "state", "revision"].map(text).join(" "));
            }
        }
        writer.rotate(Instant::now()).unwrap();
        verdicts
    }

    fn advance_to(&self, time_ns: i64) {
        self.now.store(time_ns, Ordering::Relaxed);
    }
}

/// What a host counted in a window.
fn counted(host: u8, window: i64, errors: u64) -> Vec<CounterRow> {
    let end_ns = START + (window + 1) * WINDOW;
    let row = |name: &'static str, increase| CounterRow {
        observer: format!("gpu-{host}").into(),
        time: Time(end_ns),
        time_ns: end_ns,
        interval_ns: Some(WINDOW),
        device: "mlx5_0".into(),
        port: Some(1),
        driver: "mlx5".into(),
        source: "hw_counters".into(),
        name: name.into(),
        metric: Some(name.into()),
        kind: "counter".into(),
        unit: "packets".into(),
        raw_value: Some(100),
        value: Some(100.0),
        increase: Some(increase),
        ..CounterRow::default()
    };
    vec![row("out_of_buffer", errors)]
}

#[test]
fn late_rows_open_windows_of_hosts_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut collector = Collector::start(&directory.path().join("dataset"));
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
