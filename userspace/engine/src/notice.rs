//! The notices of a running capture, one line each.

use crate::live::VerdictReason;
use crate::request::{IntakeRequest, SocketReason};
use rocescope_capture::af_packet::Direction;
use rocescope_host::xdp_program::XdpProgram;
use rocescope_pipeline::Delivery;
use rocescope_pipeline::filter::words;
use rocescope_record::Counters;
use rocescope_runtime::dataset::DatasetNotice;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;

/// A status line for the user.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice {
    /// An interface is captured.
    Capturing {
        /// Its name.
        interface: String,
        /// The capture mode.
        mode: &'static str,
        /// Frames of which direction are captured.
        direction: Direction,
        /// The NIC strips VLAN tags before XDP sees the frame.
        misses_vlan_tags: bool,
        /// No frame goes on to the kernel.
        takes_frames: bool,
        /// Why it is a packet socket, if XDP might be expected.
        needs_socket: Option<SocketReason>,
    },
    /// A packet socket on an interface with an XDP program, which sees the frames before it.
    BesideXdp(String, XdpProgram),
    /// Packet sockets replace XDP; the reason.
    FallsBack(String),
    /// The part of the filter that the kernel applies; `None`: none of it.
    KernelFilter(Option<String>),
    /// Packet sockets filter in user space only.
    UserFilter,
    /// The address of the metrics.
    Metrics(SocketAddr),
    /// An interface is up.
    Up(String),
    /// An interface is down.
    Down(String),
    /// An interface was removed.
    Removed(String),
    /// An interface was renamed.
    Renamed {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// The command of the capture failed.
    CommandEnded(ExitStatus),
    /// Changed options that require a restart.
    HeldBack(Vec<String>),
    /// The configuration was reloaded.
    Reloaded,
    /// The new configuration is invalid, and the old one remains; the reason.
    ReloadRefused(String),
    /// The XDP verdict changed.
    Verdict(VerdictReason),
    /// A reload requests verdict `drop`, which requires XDP.
    CannotDrop,
    /// The kernel program warns.
    Warning(String),
    /// The counters so far, on request.
    Counts {
        /// Frames by class.
        counters: Box<Counters>,
        /// Fabric loss and retransmissions, if connections are tracked.
        delivery: Option<Delivery>,
        /// Further counts as text.
        rest: String,
    },
    /// Frames numbered by mirrors so far.
    Mirrored {
        /// Numbered frames that arrived.
        seen: u64,
        /// Numbered frames that did not arrive.
        lost: u64,
    },
    /// The flight recorder stopped.
    RecorderStopped(String),
    /// The flight recorder could not delete a file.
    NotDeleted(PathBuf, io::Error),
    /// The dataset is not written any more, for this reason.
    StoringEnded(String),
    /// The dataset reports something.
    Dataset(DatasetNotice),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capturing {
                interface,
                mode,
                direction,
                misses_vlan_tags,
                takes_frames,
                needs_socket,
            } => {
                write!(f, "capturing on {interface} with {mode}, {}", direction.frames())?;
                if *misses_vlan_tags {
                    f.write_str(", without the VLAN tags that the NIC strips (--vlan-offload off keeps them)")?;
                }
                if *takes_frames {
                    f.write_str("; frames end here: other programs on it see nothing (--verdict pass)")?;
                }
                if let Some(reason) = needs_socket {
                    write!(f, ": {reason}")?;
                }
                Ok(())
            }
            Self::FallsBack(reason) => write!(f, "XDP is unavailable, falls back to packet sockets: {reason}"),
            Self::BesideXdp(interface, program) => write!(
                f,
                "warning: an XDP program is on {interface}{}: this capture sees only the frames that it passes on",
                by(program)
            ),
            Self::KernelFilter(Some(words)) => {
                write!(f, "filter: the kernel applies `{words}`, user space the whole filter")
            }
            Self::KernelFilter(None) => {
                f.write_str("filter: applied in user space; the kernel cannot apply any part of it")
            }
            Self::UserFilter => f.write_str("filter: applied in user space; packet sockets deliver every frame"),
            Self::Metrics(address) => write!(f, "metrics at http://{address}/metrics"),
            Self::Up(name) => write!(f, "{name} is up"),
            Self::Down(name) => write!(f, "{name} is down: no frames arrive until it is up"),
            Self::Removed(name) => write!(f, "{name} was removed: its capture has ended"),
            Self::Renamed { from, to } => {
                write!(f, "{from} was renamed to {to}: its capture continues")
            }
            Self::CommandEnded(status) => write!(f, "the command failed with {status}"),
            Self::HeldBack(options) => write!(f, "changed options that require a restart: {}", options.join(", ")),
            Self::Reloaded => f.write_str("configuration reloaded"),
            Self::ReloadRefused(why) => write!(f, "configuration not reloaded: {why}"),
            Self::Verdict(verdict) => write!(f, "verdict {}: {}", verdict.name(), verdict.reason),
            Self::CannotDrop => {
                f.write_str("a packet socket cannot drop frames: verdict drop requires XDP and a restart")
            }
            Self::Warning(warning) => write!(f, "warning: {warning}"),
            Self::Counts {
                counters,
                delivery,
                rest,
            } => {
                if let Some(delivery) = delivery {
                    let (lost, again) = (delivery.fabric_lost(), delivery.retransmitted_packets);
                    write!(f, "fabric loss {lost}, retransmitted {again}; ")?;
                }
                write!(
                    f,
                    "{} frames = {} RoCEv2 + {} other + {} malformed + {} fragments + {} filtered + {} snapped; {rest}",
                    counters.frames,
                    counters.roce_packets,
                    counters.not_roce(),
                    counters.malformed(),
                    counters.fragments,
                    counters.filtered,
                    counters.snapped,
                )
            }
            Self::Mirrored { seen, lost } => {
                write!(f, "{} mirrored frames = {seen} seen + {lost} mirror loss", seen + lost)
            }
            Self::RecorderStopped(error) => write!(f, "flight recorder stopped: {error}"),
            Self::NotDeleted(path, error) => write!(f, "cannot delete {}: {error}", path.display()),
            Self::StoringEnded(why) => write!(f, "the dataset is not written any more: {why}; the capture counts on"),
            Self::Dataset(notice) => notice.fmt(f),
        }
    }
}

