//! The hosts of a run: their NICs, and copies of their `/sys` that the reader of counters reads.

use super::frame::Packet;
use super::nic::{Driver, Nic};
use rocescope_host::counters::reader::StatisticsFrom;
use rocescope_host::counters::{Moment, Reader, Rows, Sources, Wanted};
use rocescope_model::{CounterRow, Time};
use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// The hosts of a run.
pub(super) struct World {
    pub(super) nics: Vec<Nic>,
    /// Whether a host reads its counters.
    pub(super) is_read: Vec<bool>,
    readers: Vec<Reader>,
    trees: Vec<Tree>,
    /// The other end of each queue pair.
    peers: BTreeMap<(IpAddr, u32), (IpAddr, u32)>,
    /// Queue pairs of objects: netlink has them, a copy of `/sys` has not.
    begun: Time,
}

struct Tree {
    root: TempDir,
    written: BTreeMap<String, String>,
}

impl World {
    pub(super) fn new(drivers: &[Driver], rate_bps: u64, begun: Time) -> Self {
        let trees: Vec<Tree> = drivers
            .iter()
            .map(|_| Tree {
                root: tempfile::tempdir().unwrap(),
                written: BTreeMap::new(),
            })
            .collect();
        let readers = (0..).zip(&trees).map(|(number, tree)| tree.reader(&host(number)));
        Self {
            nics: drivers.iter().map(|driver| Nic::new(*driver, rate_bps)).collect(),
            is_read: vec![true; drivers.len()],
            readers: readers.collect(),
            trees,
            peers: BTreeMap::new(),
            begun,
        }
    }

    /// Two queue pairs are connected.
    pub(super) fn connect(&mut self, one: (IpAddr, u32), other: (IpAddr, u32)) {
        self.peers.insert(one, other);
        self.peers.insert(other, one);
        for end in [one, other] {
            self.nics[number(end.0)].queue_pairs += 1;
        }
    }

    /// A packet passes from one host to another.
    pub(super) fn passes(&mut self, packet: &Packet, bytes: u32, at_ns: u64) {
        self.nics[number(packet.src)].sends(packet, bytes, at_ns);
        let Self { nics, peers, .. } = self;
        nics[number(packet.dst)].receives(packet, bytes, peers);
    }

    /// Every host that does reads its counters.
    pub(super) fn read(&mut self, second: u64, latencies: &[f64], take: &mut dyn FnMut(CounterRow)) {
        let time = Time(self.begun.0 + second as i64 * 1_000_000_000);
        let hosts = self.nics.iter().zip(&mut self.readers).zip(&mut self.trees);
        for (host_number, ((nic, reader), tree)) in (0..).zip(hosts) {
            if !self.is_read[host_number] {
                continue;
            }
            match nic.is_present {
                true => tree.write(nic, host_number),
                false => tree.remove(nic),
            }
            let moment = Moment {
                time,
                clock: Duration::from_secs(second),
            };
            reader.read(moment, Rows::Changed(Duration::from_secs(300)), &mut *take);
            for row in beside(host_number, nic, latencies[host_number], time) {
                if nic.is_present {
                    take(row);
                }
            }
        }
    }
}

/// What RDMA netlink and an agent's probes add: a copy of `/sys` has neither.
fn beside(host_number: usize, nic: &Nic, latency_ns: f64, time: Time) -> Vec<CounterRow> {
    let row = CounterRow {
        observer: host(host_number).into(),
        time,
        time_ns: time.0,
        device: device(nic.driver).into(),
        kind: "gauge".into(),
        ..CounterRow::default()
    };
    let queue_pairs = CounterRow {
        source: "resources".into(),
        name: "qp".into(),
        metric: Some("queue_pairs".into()),
        unit: "objects".into(),
        raw_value: Some(nic.queue_pairs.into()),
        value: Some(nic.queue_pairs.into()),
        ..row.clone()
    };
    let latency = CounterRow {
        name: "send".into(),
        port: Some(1),
        metric: Some("rdma_operation_latency".into()),
        unit: "ns".into(),
        value: Some(latency_ns),
        ..row
    };
    let has_latency = latency_ns > 0.0;
    [Some(queue_pairs), has_latency.then_some(latency)]
        .into_iter()
        .flatten()
        .collect()
}

pub(super) fn host(number: usize) -> String {
    format!("gpu-{number}")
}

pub(super) const fn device(driver: Driver) -> &'static str {
    match driver {
        Driver::Mlx5 => "mlx5_0",
        Driver::Bnxt => "bnxt_re0",
        Driver::Irdma => "rocep177s0",
        Driver::Rxe => "rxe0",
    }
}

pub(super) fn address(number: usize) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, number as u8 + 1).into()
}

pub(super) fn number(address: IpAddr) -> usize {
    match address {
        IpAddr::V4(address) => usize::from(address.octets()[3]) - 1,
        IpAddr::V6(_) => usize::MAX,
    }
}

impl Tree {
    fn reader(&self, host: &str) -> Reader {
        let sources = Sources {
            ethtool: StatisticsFrom::Files(self.root.path().join("ethtool")),
            ..Sources::copy(self.root.path().to_owned())
        };
        Reader::new(sources, Wanted::default(), host)
    }

    fn write(&mut self, nic: &Nic, number: usize) {
        let device = device(nic.driver);
        let (files, statistics) = nic.files();
        let IpAddr::V4(address) = address(number) else {
            return;
        };
        let gid = address.to_ipv6_mapped();
        let segments = gid.segments().map(|segment| format!("{segment:04x}"));
        let fixed = [
            ("ports/1/gids/0".to_owned(), segments.join(":")),
            ("ports/1/gid_attrs/ndevs/0".to_owned(), "eth2".to_owned()),
        ];
        for (path, content) in files.into_iter().chain(fixed) {
            self.set(format!("class/infiniband/{device}/{path}"), content);
        }
        self.set("ethtool/eth2".to_owned(), statistics);
    }

    /// The NIC and its interface vanish.
    fn remove(&mut self, nic: &Nic) {
        if self.written.is_empty() {
            return;
        }
        self.written.clear();
        let device = self.root.path().join("class/infiniband").join(device(nic.driver));
        fs::remove_dir_all(device).unwrap();
        fs::remove_file(self.root.path().join("ethtool/eth2")).unwrap();
    }

    fn set(&mut self, path: String, content: String) {
        if self.written.get(&path) == Some(&content) {
            return;
        }
        let file: PathBuf = self.root.path().join(&path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("{content}\n")).unwrap();
        self.written.insert(path, content);
    }
}
