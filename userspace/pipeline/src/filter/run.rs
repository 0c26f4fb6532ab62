//! Applies a filter to runs and single packets.
//!
//! A run is kept or dropped as a whole. The columns that a filter may test are the same for all its packets (addresses,
//! queue pairs, VLAN, service), except two: `opcode` matches if one packet of the run has it, and `ecn_ce_packets`
//! counts those of the run. So the result is the same whether the kernel or this process made the run.

use crate::fields::{address, opcode_name, vlan, vni};
use alloc::vec::Vec;
use rocescope_model::filter::{Filter, FilterError, Literal, Test};
use rocescope_model::{Cell, Text, Value};
use rocescope_record::{ControlPacket, RunRecord};
use rocescope_wire::{FlowKey, Opcode, Packet};

/// The columns that packets have.
pub const COLUMNS: [&str; 11] = [
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

    /// Parses a filter of packets.
    ///
    /// # Errors
    /// Those of [`Filter::parse_for`].
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let filter = Filter::parse_for(text, &COLUMNS, "packets")?;
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
