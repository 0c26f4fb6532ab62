//! One counter: its metric, its value before, its row.

use super::parse::Sample;
use super::track::{Change, change};
use rocescope_model::catalogue::{self, Driver, Found, Kind, Measure, Place, Width};
use rocescope_model::{CounterRow, Text, Time};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The time of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Wall-clock time, for the rows.
    pub time: Time,
    /// Monotonic time since any fixed point, for rates.
    pub clock: Duration,
}

impl Moment {
    /// Now, by `CLOCK_MONOTONIC`, which the kernel's events have too.
    #[must_use]
    pub fn now() -> Self {
        let nanos = |id| {
            let now = clock_gettime(id);
            now.tv_sec * 1_000_000_000 + now.tv_nsec
        };
        Self {
            time: Time(nanos(ClockId::Realtime)),
            clock: Duration::from_nanos(nanos(ClockId::Monotonic).unsigned_abs()),
        }
    }

    /// The moment of another reading of this clock, not long before or after.
    #[must_use]
    pub fn at(self, clock: Duration) -> Self {
        let nanos = |clock: Duration| clock.as_nanos() as i64;
        let since = nanos(clock) - nanos(self.clock);
        Self {
            time: Time(self.time.0.saturating_add(since)),
            clock,
        }
    }
}

/// A counter.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: Text,
    found: Option<Found>,
    /// The last value that was read, and when.
    before: Option<(Sample, Duration)>,
    now: Option<Sample>,
    change: Option<Change>,
    /// It could be read at the last read, or not.
    was_readable: bool,
    is_first: bool,
    /// It stays at its largest value.
    is_stopped: bool,
    /// When its last row was taken.
    taken: Option<Duration>,
}

/// What all counters of a group have in common.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub(super) observer: Text,
    pub(super) device: Text,
    pub(super) port: Option<u16>,
    pub(super) netdev: Option<Text>,
    pub(super) driver: Option<Driver>,
    pub(super) driver_name: Text,
}

impl Entry {
    pub(super) fn new(name: &str, place: Place, driver: Option<Driver>) -> Self {
        let found = catalogue::find(driver, place, name);
        // The catalogue's names are static: equal ones need no memory.
        let name = match found {
            Some(found) if found.source.name == name => found.source.name.into(),
            _ => String::from(name).into(),
        };
        Self {
            name,
            found,
            before: None,
            now: None,
            change: None,
            was_readable: true,
            is_first: true,
            is_stopped: false,
            taken: None,
        }
    }

