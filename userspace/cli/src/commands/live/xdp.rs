//! Run records of the kernel, into the intake.

use super::plan;
use super::watch::{Reloaded, Watch};
use crate::intake::{Intake, Outcome, Outlet};
use crate::output::Live;
use crate::say;
use anyhow::{Result, ensure};
use rocescope_capture::xdp::{Capture, CaptureEvent};
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::{Config, Counters, Sink};
use std::collections::VecDeque;
use std::thread::sleep;
use std::time::Duration;

/// How long to wait when the rings were empty. To fill a ring of 8 MiB in this time takes 32 million
/// runs a second on one CPU.
const PAUSE: Duration = Duration::from_millis(2);

/// Counters at the ends of windows, until the runs of that window are all here.
struct Edges {
    window_ns: u64,
    next_ns: u64,
    /// Ends of windows, and what had been counted by then.
    passed: VecDeque<(u64, Counters)>,
}

impl Edges {
    fn new(window_ns: u64, now_ns: u64) -> Self {
        Self {
            window_ns,
            next_ns: now_ns - now_ns % window_ns + window_ns,
            passed: VecDeque::new(),
        }
    }

    /// Takes the counters where a window has ended since the last call.
    fn pass(&mut self, now_ns: u64, capture: &Capture) -> Result<()> {
        if now_ns >= self.next_ns {
            let edge = now_ns - now_ns % self.window_ns;
            self.passed.push_back((edge, capture.counters()?));
            self.next_ns = edge + self.window_ns;
        }
        Ok(())
    }
}

/// Takes over what somebody has changed.
fn reload(
    capture: &Capture,
    intake: &mut Intake,
    reloaded: Reloaded,
    report: &mut Live,
) -> Result<()> {
    let Reloaded {
        settings,
        config,
        verdict,
        ..
    } = reloaded;
    let running = capture.config();
    capture.reconfigure(&Config {
        udp_ports: config.udp_ports,
        filter: config.filter,
        verdict: plan::number(&verdict),
        ..running
    })?;
    super::filtered(&settings, &config);
    intake.pipeline.reconfigure(&settings);
    if running.verdict != plan::number(&verdict) {
        let (what, why) = &verdict;
        say!("verdict {what}: {why}");
        report.verdict = Some(verdict);
    }
    Ok(())
}

pub(super) fn drive(
    mut capture: Capture,
    settings: Settings,
    outlet: Outlet,
    watch: &mut Watch,
    report: &mut Live,
) -> Result<Outcome> {
    let window_ns = settings.window_ns;
    let mut intake = Intake::new(settings, outlet)?;
    let mut packets = 0;
    let begin_ns = capture.now_ns();
    intake.turn(begin_ns, &Counters::default())?;
    let mut edges = Edges::new(window_ns, begin_ns);
    capture.start()?;
    while !watch.over()? {
        let (watermark_ns, some) =
            capture.poll(|taken| take(taken, &mut intake.pipeline, &mut packets, report))?;
        edges.pass(capture.now_ns(), &capture)?;
        while let Some((edge, counters)) =
            edges.passed.pop_front_if(|(edge, _)| *edge <= watermark_ns)
        {
            intake.turn(edge, &counters)?;
        }
        if let Some(reloaded) = watch.reloaded() {
            reload(&capture, &mut intake, reloaded, report)?;
        }
        if watch.asked() {
            tell(&capture, &watch.port().told())?;
        }
        if !some {
            sleep(PAUSE);
        }
    }
    let (counters, losses) =
        capture.finish(|taken| take(taken, &mut intake.pipeline, &mut packets, report))?;
    report.lost_runs = counters.lost_runs;
    report.lost_events = counters.lost_mads + counters.lost_segments;
    report.blind_intervals = losses.intervals;
    report.blind_ns = losses.blind_ns;
    ensure!(
        packets == counters.delivered_packets() && losses.unreadable == 0,
        "{packets} packets came out of the rings, {} went in: this is a defect, please report it",
        counters.delivered_packets()
    );
    intake.finish(&counters)
}

/// Takes what the capture hands over.
fn take(taken: CaptureEvent<'_>, pipeline: &mut Pipeline, packets: &mut u64, report: &mut Live) {
    match taken {
        CaptureEvent::Run(run) => {
            *packets += u64::from(run.packets);
            pipeline.ingest(run);
        }
        CaptureEvent::ControlPacket(event) => {
            pipeline.whole(event);
        }
        CaptureEvent::Blind(blind) => pipeline.blind(blind.from_ns, blind.to_ns),
        CaptureEvent::Warning(said) => {
            say!("warning: {said}");
            report.warnings.push(said.into());
        }
    }
}

/// The identity as it stands.
fn tell(capture: &Capture, port: &str) -> Result<()> {
    let counters = capture.counters()?;
    let rest = format!(
        "{} RoCEv2 = {} in runs + {} lost + {} in the making; {port}",
        counters.roce_packets,
        counters.delivered_packets(),
        counters.lost_packets,
        counters
            .roce_packets
            .saturating_sub(counters.published_packets),
    );
    super::tell(&counters, &rest);
    Ok(())
}
