//! Selects how frames are captured, and opens the source.

use super::report::{LiveReport, VerdictReason};
use super::tap::FrameTap;
use crate::error::{Conflict, EngineError, Result};
use crate::request::{CaptureRequest, Mode, VerdictPolicy};
use rocescope_capture::af_packet::{Direction, PacketSocket};
use rocescope_capture::sniffer::{Sniffer, SnifferPort};
use rocescope_capture::xdp::{self, Capture};
use rocescope_host::interface::Interface;
use rocescope_host::privileges::{self, Capability};
use rocescope_record::Config;

/// Beyond the budget of exact times, live captures mark one PSN in sixteen: enough round trips, few extra runs.
const MARK_MASK: u32 = 15;

/// The opened source of frames.
pub(super) struct Plan {
    pub(super) source: Source,
    /// The capture mode of each interface.
    modes: Vec<&'static str>,
    verdict: Option<VerdictReason>,
    /// Why XDP is unavailable, if this plan replaces it.
    pub(super) xdp_refused: Option<String>,
}

/// The source of frames.
pub(super) enum Source {
    /// The XDP program, attached.
    Xdp(Box<Capture>),
    /// One packet socket for each interface, or all RDMA devices.
    Frames(Vec<FrameTap>),
}

/// Why XDP is unavailable, and whether `auto` may fall back to packet sockets.
struct Refusal {
    error: EngineError,
    may_fall_back: bool,
}

impl From<EngineError> for Refusal {
    fn from(error: EngineError) -> Self {
        Self {
            error,
            may_fall_back: true,
        }
    }
}

