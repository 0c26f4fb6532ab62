//! Turns connections into rows when they are due.

use crate::connections::direction::Direction;
use crate::connections::metrics::latency::Latencies;
use crate::connections::state::{Connections, ROWS_AT_ONCE};
use crate::fields::{address, vlan, vni};
use crate::flow_table::direction_key;
use crate::time::EventTime;
use alloc::vec::Vec;
use rocescope_model::{ConnectionRow, Text, Time};
use rocescope_sketches::Quantiles;
use rocescope_wire::{Psn, Transport};

impl Connections {
    /// Adds some rows of removed and due connections, at the end of all; returns whether there are more.
    pub(crate) fn report(&mut self, all: bool, rows: &mut Vec<ConnectionRow>) -> bool {
        rows.append(&mut self.retired);
        let first = match self.report_at.take() {
            Some(at) => at,
            None if !all && self.reported_ns == self.swept_ns => return false,
            None => 0,
        };
        self.reported_ns = self.swept_ns;
        for at in self.directions.numbers().skip(first as usize) {
            if self.retired.len() >= ROWS_AT_ONCE {
                self.report_at = Some(at);
                break;
            }
            let Some(direction) = self.directions.get(at) else {
                continue;
            };
            let last_ns = |at| self.directions.last_ns(at).unwrap_or(0);
            let last_ns = last_ns(at).max(direction.peer.map_or(0, last_ns));
            let silence_ns = self.swept_ns.since(last_ns);
            if all || silence_ns > self.settings.forget_ns {
                self.retire(at);
            } else if self.swept_ns.since(direction.reported_ns) >= self.settings.report_ns
                && last_ns > direction.reported_ns
            {
                self.write(at);
            }
        }
        rows.append(&mut self.retired);
        self.report_at.is_some()
    }

    /// Makes room: removes the directions that are idle at `time_ns`, with their peers.
    pub(crate) fn evict_idle(&mut self, time_ns: u64) {
        for at in self.directions.numbers() {
            let Some(direction) = self.directions.get(at) else {
                continue;
            };
            let last_ns = |at| self.directions.last_ns(at).unwrap_or(0);
            let last_ns = last_ns(at).max(direction.peer.map_or(0, last_ns));
            if time_ns.since(last_ns) > self.settings.idle_ns {
                self.summary.evicted += 1;
                self.retire(at);
            }
        }
    }

    /// Writes the last rows of a direction and its peer, and removes both.
    pub(crate) fn retire(&mut self, at: u32) {
        let peer = self.directions.get(at).and_then(|direction| direction.peer);
        for at in core::iter::once(at).chain(peer) {
            self.end_open(at);
            let unresolved = self.directions.get(at).map_or(0, Direction::unresolved);
            self.summary.delivery.unresolved_packets += unresolved;
        }
        self.write(at);
        self.summary.connections += 1;
        for at in core::iter::once(at).chain(peer) {
            self.candidates.remove(&at);
            self.directions.remove(at);
        }
    }

