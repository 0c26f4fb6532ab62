//! ECN and CNPs of a direction: their number, intervals, and the reaction of the sender.

use crate::time::EventTime;
use rocescope_sketches::Quantiles;

/// Time over which rates are compared before and after a CNP: 1 ms, some periods of DCQCN's rate
/// decrease (Zhu et al., SIGCOMM 2015, 5.2: 50 µs), in pieces of a quarter.
pub(crate) const COMPARED_NS: u64 = 1_000_000;
const PIECES: u64 = 4;
pub(crate) const PIECE_NS: u64 = COMPARED_NS / PIECES;
/// Pieces kept: before, at and after the CNP, and room for longer runs.
pub(crate) const REMEMBERED: usize = 16;

/// The newest piece of a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) number: u64,
    pub(crate) bytes: u32,
    /// All kept pieces before it are empty.
    pub(crate) is_alone: bool,
}

/// Frame bytes of a direction over the last milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    /// The newest piece, and its bytes.
    newest: u64,
    newest_bytes: u32,
    /// CNPs that were measured.
    pub(crate) samples: u32,
    /// Pieces below are empty: directions that send rarely never touch the ring.
    oldest: u64,
    /// Time of the CNP whose effect is being measured.
    cnp_ns: u64,
    /// Bytes per millisecond before and after all measured CNPs.
    pub(crate) before_bytes: u64,
    pub(crate) after_bytes: u64,
    /// Bytes of each piece before the newest, a ring by number.
    bytes: [u32; REMEMBERED],
}

impl Rate {
    /// A run passed: spreads its bytes evenly over its time.
    pub(crate) fn add_run(&mut self, first_ns: u64, last_ns: u64, bytes: u32) {
        let (first, last) = (first_ns / PIECE_NS, last_ns / PIECE_NS);
        self.settle(first);
        if first == last {
            self.add(first, bytes);
            return;
        }
        let span = last_ns.since(first_ns).max(1);
        // Only pieces that may still be needed.
        for piece in first.max(last.saturating_sub(REMEMBERED as u64 - 1))..=last {
            let from = first_ns.max(piece * PIECE_NS);
            let to = last_ns.min((piece + 1) * PIECE_NS);
            let part = u128::from(bytes) * u128::from(to - from) / u128::from(span);
            self.add(piece, part as u32);
        }
    }

    /// The newest piece, unless the effect of a CNP is being measured.
    pub(crate) const fn newest(&self) -> Option<Piece> {
        if self.cnp_ns != 0 {
            return None;
        }
        Some(Piece {
            number: self.newest,
            bytes: self.newest_bytes,
            is_alone: false,
        })
    }

    /// Sets the newest piece, computed elsewhere.
    pub(crate) const fn set_newest(&mut self, piece: Piece) {
        (self.newest, self.newest_bytes) = (piece.number, piece.bytes);
        if piece.is_alone {
            self.oldest = piece.number;
        }
    }

    /// A CNP passed. Only the first of a burst is measured.
    pub(crate) fn notified(&mut self, now_ns: u64) {
        self.settle(now_ns / PIECE_NS);
        if self.cnp_ns == 0 && self.newest != 0 {
            self.cnp_ns = now_ns;
        }
    }

    /// Counts the measured CNP if its time has ended at piece `now`.
    fn settle(&mut self, now: u64) {
        let at = self.cnp_ns / PIECE_NS;
        if self.cnp_ns == 0 || now <= at + PIECES {
            return;
        }
        self.cnp_ns = 0;
        self.before_bytes += (at.saturating_sub(PIECES)..at)
            .map(|piece| self.piece(piece))
            .sum::<u64>();
        self.after_bytes += (at + 1..=at + PIECES).map(|piece| self.piece(piece)).sum::<u64>();
        self.samples += 1;
    }

    fn piece(&self, piece: u64) -> u64 {
        if piece == self.newest {
            return u64::from(self.newest_bytes);
        }
        if piece > self.newest || piece < self.oldest || piece + (REMEMBERED as u64) <= self.newest {
            return 0;
        }
        self.bytes
            .get(piece as usize % REMEMBERED)
            .map_or(0, |bytes| u64::from(*bytes))
    }

    fn set(&mut self, piece: u64, bytes: u32) {
        if let Some(sum) = self.bytes.get_mut(piece as usize % REMEMBERED) {
            *sum = bytes;
        }
    }

    fn add(&mut self, piece: u64, bytes: u32) {
        if piece + (REMEMBERED as u64) <= self.newest {
            return;
        }
        if piece > self.newest {
            if piece >= self.newest + REMEMBERED as u64 {
                self.oldest = piece;
            } else {
                self.set(self.newest, self.newest_bytes);
                (self.newest + 1..piece).for_each(|passed| self.set(passed, 0));
            }
            (self.newest, self.newest_bytes) = (piece, 0);
        }
        if piece == self.newest {
            self.newest_bytes = self.newest_bytes.saturating_add(bytes);
            return;
        }
        // A run that began before the newest one.
        (piece..self.oldest).for_each(|passed| self.set(passed, 0));
        self.oldest = self.oldest.min(piece);
        if let Some(sum) = self.bytes.get_mut(piece as usize % REMEMBERED) {
            *sum = sum.saturating_add(bytes);
        }
    }

    /// Mean frame bits per second before and after the measured CNPs.
    pub(crate) fn bps(&self) -> Option<(f64, f64)> {
        (self.samples > 0).then(|| {
            let bps = |bytes: u64| bytes as f64 * 8e9 / (COMPARED_NS as f64 * f64::from(self.samples));
            (bps(self.before_bytes), bps(self.after_bytes))
        })
    }

    /// Completes the measurement at the end of the capture.
    pub(crate) fn finish(&mut self, now_ns: u64) {
        self.settle(now_ns / PIECE_NS);
    }
}

/// CNPs sent by a direction: their number and the times between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notifications {
    pub(crate) interval: Quantiles,
    last_ns: Option<u64>,
}

impl Notifications {
    /// Bytes that they occupy.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Self>() + self.interval.heap_bytes()
    }

    pub(crate) fn add(&mut self, now_ns: u64) {
        if let Some(last_ns) = self.last_ns {
            self.interval.add(now_ns.since(last_ns));
        }
        self.last_ns = Some(now_ns);
    }
}
