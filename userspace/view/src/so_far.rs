//! Losses since the first window kept: a loss stays visible when the next window has none.

use rocescope_model::WindowRow;

/// Losses in all windows so far, in packets; `None` if no window measured them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SoFar {
    pub(crate) ring: u64,
    /// Frames that a full packet socket dropped; `None` with XDP and for files.
    pub(crate) socket_frames: Option<u64>,
    pub(crate) fabric: Option<u64>,
    pub(crate) retransmitted: Option<u64>,
    pub(crate) mirror: Option<u64>,
}

impl SoFar {
    pub(crate) fn add(&mut self, window: &WindowRow) {
        let add = |sum: &mut Option<u64>, number: Option<u64>| {
            if let Some(number) = number {
                *sum = Some(sum.unwrap_or(0) + number);
            }
        };
        self.ring += window.capture_lost_packets;
        add(&mut self.socket_frames, window.capture_dropped_frames);
        add(&mut self.fabric, window.fabric_lost_packets);
        add(&mut self.retransmitted, window.retransmitted_packets);
        add(&mut self.mirror, window.mirror_lost_packets);
    }
}
