//! The queue of a port, packet by packet: which flow's packets stood before which.
//!
//! A switch reports how many packets of each flow entered a queue, and how many packets they found there on average. The
//! replay spreads the packets of each flow evenly over the epoch, and counts for each packet of a flow those of another
//! flow among as many packets before it as it found on average.

use alloc::vec;
use alloc::vec::Vec;

/// Most packets that are replayed one by one; beyond, every flow is taken as evenly mixed at every packet.
const MAX_PACKETS: u64 = 1 << 22;

/// What entered the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Packets.
    pub packets: u64,
    /// Packets that each of them found in the queue, on average.
    pub depth: u64,
}

/// For each entry and each other: how many packets of the other stood before its packets, summed.
#[must_use]
pub fn replay(entries: &[Entry]) -> Vec<Vec<u64>> {
    let count = entries.len();
    let mut before = vec![vec![0_u64; count]; count];
    let total = entries
        .iter()
        .fold(0_u64, |sum, entry| sum.saturating_add(entry.packets));
    if total > MAX_PACKETS {
        for (at, entry) in entries.iter().enumerate() {
            for (other, its) in entries.iter().enumerate().filter(|(other, _)| *other != at) {
                let share = its.packets as f64 / total as f64;
                let depth = entry.depth.min(total) as f64;
                before[at][other] = (entry.packets as f64 * depth * share) as u64;
            }
        }
        return before;
    }
    let order = order(entries, total as usize);
    // For each entry: the packets of all in the window before the present position.
    let mut windows = vec![vec![0_u64; count]; count];
    for (position, &at) in order.iter().enumerate() {
        for (other, seen) in windows[at].iter().enumerate() {
            if other != at {
                before[at][other] += seen;
            }
        }
        for (window, entry) in windows.iter_mut().zip(entries) {
            if entry.depth == 0 {
                continue;
            }
            window[at] += 1;
            if let Some(gone) = (position + 1).checked_sub(usize::try_from(entry.depth).unwrap_or(usize::MAX))
                && gone > 0
            {
                window[order[gone - 1]] -= 1;
            }
        }
    }
    before
}

/// Whose packet is at which position: the packet `i` of `n` of an entry is at `i / n` of the epoch; of those at the
/// same place, that of the earlier entry is first.
fn order(entries: &[Entry], total: usize) -> Vec<usize> {
    let mut next = vec![0_u64; entries.len()];
    let mut order = Vec::with_capacity(total);
    while order.len() < total {
        let mut first: Option<(f64, usize)> = None;
        for (at, entry) in entries.iter().enumerate() {
            if next[at] < entry.packets {
                let place = next[at] as f64 / entry.packets as f64;
                if first.is_none_or(|(smallest, _)| place < smallest) {
                    first = Some((place, at));
                }
            }
        }
        let Some((_, at)) = first else { break };
        next[at] += 1;
        order.push(at);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::{Entry, MAX_PACKETS, replay};

    fn entry(packets: u64, depth: u64) -> Entry {
        Entry { packets, depth }
    }

    /// a b | b a b ...: counted by hand.
    #[test]
    fn a_short_queue_is_counted_packet_by_packet() {
        // a at 0 and 1/2, b at 0, 1/3 and 2/3: a b b a b.
        let before = replay(&[entry(2, 9), entry(3, 9)]);
        assert_eq!(before[0][1], 2);
        assert_eq!(before[1][0], 1 + 1 + 2);
        // Only the packet before counts.
        let before = replay(&[entry(2, 1), entry(3, 1)]);
        assert_eq!(before[0][1], 1);
        assert_eq!(before[1][0], 2);
        assert_eq!(before[0][0], 0);
    }

    #[test]
    fn an_empty_queue_delays_nobody() {
        assert_eq!(replay(&[entry(5, 0), entry(7, 0)]), [[0, 0], [0, 0]]);
        assert_eq!(replay(&[entry(0, 3), entry(7, 3)]), [[0, 0], [0, 0]]);
        assert!(replay(&[]).is_empty());
    }

    #[test]
    fn long_epochs_are_taken_as_evenly_mixed() {
        let before = replay(&[entry(MAX_PACKETS, 10), entry(MAX_PACKETS, 10)]);
        assert_eq!(before[0][1], MAX_PACKETS * 5);
        // Where both ways apply, they agree but for the start of the epoch.
        let exact = replay(&[entry(100_000, 10), entry(100_000, 10)])[0][1];
        assert!(exact.abs_diff(500_000) < 100, "{exact}");
    }
}
