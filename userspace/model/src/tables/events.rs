//! `events`: notable things that happened at one instant.

use crate::row::table;
use crate::{Text, Time, Unit};
use core::net::IpAddr;

table! {
    /// One row for each event, such as a NAK, a sudden change of a flow's rate, or a burst of CNPs. `kind` determines
    /// which columns are filled and what `value` and `previous` measure.
    EventRow = "events" [kept] {
        /// Name of the capture box that wrote the row.
        observer: Text, None, [same], hide "Observer";
        /// Time of the event; for a change between two windows, the start of the later one.
        time: Time, None, [min], show "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [min], hide "Exact time";
        /// Kind of event: `nak`, `rnr_nak`, `jitter`, `elephant`, `elephant_end`, `cnp_burst`, `capture_loss`,
        /// `untracked`: packets of connections that found no memory, whose losses are unknown,
        /// `yielded`: packets that connections left out because a live capture fell behind, whose losses are unknown,
        /// `pause`: a port paused its link, or a priority of it (PFC), seen in files, by packet sockets and by sniffers;
        /// `slow_step`: an agent's monitor asked for a recording of the flow of a step; of
        /// connections `retransmission`, `rnr_episode`, `fatal_nak`, `unanswered`: a sender repeats a packet by its timer and
        /// gets no answer, `retry_exhausted`: it gave up, `loss`, `connect`, `disconnect`, `reject`; of the dataset `not_stored`: windows, or rows of probes, that found the disk full or failing,
        /// `input_ended`: a capture file that was not read to its end, because it was interrupted or is damaged.
        kind: Text, None, [same], show "Event";
        /// Source IP address of the flow; null if the event concerns no flow.
        src: Option<IpAddr>, None, [same], show "Source";
        /// Destination IP address of the flow; null if the event concerns no flow.
        dst: Option<IpAddr>, None, [same], show "Destination";
        /// UDP source port of the flow; null if the event concerns no flow.
        udp_src_port: Option<u16>, None, [same], hide "Port";
        /// Destination queue pair number of the flow; null if the event concerns no flow.
        dst_qpn: Option<u32>, None, [same], show "QP";
        /// VLAN ID, the outer one if the frame has two tags; null for untagged frames.
        vlan: Option<u16>, None, [same], hide "VLAN";
        /// Packet sequence number; of a NAK, the PSN that it requests.
        psn: Option<u32>, None, [same], show "PSN";
        /// Syndrome of a `nak` or `rnr_nak`, such as `nak_psn_sequence_error`; of a NACK of MRC its reason, such as
        /// `nack_trimmed`. Of a `pause` the port and the priority, such as `b8:3f:d2:00:00:03 priority 3`.
        syndrome: Option<Text>, None, [same], show "Syndrome";
        /// `jitter`, `elephant` and `elephant_end`: the flow's frame rate in this window, in bit/s. `rnr_nak` and
        /// `rnr_episode`: the requested RNR timer, in ns. `cnp_burst`: CNPs per second. `retransmission`: time from the
        /// NAK to the first retransmitted packet, in ns. `connect`: time from REQ to REP, in ns. `capture_loss`: time
        /// from the first to the last loss that began in the window, in ns; gaps in it prove no fabric loss.
        /// `slow_step`: the round trip that was too long, in ns. `pause`: how long in this window, in ns, at most: each frame
        /// up to the next one of the port and priority, and no longer than it asks for at 10 Gbit/s.
        /// `not_stored`: time from the start of the first of these windows to the end of the last, or from the first
        /// to the last of these rows, in ns. `input_ended`: the share of the bytes of the input that was read, null if
        /// unknown.
        value: Option<f64>, None, [none], show "Value";
        /// `jitter`, `elephant` and `elephant_end`: the flow's frame rate in the previous window, in bit/s.
        previous: Option<f64>, None, [none], show "Previous";
        /// Number of packets or changes that the row represents; 1 unless it combines several.
        count: u64, None, [sum], show "Count";
        /// Description in one sentence; its wording may change.
        detail: Text, None, [same], show "Detail";
        /// Key of the direction of the flow, as in `flows`; null if the event concerns no flow.
        direction_key: Option<i64>, None, [same], hide "Direction key";
    }
}

