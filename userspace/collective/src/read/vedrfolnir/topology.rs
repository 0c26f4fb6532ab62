//! `topology.txt`.

use crate::complaints::Complaints;
use crate::telemetry::Peer;
use crate::telemetry::PortKey;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

/// Which port is linked to which.
#[derive(Debug, Default)]
pub(super) struct Topology {
    links: BTreeMap<(u32, u32), (u32, u32)>,
    switches: BTreeSet<u32>,
}

impl Topology {
    pub(super) fn read(text: &str, complaints: &mut Complaints) -> Self {
        let mut topology = Self::default();
        let numbers = |line: &str| line.split_whitespace().map(str::parse).collect::<Result<Vec<u32>, _>>();
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let head = lines.next().and_then(|(_, line)| numbers(line).ok());
        let Some(&[_, _, links]) = head.as_deref() else {
            complaints.add("not `nodes switches links`; the topology is ignored", "topology.txt:1");
            return topology;
        };
        match lines.next().map(|(_, line)| numbers(line)) {
            Some(Ok(switches)) => topology.switches.extend(switches),
            _ => complaints.add("no list of switches; the topology is ignored", "topology.txt:2"),
        }
        let mut ports: BTreeMap<u32, u32> = BTreeMap::new();
        let mut read = 0;
        for (number, line) in lines.by_ref().take(links as usize) {
            let mut words = line.split_whitespace();
            let ends = (words.next().map(str::parse), words.next().map(str::parse));
            let (Some(Ok(a)), Some(Ok(b))) = ends else {
                let at = format!("topology.txt:{}", number + 1);
                complaints.add("no link; the links after it have wrong ports, so all are ignored", at);
                topology.links.clear();
                return topology;
            };
            let mut port = |node: u32| {
                let last = ports.entry(node).or_default();
                *last += 1;
                (node, *last)
            };
            let (a, b) = (port(a), port(b));
            topology.links.insert(a, b);
            topology.links.insert(b, a);
            read += 1;
        }
        if read < links {
            complaints.add("cut off", format!("topology.txt: {read} of {links} links"));
        }
        topology
    }

    /// The other end of a port's link.
    pub(super) fn peer(&self, node: &str, port: &str) -> Peer {
        let key = node.parse().ok().zip(port.parse().ok());
        match key.and_then(|key| self.links.get(&key)) {
            Some((node, port)) => Peer {
                port: Some(PortKey {
                    switch: node.to_string().into(),
                    port: port.to_string().into(),
                }),
                is_host: Some(!self.switches.contains(node)),
            },
            None => Peer::default(),
        }
    }
}