    /// Writes the rows of a direction and its peer as they are now.
    fn write(&mut self, at: u32) {
        let peer = self.directions.get(at).and_then(|direction| direction.peer);
        for at in core::iter::once(at).chain(peer) {
            self.directions.flush(at);
        }
        let Some(one) = self.directions.get(at) else {
            return;
        };
        let peer_at = one.peer;
        let other = peer_at.and_then(|peer| self.directions.get(peer));
        let one_is_a = other.is_none_or(|other| is_a(one, other));
        let (a, b) = match other {
            Some(other) if !one_is_a => (other, Some(one)),
            other => (one, other),
        };
        let newest_ns = self.now_ns.max(self.swept_ns);
        let row = |direction: &Direction, peer: Option<&Direction>, role: &'static str| {
            let mut row = self.row(direction, peer, newest_ns);
            row.role = Text::from_static(role);
            // The key and the first time identify connections, and are known from the start.
            let id = a.key.hash() ^ a.first_ns.rotate_left(32);
            row.connection = id.cast_signed();
            row
        };
        let tcp = a.setup.as_ref().and_then(|setup| setup.tcp);
        let ambiguous = tcp.is_some_and(|tcp| tcp.others > 0);
        let there = row(a, b, "a_to_b");
        let back = b.map(|b| row(b, Some(a), "b_to_a"));
        self.retired.push(there);
        self.retired.extend(back);
        for at in core::iter::once(at).chain(peer_at) {
            if let Some(direction) = self.directions.get_mut(at) {
                direction.reported_ns = newest_ns;
            }
        }
        self.summary.tcp_ambiguous += u64::from(ambiguous);
    }

    fn row(&self, direction: &Direction, peer: Option<&Direction>, now_ns: u64) -> ConnectionRow {
        let Direction {
            key, counts, requests, ..
        } = direction;
        let time = Time(now_ns.min(i64::MAX as u64) as i64);
        let known = counts.packets > 0;
        let setup = direction.setup.as_ref();
        let setup = setup.or(peer.and_then(|peer| peer.setup.as_ref()));
        let (cm, tcp) = setup.map_or((None, None), |setup| (setup.cm, setup.tcp));
        let mtu = direction.mtu.max(peer.map_or(0, |peer| peer.mtu));
        let src_qpn = match peer {
            Some(peer) => Some(peer.key.flow.dst_qpn),
            None => direction.is_datagrams().then_some(key.src_qpn),
        };
        let mut row = ConnectionRow {
            observer: self.observer.clone(),
            time,
            time_ns: time.0,
            state: Text::from_static(self.state(direction, peer, now_ns)),
            service: Text::from_static(service(direction, peer).name()),
            paired_by: Text::from_static(direction.paired_by.name()),
            src: address(key.flow.src),
            dst: address(key.flow.dst),
            src_qpn,
            dst_qpn: Some(key.flow.dst_qpn),
            udp_src_port: known.then_some(direction.udp_src_port),
            start_psn: direction
                .start
                .filter(|_| counts.request_packets > 0)
                .map(|psn| Psn::new(psn as u32).get()),
            vlan: vlan(key.flow.vlan),
            inner_vlan: vlan(key.flow.inner_vlan),
            vni: vni(key.flow.vni),
            path_mtu_bytes: (mtu != 0).then_some(u32::from(mtu)),
            first_ns: known.then_some(direction.first_ns as i64),
            last_ns: direction.last_ns as i64,
            direction_key: Some(direction_key(&key.flow)),
            packets: counts.packets,
            frame_bytes: counts.frame_bytes,
            payload_bytes: counts.payload_bytes,
            unique_payload_bytes: counts.unique_payload_bytes,
            messages: counts.messages,
            unique_messages: counts.unique_messages,
            read_packets: counts.reads,
            atomic_packets: counts.atomics,
            ack_packets: counts.acks,
            psn_wraps: if requests.is_started() { requests.wraps() } else { 0 },
            clock_error_ns: self.settings.clock_error_ns,
            message_sizes: sizes(&direction.sizes.counts()),
            tcp_rtt_ns: tcp.map(|tcp| tcp.rtt_ns),
            tcp_candidates: tcp.map(|tcp| tcp.others),
            request_to_reply_ns: cm.and_then(|cm| Some(cm.reply_ns?.since(cm.request_ns))),
            reply_to_ready_ns: cm.and_then(|cm| Some(cm.ready_ns?.since(cm.reply_ns?))),
            retransmission_scheme: Some(Text::from_static(direction.recoveries.scheme().name())),
            other_direction_seen: (!direction.is_unreliable())
                .then(|| peer.is_some_and(|peer| peer.counts.packets > 0)),
            ..ConnectionRow::default()
        };
        delivery(&mut row, direction);
        congestion(&mut row, direction, peer);
        latencies(&mut row, &direction.latencies);
        row
    }

    fn state(&self, direction: &Direction, peer: Option<&Direction>, now_ns: u64) -> &'static str {
        let packets = direction.counts.packets + peer.map_or(0, |peer| peer.counts.packets);
        let last_ns = direction.last_ns.max(peer.map_or(0, |peer| peer.last_ns));
        let closed = direction.closed || peer.is_some_and(|peer| peer.closed);
        let retries_exhausted = direction.retries_exhausted || peer.is_some_and(|peer| peer.retries_exhausted);
        let silence_ns = now_ns.since(last_ns);
        if closed || retries_exhausted || silence_ns > self.settings.forget_ns {
            "gone"
        } else if packets == 0 {
            "connecting"
        } else if silence_ns > self.settings.idle_ns {
            "idle"
        } else {
            "active"
        }
    }
}

/// What was lost, reordered, repeated and recovered.
fn delivery(row: &mut ConnectionRow, direction: &Direction) {
    let counts = &direction.counts;
    let unfilled_gaps = counts.unfilled_gaps;
    row.retransmitted_packets = counts.retransmitted;
    row.out_of_order_packets = counts.out_of_order;
    row.duplicate_packets = counts.duplicate;
    row.repeated_packets = counts.repeated;
    row.fabric_lost_upstream_packets = counts.lost_upstream;
    row.fabric_lost_downstream_packets = counts.lost_downstream;
    row.unanswered_packets = counts.unanswered;
    row.unresolved_packets = Some(direction.unresolved());
    row.unfilled_gaps = unfilled_gaps.total();
    row.unfilled_gap_packets = counts.unfilled_gap_packets;
    row.unfilled_gaps_acknowledged = u64::from(unfilled_gaps.acknowledged);
    row.unfilled_gaps_nak = u64::from(unfilled_gaps.nak);
    row.unfilled_gaps_unanswered = u64::from(unfilled_gaps.unanswered);
    row.unfilled_gaps_unknown = u64::from(unfilled_gaps.unknown);
    row.repeated_response_packets = counts.repeated_responses;
    row.unfilled_response_gaps = counts.unfilled_response_gaps;
    row.nak_psn_sequence = counts.nak_psn_sequence;
    row.rnr_nak = counts.rnr_nak;
    row.nak_fatal = counts.nak_fatal;
    row.nak_episodes = u64::from(counts.nak_episodes);
    row.rnr_episodes = u64::from(counts.rnr_episodes);
    row.response_episodes = u64::from(counts.response_episodes);
    row.timeouts = u64::from(counts.timeouts);
    row.late_time_max_ns = direction.reordering.late_ns();
    row.reordering_extent_psns = direction.reordering.extent();
}

