//! The side that sends requests: schedules packets and reacts to answers.
//!
//! Its clock is the tap's: a request "is sent" when it passes the tap, and the reaction to an answer
//! passes the tap `near_delay` after the answer.

use super::message::{Message, Request};
use super::random::Random;
use super::rules::{Rules, picoseconds};
use super::scenario::group::{Operation, Receiver, Sender, Service};
use std::collections::{BTreeSet, VecDeque};

/// Never.
pub(super) const NEVER: u64 = u64::MAX;
/// Bytes of BTH and ICRC.
const TRANSPORT_BYTES: u32 = 16;
/// The minimum share of the rate that repeated CNPs leave.
const CUT_FLOOR: f64 = 0.001;

#[derive(Clone, Debug)]
pub(super) struct Requester {
    random: Random,
    /// Unacknowledged messages, and the one being sent.
    messages: VecDeque<Message>,
    /// The sequence number to send next.
    next: u64,
    /// The lowest unacknowledged sequence number.
    unacknowledged: u64,
    /// The end of all that was ever sent.
    sent: u64,
    /// The end of the last started message.
    end: u64,
    begun: u64,
    /// Packets sent, including retransmissions.
    transmissions: u64,
    /// Earliest time of the next packet and of the next message, in picoseconds.
    packet_due: u64,
    message_due: u64,
    /// The flow's share of the rate of its group.
    weight: f64,
    /// The share of the rate that congestion leaves, and when it recovers.
    cut: f64,
    cut_until: u64,
    /// When to go back, to which number, and how long to wait then.
    back_at: u64,
    back_to: u64,
    back_wait: u64,
    /// What it repeats alone, and when.
    repairs: VecDeque<(u64, u64)>,
    /// Responses that arrived before an earlier one, and the end of what the answers so far imply.
    heard: BTreeSet<u64>,
    implied: u64,
    /// The lost response that was last requested again: later responses in flight report the same gap.
    missed: u64,
    /// The end of the last packet that requests an answer, and when its timer expires (IBTA volume 1,
    /// 9.7.6.1.3: packets that request none do not start it).
    asked: u64,
    timer_at: u64,
    expiries: u8,
    /// How often it went back.
    goes: u32,
    dead: bool,
    /// Acknowledged messages; sent messages on services without acknowledgements.
    pub(super) completed: u64,
}

/// The meaning of an acknowledgement for a requester.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// All up to a packet has arrived.
    Ack,
    /// READ response packet or atomic response with this sequence number.
    Response,
    /// Retransmit from here.
    NakSequence,
    /// Wait this long, then retransmit from here.
    Rnr(u64),
    /// The connection has ended.
    Fatal,
}

impl Requester {
    pub(super) fn new(random: Random, weight: f64, open_at: u64) -> Self {
        Self {
            random,
            messages: VecDeque::new(),
            next: 0,
            unacknowledged: 0,
            sent: 0,
            end: 0,
            begun: 0,
            transmissions: 0,
            packet_due: open_at.saturating_mul(1000),
            message_due: 0,
            weight,
            cut: 1.0,
            cut_until: 0,
            back_at: NEVER,
            back_to: 0,
            back_wait: 0,
            repairs: VecDeque::new(),
            heard: BTreeSet::new(),
            implied: 0,
            missed: NEVER,
            asked: 0,
            timer_at: NEVER,
            expiries: 0,
            goes: 0,
            dead: false,
            completed: 0,
        }
    }

    /// The time and kind of its next action.
    pub(super) fn due(&self, rules: &Rules) -> (u64, Act) {
        if self.dead {
            return (NEVER, Act::Send);
        }
        let send = self.send_at(rules);
        let mut first = (send, Act::Send);
        if let Some((at, _)) = self.repairs.front() {
            let at = (*at).max(self.packet_due / 1000);
            if at <= first.0 {
                first = (at, Act::Repair);
            }
        }
        // Going back comes first when both are due.
        for other in [(self.back_at, Act::Back), (self.timer_at, Act::Expire)] {
            if other.0 <= first.0 && other.0 != NEVER {
                first = other;
            }
        }
        first
    }

    fn send_at(&self, rules: &Rules) -> u64 {
        if self.next < self.end {
            return self.packet_due / 1000;
        }
        if self.begun >= rules.messages || self.messages.len() >= rules.depth {
            return NEVER;
        }
        let at = self.packet_due.max(self.message_due) / 1000;
        if at < rules.stop { at } else { NEVER }
    }

    /// Sends the next packet; returns it with its number among all transmissions.
    pub(super) fn send(&mut self, now: u64, rules: &Rules) -> Option<(Request, u64)> {
        let rate = self.rate(now, rules);
        if self.next == self.end {
            self.begin(now, rate, rules);
        }
        let (request, number) = self.transmit(now, self.next, rate, rules)?;
        self.next += request.span;
        self.sent = self.sent.max(self.next);
        if rules.service == Service::Rc {
            self.time(now, &request, rules);
        } else {
            self.unacknowledged = self.next;
            if request.position.is_last() {
                self.messages.pop_front();
                self.completed += 1;
            }
        }
        Some((request, number))
    }

