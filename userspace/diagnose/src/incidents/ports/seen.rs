//! What the readings of a port add up to.

use alloc::collections::BTreeMap;
use rocescope_model::SwitchPortRow;

/// Readings whose times are kept, of each kind.
const MAX_TIMES: usize = 4_096;

/// The largest pause of a frame: 65,535 times the time of 512 bits (IEEE 802.1Qbb).
const PAUSE_BITS: f64 = 65_535.0 * 512.0;

/// The speed of a port that does not state it: a pause is shorter on a faster one.
const SPEED: f64 = 100e9;

/// Damaged frames, drops and light of a port.
#[derive(Debug, Default)]
pub(super) struct Damage {
    pub(super) in_frames: Option<u64>,
    /// Frames with a wrong check sequence.
    pub(super) fcs: Option<u64>,
    /// All received frames with errors.
    pub(super) errors: Option<u64>,
    /// Code words that FEC could not correct.
    pub(super) uncorrected: Option<u64>,
    /// When the first and the last of them were read.
    pub(super) first_ns: Option<i64>,
    pub(super) last_ns: i64,
    pub(super) bit_error_ratio: Option<f64>,
    pub(super) rx_dbm: Option<f64>,
    pub(super) tx_dbm: Option<f64>,
    pub(super) dark_lanes: u32,
    /// Received frames that were dropped, by the time of the reading.
    pub(super) dropped: BTreeMap<i64, u64>,
    read_ns: i64,
}

impl Damage {
    pub(super) fn add(&mut self, row: &SwitchPortRow) {
        sum(&mut self.in_frames, row.in_frames);
        sum(&mut self.fcs, row.fcs_errors);
        sum(&mut self.errors, row.in_errors);
        sum(&mut self.uncorrected, row.fec_uncorrected);
        let damaged = [row.fcs_errors, row.in_errors, row.fec_uncorrected];
        if damaged.iter().flatten().any(|count| *count > 0) {
            self.first_ns = Some(self.first_ns.map_or(row.time_ns, |first| first.min(row.time_ns)));
            self.last_ns = self.last_ns.max(row.time_ns);
        }
        if row.in_dropped_frames > Some(0) && self.dropped.len() < MAX_TIMES {
            *self.dropped.entry(row.time_ns).or_default() += row.in_dropped_frames.unwrap_or(0);
        }
        self.bit_error_ratio = max(self.bit_error_ratio, row.bit_error_ratio);
        if row.time_ns >= self.read_ns {
            self.read_ns = row.time_ns;
            self.rx_dbm = row.rx_power_dbm.or(self.rx_dbm);
            self.tx_dbm = row.tx_power_dbm.or(self.tx_dbm);
            self.dark_lanes = row.dark_lanes.unwrap_or(self.dark_lanes);
        }
    }

    /// Damaged frames; `None` if the port does not count them.
    pub(super) fn damaged(&self) -> Option<u64> {
        self.fcs.max(self.errors).max(self.uncorrected)
    }
}

/// Pauses of a port, in one priority or in all.
#[derive(Debug, Default)]
pub(super) struct Pause {
    /// PFC frames that it sent.
    pub(super) sent: Option<u64>,
    /// PFC frames that it received.
    pub(super) received: Option<u64>,
    /// The readings in which it was paused for much of the time.
    pub(super) paused: Busy,
    /// The readings in which it paused the other end for much of the time.
    pub(super) pausing: Busy,
    /// Storms that the watchdog found and that are over.
    pub(super) storms: u64,
    pub(super) restores: u64,
    /// The times of readings in which it sent pauses.
    pub(super) sent_at: BTreeMap<i64, u64>,
    pub(super) readings: u64,
    pub(super) first_ns: Option<i64>,
    pub(super) last_ns: i64,
}

/// Readings in which pauses took much of the time.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Busy {
    pub(super) readings: u64,
    /// From the start of the first to the end of the last.
    pub(super) first_ns: i64,
    pub(super) last_ns: i64,
    /// Time of these readings, and how much of it was paused.
    pub(super) time_ns: f64,
    pub(super) paused_ns: f64,
    /// Whether the switch counts the time, or it follows from frames and is an upper bound.
    pub(super) is_counted: bool,
}

/// The share of a reading that is much, if the switch counts the time.
const COUNTED_SHARE: f64 = 0.01;
/// The same if only frames are counted: each may have paused for less than the time that is assumed.
const ASSUMED_SHARE: f64 = 0.1;

impl Pause {
    pub(super) fn add(&mut self, row: &SwitchPortRow) {
        sum(&mut self.sent, row.sent_pause_frames);
        sum(&mut self.received, row.received_pause_frames);
        self.storms += row.watchdog_storms.unwrap_or(0);
        self.restores += row.watchdog_restores.unwrap_or(0);
        self.readings += 1;
        self.first_ns = Some(self.first_ns.map_or(row.time_ns, |first| first.min(row.time_ns)));
        self.last_ns = self.last_ns.max(row.time_ns);
        if row.sent_pause_frames > Some(0) && self.sent_at.len() < MAX_TIMES {
            self.sent_at.insert(row.time_ns, row.sent_pause_frames.unwrap_or(0));
        }
        self.paused.add(row, row.received_pause_frames, row.paused_ns);
        self.pausing.add(row, row.sent_pause_frames, row.pausing_ns);
        // A watchdog drops the frames of a port that is paused for too long, and some switches stop counting pauses then.
        if row.watchdog_storms > Some(0) {
            self.paused.stretch(row);
        }
    }
}

impl Busy {
    fn add(&mut self, row: &SwitchPortRow, frames: Option<u64>, counted_ns: Option<i64>) {
        let Some(interval_ns) = row.interval_ns.filter(|interval| *interval > 0) else {
            return;
        };
        let of_frame_ns = PAUSE_BITS / row.speed_bps.unwrap_or(SPEED) * 1e9;
        let (paused_ns, least) = match counted_ns {
            Some(counted) => (counted as f64, COUNTED_SHARE),
            None => (frames.unwrap_or(0) as f64 * of_frame_ns, ASSUMED_SHARE),
        };
        if paused_ns < least * interval_ns as f64 {
            return;
        }
        self.stretch(row);
        self.readings += 1;
        self.time_ns += interval_ns as f64;
        self.paused_ns += paused_ns.min(interval_ns as f64);
        self.is_counted = counted_ns.is_some();
    }

    fn stretch(&mut self, row: &SwitchPortRow) {
        let begun_ns = row.time_ns.saturating_sub(row.interval_ns.unwrap_or(0));
        self.first_ns = match self.last_ns {
            0 => begun_ns,
            _ => self.first_ns.min(begun_ns),
        };
        self.last_ns = self.last_ns.max(row.time_ns);
    }

    /// Whether there was any.
    pub(super) const fn is_any(&self) -> bool {
        self.last_ns != 0
    }

    /// Whether both lasted at the same time.
    pub(super) const fn overlaps(&self, other: &Self) -> bool {
        self.is_any() && other.is_any() && self.first_ns < other.last_ns && other.first_ns < self.last_ns
    }

    /// The share of its time, from 0 to 1.
    pub(super) fn share(&self) -> f64 {
        self.paused_ns / self.time_ns.max(1.0)
    }
}

fn sum(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

fn max(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}
