//! Converts fields of packets and flow keys to cells of a row.

use alloc::string::ToString;
use core::net::{IpAddr, Ipv6Addr};
use rocescope_model::Text;
use rocescope_wire::Opcode;
use rocescope_wire::link::NO_VLAN;
use rocescope_wire::tunnel::NO_VNI;

/// The address in a flow key; IPv4 if it is mapped.
#[must_use]
pub fn address(bytes: [u8; 16]) -> IpAddr {
    Ipv6Addr::from(bytes).to_canonical()
}

/// The VLAN ID, if any.
#[must_use]
pub fn vlan(id: u16) -> Option<u16> {
    (id != NO_VLAN).then_some(id)
}

/// The VXLAN network identifier, if any.
#[must_use]
pub fn vni(id: u32) -> Option<u32> {
    (id != NO_VNI).then_some(id)
}

/// The name of an opcode, without an allocation if it is known.
#[must_use]
pub(crate) fn opcode_name(opcode: Opcode) -> Text {
    opcode
        .name()
        .map_or_else(|| opcode.to_string().into(), Text::from_static)
}
