//! The queue of a port, from packets at capture points on both sides of it.
//!
//! A packet that enters a switch at one point and leaves it at another stayed there for a constant time and its wait in the
//! queue. The shortest stay of packets of at least its size is the constant time: so clocks of different captures may be off, as long as they do not
//! drift. Those that left the port during its wait stood before it. So these points give what a switch would report: how
//! many packets entered a port in an epoch, of which flow, and how many each found there.
//!
//! | module | contents |
//! |---|---|
//! | this one | [`Tap`], [`Passed`], and what is not known |
//! | `stays` | which packets entered where, and how long they stayed |
//! | `epochs` | the rows |
//!
//! **Unknown:** packets that were dropped between both points; a queue that no packet of a size found empty, which then
//! counts as the constant time; which packets entered while the port was paused: their wait counts as others do. Packets
//! of higher priority that overtake count as if they had stood before.

mod epochs;
mod stays;

use crate::complaints::Complaints;
use crate::steps::FlowKey;
use crate::telemetry::PortKey;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::{TelemetryRow, Text};

/// Name of the format in rows.
pub const FORMAT: &str = "taps";

/// Which way packets pass a capture point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Into the switch.
    In,
    /// Out of it.
    Out,
}

/// A capture point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tap {
    /// The port of a switch.
    pub port: PortKey,
    /// Which way its packets pass.
    pub direction: Direction,
    /// The port at the other end of its link, if it is known.
    pub peer: Option<PortKey>,
    /// Whether that is the port of a host; `None` if it is unknown.
    pub peer_is_host: Option<bool>,
}

/// A packet at a capture point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passed {
    /// When it passed.
    pub time_ns: i64,
    /// The same at all points, and different from other packets.
    pub identity: u64,
    /// Its flow.
    pub flow: FlowKey,
    /// Bytes of its frame.
    pub bytes: u32,
}

/// What passed at a capture point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// Where.
    pub tap: Tap,
    /// The packets in the order of their times.
    pub packets: Vec<Passed>,
}

/// Reports about the ports out of which packets were captured, of epochs of a millisecond in which some packet waited.
///
/// Packets enter a port at the points into its switch, or out of the other end of a link to it.
#[must_use]
pub fn reports(captures: &[Capture], observer: &str) -> (Vec<TelemetryRow>, Complaints) {
    let mut complaints = Complaints::default();
    let mut rows = Vec::new();
    let has_packets = |one: &&Capture| one.tap.direction == Direction::Out && !one.packets.is_empty();
    let mut outs: Vec<&Capture> = captures.iter().filter(has_packets).collect();
    outs.sort_by(|a, b| a.tap.port.compare(&b.tap.port));
    for out in outs {
        let place = format!("switch {}, port {}", out.tap.port.switch, out.tap.port.port);
        let entries: Vec<&Capture> = captures.iter().filter(|one| leads_to(&one.tap, &out.tap)).collect();
        if entries.is_empty() {
            complaints.add("no capture of what enters this switch: its queue is unknown", place);
            continue;
        }
        let stays = stays::stays(&entries, out);
        if stays.is_empty() {
            complaints.add(
                "no packet out of this port was captured before: its queue is unknown",
                place,
            );
            continue;
        }
        let unseen = out.packets.len() - stays.len();
        if unseen > 0 {
            let kind = format!(
                "packets out of this port were not captured before ({unseen} of {}): their waits are unknown",
                out.packets.len()
            );
            complaints.add(&kind, place);
        }
        epochs::rows(out, &stays, &mut rows);
    }
    for row in &mut rows {
        row.observer = String::from(observer).into();
        row.format = Text::from_static(FORMAT);
        row.time = rocescope_model::Time(row.time_ns);
    }
    (rows, complaints)
}

/// Whether packets at one point may leave by the other without a point between.
fn leads_to(entry: &Tap, out: &Tap) -> bool {
    match entry.direction {
        Direction::In => entry.port.switch == out.port.switch,
        Direction::Out => entry.peer.as_ref().is_some_and(|peer| peer.switch == out.port.switch),
    }
}

#[cfg(test)]
mod tests;
