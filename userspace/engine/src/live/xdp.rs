//! Feeds run records of the kernel to the intake.

use super::overload::Overload;
use super::plan;
use super::port::Port;
use super::report::LiveReport;
use super::watch::{Change, Watch};
use crate::error::{EngineError, Result};
use crate::intake::{Intake, Outputs};
use crate::notice::{Notice, Notices};
use crate::outcome::Outcome;
use rocescope_capture::xdp::{Capture, CaptureEvent};
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::{Config, Counters, Sink};
use std::collections::VecDeque;
use std::thread::sleep;
use std::time::Duration;

/// Pause if the rings are empty. Filling a ring of 8 MiB in this time requires 32 million runs per
/// second on one CPU.
const PAUSE: Duration = Duration::from_millis(2);

/// The counters at the end of a window.
struct Edge {
    /// The end of the window.
    time_ns: u64,
    /// When the counters had been read.
    read_ns: u64,
    counters: Counters,
}

/// Counters at the ends of windows, until all runs of the window have arrived.
struct Edges {
    window_ns: u64,
    next_ns: u64,
    passed: VecDeque<Edge>,
}

impl Edges {
    fn new(window_ns: u64, now_ns: u64) -> Self {
        Self {
            window_ns,
            next_ns: now_ns - now_ns % window_ns + window_ns,
            passed: VecDeque::new(),
        }
    }

    /// Reads the counters if a window has ended since the last call.
    fn pass(&mut self, now_ns: u64, capture: &Capture, port: &mut Port) -> Result<()> {
        if now_ns >= self.next_ns {
            let time_ns = now_ns - now_ns % self.window_ns;
            let counted = port.counted();
            let counters = capture.counters()?;
            port.settle(counted, counters.unhandled_frames, capture.config().verdict == 0);
            self.passed.push_back(Edge {
                time_ns,
                read_ns: capture.now_ns(),
                counters,
            });
            self.next_ns = time_ns + self.window_ns;
        }
        Ok(())
    }

    /// Turns the intake to the ends of windows up to the watermark.
    fn turn(&mut self, watermark_ns: u64, intake: &mut Intake) -> Result<()> {
        while let Some(edge) = self.passed.pop_front_if(|edge| edge.time_ns <= watermark_ns) {
            intake.turn_at_reading(edge.time_ns, edge.read_ns, &edge.counters)?;
        }
        Ok(())
    }
}

/// The kernel's cache separates runs as the pipeline separates flows.
fn adopt_key(capture: &Capture, intake: &Intake) -> Result<()> {
    let (config, key_mask) = (capture.config(), intake.pipeline.key_mask());
    if config.key_mask != key_mask {
        capture.reconfigure(&Config { key_mask, ..config })?;
    }
    Ok(())
}

/// Applies a reloaded configuration.
fn reload(
    capture: &Capture,
    intake: &mut Intake,
    change: Change,
    notices: &Notices,
    report: &mut LiveReport,
) -> Result<()> {
    let Change {
        intake: wanted,
        verdict,
        ..
    } = change;
    let (running, config) = (capture.config(), wanted.config());
    capture.reconfigure(&Config {
        udp_ports: config.udp_ports,
        filter: config.filter,
        verdict: plan::number(&verdict),
        ..running
    })?;
    notices.filter(&wanted);
    intake.pipeline.reconfigure(&wanted.settings);
    if running.verdict != plan::number(&verdict) {
        notices.send(Notice::Verdict(verdict.clone()));
        report.verdict = Some(verdict);
    }
    Ok(())
}

pub(super) fn drive(
    mut capture: Capture,
    settings: Settings,
    outputs: Outputs,
    watch: &mut Watch,
    report: &mut LiveReport,
) -> Result<Outcome> {
    let window_ns = settings.window_ns;
    let notices = watch.notices().clone();
    let mut intake = Intake::new(settings, outputs)?;
    let mut receiver = Receiver {
        packets: 0,
        uet: 0,
        notices: notices.clone(),
    };
    let begin_ns = capture.now_ns();
    intake.turn(begin_ns, &Counters::default())?;
    let mut edges = Edges::new(window_ns, begin_ns);
    let mut overload = Overload::default();
    capture.start()?;
    while !watch.over()? {
        intake
            .pipeline
            .yield_connections(overload.observe(capture.queue_filled()));
        let (watermark_ns, some) = capture.poll(|event| receiver.take(event, &mut intake.pipeline, report))?;
        edges.pass(capture.now_ns(), &capture, watch.port_mut())?;
        edges.turn(watermark_ns, &mut intake)?;
        adopt_key(&capture, &intake)?;
        intake.tick();
        if let Some(change) = watch.reloaded() {
            reload(&capture, &mut intake, change, &notices, report)?;
        }
        if watch.counts_requested() {
            report_counts(&capture, &intake, &watch.port().sentence(), &notices)?;
        }
        if !some {
            sleep(PAUSE);
        }
    }
    // No record can be lost from here on: what waits is analyzed in full.
    intake.pipeline.yield_connections(false);
    report.cost.peak_buffer_ratio = overload.peak();
    let end_ns = capture.now_ns();
    let (counted, passes) = (watch.port().counted(), capture.config().verdict == 0);
    let (counters, losses) = capture.finish(|event| receiver.take(event, &mut intake.pipeline, report))?;
    watch.port_mut().settle(counted, counters.unhandled_frames, passes);
    report.lost_runs = counters.lost_runs;
    report.lost_events = counters.lost_mads + counters.lost_segments;
    report.blind_intervals = losses.intervals;
    report.blind_ns = losses.blind_ns;
    let delivered = counters.delivered_packets() + counters.delivered_uet();
    let read = receiver.packets + receiver.uet;
    if read != delivered || losses.unreadable > 0 {
        return Err(EngineError::Rings { read, delivered });
    }
    edges.turn(u64::MAX, &mut intake)?;
    intake.turn_at_reading(end_ns, end_ns, &counters)?;
    intake.finish(&counters)
}

/// Receives the events of the capture.
struct Receiver {
    /// Packets in the runs so far.
    packets: u64,
    /// UET packets so far.
    uet: u64,
    notices: Notices,
}

impl Receiver {
    fn take(&mut self, event: CaptureEvent<'_>, pipeline: &mut Pipeline, report: &mut LiveReport) {
        match event {
            CaptureEvent::Run(run) => {
                self.packets += u64::from(run.packets);
                pipeline.ingest(run);
            }
            CaptureEvent::ControlPacket(event) => {
                pipeline.control_packet(event);
            }
            CaptureEvent::Uet(record) => {
                self.uet += 1;
                pipeline.ingest_uet(record);
            }
            CaptureEvent::Blind(blind) => {
                if blind.packets > 0 {
                    pipeline.capture_lost(blind.from_ns, blind.to_ns, blind.packets);
                }
                pipeline.uet_lost(blind.from_ns, blind.to_ns, blind.uet);
            }
            CaptureEvent::Warning(warning) => {
                self.notices.send(Notice::Warning(warning.into()));
                report.warnings.push(warning.into());
            }
        }
    }
}

/// Reports the loss identity so far.
fn report_counts(capture: &Capture, intake: &Intake, port: &str, notices: &Notices) -> Result<()> {
    let counters = capture.counters()?;
    let rest = format!(
        "{} RoCEv2 = {} in runs + {} capture loss + {} in open runs; {port}",
        counters.roce_packets,
        counters.delivered_packets(),
        counters.lost_packets,
        counters.roce_packets.saturating_sub(counters.published_packets),
    );
    notices.counts(&counters, intake.pipeline.delivery(), rest);
    Ok(())
}
