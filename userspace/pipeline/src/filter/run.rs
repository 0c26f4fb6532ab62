//! Applies a filter to runs and single packets.
//!
//! A run is kept or dropped as a whole. The columns that a filter may test are the same for all its packets (addresses,
//! queue pairs, VLAN, service), except three: `opcode` and `psn` match if one packet of the run has it, and
//! `ecn_ce_packets` counts those of the run. A NAK is always a run of its own, so a `syndrome` selects whole runs: ACKs,
//! or one NAK.

use crate::fields::{address, opcode_name, vlan, vni};
use alloc::vec::Vec;
use rocescope_model::filter::{Comparison, Filter, FilterError, Literal, Names, Test};
use rocescope_model::{Cell, Text, Value};
use rocescope_record::{ControlPacket, RunRecord};
use rocescope_wire::extension::Syndrome;
use rocescope_wire::{FlowKey, Meaning, Opcode, Operation, Packet, Position};

/// The columns that packets have.
pub const COLUMNS: [&str; 13] = [
    "src",
    "dst",
    "src_qpn",
    "dst_qpn",
    "udp_src_port",
    "vlan",
    "inner_vlan",
    "vni",
    "service",
    "opcode",
    "ecn_ce_packets",
    "psn",
    "syndrome",
];

/// A filter whose every term applies to packets.
#[derive(Clone, Debug)]
pub struct RunFilter {
    filter: Filter,
}

impl RunFilter {
    /// Checks that every term of `filter` applies to packets.
    ///
    /// # Errors
    /// [`FilterError`] points at the first term that does not, such as a rate.
    pub fn new(filter: &Filter) -> Result<Self, FilterError> {
        filter.expect_columns(&COLUMNS, "packets")?;
        Ok(Self { filter: filter.clone() })
    }

    /// Parses a filter of packets; `names` are those that `host` takes besides addresses.
    ///
    /// # Errors
    /// Those of [`Filter::parse_for`].
    pub fn parse(text: &str, names: Names<'_>) -> Result<Self, FilterError> {
        let filter = Filter::parse_for(text, &COLUMNS, "packets", names)?;
        Ok(Self { filter })
    }

    /// The filter as written.
    #[must_use]
    pub const fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Whether a term is about the UDP source port: then packets with different ports must not share a run.
    #[must_use]
    pub fn names_port(&self) -> bool {
        let others: Vec<&str> = COLUMNS.into_iter().filter(|column| *column != "udp_src_port").collect();
        self.filter.expect_columns(&others, "packets").is_err()
    }

    /// Whether the filter selects a run.
    #[must_use]
    pub fn wants(&self, run: &RunRecord) -> bool {
        let marked = u64::from(run.congestion_experienced);
        let mut ask = |test: &Test| {
            Some(match test.column.name {
                "opcode" => run.opcodes().any(|(opcode, _)| is(opcode, test)),
                "service" => service(run.opcode(), test),
                "ecn_ce_packets" => test.literal.compare(&marked.value(), test.comparison),
                "psn" => psn(run.first_psn, run.last_psn, test),
                "syndrome" => {
                    let has = run.opcodes().any(|(opcode, _)| has_syndrome(&opcode.meaning()));
                    syndrome(has.then(|| run.syndrome()), test)
                }
                _ => of_flow(&run.flow, run.src_qpn, test).unwrap_or(false),
            })
        };
        self.filter.expression().holds(&mut ask) == Some(true)
    }

    /// Whether the filter selects a single packet.
    #[must_use]
    pub fn wants_packet(&self, packet: &Packet) -> bool {
        let marked = u64::from(packet.congestion_experienced);
        let mut ask = |test: &Test| {
            Some(match test.column.name {
                "opcode" => is(packet.bth.opcode(), test),
                "service" => service(packet.bth.opcode(), test),
                "ecn_ce_packets" => test.literal.compare(&marked.value(), test.comparison),
                "psn" => psn(packet.psn().get(), packet.psn().get(), test),
                "syndrome" => syndrome(has_syndrome(&packet.meaning).then_some(packet.syndrome), test),
                _ => of_flow(&packet.flow, packet.src_qpn.get(), test).unwrap_or(false),
            })
        };
        self.filter.expression().holds(&mut ask) == Some(true)
    }

