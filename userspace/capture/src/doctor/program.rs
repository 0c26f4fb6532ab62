//! The cost of the XDP program on this host, and the gain of `CAP_PERFMON`.
//!
//! Without that capability the verifier adds speculation barriers, which slow down every packet. So the
//! program is loaded with and without it and run over a frame.

use crate::xdp;
use rocescope_host::doctor::Finding;
use rocescope_host::privileges;

/// Loads the program and measures it. Needs the capabilities of XDP.
#[must_use]
pub fn program() -> Vec<Finding> {
    let with = match xdp::worst_case_ns(&FRAME) {
        Ok(ns) => ns,
        Err(error) => {
            // The verifier's log has hundreds of lines.
            let finding = Finding::fail("program", format!("{}.", first_line(&error.to_string())));
            let lacks = |needed| privileges::missing(needed).is_ok_and(|missing| !missing.is_empty());
            // Some kernels, such as Debian 12's 6.1, require it. `host` has printed the command if others are missing.
            return vec![match lacks(&[privileges::TRUST]) && !lacks(&privileges::XDP) {
                true => finding.remedy(privileges::grant(&privileges::XDP)),
                false => finding,
            }];
        }
    };
    let held = privileges::missing(&[privileges::TRUST]).is_ok_and(|missing| missing.is_empty());
    if !held {
        return vec![Finding::ok(
            "program",
            format!(
                "The XDP program loads; a packet that starts a run costs {with} ns, perhaps less with cap_perfmon."
            ),
        )];
    }
    let without = privileges::without(privileges::TRUST, || xdp::worst_case_ns(&FRAME));
    let perfmon = match without {
        Ok(Ok(ns)) => Finding::ok(
            "perfmon",
            format!(
                "Without cap_perfmon the same packet costs {ns} ns ({:+.0} %).",
                gain(with, ns)
            ),
        ),
        Ok(Err(error)) => Finding::warn(
            "perfmon",
            format!(
                "Without cap_perfmon the XDP program does not load: {}.",
                first_line(&error.to_string())
            ),
        ),
        Err(error) => Finding::warn(
            "perfmon",
            format!("Not measured: cannot drop cap_perfmon temporarily: {error}."),
        ),
    };
    let program = format!("The XDP program loads; a packet that starts a run, the worst case, costs {with} ns.");
    vec![Finding::ok("program", program), perfmon]
}

/// What the capability gains, in percent.
fn gain(with: u32, without: u32) -> f64 {
    100.0 * (f64::from(without) / f64::from(with.max(1)) - 1.0)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_end_matches('.')
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
    fn the_frame_is_a_rocev2_packet() {
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
