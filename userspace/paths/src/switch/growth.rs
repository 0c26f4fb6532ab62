//! Rows of `switch_ports`: what grew since the reading before, and what was reset.
//!
//! A counter that is smaller than before has been reset, or had 32 bits and started at 0 again. The second is only
//! believed where nothing else explains it: the switch did not restart, no counter of 64 bits became smaller, and the
//! growth is below half of what 32 bits hold. Frames have a better bound: each has at least 60 bytes, and bytes have 64
//! bits. Where even more frames than 32 bits hold may have passed, their number is unknown.

use super::{Count, Counter, Counters, Part, Reading};
use rocescope_model::{SwitchPortRow, Text, Time};
use std::collections::HashMap;

/// Ports, queues and priorities whose last reading is kept, at most: 4,000 switches with 64 ports each.
const MAX_PARTS: usize = 262_144;

/// The bytes of a frame, at least: some switches do not count the check sequence.
const MIN_FRAME: u64 = 60;

/// How many values a counter of 32 bits has.
const SHORT: u64 = 1 << 32;

/// Subtracts readings.
#[derive(Debug, Default)]
pub struct Growth {
    last: HashMap<(Text, Text, Part, u32), Last>,
    overflow: u64,
}

#[derive(Debug)]
struct Last {
    time_ns: i64,
    restarts: u32,
    counters: Counters,
}

/// Why a counter has no growth.
enum NoGrowth {
    /// It was reset.
    Reset,
    /// Not known.
    Unknown,
}

impl Growth {
    /// Readings of ports beyond the bound: they have no rows.
    #[must_use]
    pub const fn overflow(&self) -> u64 {
        self.overflow
    }

    /// The row of a reading; `None` beyond the bound.
    pub fn row(&mut self, observer: &Text, source: &'static str, reading: &Reading) -> Option<SwitchPortRow> {
        let key = (reading.switch.clone(), reading.port.clone(), reading.part, reading.feed);
        if self.last.len() >= MAX_PARTS && !self.last.contains_key(&key) {
            self.overflow += 1;
            return None;
        }
        let last = self.last.insert(
            key,
            Last {
                time_ns: reading.time_ns,
                restarts: reading.restarts,
                counters: reading.counters,
            },
        );
        let mut row = described(observer, source, reading);
        if let Some(span_ns) = reading.span_ns {
            row.interval_ns = Some(span_ns);
            return Some(row);
        }
        match last {
            None => row.event = Some("first".into()),
            Some(last) if last.restarts != reading.restarts => row.event = Some("restart".into()),
            Some(last) => {
                if !fill(&mut row, &last, reading) {
                    row.event = Some("reset".into());
                }
            }
        }
        Some(row)
    }
}

/// What needs no reading before.
fn described(observer: &Text, source: &'static str, reading: &Reading) -> SwitchPortRow {
    let gauges = &reading.gauges;
    let (queue, priority) = match reading.part {
        Part::Port => (None, None),
        Part::Queue(queue) => (Some(queue), None),
        Part::Priority(priority) => (None, Some(priority)),
    };
    SwitchPortRow {
        observer: observer.clone(),
        time: Time(reading.time_ns),
        time_ns: reading.time_ns,
        switch: reading.switch.clone(),
        port_name: reading.port.clone(),
        port_index: reading.port_index,
        queue,
        priority,
        up: gauges.is_up,
        speed_bps: gauges.speed_bps,
        queue_bytes: gauges.queue_bytes,
        queue_max_bytes: gauges.queue_max_bytes,
        transit_max_ns: gauges.transit_max_ns,
        bit_error_ratio: gauges.bit_error_ratio,
        rx_power_dbm: gauges.rx_power_dbm,
        tx_power_dbm: gauges.tx_power_dbm,
        dark_lanes: gauges.dark_lanes,
        module_celsius: gauges.module_celsius,
        source: source.into(),
        ..SwitchPortRow::default()
    }
}