    /// Name of its metric.
    pub(super) fn metric(&self) -> Option<&'static str> {
        self.found.map(|found| found.metric.name)
    }

    /// Takes what was read; `None` if it could not be read.
    pub(super) fn set(&mut self, mut sample: Option<Sample>) {
        // Drivers that print 32 bits as a signed number show a minus sign above 2^31.
        if self.width() == Width::Wraps32
            && let Some(number) = sample.as_mut().and_then(|sample| sample.number.as_mut())
            && let Ok(printed) = i32::try_from(*number)
        {
            *number = printed.cast_unsigned().into();
        }
        let number = |sample: &Option<Sample>| sample.as_ref().and_then(|sample| sample.number);
        let before = self.before.as_ref().and_then(|(sample, _)| sample.number);
        self.change = match (self.kind(), before, number(&sample)) {
            (Kind::Counter, Some(before), Some(now)) => Some(change(before, now, self.width())),
            _ => None,
        };
        self.now = sample;
    }

    /// Whether it certainly was reset. Names without a metric may not be counters at all.
    pub(super) fn is_reset(&self) -> bool {
        self.found.is_some() && self.change == Some(Change::Reset)
    }

    /// Whether it was read.
    pub(super) const fn is_read(&self) -> bool {
        self.now.is_some()
    }

    /// Ends the read: the row, if `wanted` or something happened.
    ///
    /// `was_reset`: counters beside it were reset, so that it did not wrap either.
    pub(super) fn row(
        &mut self,
        owner: &Owner,
        place: Place,
        moment: Moment,
        was_reset: bool,
        wanted: Wanted,
    ) -> Option<CounterRow> {
        if was_reset && matches!(self.change, Some(Change::Wrapped(_))) {
            self.change = Some(Change::Reset);
        }
        let event = self.event();
        let has_changed = match (&self.before, &self.now) {
            (Some((before, _)), Some(now)) => before != now,
            (_, now) => now.is_some() || self.was_readable,
        };
        // The value is the same, but no longer what it counts.
        let is_stopped = self.change == Some(Change::Stopped);
        let has_changed = has_changed || (is_stopped && !self.is_stopped);
        self.is_stopped = is_stopped;
        let is_due = |refresh: Duration| {
            self.taken
                .is_none_or(|taken| moment.clock.saturating_sub(taken) >= refresh)
        };
        let is_wanted = match wanted {
            Wanted::All => true,
            Wanted::Changed(refresh) => has_changed || is_due(refresh),
        };
        let row = is_wanted.then(|| self.make(owner, place, moment, event));
        if row.is_some() {
            self.taken = Some(moment.clock);
        }
        self.was_readable = self.now.is_some();
        if let Some(now) = self.now.take() {
            self.before = Some((now, moment.clock));
            self.is_first = false;
        }
        row
    }

    fn event(&self) -> Option<&'static str> {
        match (&self.now, self.change) {
            (None, _) => Some("unreadable"),
            (Some(_), _) if self.is_first => Some("first"),
            (_, Some(Change::Wrapped(_))) => Some("wrap"),
            (_, Some(Change::Reset)) => Some("reset"),
            (_, Some(Change::Stopped)) => Some("stopped"),
            _ => None,
        }
    }

    fn make(&self, owner: &Owner, place: Place, moment: Moment, event: Option<&'static str>) -> CounterRow {
        let metric = self.found.map(|found| found.metric);
        let factor = u64::from(self.found.map_or(1, |found| found.source.factor));
        let raw = self.now.as_ref().and_then(|now| now.number);
        // The columns have 63 bits and a sign: a larger number is in `text`, and a larger step is no increase.
        let raw_value = raw.and_then(|raw| i64::try_from(raw).ok());
        let digits = raw.filter(|_| raw_value.is_none()).map(|raw| raw.to_string().into());
        let increase = match self.change {
            Some(Change::Grew(by) | Change::Wrapped(by)) => {
                by.checked_mul(factor).filter(|by| i64::try_from(*by).is_ok())
            }
            _ => None,
        };
        let interval = self.before.as_ref().filter(|_| self.now.is_some());
        let interval = interval.map(|(_, then)| moment.clock.saturating_sub(*then));
        let rate = increase.zip(interval.filter(|interval| !interval.is_zero()));
        CounterRow {
            observer: owner.observer.clone(),
            time: moment.time,
            time_ns: moment.time.0,
            device: owner.device.clone(),
            port: owner.port,
            netdev: owner.netdev.clone(),
            driver: owner.driver_name.clone(),
            source: place.name().into(),
            name: self.name.clone(),
            priority: self.found.and_then(|found| found.priority),
            metric: metric.map(|metric| metric.name.into()),
            dimension: metric.map(|metric| metric.dimension.name().into()),
            level: metric.map(|metric| metric.level.name().into()),
            sign: metric.map(|metric| metric.sign.name().into()),
            side: metric.and_then(|metric| Some(metric.side?.name().into())),
            kind: self.kind().name().into(),
            value: raw.map(|raw| raw as f64 * factor as f64),
            unit: metric.map_or(Measure::Unknown, |metric| metric.unit).name().into(),
            raw_value,
            text: self
                .now
                .as_ref()
                .and_then(|now| Some(now.text.clone()?.into()))
                .or(digits),
            increase,
            rate: rate.map(|(increase, interval)| increase as f64 / interval.as_secs_f64()),
            interval_ns: interval.map(|interval| i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX)),
            event: event.map(Text::from_static),
        }
    }

    fn kind(&self) -> Kind {
        match self.found {
            Some(found) => found.metric.kind,
            // Broadcom counts its objects among its counters.
            None if self.name.starts_with("active_") || self.name.starts_with("watermark_") => Kind::Gauge,
            None => Kind::Counter,
        }
    }

    fn width(&self) -> Width {
        self.found.map_or(Width::Unknown, |found| found.source.width)
    }
}

/// Which rows a read takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    /// Those that changed, and those whose last row is at least this old.
    Changed(Duration),
}
