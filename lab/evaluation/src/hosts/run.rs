//! Runs a script: frames through the pipeline, counters through their reader, all rows through the analysis.

use super::cause::Cause;
use super::frame::Packet;
use super::nic::{Counts, Driver};
use super::script::{Expected, Script};
use super::world::{World, address, host, number};
use rocescope_diagnose::hosts::{Analyzer, HostVerdict, Settings as HostSettings};
use rocescope_generate::{Generator, Scenario};
use rocescope_model::{CounterRow, Time, WindowRows};
use rocescope_pipeline::settings::Jitter;
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::Clock;
use rocescope_record::{Config, Observer, Slot};
use rocescope_wire::LinkType;
use rocescope_wire::packet::FrameLengths;

/// The start of every scenario.
pub(super) const START_NS: i64 = 1_767_225_600_000_000_000;

/// What came of a run.
pub(super) struct Outcome {
    pub(super) verdicts: Vec<HostVerdict>,
    pub(super) rows: u64,
    pub(super) frames: u64,
}

/// The clock of a frame.
struct At(u64);

impl Clock for At {
    fn tick(&self) -> u64 {
        self.0
    }

    fn now(&self) -> u64 {
        self.0
    }
}

/// The capture box.
struct Tap {
    observer: Observer<Vec<rocescope_record::Set>>,
    pipeline: Pipeline,
}

impl Tap {
    fn new() -> Self {
        let settings = Settings {
            observer: "box".into(),
            sketches: false,
            // Those of the paper, a ten-thousandth: 5 Gbit/s and 2.5 Gbit/s.
            elephant_bps: 5e5,
            jitter: Jitter {
                relative: None,
                absolute_bps: Some(2.5e5),
            },
            ..Settings::default()
        };
        let config = Config::exact(settings.window_ns);
        let slot: Slot = bytemuck::Zeroable::zeroed();
        Self {
            observer: Observer::new(config, vec![[slot; 2]; 64]),
            pipeline: Pipeline::new(settings).unwrap(),
        }
    }

    fn frame(&mut self, at_ns: u64, frame: &[u8], original: u32) {
        let clock = At(at_ns);
        if !self.pipeline.is_current(at_ns) {
            self.observer.flush(Some(at_ns), &mut self.pipeline);
            self.pipeline.turn(at_ns, self.observer.counters());
        }
        let lengths = FrameLengths {
            captured: frame.len() as u32,
            original,
        };
        self.observer
            .observe(frame, LinkType::Ethernet, lengths, 0, &clock, &mut self.pipeline);
    }

    fn finish(mut self) -> WindowRows {
        self.observer.flush(None, &mut self.pipeline);
        self.pipeline.finish(self.observer.counters());
        std::mem::take(self.pipeline.rows())
    }
}

/// Frames, and whom they reach.
struct Stream {
    generator: Generator,
    frame: Vec<u8>,
    next: Option<rocescope_generate::Frame>,
    reaches_hosts: bool,
    reaches_tap: bool,
}

impl Stream {
    fn new(text: &str, seed: u64, reaches_hosts: bool, reaches_tap: bool) -> Self {
        let scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut stream = Self {
            generator: Generator::new(&scenario, seed),
            frame: Vec::new(),
            next: None,
            reaches_hosts,
            reaches_tap,
        };
        stream.advance();
        stream
    }

    fn advance(&mut self) {
        self.next = self.generator.next_frame(&mut self.frame);
    }
}

pub(super) fn run(cause: Cause, seed: u64) -> (Script, Outcome) {
    let mut script = Script::new(cause, seed);
    let (rows, captured, frames) = play(&mut script, seed);
    let verdicts = analyze(&rows, &captured);
    let outcome = Outcome {
        verdicts,
        rows: (rows.len() + captured.flows.len() + captured.events.len() + captured.connections.len()) as u64,
        frames,
    };
    (script, outcome)
}

/// All faults, each with its last state.
pub(super) fn analyze(rows: &[CounterRow], captured: &WindowRows) -> Vec<HostVerdict> {
    let mut analyzer = Analyzer::new(HostSettings::default()).unwrap();
    rows.iter().for_each(|row| analyzer.counter(row));
    captured.flows.iter().for_each(|row| analyzer.flow(row));
    captured.events.iter().for_each(|row| analyzer.event(row));
    captured.connections.iter().for_each(|row| analyzer.connection(row));
    let mut verdicts: Vec<HostVerdict> = Vec::new();
    let mut add = |verdict: HostVerdict| match verdicts.iter_mut().rev().find(|known| verdict.continues(known)) {
        Some(known) => *known = verdict,
        None => verdicts.push(verdict),
    };
    while let Some(window) = analyzer.finish_one() {
        window.changes.into_iter().for_each(&mut add);
    }
    analyzer.open_faults().into_iter().for_each(add);
    verdicts
}

