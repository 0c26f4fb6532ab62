//! The catalogue of host counters: what each metric means, and which driver reports it under which name.
//!
//! The metrics are those of tables 1 to 4 of the state awareness paper (Fudan), under their real names, and those that
//! the verdicts about hosts need besides. A metric has the name that mlx5 and the InfiniBand core use; the [`Source`]s
//! of other drivers map theirs. If several names of one driver belong to one metric, their values add up.
//!
//! | module | what it holds |
//! |---|---|
//! | `availability`, `connection`, `load`, `operations` | the metrics of tables 1 to 4, and others of that dimension |
//! | `ethernet` | pause, discards and link errors of the port as `ethtool` reports them |
//! | `machine` | `PCIe` links, RDMA resources, processors and memory |
//! | `lookup` | finds the metric of a name that a driver reports |
//! | `print` | the catalogue as text and as Markdown |

mod availability;
mod connection;
mod ethernet;
mod load;
mod lookup;
mod machine;
mod operations;
pub mod print;

pub use lookup::{Found, find};

use serde::{Serialize, Serializer};

/// A metric of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Metric {
    /// Its name: that of mlx5 or the InfiniBand core, if these have it.
    pub name: &'static str,
    /// What it counts, and who counts it.
    pub help: &'static str,
    /// The table of the paper that lists it, 1 to 4; `None` if none does.
    pub table: Option<u8>,
    /// The name that the paper prints, if it is another.
    pub printed: Option<&'static str>,
    /// The aspect of the host that it describes.
    pub dimension: Dimension,
    /// The layer that it belongs to.
    pub level: Level,
    /// Whether it counts work or trouble.
    pub sign: Sign,
    /// The side of a connection that the paper attributes a negative metric to; `None` if it has no side.
    pub side: Option<Side>,
    /// Unit of the values in the dataset.
    pub unit: Measure,
    /// Whether it only grows.
    pub kind: Kind,
    /// Who reports it, and under which name. Empty: nothing measures it yet.
    pub sources: &'static [Source],
}

/// A name under which drivers report a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Where the name is found.
    pub place: Place,
    /// The name; `#` is a priority from 0 to 7.
    pub name: &'static str,
    /// The drivers that have it; empty for names that do not depend on a driver.
    pub drivers: &'static [Driver],
    /// What one step of the counter is, in [`Metric::unit`].
    pub factor: u32,
    /// Where the counter ends.
    pub width: Width,
}

/// The aspect of a host that a metric describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// Whether the node can communicate at all (table 1).
    Availability,
    /// Whether packets arrive (table 2).
    Connection,
    /// How much is sent and received, and congestion (table 3).
    Load,
    /// RDMA operations and their errors (table 4).
    Operations,
}

/// The layer that a metric belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The port and its cable.
    Link,
    /// The host.
    System,
    /// Packets.
    Network,
    /// Queue pairs and work requests.
    Application,
}

/// Whether a metric counts work or trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// It grows while everything works.
    Running,
    /// It grows when something is wrong.
    Negative,
}

/// A side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The sender of requests.
    Sender,
    /// The receiver of requests.
    Receiver,
}

/// How a value changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It counts up from the load of the driver on.
    Counter,
    /// It goes up and down.
    Gauge,
    /// The number of a state.
    State,
}

/// Unit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Events, errors, requests.
    Events,
    /// Packets.
    Packets,
    /// Frames.
    Frames,
    /// Messages.
    Messages,
    /// Bytes.
    Bytes,
    /// Bits.
    Bits,
    /// Bits per second.
    BitsPerSecond,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
    /// Ticks whose length the manufacturer defines.
    Ticks,
    /// Millions of transfers per second and lane.
    MegaTransfers,
    /// Lanes of a link.
    Lanes,
    /// Objects that exist.
    Objects,
    /// A state by number, or a name.
    State,
    /// The catalogue does not have the name.
    Unknown,
}

