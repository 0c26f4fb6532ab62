//! Sends plain UDP from a NIC of one host to a NIC of another through a fabric.

use super::fault::{Fault, Ways};
use super::live::Kept;
use super::namespace::{inside, output};
use super::oracle::{self, Tuple};
use super::wiring::End;
use rocescope_fabric::Rails;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};

/// A small fabric; `None`, after one line, where this user may not build one.
fn fabric(ipv6: bool) -> Option<Kept> {
    up(Rails {
        ipv6,
        ..Rails::two_tiers(2, 2, 2)
    })
}

fn up(size: Rails) -> Option<Kept> {
    match Kept::up(size) {
        Ok(fabric) => Some(fabric),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "no fabric: {error:#}");
            eprintln!("skipped: namespaces require root and iproute2");
            None
        }
    }
}

/// A socket in the namespace of a node.
fn socket(fabric: &Kept, node: usize, at: SocketAddr) -> UdpSocket {
    let namespace = fabric.namespace(node);
    let socket = inside(&namespace, move || UdpSocket::bind(at)).unwrap().unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    socket
}

#[test]
fn a_run_is_not_recorded_into_an_option() {
    let refused = super::accuracy::record(&["--scale", "12"]).unwrap_err();
    assert!(refused.to_string().contains("the directory comes first"), "{refused}");
    assert!(super::USAGE.contains("fabric record DIRECTORY"));
}

/// IPv4, and IPv6.
const FAMILIES: [bool; 2] = [false, true];
const PORT: u16 = 4791;

/// From `h0n0` to `h1n1`.
struct Pair {
    src: IpAddr,
    dst: IpAddr,
    sender: UdpSocket,
    receiver: UdpSocket,
}

impl Pair {
    fn new(fabric: &Kept) -> Self {
        let (near, far) = (fabric.link("h0n0").unwrap(), fabric.link("h1n1").unwrap());
        let end = |end: &End, port| (end.node, SocketAddr::from((end.address, port)));
        let (from, at) = end(&near.lower, 0);
        let sender = socket(fabric, from, at);
        let (to, at) = end(&far.lower, PORT);
        let receiver = socket(fabric, to, at);
        Self {
            src: near.lower.address,
            dst: far.lower.address,
            sender,
            receiver,
        }
    }

    fn tuple(&self) -> Tuple {
        Tuple {
            src: self.src,
            dst: self.dst,
            src_port: self.sender.local_addr().unwrap().port(),
            dst_port: PORT,
        }
    }

    /// Sends datagrams; returns how many arrived, and how many of them unchanged.
    fn send(&self, count: usize) -> (usize, usize) {
        let payload = [7; 120];
        for _ in 0..count {
            // A router's error about an earlier datagram arrives here.
            let _ = self.sender.send_to(&payload, (self.dst, PORT));
        }
        let (mut came, mut whole) = (0, 0);
        let mut buffer = [0; 200];
        while came < count {
            let Ok(bytes) = self.receiver.recv(&mut buffer) else {
                break;
            };
            came += 1;
            whole += usize::from(buffer[..bytes] == payload);
        }
        (came, whole)
    }

    /// The link between the first two switches on the path of the 5-tuple, and the spine.
    fn uplink(&self, fabric: &Kept) -> String {
        let hops = oracle::path(fabric, &self.tuple()).unwrap();
        let name = |at: usize| &fabric.wiring.nodes[hops[at].node].name;
        format!("{}-{}", name(0), name(1))
    }

    /// The link between the spine and the last switch.
    fn downlink(&self, fabric: &Kept) -> String {
        let uplink = self.uplink(fabric);
        uplink.replace("r0", "r1")
    }
}

/// Runs `check` for both families; the fabric must work before and after it.
fn each(check: impl Fn(&mut Kept, &Pair)) {
    for ipv6 in FAMILIES {
        let Some(mut fabric) = fabric(ipv6) else {
            return;
        };
        let pair = Pair::new(&fabric);
        assert_eq!(pair.send(50), (50, 50), "before, {ipv6}");
        check(&mut fabric, &pair);
        fabric.heal(None).unwrap();
        assert_eq!(pair.send(50), (50, 50), "after, {ipv6}");
    }
}

