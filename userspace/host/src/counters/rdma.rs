//! RDMA netlink (`NETLINK_RDMA`, clients of `nldev`): statistics and resources of devices, as `rdma statistic` and
//! `rdma resource` show them.
//!
//! Reading needs no privilege. Optional counters appear here and not in `/sys`, and queue pairs with the process that
//! created them only here.

use crate::netlink::{Socket, attribute, attributes, find, long, number, text};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

// Source: include/uapi/rdma/rdma_netlink.h.
const CLIENT: u16 = 5 << 10;
const DEVICES: u16 = CLIENT + 1;
const RESOURCES: u16 = CLIENT + 9;
const QUEUE_PAIRS: u16 = CLIENT + 10;
const STATISTICS: u16 = CLIENT + 17;

const DEVICE_INDEX: u16 = 1;
const DEVICE_NAME: u16 = 2;
const PORT_INDEX: u16 = 3;
const SUMMARY: u16 = 15;
const SUMMARY_NAME: u16 = 17;
const SUMMARY_COUNT: u16 = 18;
const QP_LIST: u16 = 19;
const LOCAL_QPN: u16 = 21;
const REMOTE_QPN: u16 = 22;
const QP_TYPE: u16 = 26;
const QP_STATE: u16 = 27;
const PROCESS_ID: u16 = 28;
const KERNEL_NAME: u16 = 29;
const COUNTERS: u16 = 80;
const COUNTER_NAME: u16 = 82;
const COUNTER_VALUE: u16 = 83;

/// A connection to the kernel's RDMA devices.
#[derive(Debug)]
pub struct Rdma(Socket);

/// A device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RdmaDevice {
    /// Its index.
    pub index: u32,
    /// Its name.
    pub name: String,
}

/// A queue pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuePair {
    /// Its port; `None` before it has one.
    pub port: Option<u32>,
    /// Its number.
    pub local_qpn: u32,
    /// Number of the queue pair that it is connected to.
    pub remote_qpn: Option<u32>,
    /// Type, such as `RC`.
    pub kind: &'static str,
    /// State, such as `RTS`.
    pub state: &'static str,
    /// Process that created it; `None` for the kernel, and if the thread that did has ended.
    pub pid: Option<u32>,
    /// Name of that process, or of the kernel module; empty if the thread ended, or the process may not be read.
    pub process: String,
}

impl Rdma {
    /// Opens the connection.
    ///
    /// # Errors
    /// The kernel has no RDMA support.
    pub fn open() -> io::Result<Self> {
        Ok(Self(Socket::open(libc::NETLINK_RDMA)?))
    }

    /// A connection to a kernel that a test plays.
    #[cfg(test)]
    pub(crate) const fn over(socket: Socket) -> Self {
        Self(socket)
    }

    /// The devices of this network namespace.
    ///
    /// # Errors
    /// That of the kernel.
    pub fn devices(&mut self) -> io::Result<Vec<RdmaDevice>> {
        let mut devices = Vec::new();
        self.0
            .exchange(DEVICES, true, &[], |body| devices.extend(read_device(body)))?;
        Ok(devices)
    }

    /// The statistics of a port, by name: those of `hw_counters`, and optional counters that are enabled.
    ///
    /// # Errors
    /// That of the kernel: the driver has none, or the kernel is older than 5.3.
    pub fn statistics(&mut self, device: u32, port: u32) -> io::Result<Vec<(String, u64)>> {
        let mut request = attribute(DEVICE_INDEX, &device.to_ne_bytes());
        request.extend(attribute(PORT_INDEX, &port.to_ne_bytes()));
        let mut all = Vec::new();
        self.0.exchange(STATISTICS, false, &request, |body| {
            all.extend(read_named(body, COUNTERS, COUNTER_NAME, COUNTER_VALUE));
        })?;
        Ok(all)
    }

    /// The number of objects of a device, by kind: `qp`, `cq`, `mr`, `pd`, `cm_id`, `ctx`, `srq`.
    ///
    /// # Errors
    /// That of the kernel.
    pub fn resources(&mut self, device: u32) -> io::Result<Vec<(String, u64)>> {
        let request = attribute(DEVICE_INDEX, &device.to_ne_bytes());
        let mut all = Vec::new();
        self.0.exchange(RESOURCES, false, &request, |body| {
            all.extend(read_named(body, SUMMARY, SUMMARY_NAME, SUMMARY_COUNT));
        })?;
        Ok(all)
    }

    /// The queue pairs of a device, and whose they are.
    ///
    /// # Errors
    /// That of the kernel.
    pub fn queue_pairs(&mut self, device: u32) -> io::Result<Vec<QueuePair>> {
        let request = attribute(DEVICE_INDEX, &device.to_ne_bytes());
        let mut all = Vec::new();
        self.0
            .exchange(QUEUE_PAIRS, true, &request, |body| all.extend(read_queue_pairs(body)))?;
        name_processes(&mut all, Path::new("/proc"));
        Ok(all)
    }
}

