//! A run of requests: what it repeats, what it fills, what it leaves open.

use super::direction::Direction;
use super::event::What;
use super::sequence::{Place, Shown};
use super::waiting::{Answer, Request};
use rocescope_record::RunRecord;
use rocescope_wire::extension::psn_after_read;
use rocescope_wire::{Operation, Position, Psn};

/// What the state of all connections lends to one run.
pub(crate) struct Surroundings<'a> {
    pub(crate) reorder_ns: u64,
    pub(crate) duplicate_ns: u64,
    /// The MTU seen either way, 0 before there is one.
    pub(crate) mtu: u16,
    pub(crate) tell: &'a mut dyn FnMut(u64, What),
    pub(crate) is_blind: &'a dyn Fn(u64, u64) -> bool,
}

/// The path MTUs there are (IBTA volume 1, 9.7.1).
const MTUS: [u32; 5] = [256, 512, 1024, 2048, 4096];

impl Direction {
    /// Takes a run of requests.
    pub(crate) fn request(&mut self, run: &RunRecord, around: &mut Surroundings<'_>) {
        let operation = run.opcode().operation();
        let first = self.requests.place(run.first_psn());
        self.guess_read(first, around.mtu);
        let is_read = operation == Operation::RdmaReadRequest;
        let last = if is_read {
            self.read_end(first, run.msn_or_dma_length, around.mtu)
        } else {
            first + u64::from(run.packets) - 1
        };
        let reorder_ns = self
            .latencies
            .min_rtt_ns()
            .map_or(around.reorder_ns, |rtt| rtt.max(around.reorder_ns));
        let before_ns = self.last_request_ns;
        if !self.requests.is_started() || self.counts.request_packets == 0 {
            self.first_request_ns = run.first_ns;
        }
        let shown = self
            .requests
            .take(first, last, run.first_ns, before_ns, reorder_ns, false);
        if shown.restarted {
            self.counts.restarts += 1;
            self.begin_anew();
        }
        if let Some(gap) = &shown.displaced {
            self.count_lost_gap(gap, (around.is_blind)(gap.before_ns, gap.opened_ns));
        }
        self.counts.request_packets += u64::from(run.packets);
        if self.start.is_none() || self.start_is_open && first < self.requests_start() {
            self.start = Some(first);
        }
        self.last_request_ns = run.last_ns();
        self.count_new(run, &shown, is_read);
        self.classify(run, (first, last), &shown, is_read, around);
        self.count_messages(run, first, last, &shown);
        self.recent.pass(
            first,
            last,
            run.first_ns,
            run.last_ns(),
            self.requests.high(),
        );
        // What is acknowledged already did not get lost, however late its gap shows.
        self.settle(around.is_blind);
    }

    fn requests_start(&self) -> Place {
        self.start.unwrap_or(Place::MAX)
    }

    fn begin_anew(&mut self) {
        self.start = None;
        self.start_is_open = true;
        self.acked = 0;
        self.waiting = super::waiting::Waiting::default();
        self.refusal = None;
        self.episode = None;
        self.rnr = None;
        self.tries = 0;
        self.doubt = None;
        self.gave_up = false;
    }

    /// The last PSN of a READ: one for each packet of its response.
    fn read_end(&mut self, first: Place, dma_length: u32, mtu: u16) -> Place {
        let mtu = u32::from(mtu.max(self.mtu));
        if mtu == 0 {
            self.open_read = Some((first, dma_length));
            return first;
        }
        let zero = Psn::new(0);
        first + u64::from(psn_after_read(zero, dma_length, mtu).distance_from(zero)) - 1
    }

    /// Before anything has shown the MTU, the PSN behind a READ does; with it the READ's PSNs are
    /// known to be no gap.
    fn guess_read(&mut self, next: Place, mtu: u16) {
        let Some((read, dma_length)) = self.open_read else {
            return;
        };
        let known = u32::from(mtu.max(self.mtu));
        let distance = next.saturating_sub(read);
        let end = |mtu: u32| u64::from(dma_length.div_ceil(mtu).max(1));
        if known != 0 {
            self.open_read = None;
            self.requests.reserve(read + end(known) - 1);
        } else if next > self.requests.high()
            && let Some(mtu) = MTUS.into_iter().find(|mtu| end(*mtu) == distance)
        {
            self.open_read = None;
            // Several MTUs may fit; a response will tell.
            self.requests.reserve(next - 1);
            if distance > 1 {
                self.mtu = mtu as u16;
            }
        }
    }

