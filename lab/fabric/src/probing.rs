//! All probes and paths of a span of time, as if every host ran an agent.

use crate::passage::{Fabric, Outcome, Passage};
use crate::random::{Draws, mix};
use crate::route::FiveTuple;
use crate::topology::Nic;
use alloc::vec::Vec;
use core::net::IpAddr;
use core::ops::Range;
use rocescope_model::ROCE_UDP_PORT;
use rocescope_model::{PathRow, ProbeRow, Text, Time};

/// The settings of the agents; the defaults are those of Hostmesh, section 4, if it gives any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mesh {
    /// Time between two probes of a NIC: 100 ms.
    pub interval_ns: i64,
    /// Timeout of a probe: 500 ms.
    pub timeout_ns: i64,
    /// Source ports per NIC at a time: 8. The paper gives no number.
    pub ports: u16,
    /// Lifetime of the source ports: 5 minutes. The paper gives none.
    pub renew_ns: i64,
    /// Bound on the error of clock offsets, as stated in the rows; the simulated error stays within it.
    pub clock_error_ns: i64,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for Mesh {
    fn default() -> Self {
        Self {
            interval_ns: 100_000_000,
            timeout_ns: 500_000_000,
            ports: 8,
            renew_ns: 300_000_000_000,
            clock_error_ns: 0,
            seed: 1,
        }
    }
}

/// One probe and its fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Its 5-tuple.
    pub tuple: FiveTuple,
    /// When the agent sent it (1).
    pub sent_ns: i64,
    /// Number, counted by the NIC.
    pub sequence: u64,
    /// Its fate.
    pub passage: Passage,
}

impl Mesh {
    /// Calls `each` for every probe sent from `from_ns` until before `until_ns`, in rounds of one probe per NIC.
    pub fn probes(&self, fabric: &Fabric, from_ns: i64, until_ns: i64, each: impl FnMut(Probe)) {
        self.probes_of(fabric, 0..fabric.topology.nics(), from_ns, until_ns, each);
    }

    /// The same for some NICs, by number.
    pub fn probes_of(
        &self,
        fabric: &Fabric,
        nics: Range<u32>,
        from_ns: i64,
        until_ns: i64,
        mut each: impl FnMut(Probe),
    ) {
        let interval = self.interval_ns.max(1);
        for round in from_ns.div_euclid(interval)..=until_ns.div_euclid(interval) {
            for nic in nics.clone().map(Nic) {
                let phase = mix(&[self.seed, 1, u64::from(nic.0)]) % interval.unsigned_abs();
                let sent_ns = round * interval + i64::try_from(phase).unwrap_or(0);
                if sent_ns >= from_ns && sent_ns < until_ns {
                    each(self.probe(fabric, nic, round, sent_ns));
                }
            }
        }
    }

    fn probe(&self, fabric: &Fabric, src: Nic, round: i64, sent_ns: i64) -> Probe {
        let sequence = round.cast_unsigned();
        let mut draws = Draws::new(mix(&[self.seed, 2, u64::from(src.0), sequence]));
        let nics = fabric.topology.rails().nics;
        // Any of the host's other NICs; a single NIC probes itself, over no link.
        let other = draws.below(nics.saturating_sub(1));
        let rail = (fabric.topology.rail_of(src) + 1 + other) % nics;
        let slot = draws.below(self.ports.into());
        let tuple = FiveTuple {
            src,
            dst: fabric.topology.nic(fabric.topology.host_of(src), rail),
            udp_src_port: self.port(src, slot, sent_ns),
            udp_dst_port: ROCE_UDP_PORT,
        };
        let mut passage = fabric.send(tuple, sent_ns, &mut draws);
        let late = passage.app_receive_ns.is_none_or(|at| at - sent_ns > self.timeout_ns);
        if late && passage.outcome == Outcome::Received {
            passage.outcome = Outcome::Lost;
        }
        Probe {
            tuple,
            sent_ns,
            sequence,
            passage,
        }
    }

    /// Returns a source port of a NIC's pool at a time, from the 2^14 that a flow label can produce.
    #[must_use]
    pub fn port(&self, nic: Nic, slot: u32, at_ns: i64) -> u16 {
        let epoch = at_ns.div_euclid(self.renew_ns.max(1)).cast_unsigned();
        let drawn = mix(&[self.seed, 3, u64::from(nic.0), epoch, u64::from(slot)]);
        0xC000 | u16::try_from(drawn & 0x3FFF).unwrap_or(0)
    }

