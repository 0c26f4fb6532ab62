//! What a running capture reports: one line each, in plain words.

use crate::live::VerdictReason;
use crate::request::IntakeRequest;
use rocescope_pipeline::filter::words;
use rocescope_record::Counters;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;

/// A line for the person who runs the capture.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice {
    /// Frames of an interface are taken.
    Capturing {
        /// Its name.
        interface: String,
        /// How.
        mode: &'static str,
        /// The card strips VLAN tags before XDP sees the frame.
        misses_vlan_tags: bool,
        /// A packet socket was chosen because the flight recorder needs frames.
        for_recorder: bool,
    },
    /// The part of the filter that the kernel applies; `None`: none of it.
    KernelFilter(Option<String>),
    /// Packet sockets filter in user space only.
    UserFilter,
    /// Where the metrics are.
    Metrics(SocketAddr),
    /// An interface is up.
    Up(String),
    /// An interface is down.
    Down(String),
    /// An interface was removed.
    Removed(String),
    /// An interface has another name.
    Renamed {
        /// The name before.
        from: String,
        /// The name now.
        to: String,
    },
    /// The command beside the capture failed.
    CommandEnded(ExitStatus),
    /// Options that changed and are applied after a restart only.
    HeldBack(Vec<String>),
    /// The configuration was read again.
    Reloaded,
    /// The new configuration is wrong, and the old one stays; the reason.
    ReloadRefused(String),
    /// What happens to frames behind XDP has changed.
    Verdict(VerdictReason),
    /// A reload asks for dropping, which takes XDP.
    CannotDrop,
    /// The kernel program warns.
    Warning(String),
    /// The counters so far, on request.
    Counts {
        /// What frames were classed as.
        counters: Box<Counters>,
        /// What else is known of them.
        rest: String,
    },
    /// What mirrors numbered so far.
    Mirrored {
        /// Numbered frames that came.
        seen: u64,
        /// Numbered frames that did not come.
        lost: u64,
    },
    /// The flight recorder stopped.
    RecorderStopped(String),
    /// The flight recorder could not delete a file.
    NotDeleted(PathBuf, io::Error),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capturing {
                interface,
                mode,
                misses_vlan_tags,
                for_recorder,
            } => {
                write!(f, "capturing on {interface} by {mode}")?;
                if *misses_vlan_tags {
                    f.write_str(
                        ", which misses VLAN tags that the card takes out (--vlan-offload off)",
                    )?;
                }
                if *for_recorder {
                    f.write_str(": --keep-frames takes frames, which XDP does not hand over")?;
                }
                Ok(())
            }
            Self::KernelFilter(Some(words)) => {
                write!(f, "filter: `{words}` in the kernel, all of it behind it")
            }
            Self::KernelFilter(None) => {
                f.write_str("filter: nothing of it in the kernel, all of it behind it")
            }
            Self::UserFilter => f.write_str(
                "filter: nothing of it in the kernel: packet sockets take every frame, all of it is applied behind them",
            ),
            Self::Metrics(address) => write!(f, "figures at http://{address}/metrics"),
            Self::Up(name) => write!(f, "{name} is up"),
            Self::Down(name) => write!(f, "{name} is down: no frame will come before it is up"),
            Self::Removed(name) => write!(f, "{name} was removed: nothing more comes from it"),
            Self::Renamed { from, to } => write!(f, "{from} is called {to} now, and goes on"),
            Self::CommandEnded(status) => write!(f, "the command has ended with {status}"),
            Self::HeldBack(options) => write!(
                f,
                "changed, and held back until a restart: {}",
                options.join(", ")
            ),
            Self::Reloaded => f.write_str("the configuration was read again"),
            Self::ReloadRefused(why) => write!(f, "the configuration stays as it is: {why}"),
            Self::Verdict(verdict) => write!(f, "verdict {}: {}", verdict.name(), verdict.reason),
            Self::CannotDrop => f.write_str(
                "a packet socket cannot drop frames: verdict drop takes a restart, and XDP",
            ),
            Self::Warning(warning) => write!(f, "warning: {warning}"),
            Self::Counts { counters, rest } => write!(
                f,
                "{} frames = {} RoCEv2 + {} other + {} malformed + {} fragments + {} filtered + {} snapped; {rest}",
                counters.frames,
                counters.roce_packets,
                counters.not_roce(),
                counters.malformed(),
                counters.fragments,
                counters.filtered,
                counters.snapped,
            ),
            Self::Mirrored { seen, lost } => write!(
                f,
                "{} mirrored frames = {seen} seen + {lost} lost on the way here",
                seen + lost
            ),
            Self::RecorderStopped(error) => write!(f, "no more frames are kept: {error}"),
            Self::NotDeleted(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

/// Takes notices, from any thread; the default drops them.
#[derive(Clone)]
pub struct Notices(Arc<dyn Fn(Notice) + Send + Sync>);

impl Notices {
    /// Notices go to `take`.
    pub fn to(take: impl Fn(Notice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// Hands a notice over.
    pub fn send(&self, notice: Notice) {
        (self.0)(notice);
    }

    /// Which part of a filter the kernel applies, where there is a filter.
    pub(crate) fn filter(&self, intake: &IntakeRequest) {
        if intake.settings.filter.is_some() {
            self.send(Notice::KernelFilter(words(&intake.config().filter)));
        }
    }

    /// The counters so far, and what else is known of the frames.
    pub(crate) fn counts(&self, counters: &Counters, rest: String) {
        let (seen, lost) = (counters.mirrored_frames, counters.mirror_lost);
        let counters = Box::new(*counters);
        self.send(Notice::Counts { counters, rest });
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
