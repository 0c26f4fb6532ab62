//! Probes between NICs of different hosts: racks of one switch below two spines, whose links no probe within a host crosses.

use rocescope_diagnose::hostmesh::{Analyzer, Settings, WindowDiagnosis};
use rocescope_model::{PathRow, ProbeRow, Text, Time};
use std::net::IpAddr;

const SECOND: i64 = 1_000_000_000;
const WINDOW: i64 = 20 * SECOND;
const START: i64 = 1_795_200_000 * SECOND;
const HOSTS: u8 = 4;
const NICS: u8 = 2;
const PORTS: u16 = 4;

/// A direction of the link between a rack and a spine.
type Link = (u8, u8, bool);

fn nic(host: u8, nic: u8) -> IpAddr {
    [10, 0, host, nic + 1].into()
}

/// The port of a rack's switch to a NIC.
fn port(host: u8) -> IpAddr {
    [10, 0, host, 254].into()
}

/// The end of a link of a rack to a spine: up to the spine, down to the rack.
fn end((host, spine, up): Link) -> IpAddr {
    [10, 100 + spine, host, u8::from(up)].into()
}

/// Which spine a 5-tuple crosses.
fn spine(src: IpAddr, dst: IpAddr, port: u16) -> u8 {
    let sum = |address: IpAddr| match address {
        IpAddr::V4(v4) => v4.octets().iter().map(|octet| u32::from(*octet)).sum::<u32>(),
        IpAddr::V6(_) => 0,
    };
    ((sum(src) * 7 + sum(dst) * 3 + u32::from(port) * 5) / 2 % 2) as u8
}

struct Mesh {
    analyzer: Analyzer,
    at: i64,
    sequence: u64,
    /// Whether a probe that crosses a link is lost there, by its number.
    loses: Box<dyn Fn(Link, u64) -> bool>,
    /// Hosts without an agent.
    gone: Vec<u8>,
    /// Hosts that nothing reaches and nothing leaves.
    cut: Vec<u8>,
    /// A NIC from which packets leave late.
    slow: Option<(u8, u8)>,
}

impl Mesh {
    fn new() -> Self {
        let mut analyzer = Analyzer::new(Settings::default(), "diagnose").unwrap();
        for host in 0..HOSTS {
            analyzer.know(port(host), &format!("r{host}"));
            for spine in 0..2 {
                analyzer.know(end((host, spine, true)), &format!("s{spine}"));
                analyzer.know(end((host, spine, false)), &format!("r{host}"));
            }
        }
        Self {
            analyzer,
            at: START,
            sequence: 0,
            loses: Box::new(|_, _| false),
            gone: Vec::new(),
            cut: Vec::new(),
            slow: None,
        }
    }

    fn row(&self, (src, dst): ((u8, u8), (u8, u8)), observer: u8, port: u16, outcome: &'static str) -> ProbeRow {
        let name = |(host, nic): (u8, u8)| match host == observer {
            true => Text::from(format!("rail{nic}")),
            false => Text::default(),
        };
        let is_within = src.0 == dst.0;
        ProbeRow {
            observer: format!("h{observer}").into(),
            time: Time(self.at),
            time_ns: self.at,
            src_nic: name(src),
            dst_nic: name(dst),
            src: nic(src.0, src.1),
            dst: nic(dst.0, dst.1),
            udp_src_port: port,
            udp_dst_port: 4791,
            sequence: self.sequence,
            outcome: outcome.into(),
            network_latency_ns: (is_within && outcome == "received").then_some(match self.slow == Some(src) {
                true => 60_000_000,
                false => 4_000,
            }),
            processing_delay_ns: (is_within && outcome == "received").then_some(9_000),
            round_trip_ns: (!is_within && outcome == "received").then_some(8_000),
            ..ProbeRow::default()
        }
    }

    /// The links between switches on a way.
    fn links(src: (u8, u8), dst: (u8, u8), port: u16) -> Vec<Link> {
        let spine = spine(nic(src.0, src.1), nic(dst.0, dst.1), port);
        match src.0 == dst.0 {
            true => Vec::new(),
            false => vec![(src.0, spine, true), (dst.0, spine, false)],
        }
    }

    fn arrives(&self, src: (u8, u8), dst: (u8, u8), port: u16) -> bool {
        let is_cut = src.0 != dst.0 && [src.0, dst.0].iter().any(|host| self.cut.contains(host));
        let links = Self::links(src, dst, port);
        !is_cut && !links.into_iter().any(|link| (self.loses)(link, self.sequence))
    }