    /// Calls `each` with the result of a traceroute on each 5-tuple of every NIC's pool at a time.
    pub fn paths(&self, fabric: &Fabric, at_ns: i64, mut each: impl FnMut(FiveTuple, Vec<Option<IpAddr>>)) {
        let topology = &fabric.topology;
        for src in (0..topology.nics()).map(Nic) {
            for other in (0..topology.rails().nics).map(|rail| topology.nic(topology.host_of(src), rail)) {
                for slot in 0..u32::from(self.ports) {
                    let tuple = FiveTuple {
                        src,
                        dst: other,
                        udp_src_port: self.port(src, slot, at_ns),
                        udp_dst_port: ROCE_UDP_PORT,
                    };
                    if other != src {
                        each(tuple, fabric.trace(tuple, at_ns));
                    }
                }
            }
        }
    }
}

/// Names that rows share.
#[derive(Debug, Clone)]
pub struct Names {
    hosts: Vec<Text>,
    rails: Vec<Text>,
}

impl Names {
    /// Returns the names of a fabric.
    #[must_use]
    pub fn new(fabric: &Fabric) -> Self {
        let rails = fabric.topology.rails();
        let name = |prefix: &str, number: u32| Text::from(alloc::format!("{prefix}{number}"));
        Self {
            hosts: (0..rails.hosts).map(|host| name("h", host)).collect(),
            rails: (0..rails.nics).map(|rail| name("rail", rail)).collect(),
        }
    }

    fn host(&self, fabric: &Fabric, nic: Nic) -> Text {
        self.hosts[fabric.topology.host_of(nic) as usize].clone()
    }

    fn nic(&self, fabric: &Fabric, nic: Nic) -> Text {
        self.rails[fabric.topology.rail_of(nic) as usize].clone()
    }

    /// The row of a probe.
    #[must_use]
    pub fn probe(&self, fabric: &Fabric, mesh: &Mesh, probe: &Probe) -> ProbeRow {
        let Probe {
            tuple,
            sent_ns,
            sequence,
            passage,
        } = *probe;
        let received = passage.outcome == Outcome::Received;
        let stamps = passage.nic_send_ns.zip(passage.nic_receive_ns).filter(|_| received);
        let offset = self.offset_ns(fabric, mesh, tuple, sent_ns);
        let network = stamps.map(|(send, receive)| receive - send - offset);
        let host = network
            .zip(passage.app_receive_ns)
            .map(|(network, at)| at - sent_ns - network);
        ProbeRow {
            observer: self.host(fabric, tuple.src),
            time: Time(sent_ns),
            time_ns: sent_ns,
            src_nic: self.nic(fabric, tuple.src),
            dst_nic: self.nic(fabric, tuple.dst),
            src: fabric.topology.nic_address(tuple.src),
            dst: fabric.topology.nic_address(tuple.dst),
            udp_src_port: tuple.udp_src_port,
            udp_dst_port: tuple.udp_dst_port,
            dscp: Some(0),
            sequence,
            outcome: match passage.outcome {
                Outcome::Received => "received",
                Outcome::Lost => "timeout",
                Outcome::Corrupt => "corrupt",
                Outcome::Unsent => "unsent",
            }
            .into(),
            nic_send_ns: passage.nic_send_ns,
            nic_receive_ns: passage.nic_receive_ns.filter(|_| received),
            app_receive_ns: passage.app_receive_ns.filter(|_| received),
            network_latency_ns: network,
            processing_delay_ns: host,
            clock_offset_ns: stamps.map(|_| offset),
            clock_source: "simulated".into(),
            clock_error_ns: mesh.clock_error_ns,
            unsent_reason: (passage.outcome == Outcome::Unsent).then(|| "no_route".into()),
            round_trip_ns: None,
        }
    }