impl Plan {
    pub(super) fn make(request: &CaptureRequest, interfaces: &[Interface], config: Config) -> Result<Self> {
        let mode = request.mode;
        let needs_socket = request.needs_socket();
        if mode == Mode::AfPacket || (mode == Mode::Auto && needs_socket.is_some()) {
            if request.verdict == VerdictPolicy::Drop {
                return Err(Conflict::DropBySocket.into());
            }
            return packet(interfaces, request.direction);
        }
        if let Some(reason) = needs_socket {
            return Err(Conflict::OnlyBySocket(reason).into());
        }
        match xdp(request, interfaces, config) {
            Ok(plan) => Ok(plan),
            // A packet socket cannot drop frames.
            Err(refusal) if mode == Mode::Auto && refusal.may_fall_back && request.verdict != VerdictPolicy::Drop => {
                let reason = refusal.error.whole();
                let plan = packet(interfaces, request.direction).map_err(|_| refusal.error)?;
                Ok(Self {
                    xdp_refused: Some(reason),
                    ..plan
                })
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

    pub(super) fn clock_source(&self) -> &'static str {
        match &self.source {
            Source::Xdp(_) => "kernel monotonic clock",
            Source::Frames(taps) => taps.first().map_or("none", FrameTap::clock),
        }
    }

    /// The report before the first frame.
    pub(super) fn report(&self, interfaces: &[Interface]) -> LiveReport {
        let names = interfaces.iter().map(|interface| interface.name.clone());
        LiveReport {
            interfaces: names.zip(self.modes.iter().copied()).collect(),
            verdict: self.verdict.clone(),
            xdp_refused: self.xdp_refused.clone(),
            clock_source: self.clock_source(),
            boundary_slack_ns: match &self.source {
                Source::Xdp(capture) => capture.config().tick_ns,
                Source::Frames(_) => 0,
            },
            ..LiveReport::default()
        }
    }
}

fn xdp(request: &CaptureRequest, interfaces: &[Interface], config: Config) -> Result<Plan, Refusal> {
    require(&privileges::XDP, "XDP")?;
    let verdict = decide(request.verdict, interfaces);
    let connections = request.intake.settings.connections;
    let config = Config {
        // Every message is a run of its own.
        mark_mask: if connections.is_some_and(|chosen| chosen.steps) {
            0
        } else {
            MARK_MASK
        },
        verdict: number(&verdict),
        ..config
    };
    let options = xdp::Options {
        ring_bytes: usize::try_from(request.ring_bytes).unwrap_or(usize::MAX),
        ..xdp::Options::default()
    };
    let mut capture = Capture::load(options, config).map_err(refused)?;
    let mode = match request.mode {
        Mode::Native => xdp::Mode::Native,
        Mode::Generic => xdp::Mode::Generic,
        _ => xdp::Mode::Auto,
    };
    let mut modes = Vec::new();
    for interface in interfaces {
        let attached = capture.attach(interface.index, mode).map_err(|error| Refusal {
            // The user must resolve a conflict with another XDP program on the interface.
            may_fall_back: !matches!(error, xdp::Error::Occupied { .. }),
            error: EngineError::Attach(interface.name.clone(), Box::new(error)),
        })?;
        modes.push(match attached {
            xdp::Mode::Generic => "xdp generic",
            _ => "xdp native",
        });
    }
    Ok(Plan {
        source: Source::Xdp(Box::new(capture)),
        modes,
        verdict: Some(verdict),
        xdp_refused: None,
    })
}

/// Why the kernel does not load the program.
fn refused(error: xdp::Error) -> EngineError {
    let lacks_trust = privileges::missing(&[privileges::TRUST]).is_ok_and(|missing| !missing.is_empty());
    match error {
        xdp::Error::Program(_) if lacks_trust => EngineError::Untrusted {
            grant: privileges::grant(&privileges::XDP),
            source: Box::new(error),
        },
        error => error.into(),
    }
}

fn packet(interfaces: &[Interface], direction: Direction) -> Result<Plan> {
    require(&privileges::AF_PACKET, "AF_PACKET")?;
    let sockets: Result<Vec<_>> = interfaces
        .iter()
        .map(|interface| {
            let opened = PacketSocket::open(interface, direction).map(FrameTap::Socket);
            opened.map_err(|error| EngineError::OpenSocket(interface.name.clone(), Box::new(error)))
        })
        .collect();
    Ok(Plan {
        source: Source::Frames(sockets?),
        modes: vec!["af_packet"; interfaces.len()],
        verdict: None,
        xdp_refused: None,
    })
}

/// All frames of RDMA devices.
pub(super) fn devices(request: &CaptureRequest, ports: Vec<SnifferPort>) -> Result<Plan> {
    if request.mode != Mode::Auto {
        return Err(Conflict::DeviceMode.into());
    }
    if request.verdict == VerdictPolicy::Drop {
        return Err(Conflict::DropBySocket.into());
    }
    require(&privileges::AF_PACKET, "the frames of an RDMA device")?;
    let modes = vec!["rdma sniffer"; ports.len()];
    let taps = ports
        .into_iter()
        .map(|port| Ok(FrameTap::Device(Box::new(Sniffer::open(port)?))));
    Ok(Plan {
        source: Source::Frames(taps.collect::<Result<_>>()?),
        modes,
        verdict: None,
        xdp_refused: None,
    })
}

/// The verdict in the form that the XDP program needs.
pub(super) fn number(verdict: &VerdictReason) -> u32 {
    u32::from(verdict.is_drop)
}

/// Decides the verdict. Passing costs a kernel packet for every mirrored frame; dropping cuts off other
/// users of the interface.
pub(super) fn decide<'a>(policy: VerdictPolicy, interfaces: impl IntoIterator<Item = &'a Interface>) -> VerdictReason {
    let (is_drop, reason) = match policy {
        VerdictPolicy::Pass => (false, "as requested".into()),
        VerdictPolicy::Drop => (true, "as requested".into()),
        VerdictPolicy::Auto => {
            let used = interfaces
                .into_iter()
                .find_map(|interface| Some((interface, interface.in_use()?)));
            match used {
                Some((interface, reason)) => (false, format!("{}: {reason}", interface.name)),
                None => (
                    true,
                    "no address, no master and no default route: nothing else uses the frames".into(),
                ),
            }
        }
    };
    VerdictReason { is_drop, reason }
}

fn require(needed: &[Capability], needed_by: &'static str) -> Result<()> {
    let missing = privileges::missing(needed).map_err(EngineError::Capabilities)?;
    if missing.is_empty() {
        return Ok(());
    }
    Err(EngineError::Privileges {
        needed_by,
        missing: missing.iter().map(|capability| capability.name).collect(),
        grant: privileges::grant(needed),
    })
}
