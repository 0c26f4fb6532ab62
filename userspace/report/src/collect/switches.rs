//! What switches counted at their ports, and the drops that they reported.

use super::MAX_NAMES;
use rocescope_model::{Over, Row, SwitchDropRow, SwitchPortRow};
use std::collections::{BTreeMap, BTreeSet};

/// Ports, queues and priorities that the sums follow: 1,000 switches with 64 ports, some of them with their queues.
const FOLLOWED: usize = 200_000;

/// The switches of the scope.
#[derive(Debug)]
pub struct SwitchFigures {
    /// Switches, sorted by name.
    pub switches: BTreeSet<String>,
    /// Ports of them with readings.
    pub ports: usize,
    /// Rows of further ports, queues, priorities and drops, which are not in the sums.
    pub unfollowed: u64,
    /// Whether any reading has counters of dropped frames; without, drops are unknown.
    pub counts_drops: bool,
    /// Ports with drops, pauses, marks or errors, each with its queues and priorities that have some: most drops first,
    /// then most pauses.
    pub troubled: Vec<SwitchPort>,
    /// Drops with their reason, most frames first.
    pub drops: Vec<SwitchDropRow>,
    /// Restarts of switches and resets of their counters: those of several ports in one second are one.
    pub resets: u64,
}

impl SwitchFigures {
    /// The rows of all ports with trouble.
    pub(crate) fn rows(&self) -> Vec<SwitchPortRow> {
        self.troubled.iter().flat_map(|port| port.rows.clone()).collect()
    }
}

/// A port of a switch.
#[derive(Debug)]
pub struct SwitchPort {
    /// Name of the switch.
    pub switch: String,
    /// Name of the port.
    pub name: String,
    /// Its sums over the time, and those of its queues and priorities: a part of the same frames.
    pub rows: Vec<SwitchPortRow>,
}

impl SwitchPort {
    /// Frames that the port dropped: those of its row, or of all its queues where these are more.
    #[must_use]
    pub fn dropped_frames(&self) -> u64 {
        let received = self.largest(|row| row.in_dropped_frames.unwrap_or(0));
        received.saturating_add(self.largest(|row| row.out_dropped_frames.unwrap_or(0)))
    }

    /// PFC frames that it sent and received.
    #[must_use]
    pub fn pause_frames(&self) -> u64 {
        let sent = self.largest(|row| row.sent_pause_frames.unwrap_or(0));
        sent.saturating_add(self.largest(|row| row.received_pause_frames.unwrap_or(0)))
    }

    /// How long it was paused, in nanoseconds: by the priority that was paused longest.
    #[must_use]
    pub fn paused_ns(&self) -> i64 {
        self.rows.iter().filter_map(|row| row.paused_ns).max().unwrap_or(0)
    }

    /// Storms that the PFC watchdog found.
    #[must_use]
    pub fn storms(&self) -> u64 {
        self.largest(|row| row.watchdog_storms.unwrap_or(0))
    }

    /// Received frames with errors, and frames that errors kept from being sent.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.largest(errors)
    }

    /// What the source with the most counts. One part of its rows has every frame: that of the port, those of its queues,
    /// or those of its priorities.
    fn largest(&self, figure: fn(&SwitchPortRow) -> u64) -> u64 {
        let mut sums: BTreeMap<(&str, u8), u64> = BTreeMap::new();
        for row in &self.rows {
            let part = match (row.queue, row.priority) {
                (Some(_), _) => 1,
                (None, Some(_)) => 2,
                (None, None) => 0,
            };
            let sum = sums.entry((&row.source, part)).or_default();
            *sum = sum.saturating_add(figure(row));
        }
        sums.into_values().max().unwrap_or(0)
    }
}

fn errors(row: &SwitchPortRow) -> u64 {
    // `fcs_errors` are a part of `in_errors` where both are counted.
    let received = row.in_errors.max(row.fcs_errors).max(row.symbol_errors).unwrap_or(0);
    received.saturating_add(row.out_errors.unwrap_or(0))
}