    /// Payload and messages that had not passed before.
    fn count_new(&mut self, run: &RunRecord, shown: &Shown, is_read: bool) {
        let (unique_bytes, unique_messages) = unique(run, shown);
        let counts = &mut self.counts;
        counts.messages += run.messages();
        counts.unique_messages += unique_messages;
        counts.unique_payload_bytes += unique_bytes;
        counts.reads += u64::from(is_read);
        counts.atomics += match run.opcode().operation() {
            Operation::CompareSwap | Operation::FetchAdd | Operation::AtomicWrite => {
                u64::from(run.only)
            }
            _ => 0,
        };
    }

    /// Sizes and waiting requests, from where messages begin and end.
    fn count_messages(&mut self, run: &RunRecord, first: Place, last: Place, shown: &Shown) {
        let operation = run.opcode().operation();
        let answer = match operation {
            Operation::Send | Operation::RdmaWrite => Answer::Acknowledge,
            Operation::RdmaReadRequest | Operation::CompareSwap | Operation::FetchAdd => {
                Answer::Response
            }
            _ => Answer::Acknowledge,
        };
        let begins = u64::from(run.first) + u64::from(run.only);
        let ends = u64::from(run.last) + u64::from(run.only);
        if begins > 0 {
            let one = run.packets == run.only || run.first > 0;
            let begun = if begins == 1 && one { first } else { last };
            // Sent again from its start, a message still began when it began first.
            if begun != self.message_first || shown.end_is_new && shown.repeated == 0 {
                self.message_ns = run.first_ns + u64::from(run.message_offset_ns);
                self.message_first = begun;
            }
            self.message_bytes = 0;
        }
        self.message_bytes += run.payload_bytes();
        if ends == 0 {
            return;
        }
        if shown.end_is_new && !matches!(answer, Answer::Response) {
            // The RETH knows; several messages in one run share what it says.
            let bytes = match operation {
                Operation::RdmaWrite if begins > 0 && ends == 1 => u64::from(run.msn_or_dma_length),
                _ if ends == 1 => self.message_bytes,
                _ => run.payload_bytes() / ends,
            };
            self.count_size(bytes, ends);
        }
        let ends_here =
            matches!(run.opcode().position(), Position::Only) || run.last > 0 || run.only > 0;
        if shown.end_is_new && ends_here {
            self.waiting.push(Request {
                first: self.message_first.min(last),
                last,
                begun_ns: self.message_ns,
                sent_ns: run.last_ns(),
                answer,
                clear: run.flags & RunRecord::EXACT_END != 0 && shown.recovered == 0,
            });
        }
        self.message_bytes = 0;
    }
}

/// Payload bytes and messages of a run that had not passed before. Exact when the run holds at
/// most one end of a message, as it does where every PSN is marked; else in proportion.
pub(crate) fn unique(run: &RunRecord, shown: &Shown) -> (u64, u64) {
    let new = shown.fresh + shown.below + shown.out_of_order + shown.recovered;
    let ends = u64::from(run.last) + u64::from(run.only);
    if shown.repeated == 0 {
        return (run.payload_bytes(), run.messages());
    }
    if ends <= 1 {
        let end_is_new = shown.end_is_new && ends == 1;
        let segments = new - u64::from(end_is_new);
        let end_bytes = u64::from(run.last_payload_bytes) + u64::from(run.only_payload_bytes);
        let bytes = segments * u64::from(run.segment_bytes) + u64::from(end_is_new) * end_bytes;
        return (bytes, if end_is_new { run.messages() } else { 0 });
    }
    let all = new + shown.repeated;
    (run.payload_bytes() * new / all, run.messages() * new / all)
}