    /// How far the receiving clock is ahead of the sending one, with a constant error per pair that has the opposite
    /// sign in the other direction.
    fn offset_ns(&self, fabric: &Fabric, mesh: &Mesh, tuple: FiveTuple, at_ns: i64) -> i64 {
        let ahead = |nic| fabric.clocks.ahead_ns(nic, at_ns);
        let wrong = |nic: Nic| {
            let bound = u32::try_from(mesh.clock_error_ns / 2).unwrap_or(u32::MAX);
            i64::from(Draws::new(mix(&[mesh.seed, 4, u64::from(nic.0)])).below(bound))
        };
        ahead(tuple.dst) - ahead(tuple.src) + wrong(tuple.dst) - wrong(tuple.src)
    }

    /// The rows of a path.
    #[must_use]
    pub fn path(&self, fabric: &Fabric, tuple: FiveTuple, at_ns: i64, hops: &[Option<IpAddr>]) -> Vec<PathRow> {
        let row = |(hop, address): (u16, &Option<IpAddr>)| PathRow {
            observer: self.host(fabric, tuple.src),
            time: Time(at_ns),
            time_ns: at_ns,
            src_nic: self.nic(fabric, tuple.src),
            dst_nic: self.nic(fabric, tuple.dst),
            src: fabric.topology.nic_address(tuple.src),
            dst: fabric.topology.nic_address(tuple.dst),
            udp_src_port: tuple.udp_src_port,
            udp_dst_port: tuple.udp_dst_port,
            reason: "refresh".into(),
            hops: u16::try_from(hops.len()).unwrap_or(u16::MAX),
            hop,
            address: *address,
            round_trip_ns: address.map(|_| 2 * fabric.timing.link_ns * i64::from(hop)),
        };
        (1..).zip(hops).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Mesh, Names};
    use crate::{Clocks, Fabric, Probe, Rails};
    use std::collections::BTreeSet;
    use std::vec::Vec;

    const WINDOW: i64 = 20_000_000_000;

    fn window(mesh: &Mesh, fabric: &Fabric) -> Vec<Probe> {
        let mut probes = Vec::new();
        mesh.probes(fabric, WINDOW, 2 * WINDOW, |probe| probes.push(probe));
        probes
    }

    #[test]
    fn every_nic_probes_ten_times_a_second_over_any_span() {
        let fabric = Fabric::new(Rails::two_tiers(3, 4, 2).build().unwrap(), 1);
        let mesh = Mesh::default();
        let whole = window(&mesh, &fabric);
        assert_eq!(whole.len(), 3 * 4 * 200);
        let mut parts = Vec::new();
        mesh.probes(&fabric, WINDOW, WINDOW + 777_777_777, |probe| {
            parts.push(probe);
        });
        mesh.probes(&fabric, WINDOW + 777_777_777, 2 * WINDOW, |probe| {
            parts.push(probe);
        });
        let key = |probe: &Probe| (probe.tuple.src, probe.sequence);
        parts.sort_by_key(key);
        let mut sorted = whole.clone();
        sorted.sort_by_key(key);
        assert_eq!(parts, sorted);
        for probe in &whole {
            assert_ne!(probe.tuple.src, probe.tuple.dst);
            let host = |nic| fabric.topology.host_of(nic);
            assert_eq!(host(probe.tuple.src), host(probe.tuple.dst));
            assert!(probe.tuple.udp_src_port >= 0xC000);
        }
        let mut traced = BTreeSet::new();
        mesh.paths(&fabric, WINDOW, |tuple, _| {
            traced.insert(tuple);
        });
        let probed: BTreeSet<_> = whole.iter().map(|probe| probe.tuple).collect();
        assert!(probed.is_subset(&traced));
    }

    #[test]
    fn with_wrong_clocks_the_latency_stays_within_the_stated_error() {
        let mut fabric = Fabric::new(Rails::two_tiers(2, 4, 2).build().unwrap(), 1);
        fabric.clocks = Clocks {
            offset_ns: 5_000_000,
            drift_ppb: 20_000,
            seed: 1,
        };
        let mesh = Mesh {
            clock_error_ns: 400,
            ..Mesh::default()
        };
        let names = Names::new(&fabric);
        let mut off = 0;
        for probe in window(&mesh, &fabric) {
            let row = names.probe(&fabric, &mesh, &probe);
            // One nanosecond of drift while the probe is in the host.
            let error = (row.network_latency_ns.unwrap() - probe.passage.network_ns).abs();
            assert!(error <= row.clock_error_ns + 1, "{error}");
            off = off.max(row.clock_offset_ns.unwrap().abs());
        }
        assert!(off > 1_000_000);
    }
}
