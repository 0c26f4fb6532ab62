//! From what the programs report to events.

use super::btf::Field;
use super::layout::Layout;
use rocescope_host::counters::Moment;
use rocescope_host::counters::queue_pairs::event::{Attributes, Event, Flow, Identity, Owner, What};
use rocescope_host::counters::rdma::{state_name, type_name};
use rocescope_record::queue_pair::{BY_CM, CREATED, ENDED, MODIFIED, QueuePairChange, QueuePairEvent};
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// `enum ib_qp_attr_mask` of `include/rdma/ib_verbs.h`, which is also the interface of user space.
mod mask {
    pub(super) const STATE: u32 = 1 << 0;
    pub(super) const PORT: u32 = 1 << 5;
    pub(super) const ADDRESS: u32 = 1 << 7;
    pub(super) const PATH_MTU: u32 = 1 << 8;
    pub(super) const TIMEOUT: u32 = 1 << 9;
    pub(super) const RETRIES: u32 = 1 << 10;
    pub(super) const RNR_RETRIES: u32 = 1 << 11;
    pub(super) const RECEIVE_PSN: u32 = 1 << 12;
    pub(super) const SEND_PSN: u32 = 1 << 16;
    pub(super) const REMOTE_QPN: u32 = 1 << 20;
}

/// The event in a record of the ring, which is read at `now`; `None` if it is none.
pub(super) fn event(record: &[u8], layout: &Layout, now: Moment) -> Option<Event> {
    let (event, change) = match record.len() {
        length if length == size_of::<QueuePairChange>() => {
            let change: QueuePairChange = bytemuck::pod_read_unaligned(record);
            (change.event, Some(change))
        }
        length if length == size_of::<QueuePairEvent>() => (bytemuck::pod_read_unaligned(record), None),
        _ => return None,
    };
    let identity = Identity(event.identity);
    let owner = || Owner {
        kind: type_name(event.kind),
        pid: (event.pid != 0).then_some(event.pid),
        process: text(&event.owner),
    };
    let what = match (event.what, change) {
        (CREATED, None) => What::Created(identity, owner()),
        (MODIFIED, Some(change)) => What::Modified(identity, owner(), attributes(&change, layout)),
        (BY_CM, None) => What::ByCm,
        (ENDED, None) => What::Ended(identity),
        _ => return None,
    };
    Some(Event {
        moment: now.at(Duration::from_nanos(event.time_ns)),
        device: text(&event.device),
        number: event.number,
        what,
    })
}

fn attributes(change: &QueuePairChange, layout: &Layout) -> Attributes {
    let fields = &layout.attributes;
    let number = |set: u32, field: Field| {
        let number = number(&change.attributes, field);
        number.filter(|_| change.mask & set != 0)
    };
    let byte = |set, field| number(set, field).and_then(|number| u8::try_from(number).ok());
    let has_address = change.mask & mask::ADDRESS != 0;
    // Addresses of IP and ports of UDP: RoCEv2 has them.
    let is_routed = has_address && change.gid_type == layout.roce_v2 && change.local_gid != [0; 16];
    let remote = slice(&change.attributes, fields.remote_gid);
    let remote = remote.and_then(|gid| <[u8; 16]>::try_from(gid).ok());
    Attributes {
        state: number(mask::STATE, fields.state).map(state_name),
        port: number(mask::PORT, fields.port).filter(|port| *port != 0),
        remote_qpn: number(mask::REMOTE_QPN, fields.remote_qpn),
        local_address: is_routed.then(|| address(change.local_gid)),
        remote_address: remote.filter(|_| is_routed).map(address),
        flow: match number(mask::ADDRESS, fields.flow_label) {
            Some(label) if is_routed && layout.port_drivers.contains(&change.event.driver) => Some(Flow::Label(label)),
            _ => has_address.then_some(Flow::Device),
        },
        udp_src_port: None,
        traffic_class: byte(mask::ADDRESS, fields.traffic_class).filter(|_| is_routed),
        path_mtu_bytes: number(mask::PATH_MTU, fields.path_mtu).and_then(path_mtu),
        timeout: byte(mask::TIMEOUT, fields.timeout),
        retries: byte(mask::RETRIES, fields.retries),
        rnr_retries: byte(mask::RNR_RETRIES, fields.rnr_retries),
        send_psn: number(mask::SEND_PSN, fields.send_psn).map(|psn| psn & 0xff_ffff),
        receive_psn: number(mask::RECEIVE_PSN, fields.receive_psn).map(|psn| psn & 0xff_ffff),
    }
}

fn slice(attributes: &[u8], field: Field) -> Option<&[u8]> {
    let offset = field.offset as usize;
    attributes.get(offset..offset + field.bytes as usize)
}

/// A number of any size: fields have grown from one version to the next.
fn number(attributes: &[u8], field: Field) -> Option<u32> {
    match *slice(attributes, field)? {
        [byte] => Some(byte.into()),
        [a, b] => Some(u16::from_ne_bytes([a, b]).into()),
        [a, b, c, d] => Some(u32::from_ne_bytes([a, b, c, d])),
        _ => None,
    }
}

/// `enum ib_mtu`: 256 bytes are 1, 4,096 are 5.
const fn path_mtu(number: u32) -> Option<u32> {
    match number {
        1..=5 => Some(128 << number),
        _ => None,
    }
}

fn address(gid: [u8; 16]) -> IpAddr {
    Ipv6Addr::from(gid).to_canonical()
}

fn text(bytes: &[u8]) -> String {
    let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
