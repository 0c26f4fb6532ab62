//! What the capture lost, in the windows in which it began; and pauses of links.

use super::Pipeline;
use crate::time::EventTime;
use crate::window::{LossInterval, Window};
use rocescope_wire::Pause;

impl Pipeline {
    /// The window of a loss at this time; the oldest open one if its own is closed or never had a packet.
    pub(super) fn window_of_loss(&mut self, time_ns: u64) -> usize {
        let start = time_ns.floor(self.settings.window_ns);
        match self.open.binary_search_by_key(&start, |(start, _)| *start) {
            Ok(at) => at,
            Err(_) if self.open.is_empty() => self.window_at(self.newest_ns),
            Err(_) => 0,
        }
    }

    /// The capture lost this many RoCEv2 packets between these times, in nanoseconds since the epoch: gaps there say
    /// nothing about connections. They count in the window in which the loss began.
    pub fn capture_lost(&mut self, from_ns: u64, to_ns: u64, packets: u64) {
        if let Some(window) = self.lose(from_ns, to_ns, packets) {
            window.totals.capture_lost_packets += packets;
        }
    }

    /// A mirror lost frames between these times, by its own numbers: gaps there say nothing about connections.
    pub fn mirror_lost(&mut self, from_ns: u64, to_ns: u64) {
        if let Some(connections) = &mut self.connections {
            connections.mirror_lost(from_ns, to_ns);
        }
    }

    /// As [`capture_lost`](Self::capture_lost), for frames that were dropped before they were classified or counted.
    pub fn capture_dropped(&mut self, from_ns: u64, to_ns: u64, frames: u64) {
        if let Some(window) = self.lose(from_ns, to_ns, frames) {
            window.totals.capture_dropped_frames += frames;
        }
    }

    /// A frame that pauses a link passed an interface at this time.
    pub fn paused(&mut self, time_ns: u64, interface: u32, pause: &Pause) {
        let at = self.window_at(time_ns);
        if let Some((_, window)) = self.open.get_mut(at) {
            self.pauses.add(time_ns, interface, pause, &mut window.pauses);
        }
    }

    /// The capture lost this many UET packets between these times: what did not pass proves nothing.
    pub fn uet_lost(&mut self, from_ns: u64, to_ns: u64, packets: u64) {
        if packets > 0 {
            self.pdcs.lose();
            let from_ns = from_ns.max(self.unclosed_ns.unwrap_or(0));
            let at = self.window_at(from_ns);
            if let Some((_, window)) = self.open.get_mut(at) {
                window.lose(LossInterval {
                    from_ns,
                    to_ns,
                    count: packets,
                });
            }
        }
    }

    fn lose(&mut self, from_ns: u64, to_ns: u64, count: u64) -> Option<&mut Window> {
        if let Some(connections) = &mut self.connections {
            connections.capture_lost(from_ns, to_ns);
        }
        self.pdcs.lose();
        // Nothing was lost before the capture began.
        let from_ns = from_ns.max(self.unclosed_ns.unwrap_or(0));
        let at = self.window_at(from_ns);
        let (_, window) = self.open.get_mut(at)?;
        window.lose(LossInterval { from_ns, to_ns, count });
        Some(window)
    }
}
