//! How many packets were dropped where and why.

use rocescope_model::human::grouped;
use rocescope_model::{SwitchDropRow, Text};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// Places that are kept apart, at most.
const MAX_PLACES: usize = 4_096;

/// Dropped packets by place and reason.
#[derive(Debug, Default)]
pub struct DropTotals {
    places: BTreeMap<Place, (u64, Option<u64>)>,
    elsewhere: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    switch: String,
    in_port: Option<String>,
    out_port: Option<String>,
    queue: Option<u32>,
    reason: String,
}

/// Packets that were dropped at a place for a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DroppedAt<'a> {
    /// The switch.
    pub switch: &'a str,
    /// Port at which they arrived.
    pub in_port: Option<&'a str>,
    /// Port at which they were to leave.
    pub out_port: Option<&'a str>,
    /// Queue of that port.
    pub queue: Option<u32>,
    /// Why.
    pub reason: &'a str,
    /// Reports.
    pub dropped_frames: u64,
    /// The frames that they stand for, if they come from sampled frames.
    pub estimated_frames: Option<u64>,
}

impl DropTotals {
    /// Adds a row.
    pub fn add(&mut self, row: &SwitchDropRow) {
        let text = |text: &Option<Text>| text.as_deref().map(str::to_owned);
        let place = Place {
            switch: row.switch.to_string(),
            in_port: text(&row.in_port),
            out_port: text(&row.out_port),
            queue: row.queue,
            reason: row.reason.to_string(),
        };
        if self.places.len() >= MAX_PLACES && !self.places.contains_key(&place) {
            self.elsewhere += row.dropped_frames;
            return;
        }
        let (frames, estimated) = self.places.entry(place).or_default();
        *frames += row.dropped_frames;
        if let Some(more) = row.estimated_frames {
            *estimated.get_or_insert(0) += more;
        }
    }

    /// The places, that with the most drops first.
    #[must_use]
    pub fn largest(&self) -> Vec<DroppedAt<'_>> {
        let places = self.places.iter().map(|(place, (frames, estimated))| DroppedAt {
            switch: &place.switch,
            in_port: place.in_port.as_deref(),
            out_port: place.out_port.as_deref(),
            queue: place.queue,
            reason: &place.reason,
            dropped_frames: *frames,
            estimated_frames: *estimated,
        });
        let mut places: Vec<DroppedAt<'_>> = places.collect();
        places.sort_by_key(|place| std::cmp::Reverse(place.dropped_frames));
        places
    }

    /// Drops at places beyond the bound.
    #[must_use]
    pub const fn elsewhere(&self) -> u64 {
        self.elsewhere
    }
}

impl Serialize for DropTotals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.largest())
    }
}

impl fmt::Display for DroppedAt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.switch)?;
        if let Some(port) = self.in_port {
            write!(f, " from {port}")?;
        }
        if let Some(port) = self.out_port {
            write!(f, " to {port}")?;
        }
        if let Some(queue) = self.queue {
            write!(f, " queue {queue}")?;
        }
        write!(f, ", {}: {} reported", self.reason, grouped(self.dropped_frames))?;
        match self.estimated_frames {
            Some(frames) => write!(f, ", some {} in all", grouped(frames)),
            None => Ok(()),
        }
    }
}