/// Fills in what grew; `false` if the counters were reset.
fn fill(row: &mut SwitchPortRow, last: &Last, reading: &Reading) -> bool {
    let interval = reading.time_ns.saturating_sub(last.time_ns);
    if interval <= 0 {
        // The clock was set back: what grew has no time.
        return true;
    }
    let mut grown = [None; Counter::COUNT];
    for counter in ALL {
        match growth(*counter, &last.counters, &reading.counters) {
            Ok(growth) => grown[*counter as usize] = Some(growth),
            Err(NoGrowth::Unknown) => {}
            Err(NoGrowth::Reset) => return false,
        }
    }
    let of = |counter: Counter| grown[counter as usize];
    let time = |counter| of(counter).and_then(|ns| i64::try_from(ns).ok());
    let frames = |whole: Counter, kinds: [Counter; 3]| {
        of(whole).or_else(|| {
            kinds
                .into_iter()
                .map(of)
                .try_fold(0_u64, |sum, kind| sum.checked_add(kind?))
        })
    };
    row.interval_ns = Some(interval);
    row.in_bytes = of(Counter::InBytes);
    row.in_frames = frames(
        Counter::InFrames,
        [Counter::InUnicast, Counter::InMulticast, Counter::InBroadcast],
    );
    row.out_bytes = of(Counter::OutBytes);
    row.out_frames = frames(
        Counter::OutFrames,
        [Counter::OutUnicast, Counter::OutMulticast, Counter::OutBroadcast],
    );
    row.in_bps = row.in_bytes.map(|bytes| rate(bytes, interval));
    row.out_bps = row.out_bytes.map(|bytes| rate(bytes, interval));
    row.in_dropped_frames = of(Counter::InDropped);
    row.out_dropped_frames = of(Counter::OutDropped);
    row.ecn_marked_frames = of(Counter::EcnMarked);
    row.sent_pause_frames = of(Counter::SentPauses);
    row.received_pause_frames = of(Counter::ReceivedPauses);
    row.pausing_ns = time(Counter::PausingNs);
    row.paused_ns = time(Counter::PausedNs);
    row.watchdog_storms = of(Counter::WatchdogStorms);
    row.watchdog_restores = of(Counter::WatchdogRestores);
    row.in_errors = of(Counter::InErrors);
    row.out_errors = of(Counter::OutErrors);
    row.fcs_errors = of(Counter::FcsErrors);
    row.symbol_errors = of(Counter::SymbolErrors);
    row.fec_corrected = of(Counter::FecCorrected);
    row.fec_uncorrected = of(Counter::FecUncorrected);
    true
}

/// Bits a second.
#[expect(clippy::cast_precision_loss, reason = "a rate is rounded above 2^53 bytes")]
fn rate(bytes: u64, interval_ns: i64) -> f64 {
    bytes as f64 * 8e9 / interval_ns as f64
}

fn growth(counter: Counter, last: &Counters, now: &Counters) -> Result<u64, NoGrowth> {
    let (Some(before), Some(after)) = (last.get(counter), now.get(counter)) else {
        return Err(NoGrowth::Unknown);
    };
    if !after.is_short {
        return after.value.checked_sub(before.value).ok_or(NoGrowth::Reset);
    }
    let grown = after.value.wrapping_sub(before.value) % SHORT;
    let bytes = counter.bytes().and_then(|bytes| long_growth(bytes, last, now));
    match bytes.map(|bytes| bytes / MIN_FRAME) {
        Some(most) if most >= SHORT => Err(NoGrowth::Unknown),
        Some(most) if grown > most => Err(NoGrowth::Reset),
        Some(_) => Ok(grown),
        None if after.value < before.value && grown >= SHORT / 2 => Err(NoGrowth::Reset),
        None => Ok(grown),
    }
}

/// The growth of a counter of 64 bits that was not reset.
fn long_growth(counter: Counter, last: &Counters, now: &Counters) -> Option<u64> {
    let long = |count: Count| (!count.is_short).then_some(count.value);
    now.get(counter)
        .and_then(long)?
        .checked_sub(last.get(counter).and_then(long)?)
}

const ALL: &[Counter] = &[
    Counter::InBytes,
    Counter::InFrames,
    Counter::InUnicast,
    Counter::InMulticast,
    Counter::InBroadcast,
    Counter::OutBytes,
    Counter::OutFrames,
    Counter::OutUnicast,
    Counter::OutMulticast,
    Counter::OutBroadcast,
    Counter::InDropped,
    Counter::OutDropped,
    Counter::EcnMarked,
    Counter::SentPauses,
    Counter::ReceivedPauses,
    Counter::PausingNs,
    Counter::PausedNs,
    Counter::WatchdogStorms,
    Counter::WatchdogRestores,
    Counter::InErrors,
    Counter::OutErrors,
    Counter::FcsErrors,
    Counter::SymbolErrors,
    Counter::FecCorrected,
    Counter::FecUncorrected,
];

