//! What a capture without RoCEv2 contains instead.

use rocescope_model::human::grouped as count;
use rocescope_record::Counters;
use rocescope_wire::NotRoce;
use rocescope_wire::tunnel::Encapsulation;

/// The reasons why a frame is not RoCEv2, in the order of `NotRoce`.
const REASONS: [&str; NotRoce::NAMES.len()] = [
    "not IP, such as ARP or LLDP",
    "IP but not UDP, such as TCP or ICMP",
    "UDP to other ports",
    "RoCE v1 (Ethernet type 0x8915), which is counted but not analyzed",
    "in more than two tunnels",
    "of a link layer that is not Ethernet",
    "Ultra Ethernet Transport (UET), which has tables of its own",
];

/// What the frames are, and where RoCEv2 would be; `None` if there is RoCEv2, or no frame at all.
pub(super) fn hint(counters: &Counters, udp_ports: &[u16]) -> Option<String> {
    if counters.roce_packets > 0 || counters.frames == 0 {
        return None;
    }
    let reasons = REASONS.iter().copied().zip(counters.not_roce);
    let others = [
        ("malformed", counters.malformed()),
        ("fragments", counters.fragments),
        ("filtered", counters.filtered),
        ("cut before their UDP header", counters.snapped),
    ];
    let mut parts: Vec<(&str, u64)> = reasons.chain(others).filter(|(_, number)| *number > 0).collect();
    parts.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let parts: Vec<String> = parts
        .iter()
        .map(|(name, number)| format!("{} {name}", count(*number)))
        .collect();
    let tunnels = Encapsulation::NAMES.iter().zip(counters.encapsulated).skip(1);
    let tunnels: Vec<String> = tunnels
        .filter(|(_, number)| *number > 0)
        .map(|(name, number)| format!("{} {name}", count(number)))
        .collect();
    let tunnels = match tunnels.is_empty() {
        true => String::new(),
        false => format!(" In tunnels: {}.", tunnels.join(", ")),
    };
    let ports: Vec<String> = udp_ports.iter().map(u16::to_string).collect();
    Some(format!(
        "No RoCEv2 packet: RoCEv2 is UDP to port {} (--udp-port names other ports). The frames are: {}.{tunnels}",
        ports.join(", "),
        parts.join("; ")
    ))
}

/// The protocols in the text of a capture.
const SHOWN: usize = 6;

/// The most frequent protocols of frames that are not RoCEv2, with their frames.
pub(crate) fn protocols(counters: &Counters) -> String {
    let named: Vec<String> = counters
        .foreign_protocols()
        .take(SHOWN)
        .map(|(protocol, frames)| format!("{} of {protocol}", count(frames)))
        .collect();
    named.join(", ")
}
