//! The monitors of one host: when its agent asks about a step of a job, from the steps that the job reports and the round
//! trips of probes along their paths.
//!
//! Steps are read after they happened, and round trips are known when they end. So both are kept for some seconds, and each
//! step gets the round trips of its own time, in their order: what the monitor decides does not depend on how late a step is
//! read. A question is about that time too: recordings still have it; probes measure what is left of it.
//!
//! | module | contents |
//! |---|---|
//! | `lane` | what a rank sends over a channel |
//! | `path` | a path that is probed |

mod lane;
mod path;

use super::Settings;
use super::notice::StepNotice;
use super::placement::{Place, Placement};
use crate::complaints::Complaints;
use crate::read::{Imported, Operation, Receive};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use lane::Lane;
use path::{HISTORY_NS, Probed};
use rocescope_model::UdpPath;
use rocescope_model::{StepProbeRow, StepRow, Text};

/// Ranks and channels that are watched; others are counted.
const MAX_LANES: usize = 1024;
/// A step that ended this long ago has no successor: its rank waits.
const WAITS_NS: i64 = 100_000_000;
/// Paths and lanes without a step for this long are forgotten.
const IDLE_NS: i64 = 600_000_000_000;
/// Detections that other agents pass on, in a second; more are dropped.
const MAX_NOTICES: u32 = 20;

/// The rules of the monitors of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSettings {
    /// Threshold and number; detections ask at once if `settle_ns` is 0, as no counters of switches are read.
    pub monitor: Settings,
    /// A round trip is slow only if it takes this much longer than the shortest: timestamps of hosts vary.
    pub min_delay_ns: i64,
    /// UDP source port of probes for steps whose port is unknown.
    pub port: u16,
    /// Paths that are probed at the same time; steps on others are counted.
    pub paths: usize,
}

/// What a turn has brought.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    /// Detections and ends of steps. Those that ask have `asked`.
    pub rows: Vec<StepProbeRow>,
    /// What to pass on, each to an agent.
    pub notices: Vec<(Text, StepNotice)>,
}

/// The monitors of one host.
#[derive(Debug, Clone)]
pub struct Host {
    observer: Text,
    settings: HostSettings,
    placement: Placement,
    lanes: BTreeMap<(u32, u16), Lane>,
    paths: BTreeMap<UdpPath, Probed>,
    turn: Turn,
    /// The second of the last notice, and the notices in it.
    noticed: (i64, u32),
    /// What is not watched, and why.
    pub complaints: Complaints,
}

impl Host {
    /// The monitors of the host of this agent.
    #[must_use]
    pub fn new(observer: impl Into<Text>, settings: HostSettings, placement: Placement) -> Self {
        Self {
            observer: observer.into(),
            settings,
            placement,
            lanes: BTreeMap::new(),
            paths: BTreeMap::new(),
            turn: Turn::default(),
            noticed: (0, 0),
            complaints: Complaints::default(),
        }
    }

    /// Other rules, from the next step on.
    pub fn reconfigure(&mut self, settings: HostSettings) {
        self.settings = settings;
        for lane in self.lanes.values_mut() {
            lane.reconfigure(self.settings.monitor);
        }
    }

    /// The paths to probe now.
    pub fn paths(&self) -> impl Iterator<Item = UdpPath> {
        self.paths.keys().copied()
    }

    /// Takes what a job reported by `now_ns`: steps that ended and steps that go on.
    pub fn take(&mut self, ended: &Imported, open: &[StepRow], now_ns: i64) {
        for Receive { by, from } in &ended.receives {
            if let Some(lane) = self.lane(by.rank, by.channel) {
                lane.from = Some((by.collective.clone(), *from));
            }
        }
        let mut rows: Vec<&StepRow> = ended.steps.iter().chain(open).collect();
        rows.sort_by_key(|row| row.time_ns);
        for row in rows {
            self.step(row, now_ns);
        }
        for Operation {
            collective,
            rank,
            channel,
        } in &ended.finished
        {
            let key = (*rank, *channel);
            let is_its = |lane: &Lane| {
                let current = lane.current.as_ref();
                current.is_some_and(|current| current.row.collective == *collective && current.ended_ns.is_some())
            };
            if self.lanes.get(&key).is_some_and(is_its) {
                // Nothing is left to send, so it waits for no data.
                self.close(key, false);
            }
        }
    }

    fn lane(&mut self, rank: u32, channel: u16) -> Option<&mut Lane> {
        if self.lanes.len() >= MAX_LANES && !self.lanes.contains_key(&(rank, channel)) {
            self.complaints.add("too many ranks and channels; not watched", rank);
            return None;
        }
        let settings = self.settings.monitor;
        Some(self.lanes.entry((rank, channel)).or_insert_with(|| Lane::new(settings)))
    }

