//! An interface: driver, queues, offloads, moderation.

use super::finding::Finding;
use crate::ethtool::Ip;
use crate::interface::{Interface, State};
use crate::port::rdma_devices;
use std::io;
use std::path::Path;

/// The largest RoCEv2 packet: a path MTU of 4,096 bytes, IPv6 and the RoCEv2 headers.
const LARGEST_PACKET: u32 = 4_096 + 40 + 8 + 12 + 16 + 4 + 4;
/// A longer delay is most of a round trip in a rack.
const MAX_USECS: u32 = 8;

/// Checks an interface.
#[must_use]
pub fn port(interface: &Interface) -> Vec<Finding> {
    let name = interface.name.as_str();
    let mut found = vec![state(interface, name)];
    found.push(match interface.driver() {
        Ok(driver) => Finding::ok("driver", format!("The driver is {driver}.")),
        Err(error) => Finding::warn("driver", format!("The driver is unknown: {error}.")),
    });
    found.push(mtu(interface, name));
    found.extend(queues(interface, name));
    found.extend(ring(interface, name));
    found.extend(offloads(interface, name));
    found.extend(moderation(interface, name));
    found.push(timestamps(interface));
    let devices = rdma_devices(Path::new("/sys/class/infiniband"));
    found.extend(devices.get(name).map(|devices| rdma(devices)));
    for finding in &mut found {
        finding.interface = Some(name.to_owned());
    }
    found
}

/// A NIC that is an RDMA device hides its own traffic. That is right for a port that only receives a mirror.
fn rdma(devices: &[String]) -> Finding {
    let device = devices.first().map_or("", String::as_str);
    Finding::ok(
        "rdma",
        format!(
            "The interface belongs to the RDMA device {device}: XDP and packet sockets see what a mirror sends here, but nothing of \
             this host's own RDMA traffic, which bypasses the kernel. `rocescope capture -i {device}` sees that, if the driver has \
             sniffer flows (mlx5)."
        ),
    )
}

fn state(interface: &Interface, name: &str) -> Finding {
    match interface.state() {
        State::Up => Finding::ok("link", "The link is up."),
        State::Down => Finding::fail(
            "link",
            "The link is down or has no carrier: no frames arrive until it is up.",
        )
        .remedy(format!("ip link set dev {name} up")),
        State::Gone => Finding::fail("link", "The interface no longer exists."),
    }
}

fn mtu(interface: &Interface, name: &str) -> Finding {
    match interface.mtu() {
        Ok(mtu) if mtu < LARGEST_PACKET => Finding::warn(
            "mtu",
            format!(
                "The MTU is {}. RoCEv2 packets with a path MTU of 4,096 have up to {} bytes; the NIC drops longer packets uncounted.",
                grouped(mtu),
                grouped(LARGEST_PACKET)
            ),
        )
        .remedy(format!("ip link set dev {name} mtu 9000")),
        Ok(mtu) => Finding::ok("mtu", format!("The MTU is {}, enough for every RoCEv2 packet.", grouped(mtu))),
        Err(error) => Finding::warn("mtu", format!("The MTU is unknown: {error}.")),
    }
}

fn queues(interface: &Interface, name: &str) -> Vec<Finding> {
    let queues = match interface.receive_queues() {
        Ok(queues) => queues,
        Err(error) => return vec![unknown("queues", &error)],
    };
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
    let message = format!("{}, {}.", counted(queues, "receive queue"), counted(cpus, "CPU"));
    let mut found = vec![Finding::ok("queues", message)];
    if queues < 2 {
        return found;
    }
    for (topic, ip, word) in [("rss udp4", Ip::V4, "udp4"), ("rss udp6", Ip::V6, "udp6")] {
        found.push(match interface.hashes_source_port(ip) {
            Ok(true) => Finding::ok(
                topic,
                "The receive hash includes the UDP source port: flows spread over the queues.",
            ),
            Ok(false) => Finding::warn(
                topic,
                "The receive hash ignores the UDP source port: all flows between two hosts load one CPU.",
            )
            .remedy(format!("ethtool -N {name} rx-flow-hash {word} sdfn")),
            Err(error) => unknown(topic, &error),
        });
    }
    found
}