    /// Whether a control packet may concern selected packets: unless its addresses and tags exclude that in both
    /// directions.
    #[must_use]
    pub fn may_want(&self, event: &ControlPacket<'_>) -> bool {
        match event {
            ControlPacket::Mad(mad) => self.may_want_flow(&mad.flow),
            ControlPacket::Handshake(handshake) => self.may_want_between(
                handshake.client,
                handshake.server,
                (handshake.vlan, handshake.inner_vlan, handshake.vni),
            ),
        }
    }

    /// The same for a UET packet, which has no queue pair.
    #[must_use]
    pub fn may_want_flow(&self, flow: &FlowKey) -> bool {
        self.may_want_between(flow.src, flow.dst, (flow.vlan, flow.inner_vlan, flow.vni))
    }

    fn may_want_between(&self, src: [u8; 16], dst: [u8; 16], tags: (u16, u16, u32)) -> bool {
        let possible = |src, dst| {
            let mut ask = |test: &Test| {
                Some(match test.column.name {
                    "src" => network(src, test),
                    "dst" => network(dst, test),
                    "vlan" => test.literal.compare(&vlan(tags.0).value(), test.comparison),
                    "inner_vlan" => test.literal.compare(&vlan(tags.1).value(), test.comparison),
                    "vni" => test.literal.compare(&vni(tags.2).value(), test.comparison),
                    _ => return None,
                })
            };
            self.filter.expression().holds(&mut ask) != Some(false)
        };
        possible(src, dst) || possible(dst, src)
    }
}

/// The value of a column in a flow key; `None` for other columns.
fn of_flow(flow: &FlowKey, src_qpn: u32, test: &Test) -> Option<bool> {
    let value = match test.column.name {
        "src" => return Some(network(flow.src, test)),
        "dst" => return Some(network(flow.dst, test)),
        // Only datagrams have it.
        "src_qpn" if src_qpn == 0 => Value::Null,
        "src_qpn" => integer(src_qpn),
        "dst_qpn" => integer(flow.dst_qpn),
        "udp_src_port" => integer(flow.udp_src_port),
        "vlan" => vlan(flow.vlan).map_or(Value::Null, integer),
        "inner_vlan" => vlan(flow.inner_vlan).map_or(Value::Null, integer),
        "vni" => vni(flow.vni).map_or(Value::Null, integer),
        _ => return None,
    };
    Some(test.literal.compare(&value, test.comparison))
}

fn integer<'a>(number: impl Into<i64>) -> Value<'a> {
    Value::I64(number.into())
}

fn network(bytes: [u8; 16], test: &Test) -> bool {
    match &test.literal {
        Literal::Network(_) => test.literal.is_network_of(address(bytes), test.comparison),
        // `src = 10.*` is a pattern over the address as it is written.
        _ => test.literal.compare(&address(bytes).value(), test.comparison),
    }
}

fn is(opcode: Opcode, test: &Test) -> bool {
    test.literal.compare(&opcode_name(opcode).value(), test.comparison)
}

fn service(opcode: Opcode, test: &Test) -> bool {
    let name = Text::from_static(opcode.transport().name());
    test.literal.compare(&name.value(), test.comparison)
}

/// Whether packets of this opcode have an AETH, and with it a syndrome.
fn has_syndrome(meaning: &Meaning) -> bool {
    match meaning.operation {
        Operation::Acknowledge | Operation::AtomicAcknowledge => true,
        Operation::RdmaReadResponse => meaning.position() != Position::Middle,
        _ => false,
    }
}

