//! Sends the frames of a scenario on an interface, and reports what the kernel accepted.

use crate::arguments::{GenerateArguments, Output, SendMethod};
use anyhow::{Context, Result, bail, ensure};
use rocescope_capture::inject::{Injector, LiveFrames, Sent};
use rocescope_generate::{Generator, Scenario};
use rocescope_host::interface::Interface;
use rocescope_host::privileges;
use rocescope_model::json;
use rocescope_runtime::signals::Signals;
use rustix::io::Errno;
use serde::Serialize;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Frames that are repeated.
const LOOP_FRAMES: usize = 16_384;
/// Below this rate a packet socket suffices, and leaves the core idle between two frames.
const LIVE_PPS: u32 = 50_000;
/// Maximum delay of a signal.
const NAP: Duration = Duration::from_millis(50);
/// Frames between two checks of signals and clock, at full speed.
const STRIDE: u64 = 64;

/// When frames are sent.
#[derive(Clone, Copy, PartialEq)]
enum Pace {
    /// At the times of the scenario.
    Times,
    /// Frames per second.
    Pps(u32),
    FullSpeed,
}

/// When to end.
struct End {
    signals: Signals,
    begun: Instant,
    deadline: Instant,
    count: u64,
}

impl End {
    fn is_now(&self, sent: u64) -> bool {
        sent >= self.count || self.signals.ended() || Instant::now() >= self.deadline
    }

    /// Waits until `due`; returns whether to continue.
    fn wait(&self, due: Instant) -> bool {
        loop {
            let now = Instant::now();
            if self.signals.ended() || now >= self.deadline {
                return false;
            }
            if now >= due {
                return true;
            }
            sleep(NAP.min(due - now));
        }
    }
}