fn is_troubled(row: &SwitchPortRow) -> bool {
    let counts = [
        row.in_dropped_frames,
        row.out_dropped_frames,
        row.sent_pause_frames,
        row.received_pause_frames,
        row.ecn_marked_frames,
        row.watchdog_storms,
        row.fec_uncorrected,
        row.dark_lanes.map(u64::from),
    ];
    let times = [row.pausing_ns, row.paused_ns];
    errors(row) > 0
        || counts.into_iter().flatten().any(|count| count > 0)
        || times.into_iter().flatten().any(|time_ns| time_ns > 0)
}

/// Switch, port, queue and priority.
type Place = (String, String, Option<u32>, Option<u8>);
/// Who read it, and from where.
type Reader = (String, String);

#[derive(Debug, Default)]
pub(super) struct Switches {
    switches: BTreeSet<String>,
    sums: BTreeMap<Place, BTreeMap<Reader, SwitchPortRow>>,
    drops: BTreeMap<String, SwitchDropRow>,
    counts_drops: bool,
    unfollowed: u64,
    /// Each with its second.
    resets: BTreeSet<(String, i64)>,
}

impl Switches {
    /// Adds a reading; those of a port in the order of time.
    pub(super) fn port(&mut self, row: &SwitchPortRow) {
        self.name(&row.switch);
        self.counts_drops |= row.in_dropped_frames.is_some() || row.out_dropped_frames.is_some();
        if matches!(row.event.as_deref(), Some("restart" | "reset")) && self.resets.len() < MAX_NAMES {
            self.resets
                .insert((row.switch.to_string(), row.time_ns / 1_000_000_000));
        }
        let place = (
            row.switch.to_string(),
            row.port_name.to_string(),
            row.queue,
            row.priority,
        );
        let reader = (row.observer.to_string(), row.source.to_string());
        let is_full = self.sums.len() >= FOLLOWED && !self.sums.contains_key(&place);
        if is_full {
            self.unfollowed += 1;
            return;
        }
        let readers = self.sums.entry(place).or_default();
        match readers.get_mut(&reader) {
            Some(sum) => sum.merge(row, Over::Time),
            None => drop(readers.insert(reader, row.clone())),
        }
    }

    /// Adds a report of drops.
    pub(super) fn dropped(&mut self, row: &SwitchDropRow) {
        self.name(&row.switch);
        let key = format!(
            "{:?}",
            (
                &row.observer,
                &row.switch,
                &row.in_port,
                &row.out_port,
                row.queue,
                &row.reason,
                row.src,
                row.dst,
                row.udp_src_port,
                row.dst_qpn,
            )
        );
        let is_full = self.drops.len() >= FOLLOWED;
        match self.drops.get_mut(&key) {
            Some(sum) => sum.merge(row, Over::Time),
            None if !is_full => drop(self.drops.insert(key, row.clone())),
            None => self.unfollowed += 1,
        }
    }

    fn name(&mut self, switch: &str) {
        if self.switches.len() < MAX_NAMES && !self.switches.contains(switch) {
            self.switches.insert(switch.into());
        }
    }

    /// The figures; `None` without rows.
    pub(super) fn finish(self) -> Option<SwitchFigures> {
        if self.sums.is_empty() && self.drops.is_empty() {
            return None;
        }
        let mut ports = 0;
        let mut troubled: Vec<SwitchPort> = Vec::new();
        let mut last: Option<(String, String)> = None;
        for ((switch, name, _, _), readers) in self.sums {
            let port = (switch, name);
            ports += usize::from(last.as_ref() != Some(&port));
            let rows = best(readers).filter(is_troubled);
            for row in rows {
                match troubled.last_mut() {
                    Some(known) if known.switch == port.0 && known.name == port.1 => known.rows.push(row),
                    _ => troubled.push(SwitchPort {
                        switch: port.0.clone(),
                        name: port.1.clone(),
                        rows: vec![row],
                    }),
                }
            }
            last = Some(port);
        }
        troubled
            .sort_by_cached_key(|port| std::cmp::Reverse((port.dropped_frames(), port.pause_frames(), port.errors())));
        let mut drops: Vec<SwitchDropRow> = self.drops.into_values().collect();
        drops.sort_by_key(|row| std::cmp::Reverse(frames(row)));
        Some(SwitchFigures {
            switches: self.switches,
            ports,
            unfollowed: self.unfollowed,
            counts_drops: self.counts_drops,
            troubled,
            drops,
            resets: self.resets.len() as u64,
        })
    }
}