#[test]
fn the_oracle_matches_the_links_in_use() {
    let two_tiers = Rails::two_tiers(2, 2, 2);
    let three_tiers = Rails {
        hosts_a_group: 1,
        uppers: 2,
        ..two_tiers
    };
    let sizes = [(two_tiers, 4), (three_tiers, 6)];
    let all = sizes.map(|size| FAMILIES.map(|ipv6| (size, ipv6)));
    for ((size, length), ipv6) in all.into_iter().flatten() {
        let Some(fabric) = up(Rails { ipv6, ..size }) else {
            return;
        };
        let pair = Pair::new(&fabric);
        let mut used = std::collections::HashMap::new();
        let before = sent(&fabric);
        for _ in 0..24 {
            let from = SocketAddr::from((pair.src, 0));
            let sender = socket(&fabric, fabric.node("h0").unwrap(), from);
            let pair = Pair {
                sender,
                receiver: pair.receiver.try_clone().unwrap(),
                ..pair
            };
            assert_eq!(pair.send(40), (40, 40));
            let hops = oracle::path(&fabric, &pair.tuple()).unwrap();
            assert_eq!(hops.len(), length);
            assert_eq!(hops[length - 1].address, pair.dst);
            for hop in &hops[..length - 1] {
                *used.entry(hop.node).or_insert(0) += 40;
            }
        }
        let after = sent(&fabric);
        for (node, (before, after)) in before.iter().zip(after).enumerate() {
            // Neighbour discovery sends a few packets.
            let more = after - before - used.get(&node).unwrap_or(&0);
            let name = &fabric.wiring.nodes[node].name;
            assert!(more < 40, "{name}: {before} {after} {used:?}");
        }
        // Each router hashes with its own seed: all routers of a tier carry traffic.
        for (node, of) in fabric.wiring.nodes.iter().enumerate() {
            let chosen = of.name.starts_with('s') || of.name.contains('u');
            assert!(!chosen || used.contains_key(&node), "{} is idle", of.name);
        }
    }
}

/// The packets that each switch has sent; hosts count as none.
fn sent(fabric: &Kept) -> Vec<u64> {
    let of = |node: usize| {
        if fabric.wiring.nodes[node].is_host {
            return 0;
        }
        let mut ip = Command::new("ip");
        ip.args(["-n", &fabric.namespace(node), "-json", "-stats", "link"]);
        let links: serde_json::Value = serde_json::from_str(&output(&mut ip).unwrap()).unwrap();
        let links = links.as_array().unwrap().iter();
        let sent = links.map(|link| link["stats64"]["tx"]["packets"].as_u64().unwrap());
        sent.sum()
    };
    (0..fabric.wiring.nodes.len()).map(of).collect()
}

#[test]
fn a_share_is_lost() {
    each(|fabric, pair| {
        let uplink = pair.uplink(fabric);
        fabric
            .inject(
                &uplink,
                Fault::Loss {
                    ratio: 0.3,
                    ways: Ways::Both,
                },
            )
            .unwrap();
        let (came, whole) = pair.send(200);
        // Six standard deviations.
        assert!((101..=179).contains(&came), "{came} of 200");
        assert_eq!(came, whole);
    });
}

#[test]
fn a_share_is_flipped() {
    each(|fabric, pair| {
        let fault = Fault::Corruption { ratio: 0.3 };
        fabric.inject("h1n1", fault).unwrap();
        let (came, whole) = pair.send(200);
        assert_eq!(came, 200);
        assert!((101..=179).contains(&whole), "{whole} of 200");
    });
}

#[test]
fn one_tuple_is_lost_and_others_are_not() {
    each(|fabric, pair| {
        let tuple = pair.tuple();
        let fault = |port, mask| Fault::Blackhole {
            src: tuple.src,
            dst: tuple.dst,
            port,
            mask,
        };
        let uplink = pair.uplink(fabric);
        let own = tuple.src_port;
        let cases = [
            (own ^ 1, u16::MAX, 20),
            (own, u16::MAX, 0),
            (own ^ 1, 7, 20),
            (own ^ 8, 7, 0),
        ];
        for (port, mask, come) in cases {
            fabric.inject(&uplink, fault(port, mask)).unwrap();
            assert_eq!(pair.send(20), (come, come), "{port} of {own}, mask {mask}");
            assert_eq!(fabric.heal(Some(&uplink)).unwrap(), 1);
        }
    });
}

#[test]
fn an_access_list_refuses_one_pair() {
    each(|fabric, pair| {
        let fault = |src: &str| Fault::Acl {
            src: src.into(),
            dst: "h1n1".into(),
        };
        fabric.inject("h1n1", fault("h0n1")).unwrap();
        assert_eq!(pair.send(20), (20, 20));
        fabric.heal(None).unwrap();
        fabric.inject("h1n1", fault("h0n0")).unwrap();
        assert_eq!(pair.send(20), (0, 0));
    });
}

