//! Processes one item, from its direction to its peer.

use crate::connections::direction::Direction;
use crate::connections::duplicates::by_source::MirrorCopy;
use crate::connections::intake::mirror_loss::SILENT_NS;
use crate::connections::pairing::key::DirectionKey;
use crate::connections::pairing::setup::Setup;
use crate::connections::requests::new_payload::begins;
use crate::connections::requests::recovery::Episode;
use crate::connections::responses::rounds::Awaited;
use crate::connections::state::Connections;
use crate::impairment::{ImpairedRun, Impairment};
use crate::time::EventTime;
use alloc::boxed::Box;
use rocescope_record::RunRecord;
use rocescope_wire::{Psn, Qpn, Stream, Transport};

impl Connections {
    /// Processes a run, in order of first times.
    pub(crate) fn ingest(&mut self, run: &RunRecord) {
        let copies = self.summary.delivery.mirror_duplicate_packets;
        self.track(run);
        // A packet that the mirror captured twice is no retransmission.
        if self.steps.is_some() && self.summary.delivery.mirror_duplicate_packets - copies < u64::from(run.packets) {
            self.step(run);
        }
    }

    /// Shows the run to the steps of collectives, now that its peer may be known.
    #[cold]
    fn step(&mut self, run: &RunRecord) {
        let found = self.directions.find(&DirectionKey::of(run));
        let direction = found.and_then(|at| self.directions.get(at));
        let peer = direction.and_then(|direction| self.directions.get(direction.peer?));
        let peer = peer.map(|peer| peer.key);
        let is_blind = self.capture_loss.overlaps(run.first_ns, run.last_ns());
        if let Some(steps) = &mut self.steps {
            steps.observe(run, peer, is_blind);
        }
    }

    fn track(&mut self, run: &RunRecord) {
        if run.first_ns > self.now_ns + SILENT_NS {
            self.mirror_loss.silent(self.now_ns, run.first_ns);
        }
        self.now_ns = self.now_ns.max(run.last_ns());
        let key = DirectionKey::of(run);
        let known = self.prefetch.find(&self.directions, &key);
        if run.flow.dst_qpn <= Qpn::GSI.get() && run.stream() == Stream::Datagram {
            self.summary.management_packets += u64::from(run.packets);
            return;
        }
        let at = match known {
            Some(at) if self.directions.try_fast_path(at, run) => return,
            Some(at) => at,
            None => match self.begin(key, run.first_ns) {
                Some(at) => at,
                None => {
                    self.summary.delivery.untracked_packets += u64::from(run.packets);
                    return;
                }
            },
        };
        self.directions.flush(at);
        if let Some(peer) = self.directions.get(at).and_then(|direction| direction.peer) {
            self.directions.flush(peer);
        }
        let at = match self.is_reused(at, run) {
            false => at,
            true => {
                self.retire(at);
                match self.begin(key, run.first_ns) {
                    Some(at) => at,
                    None => {
                        self.summary.delivery.untracked_packets += u64::from(run.packets);
                        return;
                    }
                }
            }
        };
        let before = self.impairment(at);
        self.rule(at, run);
        let impairment = self.impairment(at).since(before);
        self.summary.delivery.retransmitted_packets += impairment.retransmitted;
        if impairment != Impairment::default() {
            self.impaired_runs.push(ImpairedRun {
                flow: run.flow,
                time_ns: run.first_ns,
                impairment,
            });
        }
        if !self.settings.fast_path {
            return;
        }
        self.directions.load_fast(at, self.settings.duplicate_ns);
        if let Some(peer) = self.directions.get(at).and_then(|direction| direction.peer) {
            self.directions.load_fast(peer, self.settings.duplicate_ns);
        }
    }

    fn impairment(&self, at: u32) -> Impairment {
        let direction = self.directions.get(at);
        direction.map_or(Impairment::default(), |direction| Impairment {
            retransmitted: direction.counts.retransmitted,
            out_of_order: direction.counts.out_of_order,
        })
    }