/// The rows of hosts and capture.
pub(super) fn play(script: &mut Script, seed: u64) -> (Vec<CounterRow>, WindowRows, u64) {
    let rate = 100_000_000_000;
    let mut world = World::new(&script.drivers, rate, Time(START_NS));
    for flow in &script.flows {
        world.connect((address(flow.src), flow.qpn + 1), (address(flow.dst), flow.qpn));
    }
    for nic in &mut world.nics {
        nic.retries = script.retries;
    }
    if let Some(unread) = script.unread {
        world.is_read[unread] = false;
    }
    let mut streams = vec![Stream::new(
        &script.scenario("", |flow| flow.is_mirrored),
        seed,
        true,
        script.mirror.is_empty(),
    )];
    if !script.mirror.is_empty() {
        streams.push(Stream::new(
            &script.scenario(&script.mirror, |_| true),
            seed,
            false,
            true,
        ));
    }
    if script.flows.iter().any(|flow| !flow.is_mirrored) {
        streams.push(Stream::new(
            &script.scenario("", |flow| !flow.is_mirrored),
            seed,
            true,
            false,
        ));
    }
    let mut tap = Tap::new();
    let (mut rows, mut frames) = (Vec::new(), 0);
    let latencies = Latencies::new(script);
    before(script, &mut world);
    for second in 0..=script.seconds {
        let end_ns = START_NS as u64 + second * 1_000_000_000;
        for stream in &mut streams {
            while let Some(frame) = stream.next.filter(|frame| frame.at_ns < end_ns) {
                frames += 1;
                let packet = Packet::parse(&stream.frame).unwrap();
                let is_silent =
                    script.cause == Cause::NoCnps && packet.is_cnp() && number(packet.src) == script.culprit;
                if stream.reaches_hosts && !is_silent {
                    world.passes(&packet, frame.original_bytes, frame.at_ns);
                }
                if stream.reaches_tap && !is_silent {
                    tap.frame(frame.at_ns, &stream.frame, frame.original_bytes);
                }
                stream.advance();
            }
        }
        for nic in &mut world.nics {
            nic.wait(end_ns, 8);
        }
        act(script, &mut world, second);
        if second % script.interval == 0 {
            let now = latencies.at(script, second);
            world.read(second, &now, &mut |row| rows.push(row));
        }
    }
    (rows, tap.finish(), frames)
}

/// What is so from the start.
fn before(script: &mut Script, world: &mut World) {
    // A NIC of the next generation in a slot of this one, which carries its port all the same.
    let harmless = script.random.between(0, world.nics.len() as u64 - 1) as usize;
    world.nics[harmless].pcie_max = (32.0, 16);
    match script.cause {
        Cause::CnpsIgnored => {
            world.nics[script.culprit].reacts = false;
            // Its flow fills most of the port.
            world.nics[script.culprit].rate_bps = 600_000;
        }
        Cause::Pcie => {
            let degraded = script.random.pick(&[(16.0, 8), (16.0, 4), (5.0, 16), (2.5, 16)]);
            world.nics[script.culprit].pcie_max = (16.0, 16);
            if script.random.happens(0.5) {
                script.from = 0;
                world.nics[script.culprit].pcie = degraded;
            }
        }
        _ => {}
    }
}