    /// Sends again the packet that is next to be repeated alone; `None` if it has arrived meanwhile.
    pub(super) fn repair(&mut self, now: u64, rules: &Rules) -> Option<(Request, u64)> {
        let (_, sequence) = self.repairs.pop_front()?;
        if sequence < self.unacknowledged {
            return None;
        }
        let rate = self.rate(now, rules);
        let (request, number) = self.transmit(now, sequence, rate, rules)?;
        self.time(now, &request, rules);
        Some((
            Request {
                repair: true,
                ..request
            },
            number,
        ))
    }

    /// Repeats a packet alone, soon.
    pub(super) fn plan_repair(&mut self, now: u64, sequence: u64, rules: &Rules) {
        let is_open = sequence >= self.unacknowledged && sequence < self.sent;
        if is_open && !self.repairs.iter().any(|(_, planned)| *planned == sequence) {
            self.repairs.push_back((now + rules.near_delay, sequence));
        }
    }

    /// The packet with this sequence number, and its number among all transmissions.
    fn transmit(&mut self, now: u64, sequence: u64, rate: f64, rules: &Rules) -> Option<(Request, u64)> {
        let at = self.messages.partition_point(|message| message.end() <= sequence);
        // It always belongs to a message: `begin` creates one if necessary.
        let message = self.messages.get(at).copied()?;
        let mut request = message.request(sequence, rules.mtu);
        request.again = sequence < self.sent;
        request.go = self.goes;
        let number = self.transmissions;
        self.transmissions += 1;
        request.ack_request = rules.service == Service::Rc
            && (request.position.is_last() || (number + 1).is_multiple_of(rules.ack_every));
        if let Some(ecn) = &rules.ecn {
            let hit = ecn.mark.hits(self.random.next());
            request.congested = hit && ecn.from <= now && now < ecn.until;
        }
        self.pace(now, &request, rate, rules);
        Some((request, number))
    }

    /// Starts the timer if the packet requests an answer.
    fn time(&mut self, now: u64, request: &Request, rules: &Rules) {
        if request.ack_request || request.operation.has_response() {
            self.asked = self.asked.max(request.sequence + request.span);
            if self.timer_at == NEVER {
                self.timer_at = now.saturating_add(rules.timeout);
            }
        }
    }

    fn begin(&mut self, now: u64, rate: f64, rules: &Rules) {
        let (operation, bytes) = rules.draw_message(&mut self.random);
        let message = Message::new(self.end, self.begun, operation, bytes, rules.mtu);
        self.end = message.end();
        self.begun += 1;
        if rules.line_rate.is_some() {
            let overhead = u64::from(rules.header_bytes + TRANSPORT_BYTES) * message.packets;
            let interval = picoseconds(overhead + u64::from(bytes), rate);
            let earliest = self.message_due.max(now.saturating_mul(1000));
            self.message_due = earliest.saturating_add(interval);
        }
        self.messages.push_back(message);
    }

    /// Schedules the next packet according to the rate.
    fn pace(&mut self, now: u64, request: &Request, rate: f64, rules: &Rules) {
        let overhead = u64::from(rules.header_bytes + TRANSPORT_BYTES);
        // A READ lasts as long as its response, unless that is sent at line rate.
        let bytes = if request.operation == Operation::Read && rules.line_rate.is_none() {
            overhead * request.span + u64::from(request.message_bytes)
        } else {
            overhead + u64::from(request.payload_bytes + request.extension_bytes(rules.service))
        };
        let interval = picoseconds(bytes, rules.line_rate.unwrap_or(rate));
        let earliest = self.packet_due.max(now.saturating_mul(1000));
        self.packet_due = earliest.saturating_add(interval);
    }

    fn rate(&mut self, now: u64, rules: &Rules) -> f64 {
        if self.cut < 1.0 {
            let recovery = rules.ecn.as_ref().map_or(1, |ecn| ecn.recovery);
            while self.cut < 1.0 && now >= self.cut_until {
                self.cut = (1.0 + self.cut) / 2.0;
                self.cut_until += recovery;
                if self.cut > 0.999 {
                    self.cut = 1.0;
                }
            }
        }
        rules.rate(now) * self.weight * self.cut
    }

    /// Handles a CNP.
    pub(super) fn slow_down(&mut self, now: u64, rules: &Rules) {
        if let Some(ecn) = rules.ecn.as_ref().filter(|ecn| ecn.cut > 0.0) {
            self.cut = (self.cut * (1.0 - ecn.cut)).max(CUT_FLOOR);
            self.cut_until = now + ecn.recovery;
        }
    }

    /// Goes back as a NAK requested.
    pub(super) fn go_back(&mut self, now: u64) {
        self.next = self.back_to.max(self.unacknowledged);
        self.packet_due = self
            .packet_due
            .max(now.saturating_add(self.back_wait).saturating_mul(1000));
        self.back_at = NEVER;
        self.goes += 1;
        self.ask_again();
    }