/// Where a name is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Whether the device exists.
    Device,
    /// Files of `ports/N`: state, rate.
    Port,
    /// Files of `ports/N/counters`, from the InfiniBand core.
    Counters,
    /// Files of `hw_counters` of a port or device, from the driver.
    HwCounters,
    /// RDMA netlink statistics: what `hw_counters` has, and optional counters, which only netlink has.
    Netlink,
    /// RDMA netlink resources: the number of objects of a device.
    Resources,
    /// Statistics of the port's network interface, as `ethtool -S` prints them.
    Ethtool,
    /// The `PCIe` link of the device.
    Pcie,
    /// `/proc` of the host.
    Proc,
    /// The reader of the counters itself.
    Reader,
    /// Operations that the agent runs itself.
    Operation,
    /// A column of another table of the dataset.
    Dataset,
}

/// A driver of RDMA devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// NVIDIA ConnectX-4 and later.
    Mlx5,
    /// NVIDIA ConnectX-3.
    Mlx4,
    /// Broadcom `NetXtreme-E` (Thor).
    BnxtRe,
    /// AMD Pensando (Pollara).
    Ionic,
    /// Intel E810 and X722.
    Irdma,
    /// `HiSilicon`.
    Hns,
    /// AWS Elastic Fabric Adapter.
    Efa,
    /// Cornelis Omni-Path.
    Hfi1,
    /// Microsoft Azure Network Adapter.
    Mana,
    /// Alibaba's elastic RDMA.
    Erdma,
    /// Soft-RoCE of the Linux kernel.
    Rxe,
}

/// Where a counter ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Width {
    /// It continues with 0 after 2^32 - 1.
    Wraps32,
    /// It continues with 0 after 2^64 - 1.
    Wraps64,
    /// It stays at this value.
    Stops(u64),
    /// Not known: 32 bits while the value fits into them, otherwise 64.
    Unknown,
}