/// Frames that reports of drops stand for.
#[must_use]
pub(crate) fn frames(row: &SwitchDropRow) -> u64 {
    row.estimated_frames.unwrap_or(row.dropped_frames)
}

/// The sums of each source. Of several that read one source of a port, those of one: the longest time.
fn best(readers: BTreeMap<Reader, SwitchPortRow>) -> impl Iterator<Item = SwitchPortRow> {
    let mut sources: BTreeMap<String, SwitchPortRow> = BTreeMap::new();
    for ((_, source), row) in readers {
        match sources.get_mut(&source) {
            Some(known) if known.interval_ns >= row.interval_ns => {}
            Some(known) => *known = row,
            None => drop(sources.insert(source, row)),
        }
    }
    sources.into_values()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(port: &'static str, queue: Option<u32>, dropped: Option<u64>) -> SwitchPortRow {
        SwitchPortRow {
            observer: "a".into(),
            switch: "leaf1".into(),
            port_name: port.into(),
            queue,
            interval_ns: Some(1),
            out_dropped_frames: dropped,
            source: "prometheus".into(),
            ..SwitchPortRow::default()
        }
    }

    #[test]
    fn ports_with_most_drops_come_first_and_queues_are_a_part_of_them() {
        let mut switches = Switches::default();
        for row in [
            row("p1", None, Some(2)),
            row("p2", None, Some(4)),
            row("p2", Some(3), Some(7)),
            row("p2", None, Some(6)),
            row("p3", None, Some(0)),
        ] {
            switches.port(&row);
        }
        let figures = switches.finish().unwrap();
        assert_eq!((figures.switches.len(), figures.ports), (1, 3));
        let ports = figures.troubled.iter();
        let ports: Vec<_> = ports
            .map(|port| (&*port.name, port.dropped_frames(), port.rows.len()))
            .collect();
        assert_eq!(ports, [("p2", 10, 2), ("p1", 2, 1)]);
        assert!(figures.counts_drops);
        assert!(Switches::default().finish().is_none());
    }

    #[test]
    fn readings_of_two_receivers_count_once() {
        let mut switches = Switches::default();
        for (observer, interval_ns) in [("a", 1), ("b", 2)] {
            switches.port(&SwitchPortRow {
                observer: observer.into(),
                interval_ns: Some(interval_ns),
                ..row("p1", None, Some(5))
            });
        }
        let figures = switches.finish().unwrap();
        assert_eq!(figures.troubled[0].dropped_frames(), 5);
        assert_eq!(&*figures.troubled[0].rows[0].observer, "b");
    }

    #[test]
    fn sources_of_one_port_are_not_added_up() {
        let mut switches = Switches::default();
        for source in ["sflow", "gnmi"] {
            switches.port(&SwitchPortRow {
                source: source.into(),
                in_dropped_frames: Some(3),
                ..row("p1", None, None)
            });
        }
        switches.port(&row("p1", Some(3), Some(7)));
        let figures = switches.finish().unwrap();
        assert_eq!(figures.troubled[0].dropped_frames(), 10);
    }

    #[test]
    fn reports_of_one_reason_and_flow_add_up() {
        let mut switches = Switches::default();
        let report = |reason: &'static str, dropped_frames| SwitchDropRow {
            observer: "a".into(),
            switch: "leaf1".into(),
            reason: reason.into(),
            dropped_frames,
            ..SwitchDropRow::default()
        };
        for row in [report("acl", 3), report("red", 4), report("acl", 3)] {
            switches.dropped(&row);
        }
        let figures = switches.finish().unwrap();
        let drops: Vec<_> = figures.drops.iter().map(|row| (&*row.reason, frames(row))).collect();
        assert_eq!(drops, [("acl", 6), ("red", 4)]);
        assert!(!figures.counts_drops);
    }
}