impl EventRow {
    /// Kinds of events that need the state of connections, and belong to connections instead of windows.
    pub const OF_CONNECTIONS: [&'static str; 9] = [
        "retransmission",
        "rnr_episode",
        "fatal_nak",
        "unanswered",
        "retry_exhausted",
        "loss",
        "connect",
        "disconnect",
        "reject",
    ];

    /// Kinds from the most to the least severe. Others rank in the middle.
    const GRAVEST_FIRST: [&'static str; 17] = [
        Self::INPUT_ENDED,
        "retry_exhausted",
        "unanswered",
        "fatal_nak",
        "loss",
        "reject",
        "rnr_episode",
        "retransmission",
        "rnr_nak",
        "nak",
        Self::PAUSE,
        "cnp_burst",
        "jitter",
        "elephant",
        "elephant_end",
        "disconnect",
        "connect",
    ];

    /// The place of a kind among those from the most to the least severe.
    #[must_use]
    pub fn gravity(kind: &str) -> usize {
        let place = Self::GRAVEST_FIRST.iter().position(|name| *name == kind);
        // In the middle: neither last nor first.
        place.unwrap_or(Self::GRAVEST_FIRST.len() / 2)
    }

    /// The kind of a pause of a link.
    pub const PAUSE: &'static str = "pause";

    /// The kind of a request of an agent's monitor.
    pub const SLOW_STEP: &'static str = "slow_step";

    /// The kind of an input that was not read to its end.
    pub const INPUT_ENDED: &'static str = "input_ended";

    /// Every kind, with the unit of its `value` and `previous`.
    pub const KINDS: [(&'static str, Unit); 22] = [
        ("nak", Unit::None),
        ("rnr_nak", Unit::Nanoseconds),
        ("jitter", Unit::BitsPerSecond),
        ("elephant", Unit::BitsPerSecond),
        ("elephant_end", Unit::BitsPerSecond),
        ("cnp_burst", Unit::PacketsPerSecond),
        ("capture_loss", Unit::Nanoseconds),
        ("untracked", Unit::None),
        ("yielded", Unit::None),
        (Self::PAUSE, Unit::Nanoseconds),
        (Self::SLOW_STEP, Unit::Nanoseconds),
        ("retransmission", Unit::Nanoseconds),
        ("rnr_episode", Unit::Nanoseconds),
        ("fatal_nak", Unit::None),
        ("unanswered", Unit::None),
        ("retry_exhausted", Unit::None),
        ("loss", Unit::None),
        ("connect", Unit::Nanoseconds),
        ("disconnect", Unit::None),
        ("reject", Unit::None),
        ("not_stored", Unit::Nanoseconds),
        (Self::INPUT_ENDED, Unit::Ratio),
    ];

    /// Returns the unit of `value` and `previous` of an event of this kind.
    #[must_use]
    pub fn unit(kind: &str) -> Unit {
        let mut kinds = Self::KINDS.into_iter();
        let found = kinds.find(|(name, _)| *name == kind);
        found.map_or(Unit::None, |(_, unit)| unit)
    }
}

#[cfg(test)]
mod tests {
    use super::EventRow;
    use crate::Row;

    #[test]
    fn the_documentation_names_every_kind() {
        let kind = EventRow::TABLE.position("kind").unwrap();
        let help = EventRow::TABLE.columns[kind].help;
        for (kind, _) in EventRow::KINDS {
            assert!(help.contains(&std::format!("`{kind}`")), "{kind}");
        }
        assert_eq!(help.matches('`').count(), 2 * EventRow::KINDS.len());
    }
}
