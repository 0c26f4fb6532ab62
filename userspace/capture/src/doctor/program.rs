//! What the XDP program costs here, and what `CAP_PERFMON` is worth.
//!
//! Without that capability the verifier guards what a processor may speculate on, which costs time in
//! every packet. So the program is loaded with and without it and run over a frame.

use crate::xdp;
use rocescope_host::doctor::Finding;
use rocescope_host::privileges;

/// Loads the program and measures it. Takes what XDP takes.
#[must_use]
pub fn program() -> Vec<Finding> {
    let with = match xdp::worst_case_ns(&FRAME) {
        Ok(ns) => ns,
        Err(error) => return vec![Finding::fail("program", format!("{error}."))],
    };
    let held = privileges::missing(&[privileges::TRUST]).is_ok_and(|missing| missing.is_empty());
    if !held {
        return vec![Finding::ok(
            "program",
            format!(
                "It loads, and takes {with} ns for a packet that starts a run; with cap_perfmon it might take less."
            ),
        )];
    }
    let without = privileges::without(privileges::TRUST, || xdp::worst_case_ns(&FRAME));
    let perfmon = match without {
        Ok(Ok(ns)) => Finding::ok(
            "perfmon",
            format!(
                "Without cap_perfmon it takes {ns} ns for the same packet: {}.",
                worth(with, ns)
            ),
        ),
        Ok(Err(error)) => Finding::warn(
            "perfmon",
            format!(
                "Without cap_perfmon it does not load: {}.",
                first_line(&error.to_string())
            ),
        ),
        Err(error) => Finding::warn(
            "perfmon",
            format!("It cannot be given up for a moment: {error}."),
        ),
    };
    let program =
        format!("It loads, and takes {with} ns for a packet that starts a run, the costly case.");
    vec![Finding::ok("program", program), perfmon]
}

fn worth(with: u32, without: u32) -> String {
    let percent = 100.0 * (f64::from(without) / f64::from(with.max(1)) - 1.0);
    if percent.abs() < 5.0 {
        "the capability is worth nothing here".into()
    } else {
        format!("the capability is worth {percent:.0} %")
    }
}

fn first_line(text: &str) -> &str {
    text.lines()
        .next()
        .unwrap_or_default()
        .trim_end_matches('.')
}

/// Ethernet, IPv4, UDP, BTH and ICRC of an RC SEND ONLY without payload.
const FRAME: [u8; 58] = [
    0x02, 0, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1, 0x08, 0x00, //
    0x45, 0, 0, 44, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, //
    0xc0, 0, 0x12, 0xb7, 0, 24, 0, 0, //
    0x04, 0x40, 0xff, 0xff, 0, 0, 0, 17, 0x80, 0, 0, 5, //
    0, 0, 0, 0,
];

#[cfg(test)]
mod tests {
    use super::*;
    use rocescope_wire::{Class, FrameLengths, LinkType, ROCE_UDP_PORT, decode};

    #[test]
    fn the_frame_is_a_packet_of_rocev2() {
        let lengths = FrameLengths::whole(FRAME.len() as u32);
        let ports = [ROCE_UDP_PORT, 0, 0, 0];
        let class = decode(&FRAME[..], LinkType::Ethernet, lengths, ports);
        let Class::Roce(packet) = class else {
            panic!("{class:?}");
        };
        assert_eq!(packet.opcode().to_string(), "RC_SEND_ONLY");
        assert_eq!(packet.payload_bytes, 0);
    }
}