macro_rules! names {
    ($($kind:ident { $($variant:ident = $name:literal),+ $(,)? })+) => {$(
        impl $kind {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name in rows, JSON and the documentation.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    )+};
}

names! {
    Dimension { Availability = "availability", Connection = "connection", Load = "load", Operations = "operations" }
    Level { Link = "link", System = "system", Network = "network", Application = "application" }
    Sign { Running = "running", Negative = "negative" }
    Side { Sender = "sender", Receiver = "receiver" }
    Kind { Counter = "counter", Gauge = "gauge", State = "state" }
    Measure {
        Events = "events", Packets = "packets", Frames = "frames", Messages = "messages", Bytes = "bytes",
        Bits = "bits", BitsPerSecond = "bit/s", Microseconds = "µs", Nanoseconds = "ns", Ticks = "ticks",
        MegaTransfers = "MT/s", Lanes = "lanes", Objects = "objects", State = "state", Unknown = "unknown",
    }
    Place {
        Device = "device", Port = "port", Counters = "counters", HwCounters = "hw_counters", Netlink = "netlink",
        Resources = "resources", Ethtool = "ethtool", Pcie = "pcie", Proc = "proc",
        Reader = "reader", Operation = "operation", Dataset = "dataset",
    }
    Driver {
        Mlx5 = "mlx5", Mlx4 = "mlx4", BnxtRe = "bnxt_re", Ionic = "ionic", Irdma = "irdma", Hns = "hns",
        Efa = "efa", Hfi1 = "hfi1", Mana = "mana", Erdma = "erdma", Rxe = "rxe",
    }
}

impl Driver {
    /// The driver of a kernel module, or of an RDMA device that has its default name.
    ///
    /// ```
    /// use rocescope_model::catalogue::Driver;
    ///
    /// assert_eq!(Driver::of_module("mlx5_core"), Some(Driver::Mlx5));
    /// assert_eq!(Driver::of_device("bnxt_re0"), Some(Driver::BnxtRe));
    /// assert_eq!(Driver::of_device("rocep1s0f0"), None);
    /// ```
    #[must_use]
    pub fn of_module(module: &str) -> Option<Self> {
        Some(match module {
            "mlx5_core" | "mlx5_ib" => Self::Mlx5,
            "mlx4_core" | "mlx4_ib" => Self::Mlx4,
            "bnxt_en" | "bnxt_re" => Self::BnxtRe,
            "ionic" | "ionic_rdma" => Self::Ionic,
            "ice" | "i40e" | "irdma" | "idpf" => Self::Irdma,
            "hns3" | "hns_roce_hw_v2" => Self::Hns,
            "efa" => Self::Efa,
            "hfi1" => Self::Hfi1,
            "mana" | "mana_ib" => Self::Mana,
            "erdma" => Self::Erdma,
            "rxe" | "rdma_rxe" => Self::Rxe,
            _ => return None,
        })
    }

    /// See [`of_module`](Self::of_module).
    #[must_use]
    pub fn of_device(device: &str) -> Option<Self> {
        let prefixes = [
            ("mlx5_", Self::Mlx5),
            ("mlx4_", Self::Mlx4),
            ("bnxt_re", Self::BnxtRe),
            ("ionic_", Self::Ionic),
            ("irdma", Self::Irdma),
            ("hns_", Self::Hns),
            ("efa_", Self::Efa),
            ("hfi1_", Self::Hfi1),
            ("mana_", Self::Mana),
            ("erdma_", Self::Erdma),
            ("rxe", Self::Rxe),
        ];
        let found = prefixes.into_iter().find(|(prefix, _)| device.starts_with(prefix));
        found.map(|(_, driver)| driver)
    }
}

/// The drivers with the port counters of the InfiniBand specification.
const PMA: &[Driver] = &[Driver::Mlx5, Driver::Mlx4, Driver::Hfi1];

impl Metric {
    /// Every metric: those of tables 1 to 4 first in their dimension.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        [
            availability::METRICS,
            connection::METRICS,
            load::METRICS,
            operations::METRICS,
            ethernet::METRICS,
            machine::METRICS,
        ]
        .into_iter()
        .flatten()
    }

    /// The metric of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|metric| metric.name == name)
    }

    /// A counter of work.
    const fn new(name: &'static str, dimension: Dimension, level: Level, unit: Measure, help: &'static str) -> Self {
        Self {
            name,
            help,
            table: None,
            printed: None,
            dimension,
            level,
            sign: Sign::Running,
            side: None,
            unit,
            kind: Kind::Counter,
            sources: &[],
        }
    }

    const fn table(self, table: u8) -> Self {
        let table = Some(table);
        Self { table, ..self }
    }

    const fn printed(self, printed: &'static str) -> Self {
        let printed = Some(printed);
        Self { printed, ..self }
    }

    const fn negative(self) -> Self {
        let sign = Sign::Negative;
        Self { sign, ..self }
    }

    const fn of_sender(self) -> Self {
        let side = Some(Side::Sender);
        Self { side, ..self }.negative()
    }

    const fn of_receiver(self) -> Self {
        let side = Some(Side::Receiver);
        Self { side, ..self }.negative()
    }

    const fn kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    const fn from(self, sources: &'static [Source]) -> Self {
        Self { sources, ..self }
    }
}

impl Source {
    const fn new(place: Place, name: &'static str, drivers: &'static [Driver]) -> Self {
        Self {
            place,
            name,
            drivers,
            factor: 1,
            width: Width::Unknown,
        }
    }

    /// A port counter of the InfiniBand specification with 64 bits.
    const fn port(name: &'static str) -> Self {
        Self::new(Place::Counters, name, PMA).width(Width::Wraps64)
    }

    /// A port counter of the InfiniBand specification that stops at its largest value; it has `bits` bits.
    const fn port_stops(name: &'static str, bits: u32) -> Self {
        Self::new(Place::Counters, name, PMA).width(Width::Stops((1 << bits) - 1))
    }

    const fn hw(driver: &'static [Driver], name: &'static str) -> Self {
        Self::new(Place::HwCounters, name, driver).width(Width::Wraps64)
    }

    /// A Q counter of mlx5, which has 32 bits.
    const fn q_counter(name: &'static str) -> Self {
        Self::hw(MLX5, name).width(Width::Wraps32)
    }

    const fn ethtool(driver: &'static [Driver], name: &'static str) -> Self {
        Self::new(Place::Ethtool, name, driver).width(Width::Wraps64)
    }