#[test]
fn a_link_that_is_down_loses_what_ecmp_gives_it() {
    each(|fabric, pair| {
        // The switch before the link takes another path; the switch after it has no other.
        let uplink = pair.uplink(fabric);
        fabric.inject(&uplink, Fault::LinkDown).unwrap();
        assert_eq!(pair.send(20), (20, 20));
        assert_ne!(pair.uplink(fabric), uplink);
        fabric.heal(None).unwrap();
        let downlink = pair.downlink(fabric);
        fabric.inject(&downlink, Fault::LinkDown).unwrap();
        assert_eq!(pair.send(20), (0, 0));
        fabric.heal(None).unwrap();
        fabric.inject("h1n1", Fault::LinkDown).unwrap();
        assert_eq!(pair.send(20), (0, 0));
    });
}

#[test]
fn a_flapping_link_is_up_part_of_the_time() {
    each(|fabric, pair| {
        let period = Duration::from_millis(600);
        let downlink = pair.downlink(fabric);
        let fault = Fault::Flapping { period };
        fabric.inject(&downlink, fault).unwrap();
        // Up and down, twice.
        for is_up in [false, true, false, true] {
            let came = (0..6_000).any(|_| {
                std::thread::sleep(Duration::from_millis(10));
                (pair.send(1).0 == 1) == is_up
            });
            assert!(came, "it is never {}", if is_up { "up" } else { "down" });
        }
    });
}

#[test]
fn without_a_route_no_packet_arrives() {
    each(|fabric, pair| {
        let nic = || Fault::MissingRoute { nic: "h1n1".into() };
        fabric.inject("r1", nic()).unwrap();
        assert_eq!(pair.send(20), (0, 0));
        fabric.heal(None).unwrap();
        let uplink = pair.uplink(fabric);
        let spine = uplink.split('-').nth(1).unwrap();
        fabric.inject(spine, nic()).unwrap();
        assert_eq!(pair.send(20), (0, 0));
        let nic = Fault::MissingRoute { nic: "h0n0".into() };
        assert!(fabric.inject("h1", nic.clone()).is_err());
        fabric.inject("h0", nic).unwrap();
        assert_eq!(pair.send(20), (0, 0));
    });
}

#[test]
fn a_full_uplink_delays_and_loses_nothing() {
    each(|fabric, pair| {
        let depth = Duration::from_millis(40);
        let uplink = pair.uplink(fabric);
        fabric.inject(&uplink, Fault::Congestion { depth }).unwrap();
        for _ in 0..20 {
            let begun = Instant::now();
            assert_eq!(pair.send(1), (1, 1));
            let took = begun.elapsed();
            assert!(took > depth.mul_f64(0.7), "{took:?}");
        }
    });
}

#[test]
fn a_slow_host_waits_for_its_share() {
    each(|fabric, _| {
        let node = fabric.node("h1").unwrap();
        let namespace = fabric.namespace(node);
        let mut victim = super::namespace::command(&namespace, "sleep");
        let mut victim = victim.arg("60").spawn().unwrap();
        while !output(Command::new("ip").args(["netns", "pids", &namespace]))
            .unwrap()
            .contains(&victim.id().to_string())
        {}
        let period = Duration::from_millis(50);
        fabric.inject("h1", Fault::SlowHost { period }).unwrap();
        let group = std::path::Path::new("/sys/fs/cgroup/cpu").join(&namespace);
        let read = |file: &str| std::fs::read_to_string(group.join(file)).unwrap();
        let moved = read("cgroup.procs").contains(&victim.id().to_string());
        let throttled = || {
            let stat = read("cpu.stat");
            let throttled = stat.lines().find_map(|line| line.strip_prefix("nr_throttled "));
            throttled.unwrap().parse::<u32>().unwrap()
        };
        let is_throttled = (0..6_000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            throttled() >= 3
        });
        fabric.heal(None).unwrap();
        victim.kill().unwrap();
        victim.wait().unwrap();
        assert!(moved && is_throttled);
        assert!(!group.exists());
    });
}

#[test]
fn a_removed_fabric_leaves_nothing() {
    let Some(mut fabric) = fabric(false) else {
        return;
    };
    let period = Duration::from_millis(200);
    fabric.inject("r0-s0", Fault::Flapping { period }).unwrap();
    let name = fabric.name.clone();
    let directory = fabric.directory().unwrap();
    drop(fabric);
    assert!(!directory.exists());
    let listed = output(Command::new("ip").args(["netns", "list"])).unwrap();
    let own = format!("{name}-");
    assert!(!listed.contains(&own), "{listed}");
}