    fn step(&mut self, row: &StepRow, now_ns: i64) {
        let Some(rank) = row.rank else { return };
        let key = (rank, row.channel.unwrap_or(0));
        let current = self.lanes.get(&key).and_then(|lane| lane.current.as_ref());
        let is_known = current.is_some_and(|current| {
            let known = &current.row;
            known.step == row.step && known.collective == row.collective
        });
        if !is_known {
            if current.is_some_and(|current| row.time_ns < current.row.time_ns) {
                return;
            }
            let Some(path) = self.path(row, rank, now_ns) else {
                return;
            };
            // The one before is over, whether or not its end was reported.
            self.close(key, false);
            let base_ns = self.paths.get(&path).and_then(Probed::base_ns);
            let HostSettings {
                monitor, min_delay_ns, ..
            } = self.settings;
            let threshold_ns = |base_ns: i64| {
                let share_ns = i128::from(base_ns) * i128::from(monitor.threshold_percent) / 100;
                let share_ns = i64::try_from(share_ns).unwrap_or(i64::MAX);
                share_ns.max(base_ns.saturating_add(min_delay_ns))
            };
            let open = StepRow {
                duration_ns: None,
                ..row.clone()
            };
            if let Some(lane) = self.lane(key.0, key.1) {
                lane.begin(open, path, base_ns, threshold_ns);
            }
        }
        if let Some(duration_ns) = row.duration_ns
            && let Some(lane) = self.lanes.get_mut(&key)
        {
            lane.ended(duration_ns, now_ns);
        }
        self.feed(key, now_ns);
    }

    /// The path of a step, which is probed from now on; `None` if it is unknown or there are too many.
    fn path(&mut self, row: &StepRow, rank: u32, now_ns: i64) -> Option<UdpPath> {
        let to = row.dst_host.parse().ok();
        let address = |rank: Option<u32>| {
            let place = self.placement.of(&row.collective, rank?)?;
            Some(place.address)
        };
        let ends = (row.src.or_else(|| address(Some(rank))), row.dst.or_else(|| address(to)));
        let (Some(src), Some(dst)) = ends else {
            let kind = "a step between ranks of which one has no address; its path is not probed";
            let (from, to) = (&row.host, &row.dst_host);
            self.complaints.add(kind, format!("rank {from} to {to}"));
            return None;
        };
        if src == dst {
            return None;
        }
        let path = UdpPath {
            src,
            dst,
            port: row.src_port.unwrap_or(self.settings.port),
        };
        if self.paths.len() >= self.settings.paths && !self.paths.contains_key(&path) {
            self.complaints
                .add("more paths than are probed at a time", format!("{src} > {dst}"));
            return None;
        }
        self.paths.entry(path).or_default().used_ns = now_ns;
        Some(path)
    }

    /// A probe along a path was answered.
    pub fn probed(&mut self, path: &UdpPath, at_ns: i64, rtt_ns: i64) {
        let Some(probed) = self.paths.get_mut(path) else {
            return;
        };
        probed.answered(at_ns, rtt_ns);
        for key in self.on(path) {
            self.feed(key, at_ns);
        }
    }

    /// The last probes along a path are not answered, the oldest for this long.
    pub fn unanswered(&mut self, path: &UdpPath, now_ns: i64, age_ns: i64) {
        for key in self.on(path) {
            let observer = &self.observer;
            let lane = self.lanes.get_mut(&key);
            if let Some(row) = lane.and_then(|lane| lane.unanswered(now_ns, age_ns, observer)) {
                self.detected(row, now_ns);
            }
        }
    }

    /// The lanes whose newest step is on a path.
    fn on(&self, path: &UdpPath) -> Vec<(u32, u16)> {
        let is_on = |lane: &Lane| lane.current.as_ref().is_some_and(|current| current.path == *path);
        let on = self.lanes.iter().filter(|(_, lane)| is_on(lane));
        on.map(|(key, _)| *key).collect()
    }

    fn feed(&mut self, key: (u32, u16), now_ns: i64) {
        let Some(lane) = self.lanes.get_mut(&key) else { return };
        let path = lane.current.as_ref().map(|current| current.path);
        let Some(probed) = path.and_then(|path| self.paths.get(&path)) else {
            return;
        };
        for row in lane.feed(probed, &self.observer) {
            self.detected(row, now_ns);
        }
    }