/// Marks of the network, and what the sender did at them.
fn congestion(row: &mut ConnectionRow, direction: &Direction, peer: Option<&Direction>) {
    let counts = &direction.counts;
    let is_marked = service(direction, peer) == Transport::Mrc;
    let marked = is_marked.then(|| direction.marked.as_deref().copied().unwrap_or_default());
    let interval = direction.notifications.as_ref().map(|n| &n.interval);
    let bps = direction.rate.bps();
    row.ecn_ce_packets = counts.congestion_experienced;
    row.data_dscp = direction.classes.data.column();
    row.ack_dscp = direction.classes.acknowledgements.column();
    row.cnp_dscp = direction.classes.notifications.column();
    row.not_ecn_capable_packets = Some(direction.classes.not_ecn_capable);
    row.marked_retransmitted_packets = marked.map(|marked| marked.retransmitted);
    row.trimmed_packets = marked.map(|marked| marked.trimmed);
    row.nack_trimmed = marked.map(|marked| marked.nacks_trimmed);
    row.nack_other = marked.map(|marked| marked.nacks_other);
    row.cnp_sent_packets = counts.cnps;
    row.cnp_received_packets = peer.map_or(0, |peer| peer.counts.cnps);
    row.cnp_interval_min_ns = interval.and_then(Quantiles::min);
    row.cnp_interval_p50_ns = interval.and_then(|i| i.quantile(0.5));
    row.before_cnp_bps = bps.map(|(before, _)| before);
    row.after_cnp_bps = bps.map(|(_, after)| after);
    row.cnp_rate_samples = u64::from(direction.rate.samples);
}

/// Latencies of answers.
fn latencies(row: &mut ConnectionRow, latencies: &Latencies) {
    let (rtt, completion) = (latencies.rtt.all(), latencies.completion.all());
    let (rtt, completion) = (rtt.as_ref(), completion.as_ref());
    let others = latencies.rare();
    // With other times but no round trip it is a histogram without buckets.
    let empty = Quantiles::default();
    let is_timed = completion.is_some() || others.is_some();
    let histogram = rtt.or(is_timed.then_some(&empty));
    let response = others.map(|others| &others.response);
    let reaction = others.map(|others| &others.reaction);
    row.rtt_samples = samples(rtt);
    row.rtt_min_ns = rtt.and_then(Quantiles::min);
    row.rtt_p50_ns = quantile(rtt, 0.5);
    row.rtt_p99_ns = quantile(rtt, 0.99);
    row.rtt_max_ns = rtt.and_then(Quantiles::max);
    row.response_samples = samples(response);
    row.response_p50_ns = quantile(response, 0.5);
    row.response_p99_ns = quantile(response, 0.99);
    row.reaction_samples = samples(reaction);
    row.reaction_p50_ns = quantile(reaction, 0.5);
    row.reaction_p99_ns = quantile(reaction, 0.99);
    row.completion_samples = samples(completion);
    row.completion_p50_ns = quantile(completion, 0.5);
    row.completion_p99_ns = quantile(completion, 0.99);
    row.rtt_histogram = histogram.map(Quantiles::row).unwrap_or_default();
}

/// Whether `one` is the direction from `a`: CM's active side, else the first to send a request.
fn is_a(one: &Direction, other: &Direction) -> bool {
    let active = |d: &Direction| d.setup.as_ref().is_some_and(|setup| setup.cm.is_some());
    let begun = |d: &Direction| {
        if d.first_request_ns == 0 {
            (1, d.first_ns)
        } else {
            (0, d.first_request_ns)
        }
    };
    let rank = |d: &Direction| (!active(d), begun(d), d.key);
    rank(one) < rank(other)
}

fn service(direction: &Direction, peer: Option<&Direction>) -> Transport {
    match (direction.transport, peer) {
        (Transport::Vendor, Some(peer)) => peer.transport,
        // A direction with only CNPs belongs to the answering side.
        (Transport::Vendor, None) if direction.counts.cnps > 0 => Transport::Rc,
        (transport, _) => transport,
    }
}

fn samples(of: Option<&Quantiles>) -> u64 {
    of.map_or(0, Quantiles::samples)
}

fn quantile(of: Option<&Quantiles>, share: f64) -> Option<u64> {
    of.and_then(|quantiles| quantiles.quantile(share))
}

/// The counts without zeros at the end.
fn sizes(counts: &[u32]) -> Vec<i64> {
    let last = counts.iter().rposition(|count| *count > 0);
    let used = counts.iter().take(last.map_or(0, |at| at + 1));
    used.map(|count| i64::from(*count)).collect()
}