fn ring(interface: &Interface, name: &str) -> Option<Finding> {
    Some(match interface.receive_ring() {
        Ok(ring) if ring.max == 0 => return None,
        Ok(ring) if ring.now < ring.max => Finding::warn(
            "ring",
            format!(
                "The receive ring has {} of {} possible descriptors: bursts overflow it earlier than necessary.",
                grouped(ring.now),
                grouped(ring.max)
            ),
        )
        .remedy(format!("ethtool -G {name} rx {}", ring.max)),
        Ok(ring) => Finding::ok(
            "ring",
            format!("The receive ring has its maximum of {} descriptors.", grouped(ring.now)),
        ),
        Err(error) => unknown("ring", &error),
    })
}

fn offloads(interface: &Interface, name: &str) -> Vec<Finding> {
    let lro = match interface.merges_in_hardware() {
        Ok(true) => Finding::warn(
            "lro",
            "LRO is on: the NIC merges frames before capture, and many drivers then refuse XDP programs.",
        )
        .remedy(format!("ethtool -K {name} lro off")),
        Ok(false) => Finding::ok("lro", "LRO is off."),
        Err(error) => unknown("lro", &error),
    };
    let gro = match interface.merges_frames() {
        Ok(true) => Finding::warn(
            "gro",
            "GRO is on: packet sockets and generic XDP may see merged frames; native XDP does not.",
        )
        .remedy(format!("ethtool -K {name} gro off")),
        Ok(false) => Finding::ok("gro", "GRO is off."),
        Err(error) => unknown("gro", &error),
    };
    let vlan = match interface.strips_vlan() {
        Ok(true) => Finding::warn(
            "vlan",
            "VLAN offload is on: the NIC removes VLAN tags before XDP sees the frame.",
        )
        .remedy(format!(
            "rocescope capture --vlan-offload off -i {name}, or ethtool -K {name} rxvlan off"
        )),
        Ok(false) => Finding::ok("vlan", "VLAN offload is off: tags stay in the frame."),
        Err(error) => unknown("vlan", &error),
    };
    vec![lro, gro, vlan]
}

fn moderation(interface: &Interface, name: &str) -> Option<Finding> {
    let command = format!("ethtool -C {name} adaptive-rx off rx-usecs 0");
    Some(match interface.coalescing() {
        Ok(now) if now.adaptive => Finding::warn(
            "moderation",
            "Adaptive interrupt moderation is on: the NIC varies the delay of frames, and measured round trips vary with it.",
        )
        .remedy(command),
        Ok(now) if now.rx_usecs > MAX_USECS => Finding::warn(
            "moderation",
            format!(
                "Interrupt moderation delays frames by up to {} µs: measured round trips are wrong by as much.",
                now.rx_usecs
            ),
        )
        .remedy(command),
        Ok(now) if now.rx_usecs == 0 => Finding::ok("moderation", "Interrupt moderation is off."),
        Ok(now) => Finding::ok(
            "moderation",
            format!("Interrupt moderation delays frames by up to {} µs.", now.rx_usecs),
        ),
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
            Finding::ok("moderation", "The driver has no interrupt moderation.")
        }
        Err(error) => unknown("moderation", &error),
    })
}

fn timestamps(interface: &Interface) -> Finding {
    match interface.timestamps_in_hardware() {
        Ok(true) => Finding::ok(
            "timestamps",
            "The NIC has a hardware clock, which XDP cannot read yet: timestamps come from the kernel.",
        ),
        Ok(false) => Finding::ok(
            "timestamps",
            "The NIC has no hardware clock: timestamps come from the kernel.",
        ),
        Err(error) => unknown("timestamps", &error),
    }
}

fn counted(number: u32, noun: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{} {noun}{end}", grouped(number))
}

/// Formats a number below a million in groups of three digits: `4,096`.
fn grouped(number: u32) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", number / 1_000, number % 1_000),
    }
}

fn unknown(topic: &'static str, error: &io::Error) -> Finding {
    if error.raw_os_error() == Some(libc::EOPNOTSUPP) {
        Finding::ok(topic, "Unknown: the driver does not report it.")
    } else {
        Finding::warn(topic, format!("Unknown: {error}."))
    }
}