/// Receives notices from any thread; the default discards them.
#[derive(Clone)]
pub struct Notices(Arc<dyn Fn(Notice) + Send + Sync>);

impl Notices {
    /// Passes notices to `take`.
    pub fn to(take: impl Fn(Notice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// Sends a notice.
    pub fn send(&self, notice: Notice) {
        (self.0)(notice);
    }

    /// Where a dataset reports.
    pub(crate) fn dataset(&self) -> impl Fn(DatasetNotice) {
        |notice| self.send(Notice::Dataset(notice))
    }

    /// Reports which part of the filter the kernel applies, if there is a filter.
    pub(crate) fn filter(&self, intake: &IntakeRequest) {
        if intake.settings.filter.is_some() {
            self.send(Notice::KernelFilter(words(&intake.config().filter)));
        }
    }

    /// Reports the counters so far, and `rest`.
    pub(crate) fn counts(&self, counters: &Counters, delivery: Option<Delivery>, rest: String) {
        let (seen, lost) = (counters.mirrored_frames, counters.mirror_lost);
        let counters = Box::new(*counters);
        self.send(Notice::Counts {
            counters,
            delivery,
            rest,
        });
        if seen > 0 {
            self.send(Notice::Mirrored { seen, lost });
        }
    }
}

impl Default for Notices {
    fn default() -> Self {
        Self::to(drop)
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Notices")
    }
}

/// Whose program it is, after the name of the interface.
fn by(program: &XdpProgram) -> String {
    program
        .process
        .as_ref()
        .map_or_else(String::new, |process| format!(" ({process})"))
}