    const fn width(self, width: Width) -> Self {
        Self { width, ..self }
    }

    const fn times(self, factor: u32) -> Self {
        Self { factor, ..self }
    }
}

const MLX5: &[Driver] = &[Driver::Mlx5];
const BNXT: &[Driver] = &[Driver::BnxtRe];
const IONIC: &[Driver] = &[Driver::Ionic];
const IRDMA: &[Driver] = &[Driver::Irdma];
const HNS: &[Driver] = &[Driver::Hns];
const EFA: &[Driver] = &[Driver::Efa];
const HFI1: &[Driver] = &[Driver::Hfi1];
const MANA: &[Driver] = &[Driver::Mana];
const ERDMA: &[Driver] = &[Driver::Erdma];
const RXE: &[Driver] = &[Driver::Rxe];

#[cfg(test)]
mod tests {
    use super::{Kind, Metric, Sign, print};
    use std::collections::BTreeSet;
    use std::format;
    use std::vec::Vec;

    /// The names of tables 1 to 4, as the paper prints them.
    const PRINTED: [(u8, &[&str]); 4] = [
        (1, &["phys_state", "state", "port_xmit_discards", "out_of_buffer"]),
        (2, &["local_ack_timeout_err", "port_xmit_wait", "implied_nak_seq_err"]),
        (
            3,
            &[
                "TCP-RTT",
                "port_rcv_data",
                "port_rcv_packets",
                "port_xmit_data",
                "port_xmit_packets",
                "port_multicast_rcv_packets",
                "port_unicast_rcv_packets",
                "snp_cnp_sent",
                "port_rcv_switch_relay_errors",
                "out_of_sequence",
                "packet_seq_err",
                "rx_icrc_encapsulated",
                "port_rcv_errors",
                "np_ecn_marked_roce_packets",
                "RDMA operation latency",
            ],
        ),
        (
            4,
            &[
                "rx_atomic_requests",
                "rx_atomic_requests (DCT)",
                "rx_read_requests",
                "rx_write_requests",
                "opcode*19",
                "RDMA messages",
                "req_cqe_error",
                "req_cqe_flush_error",
                "req_remote_access_errors",
                "req_remote_invalid_request",
                "duplicate_request",
                "resp_cqe_error",
                "resp_cqe_flush_error",
                "resq_local_length_error",
                "resp_remote_access_errors",
                "mr_nak_retry_err",
                "rp_cnp_handled",
                "rp_cnp_ignored",
            ],
        ),
    ];

    #[test]
    fn tables_1_to_4_are_complete() {
        for (table, printed) in PRINTED {
            let listed: BTreeSet<&str> = Metric::all()
                .filter(|metric| metric.table == Some(table))
                .map(|metric| metric.printed.unwrap_or(metric.name))
                .collect();
            assert_eq!(listed, printed.iter().copied().collect(), "table {table}");
        }
    }

    #[test]
    fn names_are_unique_and_every_negative_metric_of_the_paper_has_a_side() {
        let names: Vec<&str> = Metric::all().map(|metric| metric.name).collect();
        let unique: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(unique.len(), names.len());
        for metric in Metric::all() {
            assert!(
                metric.help.ends_with('.') && !metric.help.contains('|'),
                "{}",
                metric.name
            );
            let sides = metric.sign == Sign::Negative && metric.table.is_some();
            assert!(!sides || metric.side.is_some(), "{}", metric.name);
            assert!(
                metric.sign == Sign::Negative || metric.side.is_none(),
                "{}",
                metric.name
            );
            assert!(metric.kind == Kind::Counter || metric.sources.iter().all(|source| source.factor != 4));
        }
    }

    #[test]
    fn text_and_page_have_every_metric_and_every_name() {
        let (text, page) = (print::text(), print::markdown());
        for metric in Metric::all() {
            assert!(text.contains(&format!("\n{} ", metric.name)), "{}", metric.name);
            assert!(page.contains(&format!("| `{}` ", metric.name)), "{}", metric.name);
            for source in metric.sources {
                assert!(
                    text.contains(source.name) && page.contains(source.name),
                    "{}",
                    source.name
                );
            }
        }
    }
}