    fn detected(&mut self, mut row: StepProbeRow, now_ns: i64) {
        let path = UdpPath {
            src: row.src,
            dst: row.dst,
            port: row.udp_src_port,
        };
        // What is older than the history is no longer in recordings either.
        let is_fresh = now_ns.saturating_sub(row.time_ns) <= HISTORY_NS;
        let probed = self.paths.get_mut(&path).filter(|_| is_fresh);
        row.asked = probed.is_some_and(|probed| probed.asks(row.time_ns));
        self.turn.rows.push(row);
    }

    /// An agent passed on detections.
    pub fn notified(&mut self, agent: &str, notice: &StepNotice) {
        if !self.placement.has_agent(agent) {
            self.complaints
                .add("detections of an agent without a rank; dropped", agent);
            return;
        }
        self.accept(notice);
    }

    /// Takes detections, or passes them on.
    fn accept(&mut self, notice: &StepNotice) {
        let key = (notice.rank, notice.channel);
        // In the paper, at most all hosts pass on all that they have.
        let ranks = u32::try_from(self.placement.len()).unwrap_or(u32::MAX);
        let detections = notice
            .detections
            .min(self.settings.monitor.detections.saturating_mul(ranks));
        let Some(lane) = self.lanes.get_mut(&key) else { return };
        let is_its = lane
            .current
            .as_ref()
            .is_some_and(|current| *current.row.collective == *notice.collective);
        if !is_its {
            return;
        }
        if let Some(left) = lane.notified(notice.step, detections) {
            self.pass_on(key, notice.step, notice.origin, left);
        }
    }

    /// Sends detections to the rank whose data a lane lacks. Returns its agent.
    fn pass_on(&mut self, key: (u32, u16), step: u32, origin: u32, detections: u32) -> Option<Text> {
        let (collective, from) = self.lanes.get(&key)?.from.clone()?;
        let Place { agent, .. } = self.placement.of(&collective, from)?.clone();
        if from == origin {
            return None;
        }
        let notice = StepNotice {
            rank: from,
            origin,
            channel: key.1,
            step,
            detections,
            collective: collective.to_string(),
        };
        match agent == self.observer {
            true => self.accept(&notice),
            false => self.turn.notices.push((agent.clone(), notice)),
        }
        Some(agent)
    }

    /// Closes the newest step of a lane.
    fn close(&mut self, key: (u32, u16), waits: bool) {
        let Some(lane) = self.lanes.get_mut(&key) else { return };
        let (row, left) = lane.close(waits, &self.observer);
        let step = lane.current.as_ref().map(|current| current.row.step);
        let agent = match (left, step) {
            (Some(left), Some(step)) => self.pass_on(key, step, key.0, left),
            _ => None,
        };
        if let Some(mut row) = row {
            row.passed_to = agent;
            self.turn.rows.push(row);
        }
    }

    /// What happened since the last turn. Hosts that wait pass on the detections that they have left.
    pub fn turn(&mut self, now_ns: i64) -> Turn {
        let waits = |lane: &Lane| {
            let current = lane.current.as_ref().filter(|current| !current.is_closed);
            let ended_ns = current.and_then(|current| current.ended_ns);
            ended_ns.is_some_and(|ended_ns| now_ns.saturating_sub(ended_ns) >= WAITS_NS)
        };
        let waiting: Vec<(u32, u16)> = self
            .lanes
            .iter()
            .filter(|(_, lane)| waits(lane))
            .map(|(key, _)| *key)
            .collect();
        for key in waiting {
            let lane = self.lanes.get(&key);
            let receives = lane.is_some_and(|lane| {
                let of = lane.current.as_ref().map(|current| &current.row.collective);
                lane.from.as_ref().is_some_and(|(collective, _)| Some(collective) == of)
            });
            self.close(key, receives);
        }
        self.paths
            .retain(|_, probed| now_ns.saturating_sub(probed.used_ns) <= IDLE_NS);
        let paths = &self.paths;
        self.lanes.retain(|_, lane| {
            let current = lane.current.as_ref();
            current.is_none_or(|current| paths.contains_key(&current.path))
        });
        let mut turn = core::mem::take(&mut self.turn);
        turn.notices.retain(|(agent, _)| {
            let second = now_ns.div_euclid(1_000_000_000);
            if self.noticed.0 != second {
                self.noticed = (second, 0);
            }
            self.noticed.1 = self.noticed.1.saturating_add(1);
            if self.noticed.1 > MAX_NOTICES {
                self.complaints.add("too many detections to pass on; dropped", agent);
            }
            self.noticed.1 <= MAX_NOTICES
        });
        turn
    }
}

#[cfg(test)]
mod tests;
