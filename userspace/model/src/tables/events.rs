//! `events`: what happened at an instant and deserves a line.

use crate::row::table;
use crate::{Text, Time, Unit};
use core::net::IpAddr;

table! {
    /// One row an event: a NAK, a sudden change of a flow's rate, a burst of CNPs. `kind` says
    /// which columns are filled and what `value` and `previous` measure.
    EventRow = "events" {
        /// Name of the capture point.
        observer: Text, None, [same], hide "Observer";
        /// When it happened; for a change between windows, the start of the later one.
        time: Time, None, [min], show "Time";
        /// When it happened, exact.
        time_ns: i64, UnixNanoseconds, [min], hide "Time exact";
        /// What happened: `nak`, `rnr_nak`, `jitter`, `elephant`, `elephant_end`, `cnp_burst`; of
        /// connections `retransmission`, `rnr_episode`, `fatal_nak`, `retry_exhausted`, `loss`,
        /// `connect`, `disconnect`, `reject`.
        kind: Text, None, [same], show "Event";
        /// Source IP address of the flow; null where no flow is concerned.
        src: Option<IpAddr>, None, [same], show "Source";
        /// Destination IP address of the flow; null where no flow is concerned.
        dst: Option<IpAddr>, None, [same], show "Destination";
        /// UDP source port of the flow; null where no flow is concerned.
        udp_src_port: Option<u16>, None, [same], hide "Port";
        /// Destination queue pair number of the flow; null where no flow is concerned.
        dst_qpn: Option<u32>, None, [same], show "QP";
        /// VLAN id, the outer of two; null when untagged.
        vlan: Option<u16>, None, [same], hide "VLAN";
        /// Packet sequence number: of a NAK, the one it asks for.
        psn: Option<u32>, None, [same], show "PSN";
        /// Syndrome of a `nak` or `rnr_nak`, such as `nak_psn_sequence_error`.
        syndrome: Option<Text>, None, [same], show "Syndrome";
        /// `jitter`, `elephant` and `elephant_end`: the flow's frame bits a second in this window.
        /// `rnr_nak` and `rnr_episode`: the timer asked for, in nanoseconds. `cnp_burst`: CNPs a
        /// second. `retransmission`: nanoseconds from the NAK to the first packet sent again.
        /// `connect`: nanoseconds from REQ to REP.
        value: Option<f64>, None, [none], show "Value";
        /// `jitter`, `elephant` and `elephant_end`: the flow's frame bits a second in the window
        /// before.
        previous: Option<f64>, None, [none], show "Before";
        /// How many packets or changes the row stands for; 1 unless it gathers several.
        count: u64, None, [sum], show "Count";
        /// One sentence for people; not meant to be parsed.
        detail: Text, None, [same], show "Detail";
    }
}

impl EventRow {
    /// The kinds that there are, and what `value` and `previous` of each count.
    pub const KINDS: [(&'static str, Unit); 14] = [
        ("nak", Unit::None),
        ("rnr_nak", Unit::Nanoseconds),
        ("jitter", Unit::BitsPerSecond),
        ("elephant", Unit::BitsPerSecond),
        ("elephant_end", Unit::BitsPerSecond),
        ("cnp_burst", Unit::PacketsPerSecond),
        ("retransmission", Unit::Nanoseconds),
        ("rnr_episode", Unit::Nanoseconds),
        ("fatal_nak", Unit::None),
        ("retry_exhausted", Unit::None),
        ("loss", Unit::None),
        ("connect", Unit::Nanoseconds),
        ("disconnect", Unit::None),
        ("reject", Unit::None),
    ];

    /// What `value` and `previous` of an event of this kind count.
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
