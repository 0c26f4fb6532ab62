//! A collector without a network, and rows for it.

use rocescope_analysis::incidents::OnIncident;
use rocescope_analysis::live::{self, Settings};
use rocescope_collector::metrics::Diagnosed;
use rocescope_collector::server::Analysis;
use rocescope_model::{AGENT_TABLES, Cells, CounterRow, HostVerdictRow, Row, Time, Value};
use rocescope_store::{Options, Parcel, Writer, parcel};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(crate) const SECOND: i64 = 1_000_000_000;
pub(crate) const WINDOW: i64 = 10 * SECOND;
pub(crate) const START: i64 = 1_795_200_000 * SECOND;

/// A collector with a clock of its own.
pub(crate) struct Collector {
    pub(crate) dataset: PathBuf,
    pub(crate) writer: Option<Writer>,
    pub(crate) analysis: Box<dyn Analysis>,
    pub(crate) diagnosed: Diagnosed,
    now: Arc<AtomicI64>,
    pub(crate) lines: Arc<Mutex<String>>,
}

impl Collector {
    /// A collector that starts at this time.
    pub(crate) fn start(dataset: &Path, now_ns: i64, on_incident: Option<OnIncident>) -> Self {
        let diagnosed = Diagnosed::default();
        let (now, lines) = (Arc::new(AtomicI64::new(now_ns)), Arc::new(Mutex::new(String::new())));
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
            diagnosed: diagnosed.clone(),
            on_incident,
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
            diagnosed,
            now,
            lines,
        }
    }

    /// Stores rows, as the collector does.
    pub(crate) fn store(&mut self, rows: &dyn Cells) {
        let writer = self.writer.as_mut().unwrap();
        writer.append_cells(rows, Instant::now()).unwrap();
        for (_, stream) in parcel::encode(rows, usize::MAX).unwrap() {
            self.analysis.stored(&Parcel::split(&stream).unwrap().open().unwrap());
        }
        self.due();
    }

    /// Stores the rows that are due; returns the verdicts among them: class, state, and number of the analysis.
    pub(crate) fn due(&mut self) -> Vec<String> {
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

    /// Ends as a collector does: what waits is delivered, and rows are sealed.
    pub(crate) fn stop(mut self) {
        let mut writer = self.writer.take().unwrap();
        for cells in self.analysis.finish() {
            writer.append_cells(&*cells, Instant::now()).unwrap();
        }
        writer.finish().unwrap();
    }

    pub(crate) fn advance_to(&self, time_ns: i64) {
        self.now.store(time_ns, Ordering::Relaxed);
    }
}

/// What a host counted in a window.
pub(crate) fn counted(host: u8, window: i64, errors: u64) -> Vec<CounterRow> {
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