    /// Stops the timer until the retransmission.
    fn ask_again(&mut self) {
        self.asked = self.unacknowledged;
        self.timer_at = NEVER;
    }

    /// Handles an expired timer. Returns whether anything is retransmitted.
    pub(super) fn expire(&mut self, now: u64, rules: &Rules) -> bool {
        if self.expiries >= rules.retries {
            self.dead = true;
            return false;
        }
        self.expiries += 1;
        self.goes += 1;
        self.next = self.unacknowledged;
        self.packet_due = self.packet_due.max(now.saturating_mul(1000));
        self.repairs.clear();
        self.ask_again();
        true
    }

    /// The requester's own random stream, which decides what happens to its packets.
    pub(super) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// An answer passes the tap.
    pub(super) fn answer(&mut self, now: u64, sequence: u64, answer: Answer, rules: &Rules) {
        match answer {
            Answer::Ack => self.acknowledge(now, sequence + 1, false, rules),
            Answer::Response => self.acknowledge(now, sequence + 1, true, rules),
            Answer::NakSequence => {
                self.acknowledge(now, sequence, false, rules);
                if rules.sender == Sender::GoBackN {
                    self.plan_back(now, sequence, 0, rules);
                }
            }
            Answer::Rnr(wait) => {
                self.acknowledge(now, sequence, false, rules);
                self.expiries = 0;
                self.ask_again();
                self.plan_back(now, sequence, wait, rules);
            }
            Answer::Fatal => self.dead = true,
        }
    }

    fn plan_back(&mut self, now: u64, to: u64, wait: u64, rules: &Rules) {
        // One at a time: a second NAK for the same gap adds nothing.
        if self.back_at == NEVER && to >= self.unacknowledged && to < self.sent {
            self.back_at = now + rules.near_delay;
            self.back_to = to;
            self.back_wait = wait;
        }
    }

    /// All below `upto` has arrived, up to the first response that is still missing.
    fn acknowledge(&mut self, now: u64, upto: u64, response: bool, rules: &Rules) {
        if upto <= self.unacknowledged || upto > self.sent {
            return;
        }
        let before = self.unacknowledged;
        let waited = self.send_at(rules) == NEVER;
        if rules.receiver != Receiver::Strict {
            self.gather(upto, response);
            self.ask_for_responses(now, rules);
            self.proceed(now, before, waited, rules);
            return;
        }
        while let Some(front) = self.messages.front() {
            if front.first >= upto {
                break;
            }
            let here = self.unacknowledged.max(front.first);
            let is_this = response && upto == here + 1;
            if front.operation.has_response() && !is_this {
                // A later answer arrived before an expected response: the response is lost.
                self.unacknowledged = here;
                if self.missed != here {
                    self.missed = here;
                    self.plan_back(now, here, 0, rules);
                }
                break;
            }
            self.unacknowledged = front.end().min(upto);
            if front.end() > upto {
                break;
            }
            self.messages.pop_front();
            self.completed += 1;
        }
        self.proceed(now, before, waited, rules);
    }

    /// The same for a requester that keeps responses which arrive before an earlier one.
    fn gather(&mut self, upto: u64, response: bool) {
        if response {
            self.heard.insert(upto - 1);
        }
        // Responders execute requests in order.
        self.implied = self.implied.max(upto);
        while let Some(front) = self.messages.front().filter(|front| front.first < self.implied) {
            self.unacknowledged = self.unacknowledged.max(front.first);
            if front.operation.has_response() {
                while self.unacknowledged < front.end() && self.heard.remove(&self.unacknowledged) {
                    self.unacknowledged += 1;
                }
            } else {
                self.unacknowledged = front.end().min(self.implied);
            }
            if self.unacknowledged < front.end() {
                break;
            }
            self.messages.pop_front();
            self.completed += 1;
        }
    }

    /// A selective requester requests the first missing response again, once, when it has waited for it.
    fn ask_for_responses(&mut self, now: u64, rules: &Rules) {
        let here = self.unacknowledged;
        let is_open = self
            .messages
            .front()
            .is_some_and(|front| front.operation.has_response());
        if rules.receiver == Receiver::Selective && is_open && here < self.implied && self.missed != here {
            self.missed = here;
            self.repairs.push_back((now + rules.near_delay + rules.nak_delay, here));
        }
    }

    /// Goes on after an answer that acknowledged what was not acknowledged `before`.
    fn proceed(&mut self, now: u64, before: u64, waited: bool, rules: &Rules) {
        if self.unacknowledged == before {
            return;
        }
        self.next = self.next.max(self.unacknowledged);
        self.expiries = 0;
        self.timer_at = if self.unacknowledged < self.asked {
            now.saturating_add(rules.timeout)
        } else {
            NEVER
        };
        if waited {
            let at = now.saturating_add(rules.near_delay).saturating_mul(1000);
            self.packet_due = self.packet_due.max(at);
        }
    }
}

/// The next action of a requester.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Act {
    Send,
    /// Repeat a packet alone.
    Repair,
    Back,
    Expire,
}
