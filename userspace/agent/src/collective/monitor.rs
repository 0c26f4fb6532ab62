//! The monitor of collectives: steps and round trips in, probes, recordings and detections out.

use crate::error::{AgentError, Result};
use crate::part::Rows;
use rocescope_collective::monitor::Settings;
use rocescope_collective::monitor::host::{Host, HostSettings};
use rocescope_collective::monitor::notice::StepNotice;
use rocescope_collective::monitor::placement::Placement;
use rocescope_collective::read::follow::Appended;
use rocescope_collector::control::Member;
use rocescope_collector::control::message::RecordingRequest;
use rocescope_model::UdpPath;
use rocescope_model::human::readable;
use rocescope_model::{SmallFlowRow, StepProbeRow, Unit, Value};
use rocescope_probe::{Agent, FlowTask, Nanos};
use rocescope_runtime::status;
use std::collections::HashSet;
use std::path::Path as FilePath;
use std::sync::mpsc::Receiver;

/// When and how the monitor asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonitorSettings {
    /// A round trip is slow from this share of the shortest, in percent.
    pub threshold_percent: u32,
    /// A round trip is slow only if it takes longer than the shortest by this time.
    pub min_delay: Nanos,
    /// Maximum number of detections in each step.
    pub detections: u32,
    /// Time between two probes along the path of a step.
    pub interval: Nanos,
    /// Probes in a burst.
    pub burst: u16,
    /// The UDP source port of probes for steps whose port is unknown.
    pub source_port: u16,
    /// Maximum number of paths that are probed at a time.
    pub max_paths: usize,
}

/// The time over which the probes of a burst are spread.
const BURST_NS: i64 = 100_000_000;

/// The monitor. The loop of the probes drives it.
#[derive(Debug)]
pub struct Monitor {
    host: Host,
    observer: String,
    steps: Receiver<Appended>,
    rows: Rows,
    pace: Nanos,
    burst: u16,
    /// What was reported.
    reported: HashSet<String>,
    detections: u64,
    questions: u64,
    passed_on: u64,
}

impl Monitor {
    /// The monitor of the steps of these ranks: a file has a line for each.
    ///
    /// # Errors
    /// The file cannot be read, or is invalid.
    pub fn open(
        settings: &MonitorSettings,
        ranks: &FilePath,
        observer: &str,
        steps: Receiver<Appended>,
        rows: Rows,
    ) -> Result<Self> {
        let text = rocescope_input::text(ranks).map_err(|error| AgentError::File(ranks.into(), error))?;
        let placement = Placement::parse(&text).map_err(|why| AgentError::Ranks(ranks.into(), why.to_string()))?;
        Ok(Self {
            host: Host::new(observer.to_owned(), settings.host(), placement),
            observer: observer.to_owned(),
            steps,
            rows,
            pace: settings.interval,
            burst: settings.burst,
            reported: HashSet::new(),
            detections: 0,
            questions: 0,
            passed_on: 0,
        })
    }

    /// Adopts what may change while the agent runs, from the next step on.
    pub fn reconfigure(&mut self, settings: &MonitorSettings) {
        self.host.reconfigure(settings.host());
        self.pace = settings.interval;
        self.burst = settings.burst;
    }

    /// Takes what happened since the last turn.
    pub fn turn(&mut self, agent: &mut Agent, member: &Member, now: Nanos) {
        for trip in agent.trips() {
            self.host.probed(&trip.path, trip.at.0, trip.round_trip.0);
        }
        let unanswered: Vec<(UdpPath, Nanos)> = agent.unanswered(now).collect();
        for (watched, age) in unanswered {
            self.host.unanswered(&watched, now.0, age.0);
        }
        for appended in self.steps.try_iter() {
            self.host.take(&appended.ended, &appended.open, now.0);
        }
        for message in member.received(StepNotice::is_one) {
            if let Some(notice) = StepNotice::parse(&message.text) {
                self.host.notified(&message.agent, &notice);
            }
        }
        let turn = self.host.turn(now.0);
        for row in &turn.rows {
            self.detections += u64::from(&*row.event != StepProbeRow::END);
            if row.asked {
                self.ask(row, agent, member, now);
            }
        }
        self.passed_on += turn.notices.len() as u64;
        for (to, notice) in turn.notices {
            member.send_to(&to, notice.to_string());
        }
        self.rows.append(&turn.rows);
        for (kind, first) in self.host.complaints.kinds() {
            if self.reported.insert(kind.to_owned()) {
                status!("collective: {first}: {kind}");
            }
        }
        agent.watch(self.host.paths(), self.pace, now);
    }

    /// Asks for a burst of probes along the path of a step, and for recordings of its flow.
    fn ask(&mut self, row: &StepProbeRow, agent: &mut Agent, member: &Member, now: Nanos) {
        self.questions += 1;
        let time = |ns: i64| readable(&Value::I64(ns), Unit::Nanoseconds);
        let round_trip_ns = row.round_trip_ns.unwrap_or(0);
        status!(
            "step {} of rank {} in {}: a round trip to {} takes {} instead of {}: asking for {} probes and recordings",
            row.step,
            row.host,
            row.collective,
            row.dst,
            time(round_trip_ns),
            time(row.base_round_trip_ns),
            self.burst
        );
        let flow = SmallFlowRow {
            capture: self.observer.clone().into(),
            window_start_ns: row.time_ns,
            window_ns: BURST_NS,
            src: row.src,
            dst: row.dst,
            udp_src_port: row.udp_src_port,
            ..SmallFlowRow::default()
        };
        let probes = self.burst;
        agent.probe_flow(FlowTask { flow, probes }, now);
        member.ask_for_recording(RecordingRequest {
            agent: String::new(),
            src: row.src,
            dst: row.dst,
            time_ns: row.time_ns,
            round_trip_ns,
            collective: row.collective.to_string(),
            host: row.host.to_string(),
            step: row.step,
        });
    }

    /// What it did, in a line.
    #[must_use]
    pub fn summary(&self) -> String {
        format!(
            "monitor of collectives: {} detections, {} of them asked for probes and recordings; detections passed on {} times",
            self.detections, self.questions, self.passed_on
        )
    }
}

impl MonitorSettings {
    fn host(&self) -> HostSettings {
        HostSettings {
            monitor: Settings {
                threshold_percent: self.threshold_percent,
                detections: self.detections,
                // No counters of switches are read, which would have to fill first.
                settle_ns: 0,
            },
            min_delay_ns: self.min_delay.0,
            port: self.source_port,
            paths: self.max_paths,
        }
    }
}