    /// Applies the run to its direction and the peer, after both are known.
    fn rule(&mut self, at: u32, run: &RunRecord) {
        let Some(direction) = self.directions.get_mut(at) else {
            return;
        };
        let Direction {
            naks,
            episode,
            sprayed,
            requests,
            duplicates_by_source,
            ..
        } = direction;
        let first = requests.extended(run.first_psn());
        let is_request = run.stream() == Stream::Request;
        let is_asked = |passed_ns: u64| {
            let asks = sprayed
                .iter()
                .flat_map(|sprayed| sprayed.asks.iter().map(|ask| (ask.psn, ask.time_ns)));
            let naks = naks.iter().flatten().map(|nak| (nak.psn, nak.time_ns));
            let is_named = naks
                .chain(asks)
                .any(|(psn, time_ns)| psn <= first && time_ns >= passed_ns);
            // A pass that began with this packet is not one that repeats it.
            let in_pass = |episode: &Episode| episode.first <= first && episode.begun_ns > passed_ns;
            let is_repeated = is_named || episode.as_deref().is_some_and(in_pass);
            is_request && (is_repeated || Direction::a_timer_may_expire_within(run.first_ns.since(passed_ns)))
        };
        match duplicates_by_source.check(run, is_asked) {
            MirrorCopy::None => {}
            MirrorCopy::FirstPacket => self.summary.delivery.mirror_duplicate_packets += 1,
            MirrorCopy::WholeRun => {
                self.summary.delivery.mirror_duplicate_packets += u64::from(run.packets);
                return;
            }
        }
        direction.count_run(run);
        match run.stream() {
            Stream::Request => self.request(at, run),
            Stream::Acknowledge | Stream::Response => self.answer(at, run),
            Stream::Cnp => self.notification(at, run),
            Stream::Datagram => {
                let counts = &mut direction.counts;
                counts.messages += run.messages();
                counts.unique_messages += run.messages();
                counts.unique_payload_bytes += run.payload_bytes();
                counts.request_packets += u64::from(run.packets);
                if direction.start.is_none() {
                    direction.start = Some(u64::from(run.first_psn));
                    direction.first_request_ns = run.first_ns;
                }
                let packets = u64::from(run.packets).max(1);
                direction.count_size(run.payload_bytes() / packets, packets);
            }
            Stream::Trimmed => direction.trimmed(run),
            Stream::Control | Stream::Unknown => {}
        }
    }

    /// Adds a direction for its first packet; `None` if the memory is full.
    pub(crate) fn begin(&mut self, key: DirectionKey, now_ns: u64) -> Option<u32> {
        if self.bytes() >= self.settings.max_bytes {
            self.is_full = true;
            return None;
        }
        let tcp = self.handshakes.before(&key, now_ns, self.settings.handshake_ns);
        let at = self.directions.insert(key, now_ns);
        if let Some(tcp) = tcp
            && let Some(direction) = self.directions.get_mut(at)
        {
            direction.setup = Some(Box::new(Setup {
                cm: None,
                tcp: Some(tcp),
            }));
        }
        Some(at)
    }

    fn request(&mut self, at: u32, run: &RunRecord) {
        let asks_again = self.with(at, |direction, context| {
            direction.rate.add_run(run.first_ns, run.last_ns(), run.frame_bytes);
            direction.request(run, context)
        });
        let Some(direction) = self.directions.get(at) else {
            return;
        };
        if let (Some(Some(question)), Some(peer)) = (asks_again, direction.peer) {
            let times = direction.requester_times();
            self.with(peer, |responder, context| {
                let first = responder.responses.extended(Psn::new(question.first as u32));
                let last = first + (question.last - question.first);
                responder.response_asked_again((first, last), &question, times, run.first_ns, context);
            });
            return;
        }
        // UC has no answers.
        if direction.peer.is_none() && direction.transport != Transport::Uc {
            let hosts = direction.key.hosts();
            if direction.counts.request_packets == u64::from(run.packets) {
                self.open.begin(hosts, at);
            }
            let directions = &self.directions;
            let is_open = |at| directions.get(at).is_some_and(|d| d.peer.is_none());
            self.open.enter(hosts, run.first_psn, at, is_open);
            if run.last_psn != run.first_psn {
                self.open.enter(hosts, run.last_psn, at, is_open);
            }
        }
    }