/// Names the processes of queue pairs. The kernel names the thread that created each; below `proc`, its status has the process.
fn name_processes(pairs: &mut [QueuePair], proc: &Path) {
    let mut known: BTreeMap<u32, (u32, String)> = BTreeMap::new();
    for pair in pairs {
        let Some(thread) = pair.pid else { continue };
        let (process, name) = known.entry(thread).or_insert_with(|| process_of(proc, thread));
        pair.pid = Some(*process);
        if pair.process.is_empty() {
            pair.process.clone_from(name);
        }
    }
}

/// The process of a thread, and its name; the thread itself if it may not be read.
fn process_of(proc: &Path, thread: u32) -> (u32, String) {
    let read = |of: u32, file: &str| fs::read_to_string(proc.join(of.to_string()).join(file)).unwrap_or_default();
    let status = read(thread, "status");
    let process = status
        .lines()
        .find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
    let process = process.unwrap_or(thread);
    (process, read(process, "comm").trim().to_owned())
}

fn read_device(body: &[u8]) -> Option<RdmaDevice> {
    Some(RdmaDevice {
        index: find(body, DEVICE_INDEX).and_then(number)?,
        name: find(body, DEVICE_NAME).and_then(text)?,
    })
}

/// The entries of a list of names and numbers.
fn read_named(body: &[u8], list: u16, name: u16, value: u16) -> Vec<(String, u64)> {
    let entries = attributes(find(body, list).unwrap_or_default());
    entries
        .filter_map(|(_, entry)| Some((find(entry, name).and_then(text)?, find(entry, value).and_then(long)?)))
        .collect()
}

fn read_queue_pairs(body: &[u8]) -> Vec<QueuePair> {
    let entries = attributes(find(body, QP_LIST).unwrap_or_default());
    let byte = |entry, kind| find(entry, kind).and_then(|value| value.first().copied());
    let pair = |entry| {
        Some(QueuePair {
            port: find(entry, PORT_INDEX).and_then(number),
            local_qpn: find(entry, LOCAL_QPN).and_then(number)?,
            // 0 before it is connected.
            remote_qpn: find(entry, REMOTE_QPN).and_then(number).filter(|number| *number != 0),
            kind: byte(entry, QP_TYPE).map_or("unknown", |kind| type_name(kind.into())),
            state: byte(entry, QP_STATE).map_or("unknown", |state| state_name(state.into())),
            pid: find(entry, PROCESS_ID).and_then(number),
            process: find(entry, KERNEL_NAME).and_then(text).unwrap_or_default(),
        })
    };
    entries.filter_map(|(_, entry)| pair(entry)).collect()
}

/// The name of a type: `enum ib_qp_type` in `include/rdma/ib_verbs.h`.
#[must_use]
pub const fn type_name(number: u32) -> &'static str {
    match number {
        0 => "SMI",
        1 => "GSI",
        2 => "RC",
        3 => "UC",
        4 => "UD",
        5 => "RAW_IPV6",
        6 => "RAW_ETHERTYPE",
        8 => "RAW_PACKET",
        9 => "XRC_INI",
        10 => "XRC_TGT",
        // Drivers number their own types from here on.
        255 => "DRIVER",
        _ => "unknown",
    }
}