    fn trace(&mut self, src: (u8, u8), dst: (u8, u8), udp_src_port: u16) {
        let mut hops = vec![port(src.0)];
        hops.extend(Self::links(src, dst, udp_src_port).into_iter().map(end));
        hops.push(nic(dst.0, dst.1));
        for (hop, address) in (1..).zip(&hops) {
            let ProbeRow {
                observer,
                src_nic,
                dst_nic,
                ..
            } = self.row((src, dst), src.0, udp_src_port, "");
            self.analyzer.path(&PathRow {
                observer,
                time: Time(self.at),
                time_ns: self.at,
                src_nic,
                dst_nic,
                src: nic(src.0, src.1),
                dst: nic(dst.0, dst.1),
                udp_src_port,
                udp_dst_port: 4791,
                reason: "refresh".into(),
                hops: hops.len() as u16,
                hop,
                address: Some(*address),
                ..PathRow::default()
            });
        }
    }

    /// Runs a window: each host probes its other NIC and, on each rail, all other hosts.
    fn window(&mut self) -> WindowDiagnosis {
        let ends = || (0..HOSTS).flat_map(|host| (0..NICS).map(move |nic| (host, nic)));
        let pairs: Vec<_> = ends()
            .flat_map(|src| ends().map(move |dst| (src, dst)))
            .filter(|(src, dst)| src != dst && (src.0 == dst.0 || src.1 == dst.1))
            .collect();
        let begin = self.at;
        for (src, dst) in pairs
            .iter()
            .filter(|(src, _)| !self.gone.contains(&src.0))
            .copied()
            .collect::<Vec<_>>()
        {
            for port in 0..PORTS {
                self.trace(src, dst, 50_000 + port);
            }
        }
        for turn in 0..60 {
            self.at = begin + turn * SECOND / 3;
            for (src, dst) in pairs.iter().copied() {
                if self.gone.contains(&src.0) {
                    continue;
                }
                self.sequence += 1;
                let port = 50_000 + (turn as u16) % PORTS;
                let is_there = self.arrives(src, dst, port);
                let mut rows = Vec::new();
                if src.0 == dst.0 {
                    rows.push(self.row((src, dst), src.0, port, if is_there { "received" } else { "timeout" }));
                } else if self.gone.contains(&dst.0) || self.cut.contains(&src.0) || self.cut.contains(&dst.0) {
                    rows.push(self.row((src, dst), src.0, port, "unknown"));
                } else {
                    let named = |arrived| if arrived { "received" } else { "timeout" };
                    rows.push(self.row((src, dst), src.0, port, named(is_there)));
                    if is_there {
                        let is_back = self.arrives(dst, src, port);
                        rows.push(self.row((dst, src), src.0, port, named(is_back)));
                    }
                }
                rows.iter().for_each(|row| self.analyzer.probe(row));
            }
        }
        self.at = begin + WINDOW;
        self.analyzer.advance(Time(self.at)).pop().unwrap()
    }
}

fn lines(found: &WindowDiagnosis) -> Vec<String> {
    let line =
        |verdict: &rocescope_model::VerdictRow| format!("{} {} {}", verdict.class, verdict.place_kind, verdict.place);
    found.verdicts.iter().map(line).collect()
}

#[test]
fn a_quiet_mesh_has_no_verdict_and_its_latency_is_that_within_the_hosts() {
    let mut mesh = Mesh::new();
    for _ in 0..4 {
        let found = mesh.window();
        assert_eq!(lines(&found), [""; 0]);
        assert_eq!((found.sla.hosts, found.sla.timeouts, found.sla.silent_hosts), (4, 0, 0));
        assert_eq!(
            (found.sla.network_p50_ns, found.sla.network_p999_ns),
            (Some(4_000), Some(4_000))
        );
        // Within hosts, and both ways between them.
        assert_eq!(found.sla.probes, 60 * (8 + 2 * 24));
        let links = mesh.analyzer.link_rows(&found);
        let between: Vec<_> = links
            .iter()
            .filter(|link| link.to.starts_with('s') || link.from.starts_with('s'))
            .collect();
        assert_eq!(between.len(), 16);
        assert!(between.iter().all(|link| link.probes > 0));
    }
}

