//! Which way frames are taken, and what that takes.

use super::MARK_MASK;
use crate::arguments::{CaptureArguments, LiveArguments, Mode, Verdict};
use crate::output::Live;
use anyhow::{Context, Result, bail, ensure};
use rocescope_capture::af_packet::PacketSocket;
use rocescope_capture::xdp::{self, Capture};
use rocescope_host::interface::Interface;
use rocescope_host::privileges::{self, Capability};
use rocescope_record::Config;

/// The way, with everything open that it needs.
pub(super) struct Plan {
    pub(super) way: Way,
    /// How the frames of each interface are taken.
    modes: Vec<&'static str>,
    verdict: Option<Decided>,
}

/// What becomes of frames behind XDP, and why.
pub(super) type Decided = (&'static str, String);

/// Where frames come from.
pub(super) enum Way {
    /// The XDP program, attached.
    Xdp(Box<Capture>),
    /// A packet socket an interface.
    Packet(Vec<PacketSocket>),
}

/// Why XDP cannot be had, and whether `auto` may take another way.
struct Refusal {
    error: anyhow::Error,
    next: bool,
}

impl Plan {
    pub(super) fn make(
        arguments: &CaptureArguments,
        interfaces: &[Interface],
        config: Config,
    ) -> Result<Self> {
        let mode = arguments.live.mode;
        let keeps_frames = arguments.recorder.keep_frames.is_some();
        if mode == Mode::AfPacket || (mode == Mode::Auto && (arguments.verify_icrc || keeps_frames))
        {
            ensure!(
                arguments.live.verdict != Verdict::Drop,
                "a packet socket cannot drop frames: --verdict drop takes XDP"
            );
            return packet(interfaces);
        }
        ensure!(
            !keeps_frames,
            "--keep-frames takes frames, which XDP does not hand over: use --mode af-packet"
        );
        ensure!(
            !arguments.verify_icrc,
            "--verify-icrc takes whole frames, which XDP does not hand over: use --mode af-packet"
        );
        match xdp(&arguments.live, interfaces, config) {
            Ok(plan) => Ok(plan),
            Err(refusal) if mode == Mode::Auto && refusal.next => {
                let plan = packet(interfaces).map_err(|_| refusal.error)?;
                Ok(plan)
            }
            Err(refusal) => Err(refusal.error),
        }
    }

    /// The modes, for the footer of every segment.
    pub(super) fn mode_names(&self) -> String {
        let mut names = self.modes.clone();
        names.dedup();
        names.join(", ")
    }

    pub(super) const fn clock_source(&self) -> &'static str {
        match self.way {
            Way::Xdp(_) => "kernel monotonic clock",
            Way::Packet(_) => "kernel packet timestamps",
        }
    }

    /// What is known before the first frame.
    pub(super) fn report(&self, interfaces: &[Interface]) -> Live {
        let names = interfaces.iter().map(|interface| interface.name.clone());
        Live {
            interfaces: names.zip(self.modes.iter().copied()).collect(),
            verdict: self.verdict.clone(),
            clock_source: self.clock_source(),
            boundary_slack_ns: match &self.way {
                Way::Xdp(capture) => capture.config().tick_ns,
                Way::Packet(_) => 0,
            },
            ..Live::default()
        }
    }
}

fn xdp(
    arguments: &LiveArguments,
    interfaces: &[Interface],
    config: Config,
) -> Result<Plan, Refusal> {
    let stop = |error| Refusal { error, next: false };
    let next = |error| Refusal { error, next: true };
    require(&privileges::XDP, "XDP").map_err(next)?;
    let verdict = decide(arguments.verdict, interfaces);
    let config = Config {
        mark_mask: MARK_MASK,
        verdict: number(&verdict),
        ..config
    };
    let options = xdp::Options {
        ring_bytes: usize::try_from(arguments.ring_bytes).unwrap_or(usize::MAX),
        ..xdp::Options::default()
    };
    let mut capture = Capture::load(options, config).map_err(|error| next(error.into()))?;
    let mode = match arguments.mode {
        Mode::Native => xdp::Mode::Native,
        Mode::Generic => xdp::Mode::Generic,
        _ => xdp::Mode::Auto,
    };
    let mut modes = Vec::new();
    for interface in interfaces {
        let attached = capture
            .attach(interface.index, mode)
            .map_err(|error| Refusal {
                // A program of somebody else is a matter to be settled, not to be worked around.
                next: !matches!(error, xdp::Error::Occupied(_)),
                error: anyhow::Error::from(error).context(interface.name.clone()),
            })?;
        modes.push(match attached {
            xdp::Mode::Generic => "xdp generic",
            _ => "xdp native",
        });
    }
    if modes.len() != interfaces.len() {
        return Err(stop(anyhow::anyhow!("an interface was left out")));
    }
    Ok(Plan {
        way: Way::Xdp(Box::new(capture)),
        modes,
        verdict: Some(verdict),
    })
}

fn packet(interfaces: &[Interface]) -> Result<Plan> {
    require(&privileges::AF_PACKET, "AF_PACKET")?;
    let sockets: Result<Vec<_>> = interfaces
        .iter()
        .map(|interface| PacketSocket::open(interface).with_context(|| interface.name.clone()))
        .collect();
    Ok(Plan {
        way: Way::Packet(sockets?),
        modes: vec!["af_packet"; interfaces.len()],
        verdict: None,
    })
}

/// As the program in the kernel has it.
pub(super) fn number((verdict, _): &Decided) -> u32 {
    u32::from(*verdict == "drop")
}

/// Passing builds a kernel packet of every mirrored frame; dropping cuts off whoever uses the
/// interface.
pub(super) fn decide<'a>(
    verdict: Verdict,
    interfaces: impl IntoIterator<Item = &'a Interface>,
) -> Decided {
    match verdict {
        Verdict::Pass => ("pass", "as asked".into()),
        Verdict::Drop => ("drop", "as asked".into()),
        Verdict::Auto => {
            let used = interfaces
                .into_iter()
                .find_map(|interface| Some((interface, interface.in_use()?)));
            match used {
                Some((interface, reason)) => ("pass", format!("{}: {reason}", interface.name)),
                None => (
                    "drop",
                    "no address, no master and no default route: nobody else takes the frames"
                        .into(),
                ),
            }
        }
    }
}

fn require(needed: &[Capability], way: &str) -> Result<()> {
    let missing = privileges::missing(needed).context("capabilities")?;
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|capability| capability.name).collect();
    bail!(
        "{way} takes {}, which this process does not have; `{}` grants it",
        names.join(", "),
        privileges::grant(needed)
    )
}