#[cfg(test)]
mod tests {
    use super::{ALL, Counter, Counters, Growth, Reading};
    use rocescope_model::SwitchPortRow;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn every_counter_is_in_the_list_at_its_place() {
        assert_eq!(ALL.len(), Counter::COUNT);
        assert!(ALL.iter().enumerate().all(|(at, counter)| *counter as usize == at));
    }

    /// Restarts of the switch, and its counters: their values, and whether they have 32 bits.
    type Read<'a> = (u32, &'a [(Counter, u64, bool)]);

    /// Rows of readings of one port, 10 s apart.
    fn rows(readings: &[Read<'_>]) -> Vec<SwitchPortRow> {
        let mut growth = Growth::default();
        let mut time_ns = 0;
        let mut row = |(restarts, values): &Read<'_>| {
            time_ns += 10 * SECOND;
            let mut counters = Counters::default();
            for (counter, value, is_short) in *values {
                match is_short {
                    true => counters.short(*counter, Some(u32::try_from(*value).unwrap())),
                    false => counters.long(*counter, Some(*value)),
                }
            }
            let reading = Reading {
                time_ns,
                switch: "leaf1".into(),
                port: "swp1".into(),
                restarts: *restarts,
                counters,
                ..Reading::default()
            };
            growth.row(&"box".into(), "sflow", &reading).unwrap()
        };
        readings.iter().map(&mut row).collect()
    }

    #[test]
    fn a_rate_needs_two_readings_without_a_reset_between_them() {
        use Counter::{InBytes, OutDropped};
        let found = rows(&[
            (0, &[(InBytes, 1_000, false), (OutDropped, 5, true)]),
            (0, &[(InBytes, 11_000, false), (OutDropped, 8, true)]),
            // Cleared by hand: bytes have 64 bits, so this is no wrap; drops alone could be one.
            (0, &[(InBytes, 10, false), (OutDropped, 9, true)]),
            (0, &[(InBytes, 20, false), (OutDropped, 9, true)]),
            // The switch restarted and counted beyond its old value already.
            (1, &[(InBytes, 50, false), (OutDropped, 9, true)]),
        ]);
        let shown: Vec<_> = found
            .iter()
            .map(|row| {
                let event = row.event.as_deref().unwrap_or("");
                (event, row.interval_ns, row.in_bytes, row.in_bps, row.out_dropped_frames)
            })
            .collect();
        let ten = Some(10 * SECOND);
        assert_eq!(
            shown,
            [
                ("first", None, None, None, None),
                ("", ten, Some(10_000), Some(8_000.0), Some(3)),
                ("reset", None, None, None, None),
                ("", ten, Some(10), Some(8.0), Some(0)),
                ("restart", None, None, None, None),
            ]
        );
    }

    #[test]
    fn counters_of_32_bits_start_again() {
        use Counter::{InBroadcast, InBytes, InMulticast, InUnicast, SentPauses};
        let top = u64::from(u32::MAX);
        let frames = |unicast, bytes| {
            [
                (InUnicast, unicast, true),
                (InMulticast, 0, true),
                (InBroadcast, 0, true),
                (InBytes, bytes, false),
            ]
        };
        // Ten frames of 100 bytes pass the end of the counter.
        let found = rows(&[(0, &frames(top - 4, 0)), (0, &frames(5, 1_000))]);
        assert_eq!(found[1].in_frames, Some(10));
        // 1,000 bytes are not 2^32 - 10 frames: the switch cleared this counter alone.
        let found = rows(&[(0, &frames(20, 0)), (0, &frames(10, 1_000))]);
        assert_eq!((found[1].in_frames, found[1].event.as_deref()), (None, Some("reset")));
        // 400 Gbit/s for a minute: the frames may have passed the end twice.
        let found = rows(&[(0, &frames(20, 0)), (0, &frames(30, 3_000_000_000_000))]);
        assert_eq!((found[1].in_frames, found[1].in_bytes), (None, Some(3_000_000_000_000)));
        assert_eq!(found[1].event, None);
        // Without bytes, half of the range decides.
        let found = rows(&[
            (0, &[(SentPauses, top, true)]),
            (0, &[(SentPauses, 2, true)]),
            (0, &[(SentPauses, 1, true)]),
        ]);
        let pauses: Vec<_> = found.iter().map(|row| row.sent_pause_frames).collect();
        assert_eq!(pauses, [None, Some(3), None]);
    }
}