fn syndrome(syndrome: Option<Syndrome>, test: &Test) -> bool {
    let name = syndrome.map(|syndrome| Text::from_static(syndrome.name()));
    test.literal.compare(&name.value(), test.comparison)
}

/// Whether a PSN from `first` to `last` passes the test. Their numbers wrap after 24 bits.
fn psn(first: u32, last: u32, test: &Test) -> bool {
    let passes = |number: u32| test.literal.compare(&integer(number), test.comparison);
    let inside = |number: i64| match u32::try_from(number) {
        Ok(number) if first <= last => (first..=last).contains(&number),
        Ok(number) => number >= first || number <= last,
        Err(_) => false,
    };
    match (&test.literal, test.comparison) {
        (Literal::Integer(number), Comparison::Equal) => inside(*number),
        _ if first <= last => passes(first) || passes(last),
        _ => [first, (1 << 24) - 1, 0, last].into_iter().any(passes),
    }
}

#[cfg(test)]
mod tests {
    use super::RunFilter;
    use rocescope_model::filter::Names;
    use rocescope_record::RunRecord;
    use rocescope_wire::extension::Syndrome;
    use rocescope_wire::{Bth, Opcode, Packet, Psn, Qpn};

    const ACKNOWLEDGE: u8 = 0x11;
    const SEND_ONLY: u8 = 0x04;

    fn packet(opcode: u8, psn: u32, syndrome: Syndrome) -> Packet {
        Packet {
            bth: Bth::new(Opcode(opcode), Qpn::new(0), Psn::new(psn)).into(),
            meaning: Opcode(opcode).meaning(),
            syndrome,
            ..Packet::zeroed()
        }
    }

    #[test]
    fn acknowledgements_are_selected_by_their_syndrome() {
        let packets = [
            packet(ACKNOWLEDGE, 5, Syndrome::ACK),
            packet(ACKNOWLEDGE, 6, Syndrome::NAK_PSN_SEQUENCE_ERROR),
            packet(ACKNOWLEDGE, 7, Syndrome::rnr_nak(1)),
            packet(SEND_ONLY, 8, Syndrome(0)),
        ];
        for (text, expected) in [
            ("nak", [false, true, false, false]),
            ("rnr", [false, false, true, false]),
            ("nak or rnr", [false, true, true, false]),
            ("syndrome ack", [true, false, false, false]),
            ("syndrome = null", [false, false, false, true]),
            ("psn 6", [false, true, false, false]),
            ("psn >= 7", [false, false, true, true]),
        ] {
            let filter = RunFilter::parse(text, Names::None).unwrap();
            assert_eq!(packets.map(|packet| filter.wants_packet(&packet)), expected, "{text}");
            let runs = packets.map(|packet| RunRecord {
                packets: 1,
                only: 1,
                opcode: packet.bth.opcode().0,
                stream: packet.meaning.stream as u8,
                syndrome: packet.syndrome.0,
                first_psn: packet.psn().get(),
                last_psn: packet.psn().get(),
                ..bytemuck::Zeroable::zeroed()
            });
            assert_eq!(runs.map(|run| filter.wants(&run)), expected, "{text}");
        }
    }

    #[test]
    fn a_run_has_every_psn_from_its_first_to_its_last() {
        let run = |first_psn, last_psn| RunRecord {
            packets: 4,
            opcode: SEND_ONLY,
            first_psn,
            last_psn,
            ..bytemuck::Zeroable::zeroed()
        };
        let wrapped = run(0xff_ffff, 2);
        for (text, run, expected) in [
            ("psn 12", run(10, 13), true),
            ("psn 14", run(10, 13), false),
            ("psn < 10", run(10, 13), false),
            ("psn > 12", run(10, 13), true),
            ("psn 0", wrapped, true),
            ("psn 3", wrapped, false),
            ("psn > 100", wrapped, true),
        ] {
            let filter = RunFilter::parse(text, Names::None).unwrap();
            assert_eq!(filter.wants(&run), expected, "{text}");
        }
    }
}