/// What hosts do in a second, and what the cause does to them.
fn act(script: &mut Script, world: &mut World, second: u64) {
    let random = &mut script.random;
    for nic in &mut world.nics {
        nic.counts.corrected_bits += random.between(0, 2_000);
        nic.counts.symbol_errors += u64::from(random.happens(0.008));
        nic.counts.crc_errors += u64::from(random.happens(0.004));
        if random.happens(0.2) {
            let pauses = random.between(1, 5);
            nic.counts.pause_sent += pauses;
            nic.counts.pause_sent_us += pauses * random.between(1, 20);
        }
        if random.happens(0.2) {
            let pauses = random.between(1, 5);
            nic.counts.pause_received += pauses;
            nic.counts.pause_received_us += pauses * random.between(1, 20);
        }
        // A program that ends flushes its work requests.
        nic.counts.flushed += if random.happens(0.01) { 16 } else { 0 };
    }
    let outages = script.outages();
    let culprit = &mut world.nics[script.culprit];
    let is_out = outages.iter().any(|(from, until)| (*from..*until).contains(&second));
    if script.cause == Cause::NicVanished {
        if second == script.until {
            // The driver counts from 0 again.
            culprit.counts = Counts::default();
        }
        culprit.is_present = !is_out;
    } else {
        culprit.counts.link_failures += u64::from(outages.iter().any(|(from, _)| *from == second));
        culprit.is_up = !is_out;
    }
    if !(script.from..script.until).contains(&second) {
        return;
    }
    let random = &mut script.random;
    match script.cause {
        Cause::ReceiverDied if second == script.from => culprit.queue_pairs -= script.vanished,
        Cause::DamagedCable => {
            let errors = random.between(0, 3);
            culprit.counts.crc_errors += errors;
            culprit.counts.symbol_errors += errors;
        }
        Cause::Pcie if second == script.from => {
            culprit.pcie = random.pick(&[(16.0, 8), (16.0, 4), (5.0, 16)]);
        }
        Cause::PauseStorm => {
            let frames = random.between(300, 3_000);
            culprit.counts.pause_sent += frames;
            culprit.counts.pause_sent_us += frames * random.between(60, 200);
            for sender in script
                .flows
                .iter()
                .filter(|flow| flow.dst == script.culprit)
                .map(|flow| flow.src)
            {
                let nic = &mut world.nics[sender];
                nic.counts.pause_received += frames / 2;
                nic.counts.pause_received_us += frames / 2 * 50;
            }
        }
        Cause::ReceiverDrops => {
            // Each packet that it drops makes it send a NAK for it.
            let before = culprit.counts.dropped;
            culprit.counts.dropped = before.max(culprit.counts.out_of_sequence);
        }
        _ => {}
    }
}

/// Latency of small operations, as the agents of some hosts measure it.
struct Latencies {
    base_ns: Vec<f64>,
    rise: f64,
}

impl Latencies {
    fn new(script: &mut Script) -> Self {
        let (random, measured) = (&mut script.random, script.measured);
        let hosts = script.drivers.iter();
        let base = hosts.map(|driver| match driver {
            Driver::Rxe => 0.0,
            _ if random.happens(measured) => random.share(8_000.0, 12_000.0),
            _ => 0.0,
        });
        Self {
            base_ns: base.collect(),
            // The paper's range.
            rise: random.share(1.091, 1.877),
        }
    }

    fn at(&self, script: &mut Script, second: u64) -> Vec<f64> {
        let is_congested = matches!(script.cause, Cause::OneSender | Cause::Incast)
            && (script.from..script.until + 2).contains(&second);
        let hosts = self.base_ns.iter().enumerate();
        let latencies = hosts.map(|(number, base)| {
            let is_concerned = number == script.culprit || number == script.other || script.cause == Cause::Incast;
            let rise = if is_congested && is_concerned { self.rise } else { 1.0 };
            base * rise * script.random.share(0.99, 1.01)
        });
        latencies.collect()
    }
}

/// Why an outcome is wrong; `None` if it is right.
pub(super) fn wrong(script: &Script, outcome: &Outcome) -> Option<String> {
    let found = || {
        let lines = outcome.verdicts.iter().map(|verdict| {
            let second = |ns: i64| (ns - START_NS) / 1_000_000_000;
            format!(
                "{} {} from {} to {} s ({}) [{}]",
                verdict.class.name(),
                verdict.place,
                second(verdict.since_ns),
                second(verdict.until_ns),
                verdict.confidence,
                verdict.evidence_text()
            )
        });
        lines.collect::<Vec<_>>().join("; ")
    };
    let Some(class) = script.cause.class() else {
        return (!outcome.verdicts.is_empty()).then(|| format!("false: {}", found()));
    };
    let [verdict] = &outcome.verdicts[..] else {
        return Some(format!("{} verdicts: {}", outcome.verdicts.len(), found()));
    };
    let is_place = match script.expected {
        Some(Expected::Host(number)) => verdict.host.as_deref() == Some(&host(number)),
        Some(Expected::Ends(src, dst)) => verdict.src == Some(address(src)) && verdict.dst == Some(address(dst)),
        Some(Expected::Mirror) => verdict.place == "mirror of box",
        None => false,
    };
    let (since, until) = (verdict.since_ns - START_NS, verdict.until_ns - START_NS);
    let [from, last] = [script.from, script.until].map(|second| second as i64 * 1_000_000_000);
    // A window before, because a cause begins within one; three after, because the sums of some rules hold on.
    let window = 10_000_000_000;
    let is_time = (from - window..=from + 3 * window).contains(&since) && until <= last + 4 * window;
    let is_right = verdict.class == class && is_place && (is_time || script.from == 0);
    (!is_right).then(|| {
        format!(
            "expected {class:?} at {:?} from {} s: {}",
            script.expected,
            script.from,
            found()
        )
    })
}