/// The name of a state: `enum ib_qp_state` in `include/rdma/ib_verbs.h`.
#[must_use]
pub const fn state_name(number: u32) -> &'static str {
    match number {
        0 => "RESET",
        1 => "INIT",
        2 => "RTR",
        3 => "RTS",
        4 => "SQD",
        5 => "SQE",
        6 => "ERR",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::{each, message};

    /// `NLA_F_NESTED`
    const NESTED: u16 = 0x8000;

    fn nested(kind: u16, parts: &[Vec<u8>]) -> Vec<u8> {
        attribute(kind | NESTED, &parts.concat())
    }

    fn counter(name: &str, value: u64) -> Vec<u8> {
        let name = [name.as_bytes(), &[0]].concat();
        let parts = [attribute(82, &name), attribute(83, &value.to_ne_bytes())];
        nested(81, &parts)
    }

    fn queue_pair(parts: &[Vec<u8>]) -> Vec<u8> {
        nested(20, parts)
    }

    /// What the kernel answers to `rdma statistic show link mlx5_0/1`, through the reader of messages.
    #[test]
    fn statistics_are_read_from_a_message() {
        let body = [
            attribute(1, &3_u32.to_ne_bytes()),
            attribute(2, b"mlx5_0\0"),
            attribute(3, &1_u32.to_ne_bytes()),
            nested(
                80,
                &[
                    counter("rx_write_requests", 17),
                    counter("cc_rx_ce_pkts", u64::MAX),
                    // Without a value: skipped.
                    nested(81, &[attribute(82, b"broken\0")]),
                ],
            ),
        ];
        let mut all = Vec::new();
        each(&message(STATISTICS, 0, &body.concat()), &mut |body: &[u8]| {
            assert_eq!(read_device(body).map(|device| device.index), Some(3));
            all.extend(read_named(body, COUNTERS, COUNTER_NAME, COUNTER_VALUE));
        })
        .unwrap();
        let expected = [("rx_write_requests", 17), ("cc_rx_ce_pkts", u64::MAX)];
        assert_eq!(all, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn resources_are_read_by_kind() {
        let entry = |name: &[u8], count: u64| nested(16, &[attribute(17, name), attribute(18, &count.to_ne_bytes())]);
        let body = nested(15, &[entry(b"qp\0", 12), entry(b"cm_id\0", 4)]);
        let all = read_named(&body, SUMMARY, SUMMARY_NAME, SUMMARY_COUNT);
        assert_eq!(all, [("qp".to_owned(), 12), ("cm_id".to_owned(), 4)]);
    }

    #[test]
    fn a_thread_that_created_a_queue_pair_is_a_part_of_its_process() {
        let proc = tempfile::tempdir().unwrap();
        let file = |of: u32, name: &str, text: &str| {
            let directory = proc.path().join(of.to_string());
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join(name), text).unwrap();
        };
        file(41, "comm", "train\n");
        file(41, "status", "Name:\ttrain\nTgid:\t41\nPid:\t41\n");
        // Threads have names of their own.
        file(47, "comm", "proxy-3\n");
        file(47, "status", "Name:\tproxy-3\nTgid:\t41\nPid:\t47\n");
        let pair = |pid: Option<u32>, process: &str| QueuePair {
            port: None,
            local_qpn: 17,
            remote_qpn: None,
            kind: "RC",
            state: "RTS",
            pid,
            process: process.into(),
        };
        let mut pairs = [
            pair(Some(41), ""),
            pair(Some(47), ""),
            pair(Some(99), ""),
            pair(None, "ib_core"),
        ];
        name_processes(&mut pairs, proc.path());
        let found = pairs.map(|pair| (pair.pid, pair.process));
        let expected = [
            (Some(41), "train"),
            (Some(41), "train"),
            (Some(99), ""),
            (None, "ib_core"),
        ];
        assert_eq!(found, expected.map(|(pid, name)| (pid, name.to_owned())));
    }

    #[test]
    fn queue_pairs_are_read_with_their_process() {
        let user = [
            attribute(3, &1_u32.to_ne_bytes()),
            attribute(21, &217_u32.to_ne_bytes()),
            attribute(22, &218_u32.to_ne_bytes()),
            attribute(26, &[2]),
            attribute(27, &[3]),
            attribute(28, &4242_u32.to_ne_bytes()),
        ];
        let kernel = [
            attribute(21, &1_u32.to_ne_bytes()),
            attribute(26, &[1]),
            attribute(27, &[3]),
            attribute(29, b"ib_core\0"),
        ];
        let body = nested(19, &[queue_pair(&user), queue_pair(&kernel), queue_pair(&[])]);
        let all = read_queue_pairs(&body);
        let expected = QueuePair {
            port: Some(1),
            local_qpn: 217,
            remote_qpn: Some(218),
            kind: "RC",
            state: "RTS",
            pid: Some(4242),
            process: String::new(),
        };
        assert_eq!(all.len(), 2);
        assert_eq!(all[0], expected);
        assert_eq!((all[1].kind, all[1].pid, &*all[1].process), ("GSI", None, "ib_core"));
    }

    #[test]
    fn damaged_messages_give_what_is_whole() {
        let body = nested(80, &[counter("a", 1), counter("b", 2)]);
        for end in 0..body.len() {
            let all = read_named(&body[..end], COUNTERS, COUNTER_NAME, COUNTER_VALUE);
            // The list is cut off, so its length does not fit.
            assert_eq!(all, []);
        }
        let mut damaged = body;
        let second = damaged.len() - 8;
        damaged[second - 4] = 200;
        assert_eq!(
            read_named(&damaged, COUNTERS, COUNTER_NAME, COUNTER_VALUE),
            [("a".to_owned(), 1)]
        );
    }

    /// Where the kernel has RDMA, its devices answer; elsewhere there is no such protocol.
    #[test]
    fn this_kernel_answers_or_has_no_rdma() {
        let Ok(mut rdma) = Rdma::open() else { return };
        for device in rdma.devices().unwrap() {
            assert!(!device.name.is_empty());
            assert!(rdma.resources(device.index).is_ok());
            assert!(rdma.queue_pairs(device.index).is_ok());
        }
    }
}
