//! An interface: driver, queues, offloads, moderation.

use super::finding::Finding;
use crate::ethtool::Ip;
use crate::interface::{Interface, State};
use std::io;

/// A frame of the largest path MTU, 4,096 bytes, behind Ethernet, IPv6 and the headers of RoCEv2.
const LARGEST_PACKET: u32 = 4_096 + 40 + 8 + 12 + 16 + 4 + 4;
/// More than this is most of a round trip in a rack.
const USECS: u32 = 8;

/// Checks an interface.
#[must_use]
pub fn port(interface: &Interface) -> Vec<Finding> {
    let name = interface.name.as_str();
    let mut found = vec![state(interface, name)];
    found.push(match interface.driver() {
        Ok(driver) => Finding::ok("driver", format!("Its driver is {driver}.")),
        Err(error) => Finding::warn("driver", format!("Its driver is not known: {error}.")),
    });
    found.push(mtu(interface, name));
    found.extend(queues(interface, name));
    found.extend(ring(interface, name));
    found.extend(offloads(interface, name));
    found.extend(moderation(interface, name));
    found.push(timestamps(interface));
    for finding in &mut found {
        finding.interface = Some(name.to_owned());
    }
    found
}

fn state(interface: &Interface, name: &str) -> Finding {
    match interface.state() {
        State::Up => Finding::ok("link", "It is up."),
        State::Down => Finding::fail("link", "It is down, or has no carrier: no frame comes.")
            .remedy(format!("ip link set dev {name} up")),
        State::Gone => Finding::fail("link", "It is gone."),
    }
}

fn mtu(interface: &Interface, name: &str) -> Finding {
    match interface.mtu() {
        Ok(mtu) if mtu < LARGEST_PACKET => Finding::warn(
            "mtu",
            format!("It takes packets of {mtu} bytes; RoCEv2 with a path MTU of 4,096 makes up to {LARGEST_PACKET}, which would be dropped before anybody counts them."),
        )
        .remedy(format!("ip link set dev {name} mtu 9000")),
        Ok(mtu) => Finding::ok("mtu", format!("It takes packets of {mtu} bytes, the largest of RoCEv2 among them.")),
        Err(error) => Finding::warn("mtu", format!("Its MTU is not known: {error}.")),
    }
}

fn queues(interface: &Interface, name: &str) -> Vec<Finding> {
    let queues = match interface.receive_queues() {
        Ok(queues) => queues,
        Err(error) => return vec![unknown("queues", &error)],
    };
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
    let message = format!("It has {queues} receive queues for {cpus} CPUs.");
    let mut found = vec![Finding::ok("queues", message)];
    if queues < 2 {
        return found;
    }
    for (topic, ip, word) in [("rss udp4", Ip::V4, "udp4"), ("rss udp6", Ip::V6, "udp6")] {
        found.push(match interface.hashes_source_port(ip) {
            Ok(true) => Finding::ok(topic, "The UDP source port decides over the queue: flows are spread."),
            Ok(false) => Finding::warn(
                topic,
                "The UDP source port does not decide over the queue: all flows of two hosts load one CPU.",
            )
            .remedy(format!("ethtool -N {name} rx-flow-hash {word} sdfn")),
            Err(error) => unknown(topic, &error),
        });
    }
    found
}

fn ring(interface: &Interface, name: &str) -> Option<Finding> {
    Some(match interface.receive_ring() {
        Ok(ring) if ring.most == 0 => return None,
        Ok(ring) if ring.now < ring.most => Finding::warn(
            "ring",
            format!("{} of {} descriptors wait for frames: a burst that the rest would have held is lost.", ring.now, ring.most),
        )
        .remedy(format!("ethtool -G {name} rx {}", ring.most)),
        Ok(ring) => Finding::ok("ring", format!("All {} descriptors wait for frames.", ring.now)),
        Err(error) => unknown("ring", &error),
    })
}

fn offloads(interface: &Interface, name: &str) -> Vec<Finding> {
    let lro = match interface.merges_in_hardware() {
        Ok(true) => Finding::warn("lro", "The card merges frames before anybody sees them, and many drivers take no XDP program with it.")
            .remedy(format!("ethtool -K {name} lro off")),
        Ok(false) => Finding::ok("lro", "The card merges no frames."),
        Err(error) => unknown("lro", &error),
    };
    let gro = match interface.merges_frames() {
        Ok(true) => Finding::warn(
            "gro",
            "Packet sockets and generic XDP may see merged frames; native XDP does not.",
        )
        .remedy(format!("ethtool -K {name} gro off")),
        Ok(false) => Finding::ok("gro", "Frames are not merged behind the driver."),
        Err(error) => unknown("gro", &error),
    };
    let vlan = match interface.strips_vlan() {
        Ok(true) => Finding::warn("vlan", "VLAN tags are taken out before XDP sees the frame, and XDP cannot read them elsewhere.")
            .remedy(format!("rocescope capture --vlan-offload off -i {name}, or ethtool -K {name} rxvlan off")),
        Ok(false) => Finding::ok("vlan", "VLAN tags stay in the frame."),
        Err(error) => unknown("vlan", &error),
    };
    vec![lro, gro, vlan]
}

fn moderation(interface: &Interface, name: &str) -> Option<Finding> {
    let command = format!("ethtool -C {name} adaptive-rx off rx-usecs 0");
    Some(match interface.coalescing() {
        Ok(now) if now.adaptive => Finding::warn(
            "moderation",
            "The card chooses by itself how long frames wait: round trips jump with its choice.",
        )
        .remedy(command),
        Ok(now) if now.rx_usecs > USECS => Finding::warn(
            "moderation",
            format!(
                "Frames wait up to {} us for an interrupt: round trips are wrong by as much.",
                now.rx_usecs
            ),
        )
        .remedy(command),
        Ok(now) => Finding::ok(
            "moderation",
            format!("Frames wait up to {} us for an interrupt.", now.rx_usecs),
        ),
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
            Finding::ok("moderation", "The driver has none.")
        }
        Err(error) => unknown("moderation", &error),
    })
}

fn timestamps(interface: &Interface) -> Finding {
    match interface.timestamps_in_hardware() {
        Ok(true) => Finding::ok(
            "timestamps",
            "The card has a clock; XDP programs cannot read it yet, so times are the kernel's.",
        ),
        Ok(false) => Finding::ok(
            "timestamps",
            "The card has no clock: times are the kernel's.",
        ),
        Err(error) => unknown("timestamps", &error),
    }
}

fn unknown(topic: &'static str, error: &io::Error) -> Finding {
    if error.raw_os_error() == Some(libc::EOPNOTSUPP) {
        Finding::ok(topic, "The driver does not tell.")
    } else {
        Finding::warn(topic, format!("It cannot be asked: {error}."))
    }
}
