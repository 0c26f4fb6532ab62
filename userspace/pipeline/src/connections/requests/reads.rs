//! The PSNs of READs: a request has one for each packet of its response, whose size may be unknown.

use crate::connections::direction::Direction;
use crate::connections::order::psn_tracker::ExtendedPsn;
use rocescope_wire::Psn;
use rocescope_wire::extension::psn_after_read;

/// All path MTUs (IBTA volume 1, 9.7.1).
const MTUS: [u32; 5] = [256, 512, 1024, 2048, 4096];

/// The length of a READ whose RETH the capture cut off: the next request shows its PSNs.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// After this many READs without a response, responses are not seen: only distances between READs show the MTU.
const UNANSWERED: u64 = 16;

impl Direction {
    /// The last PSN of a READ: one for each packet of its response.
    pub(crate) fn read_end(&mut self, first: ExtendedPsn, dma_length: u32, mtu: u16) -> ExtendedPsn {
        let mtu = u32::from(mtu.max(self.mtu));
        if mtu == 0 || dma_length == UNKNOWN {
            if let Some(read) = self.outstanding.response_at(first).filter(|read| read.last > first) {
                return read.last;
            }
            self.open_read = Some((first, dma_length));
            return first;
        }
        let zero = Psn::new(0);
        first + u64::from(psn_after_read(zero, dma_length, mtu).distance_from(zero)) - 1
    }

    /// A response shows the MTU, and so the PSNs of a READ that passed before.
    pub(crate) fn finish_read(&mut self, mtu: u16) {
        if self.open_read.is_some() && mtu.max(self.mtu) != 0 {
            self.guess_read(0, mtu);
        }
    }

    /// If the MTU is unknown, the PSN after a READ determines it; then the READ's PSNs are known not to be a gap.
    pub(crate) fn guess_read(&mut self, next: ExtendedPsn, mtu: u16) {
        let Some((read, dma_length)) = self.open_read else {
            return;
        };
        if dma_length == UNKNOWN {
            if next > self.requests.high() {
                self.open_read = None;
                self.reserve(next - 1);
            }
            return;
        }
        let known = u32::from(mtu.max(self.mtu));
        let distance = next.saturating_sub(read);
        let end = |mtu: u32| u64::from(dma_length.div_ceil(mtu).max(1));
        if known != 0 {
            self.open_read = None;
            self.reserve(read + end(known) - 1);
        } else if next > self.requests.high()
            && let Some(mtu) = MTUS.into_iter().find(|mtu| end(*mtu) == distance)
        {
            self.open_read = None;
            // Several MTUs may fit; a response will determine it.
            self.reserve(next - 1);
            if distance > 1 && self.answered_ns == 0 && self.counts.reads >= UNANSWERED {
                self.mtu = mtu as u16;
            }
        }
    }

    /// CM has the first PSN.
    pub(crate) fn expect(&mut self, psn: Psn) {
        self.requests.expect(psn);
        self.start_is_open = false;
        self.start = Some(self.requests.low());
        self.send_sequence.reserve(self.requests.high());
        self.responder.reserve(self.requests.high());
    }

    /// PSNs up to `last` are those of responses.
    fn reserve(&mut self, last: ExtendedPsn) {
        let from = self.requests.high();
        self.outstanding.extend(from, last);
        self.requests.reserve(last);
        self.send_sequence.reserve(last);
        self.responder.reserve(last);
    }
}