    fn answer(&mut self, at: u32, run: &RunRecord) {
        let Some(peer) = self.peer_of_answer(at, run) else {
            self.count_answer(at, None, run);
            return;
        };
        let is_response = run.stream() == Stream::Response;
        if is_response {
            self.with(peer, |requester, context| requester.finish_read(context.mtu));
        }
        self.count_answer(at, Some(peer), run);
        if !is_response {
            if !self.clock_skew.is_empty()
                && run.syndrome().is_ack()
                && (self.directions.get(peer)).is_some_and(|requester| requester.has_not_sent(run.last_psn()))
            {
                self.clock_skew.contradicted(run);
            }
            let late_ns = self.with(peer, |requester, context| requester.acknowledged(run, context));
            if let Some(late_ns) = late_ns.flatten().filter(|ns| *ns > self.settings.clock_error_ns) {
                self.learn_clock_skew(peer, run, late_ns);
            }
            let waits = self.waits_before(at, Some(peer), run.last_psn(), 1);
            if let Some(responder) = self.directions.get_mut(at) {
                responder.responses_acknowledged(run, waits);
            }
            return;
        }
        let responses = self
            .directions
            .get_mut(at)
            .map(|responder| core::mem::take(&mut responder.responses));
        let responses = responses.unwrap_or_default();
        self.with(peer, |requester, context| {
            requester.response_came(run, &responses, context);
        });
        if let Some(responder) = self.directions.get_mut(at) {
            responder.responses = responses;
        }
    }

    /// The NAK in this run passed after what it caused: its clock is ahead.
    #[cold]
    fn learn_clock_skew(&mut self, requester: u32, run: &RunRecord, late_ns: u64) {
        let more_ns = self.clock_skew.learn(run, late_ns);
        if let (Some(requester), Some(more_ns)) = (self.directions.get_mut(requester), more_ns) {
            requester.latencies.shorten(more_ns);
        }
    }

    /// Whether a READ or atomic of the peer waits for a response from the one that it accepts next to the one before `psn`,
    /// or `psn` itself (`including` 1).
    fn waits_before(&self, at: u32, peer: Option<u32>, psn: Psn, including: u64) -> bool {
        let Some(responder) = self.directions.get(at) else {
            return false;
        };
        let recovery = responder.response_recovery.as_ref();
        let expected = recovery.map_or(responder.responses.high() + 1, |recovery| recovery.requester.expected());
        let until = responder.responses.extended(psn) + including;
        let requester = peer.and_then(|peer| self.directions.get(peer));
        requester.is_some_and(|requester| {
            let first = requester.requests.extended(Psn::new(expected as u32));
            until > expected
                && requester
                    .outstanding
                    .requests_response(first, first + (until - expected) - 1)
        })
    }

    /// Applies an answer to the direction that carries it.
    fn count_answer(&mut self, at: u32, peer: Option<u32>, run: &RunRecord) {
        if run.stream() == Stream::Acknowledge {
            if let Some(direction) = self.directions.get_mut(at) {
                direction.count_acknowledges(run);
            }
            return;
        }
        // The PSNs that the requester waits for, needed only if the response leaves a gap.
        let waits = |psn: Psn, psns: u64| {
            let requester = peer.and_then(|peer| self.directions.get(peer));
            requester.is_some_and(|requester| {
                let first = requester.requests.extended(psn);
                requester.outstanding.expects_response(first, first + psns - 1)
            })
        };
        let hole = self
            .directions
            .get(at)
            .and_then(|direction| direction.response_hole(run));
        let is_awaited = hole.is_some_and(|(psn, psns)| waits(psn, psns));
        let is_expected = self.waits_before(at, peer, run.first_psn(), 0);
        // The start of the first response was lost.
        let requester = peer.and_then(|peer| self.directions.get(peer));
        let begun = requester.and_then(|requester| {
            let psn = requester.requests.extended(run.first_psn());
            requester.outstanding.response_of(psn)
        });
        let awaited = Awaited {
            hole: is_awaited,
            expected: is_expected,
            response_ns: requester.map_or(0, |requester| requester.requester_times().response_ns),
        };
        self.with(at, |direction, context| {
            if let Some(begun) = begun.filter(|_| !begins(run)) {
                direction.responses.expect(Psn::new(begun as u32));
            }
            direction.rate.add_run(run.first_ns, run.last_ns(), run.frame_bytes);
            direction.response(run, awaited, context);
        });
    }

    fn notification(&mut self, at: u32, run: &RunRecord) {
        let Some(direction) = self.directions.get_mut(at) else {
            return;
        };
        direction.counts.cnps += u64::from(run.packets);
        let notifications = direction.notifications.get_or_insert_default();
        notifications.add(run.first_ns);
        let peer = direction.peer;
        if let Some(peer) = peer.and_then(|peer| self.directions.get_mut(peer)) {
            peer.rate.notified(run.first_ns);
        }
    }
}