pub(super) fn run(arguments: &GenerateArguments, scenario: &Scenario) -> Result<ExitCode> {
    let onto = &arguments.onto;
    let name = onto.iface.as_deref().unwrap_or_default();
    let interface =
        Interface::find(name).with_context(|| format!("{name}: no such interface (`ip link` lists them)"))?;
    let pace = match onto.pps {
        Some(pps) => Pace::Pps(pps),
        None if onto.full_speed => Pace::FullSpeed,
        None => Pace::Times,
    };
    let signals = Signals::install()?;
    let mut generator = Generator::new(scenario, arguments.seed);
    let frames = match pace {
        Pace::Times => Vec::new(),
        Pace::Pps(_) | Pace::FullSpeed => first_frames(&mut generator),
    };
    ensure!(pace == Pace::Times || !frames.is_empty(), "the scenario has no frames");
    let live = match (onto.by, pace) {
        (SendMethod::Packet, _) => None,
        (SendMethod::Live, Pace::Times) => bail!("--by live requires --pps or --full-speed"),
        (SendMethod::Live, _) => Some(live(&interface, &frames)?),
        (SendMethod::Auto, Pace::Pps(pps)) if pps < LIVE_PPS => None,
        (SendMethod::Auto, Pace::Times) => None,
        (SendMethod::Auto, _) => match live(&interface, &frames) {
            Ok(live) => Some(live),
            Err(error) => {
                eprintln!("{error:#}: falling back to a packet socket");
                None
            }
        },
    };
    let begun = Instant::now();
    let end = End {
        signals,
        begun,
        deadline: begun + onto.duration.unwrap_or(Duration::from_secs(1 << 32)),
        count: onto.count.unwrap_or(u64::MAX),
    };
    let by = if live.is_some() {
        "live frames"
    } else {
        "a packet socket"
    };
    let sent = match (live, pace) {
        (Some(live), _) => over_live(live, pace, &end)?,
        (None, Pace::Times) => at_times(&interface, &mut generator, &end)?,
        (None, _) => over_packet(&interface, &frames, pace, &end)?,
    };
    let elapsed = begun.elapsed();
    crate::print(&match onto.output {
        Output::Table => text(name, by, sent, elapsed),
        Output::Json => json(name, by, sent, elapsed),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn first_frames(generator: &mut Generator) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut frame = Vec::new();
    while frames.len() < LOOP_FRAMES && generator.next_frame(&mut frame).is_some() {
        frames.push(frame.clone());
    }
    frames
}

fn live(interface: &Interface, frames: &[Vec<u8>]) -> Result<LiveFrames> {
    let missing = privileges::missing(&privileges::LIVE_FRAMES).context("capabilities")?;
    let names: Vec<&str> = missing.iter().map(|capability| capability.name).collect();
    ensure!(
        missing.is_empty(),
        "live frames require {}, which this process lacks; `{}` grants it",
        names.join(", "),
        privileges::grant(&privileges::LIVE_FRAMES)
    );
    LiveFrames::open(interface, frames).context("live frames")
}

fn over_live(mut live: LiveFrames, pace: Pace, end: &End) -> Result<Sent> {
    let pps = match pace {
        Pace::Pps(pps) => Some(f64::from(pps)),
        Pace::Times | Pace::FullSpeed => None,
    };
    loop {
        let sent = live.sent();
        if end.is_now(sent.offered) {
            return Ok(sent);
        }
        let left = end.count - sent.offered;
        live.send(pps, left, end.deadline).context("live frames")?;
        ensure!(
            live.sent().accepted > 0 || live.sent().dropped > 0 || live.sent().offered == 0,
            "the driver of this interface does not transmit XDP frames (on a veth pair, the other end \
             must have generic receive offload or an XDP program): use --by packet"
        );
    }
}

fn over_packet(interface: &Interface, frames: &[Vec<u8>], pace: Pace, end: &End) -> Result<Sent> {
    let mut socket = open(interface)?;
    for (number, frame) in (0u64..).zip(frames.iter().cycle()) {
        let go_on = match pace {
            Pace::Pps(pps) => {
                let since = Duration::from_secs_f64(number as f64 / f64::from(pps));
                number < end.count && end.wait(end.begun + since)
            }
            Pace::Times | Pace::FullSpeed => {
                number < end.count && (!number.is_multiple_of(STRIDE) || !end.is_now(number))
            }
        };
        if !go_on {
            break;
        }
        send(&mut socket, interface, frame)?;
    }
    Ok(socket.sent())
}

/// The whole scenario once.
fn at_times(interface: &Interface, generator: &mut Generator, end: &End) -> Result<Sent> {
    let mut socket = open(interface)?;
    let mut bytes = Vec::new();
    let mut first_ns = None;
    let mut number = 0;
    while let Some(frame) = generator.next_frame(&mut bytes) {
        let since = frame.at_ns - *first_ns.get_or_insert(frame.at_ns);
        if number >= end.count || !end.wait(end.begun + Duration::from_nanos(since)) {
            break;
        }
        send(&mut socket, interface, &bytes)?;
        number += 1;
    }
    Ok(socket.sent())
}

fn open(interface: &Interface) -> Result<Injector> {
    let missing = privileges::missing(&privileges::AF_PACKET).context("capabilities")?;
    ensure!(
        missing.is_empty(),
        "sending requires cap_net_raw, which this process lacks; `{}` grants it",
        privileges::grant(&privileges::AF_PACKET)
    );
    Injector::open(interface).with_context(|| interface.name.clone())
}

fn send(socket: &mut Injector, interface: &Interface, frame: &[u8]) -> Result<()> {
    let sent = socket.send(frame);
    let too_long = matches!(&sent, Err(error) if Errno::from_io_error(error) == Some(Errno::MSGSIZE));
    sent.with_context(|| {
        let (name, length) = (&interface.name, frame.len());
        let remedy = if too_long {
            format!(", which exceeds the MTU; `ip link set dev {name} mtu 9000` may fix it")
        } else {
            String::new()
        };
        format!("{name}: a frame of {length} bytes{remedy}")
    })?;
    Ok(())
}

fn rate(sent: Sent, elapsed: Duration) -> f64 {
    sent.accepted as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
}

fn text(name: &str, by: &str, sent: Sent, elapsed: Duration) -> String {
    format!(
        "{name}: {} frames by {by} in {:.3} s = {} accepted + {} dropped by the driver + {} refused; {:.0} accepted per second\n",
        sent.offered,
        elapsed.as_secs_f64(),
        sent.accepted,
        sent.dropped,
        sent.refused(),
        rate(sent, elapsed)
    )
}

fn json(name: &str, by: &str, sent: Sent, elapsed: Duration) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        interface: &'a str,
        by: &'a str,
        offered: u64,
        accepted: u64,
        dropped: u64,
        refused: u64,
        #[serde(serialize_with = "json::float")]
        seconds: f64,
        #[serde(serialize_with = "json::float")]
        accepted_pps: f64,
    }
    json::pretty(&Document {
        interface: name,
        by,
        offered: sent.offered,
        accepted: sent.accepted,
        dropped: sent.dropped,
        refused: sent.refused(),
        seconds: elapsed.as_secs_f64(),
        accepted_pps: rate(sent, elapsed),
    }) + "\n"
}
