//! Hosts that have fallen silent.
//!
//! Only a host itself reports its probes, so a host that is gone loses none: its probes just stop. A host that sent at a
//! steady rate sends nothing for a time `t` with the probability `exp(-rate t)`, a Poisson process. So its silence has
//! the score `rate t`, and like any score it needs `ln(hosts / chance)`. The rate is that of the last two windows with
//! probes of it, the larger one, for it may have stopped early in the last. It must also be silent for half a window, longer
//! than the restart of an agent, and an agent that stops with all others stopped with the capture: in a dataset silence
//! counts up to the last probe of any host, in a live mesh up to the end of the window.

use super::faint::Earlier;
use super::place::FaultLocation;
use super::settings::Settings;
use super::suspects::Suspect;
use alloc::vec;
use alloc::vec::Vec;

/// A host that has been silent for this many windows is taken as removed: one hour at 20 s a window.
const REMOVED: i64 = 180;
/// Fewer silent hosts than this are named one by one, even if they are most of the mesh.
const FEW: usize = 3;

/// When each host was heard last.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    hosts: Vec<Heard>,
    /// In a live mesh: windows that begin before this give no verdict, since agents that lost their connection to the
    /// collector with the last one may not be back yet.
    live_from_ns: Option<i64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Heard {
    /// The last probe, in nanoseconds since 1970.
    last_ns: i64,
    /// Probes in the last window in which the host was heard.
    probes: u64,
    /// The same in the last such window before it.
    before: u64,
    /// The number of that window.
    window: i64,
}

impl Silence {
    /// Judges windows that begin from then on by their end instead of their last probe.
    pub(crate) const fn live_from(&mut self, from_ns: i64) {
        self.live_from_ns = Some(from_ns);
    }

    pub(crate) const fn is_live(&self) -> bool {
        self.live_from_ns.is_some()
    }

    /// Adds a host that was heard before.
    pub(crate) fn seed_host(&mut self, host: u32, last_ns: i64, probes: u64, window: i64) {
        let hosts = self.hosts.len().max(host as usize + 1);
        self.hosts.resize(hosts, Heard::default());
        self.hosts[host as usize] = Heard {
            last_ns,
            probes,
            before: 0,
            window,
        };
    }

    /// Whether a host was heard recently enough to be missed in a window.
    pub(crate) fn misses_in(&self, number: i64) -> bool {
        self.hosts.iter().any(|host| host.is_missed_in(number))
    }

    /// Adds the probes of a window, as host and time, and returns the silent hosts.
    pub(crate) fn judge(
        &mut self,
        number: i64,
        hosts: usize,
        probes: impl Iterator<Item = (u32, i64)>,
        settings: &Settings,
    ) -> Vec<Suspect> {
        self.hosts.resize(hosts, Heard::default());
        let mut now = vec![(0_u64, i64::MIN); hosts];
        for (host, at_ns) in probes {
            let (probes, last_ns) = &mut now[host as usize];
            *probes += 1;
            *last_ns = at_ns.max(*last_ns);
        }
        let start_ns = number * settings.window_ns;
        let end_ns = start_ns + settings.window_ns;
        let newest_ns = now.iter().map(|(_, last_ns)| *last_ns).max().unwrap_or(i64::MIN);
        let until_ns = if self.is_live() { end_ns } else { newest_ns };
        let starts = self.live_from_ns.is_some_and(|from_ns| start_ns < from_ns);
        let mut silent = Vec::new();
        for ((host, heard), (probes, last_ns)) in (0..).zip(&mut self.hosts).zip(now) {
            let usual = *heard;
            if probes > 0 {
                *heard = Heard {
                    last_ns: last_ns.max(usual.last_ns),
                    probes,
                    before: usual.probes,
                    window: number,
                };
            }
            if !starts && usual.is_missed_in(number) {
                silent.extend(missing(host, usual, heard.last_ns, until_ns, hosts, settings));
            }
        }
        silent.sort_by_key(|suspect| (core::cmp::Reverse(suspect.anomalous), suspect.place));
        let heard = self.hosts.iter().filter(|heard| heard.is_missed_in(number + 1)).count();
        if silent.len() >= FEW && silent.len() * 2 > heard {
            return Vec::from([together(&silent)]);
        }
        silent.truncate(settings.max_verdicts);
        silent
    }
}

impl Heard {
    /// Probes of a window that is heard as a whole.
    fn usual(&self) -> u64 {
        self.probes.max(self.before)
    }

    /// Whether a host that is not heard in a window is missed there.
    const fn is_missed_in(self, number: i64) -> bool {
        self.probes > 0 && number - self.window <= REMOVED
    }
}

/// Returns a host whose last probe is too long ago.
fn missing(host: u32, usual: Heard, last_ns: i64, until_ns: i64, hosts: usize, settings: &Settings) -> Option<Suspect> {
    let silent_ns = until_ns.saturating_sub(last_ns);
    if silent_ns < settings.window_ns / 2 {
        return None;
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "probes of one window, and of a time"
    )]
    let (score, missing, needed) = {
        let expected = |silent_ns: i64| usual.usual() as f64 * silent_ns as f64 / settings.window_ns as f64;
        (
            expected(silent_ns),
            libm::round(expected(silent_ns.min(settings.window_ns))) as u64,
            libm::log(hosts as f64 / settings.chance),
        )
    };
    (score > needed).then(|| Suspect {
        place: FaultLocation::Host(host),
        also: Vec::new(),
        probes: usual.usual(),
        anomalous: missing,
        score,
        earlier: Some(Earlier {
            windows: 1,
            from_ns: last_ns,
            corrupt: 0,
        }),
    })
}

/// Returns most hosts of a mesh as one suspect: what they share is the collector.
fn together(silent: &[Suspect]) -> Suspect {
    let from_ns = silent.iter().filter_map(|host| Some(host.earlier?.from_ns)).min();
    Suspect {
        place: FaultLocation::Collector,
        also: silent.iter().map(|host| host.place).collect(),
        probes: silent.iter().map(|host| host.probes).sum(),
        anomalous: silent.iter().map(|host| host.anomalous).sum(),
        score: silent.iter().map(|host| host.score).sum(),
        earlier: from_ns.map(|from_ns| Earlier {
            windows: 1,
            from_ns,
            corrupt: 0,
        }),
    }
}
