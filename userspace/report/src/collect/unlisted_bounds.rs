//! Bounds for flows that are not in the list of the largest.

use rocescope_model::{FlowRow, WindowRow};

/// Bytes of the shortest RoCEv2 frame, from the Ethernet header to the ICRC: 14 + 20 + 8 + 12 + 4.
const LEAST_FRAME_BYTES: u64 = 58;

/// Upper bound for a flow in addition to its listed sizes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UnlistedBounds {
    pub(super) frame_bytes: u64,
    pub(super) packets: u64,
}

impl UnlistedBounds {
    pub(super) fn add(&mut self, other: Self) {
        self.frame_bytes = self.frame_bytes.saturating_add(other.frame_bytes);
        self.packets = self.packets.saturating_add(other.packets);
    }

    pub(super) fn less(self, other: Self) -> Self {
        Self {
            frame_bytes: self.frame_bytes.saturating_sub(other.frame_bytes),
            packets: self.packets.saturating_sub(other.packets),
        }
    }

    pub(super) fn larger(self, other: Self) -> Self {
        Self {
            frame_bytes: self.frame_bytes.max(other.frame_bytes),
            packets: self.packets.max(other.packets),
        }
    }

    /// Returns the bound for a flow that a window does not list. The window has several rows if several captures ran
    /// within it.
    pub(super) fn beside(windows: &[&WindowRow], listed: &[&FlowRow]) -> Self {
        if is_whole(windows, listed) {
            return Self::default();
        }
        let mut left = Self::default();
        for row in windows {
            left.add(Self {
                frame_bytes: row.frame_bytes,
                packets: row.roce_packets,
            });
        }
        let mut last = u64::MAX;
        for row in listed {
            left.frame_bytes = left.frame_bytes.saturating_sub(min_bytes(row));
            left.packets = left.packets.saturating_sub(min_packets(row));
            last = last.min(row.frame_bytes);
        }
        if windows.len() == 1 {
            left.frame_bytes = left.frame_bytes.min(last);
        }
        left.packets = left.packets.min(left.frame_bytes / LEAST_FRAME_BYTES);
        left
    }
}

/// Whether all flows of a window are listed with exact sizes.
pub(super) fn is_whole(windows: &[&WindowRow], listed: &[&FlowRow]) -> bool {
    let flows: u64 = windows.iter().map(|row| row.flows).sum();
    windows.iter().all(|row| row.flows_exact) && listed.len() as u64 >= flows
}

pub(super) const fn min_bytes(row: &FlowRow) -> u64 {
    row.frame_bytes.saturating_sub(row.error_frame_bytes)
}

pub(super) const fn min_packets(row: &FlowRow) -> u64 {
    row.packets.saturating_sub(row.error_packets)
}