/// In soft-RoCE guests the NIC that received late was named alone, because probes to other hosts seemed to separate the two.
#[test]
fn of_two_nics_that_are_slow_to_each_other_neither_is_named_alone() {
    let mut mesh = Mesh::new();
    mesh.window();
    mesh.window();
    mesh.slow = Some((1, 1));
    assert_eq!(lines(&mesh.window()), [""; 0], "one window is not enough");
    let found = mesh.window();
    let places: Vec<&str> = found.verdicts.iter().map(|verdict| &*verdict.place).collect();
    assert_eq!(places, ["h1/rail0 or h1/rail1"], "{:?}", lines(&found));
    assert!(
        found.verdicts[0].sentence.contains("a third NIC of the host"),
        "{}",
        found.verdicts[0].sentence
    );
}

#[test]
fn a_link_that_no_probe_within_a_host_crosses_is_named_with_its_direction() {
    for link in [(1, 0, true), (2, 1, false)] {
        let mut mesh = Mesh::new();
        mesh.window();
        // A tenth of the packets, then all.
        let (host, spine, up) = link;
        let name = match up {
            true => format!("r{host}>s{spine}"),
            false => format!("s{spine}>r{host}"),
        };
        mesh.loses =
            Box::new(move |crossed, number| crossed == link && number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60 < 2);
        let found = mesh.window();
        assert_eq!(lines(&found), [format!("loss link {name}")]);
        mesh.loses = Box::new(move |crossed, _| crossed == link);
        let found = mesh.window();
        assert_eq!(lines(&found), [format!("link_down link {name}")]);
    }
}

#[test]
fn an_agent_that_is_gone_is_silent_and_nothing_else() {
    let mut mesh = Mesh::new();
    mesh.window();
    mesh.gone.push(2);
    for _ in 0..3 {
        let found = mesh.window();
        assert_eq!(lines(&found), ["silent host h2"]);
        assert_eq!(found.sla.hosts, 3);
        let stated =
            "probes to h2, whose agents do not report, had no answer, and no one reported whether they arrived";
        assert_eq!(&*found.sla.unjudged, stated);
    }
}

#[test]
fn a_host_is_heard_by_its_own_rows_only() {
    let mut mesh = Mesh::new();
    mesh.window();
    // Its rows do not come, but others have its answers.
    let mut back = mesh.row(((1, 0), (0, 0)), 0, 50_000, "received");
    mesh.gone = vec![1];
    for number in 0..200 {
        back.time_ns = mesh.at + number * SECOND / 10;
        mesh.analyzer.probe(&back);
    }
    assert_eq!(lines(&mesh.window()), ["silent host h1"]);
}

#[test]
fn a_host_that_is_cut_off_and_reports_is_stated_and_not_guessed_at() {
    let mut mesh = Mesh::new();
    mesh.window();
    mesh.cut.push(3);
    let found = mesh.window();
    assert_eq!(lines(&found), [""; 0]);
    let stated = "probes to h3, whose agents report, had no answer, and no one reported whether they arrived";
    assert_eq!(&*found.sla.unjudged, stated);
}

#[test]
fn rows_of_other_hosts_name_no_nic_in_whichever_order_they_come() {
    let mut mesh = Mesh::new();
    // h1 comes late: until then others probe NICs that have no name.
    mesh.gone = vec![1];
    mesh.window();
    mesh.gone = Vec::new();
    mesh.window();
    // A NIC that loses everything that comes from other hosts.
    let address = nic(1, 1);
    let mut found = None;
    for _ in 0..2 {
        let row = ProbeRow {
            outcome: "timeout".into(),
            ..mesh.row(((0, 1), (1, 1)), 0, 50_001, "timeout")
        };
        for number in 0..400 {
            mesh.analyzer.probe(&ProbeRow {
                time_ns: mesh.at + number * SECOND / 20,
                ..row.clone()
            });
        }
        found = Some(mesh.window());
    }
    let found = found.unwrap();
    let verdict = &found.verdicts[0];
    assert!(verdict.place.contains("h1/rail1"), "{}", verdict.place);
    assert_eq!(verdict.dst, Some(address));
    let links = mesh.analyzer.link_rows(&found);
    assert!(
        links
            .iter()
            .all(|link| !link.to.starts_with('/') && !link.to.starts_with("10.")),
        "{links:?}"
    );
}
