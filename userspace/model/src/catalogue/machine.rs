//! `PCIe` links, RDMA resources, processors and memory.

use super::{Dimension, Kind, Level, MLX5, Measure, Metric, Place, Source, Width};

const fn metric(name: &'static str, unit: Measure, help: &'static str) -> Metric {
    Metric::new(name, Dimension::Availability, Level::System, unit, help)
}

const fn gauge(name: &'static str, unit: Measure, help: &'static str, source: &'static [Source]) -> Metric {
    metric(name, unit, help).kind(Kind::Gauge).from(source)
}

const fn objects(name: &'static str, help: &'static str, source: &'static [Source]) -> Metric {
    Metric::new(name, Dimension::Operations, Level::System, Measure::Objects, help)
        .kind(Kind::Gauge)
        .from(source)
}

/// What `/proc/stat` counts: hundredths of a second on every architecture (`USER_HZ`).
const fn processor(name: &'static str) -> Source {
    Source::new(Place::Proc, name, &[])
        .times(10_000_000)
        .width(Width::Wraps64)
}

pub(super) const METRICS: &[Metric] = &[
    gauge(
        "pcie_link_speed",
        Measure::MegaTransfers,
        "Speed of the PCIe link, for each lane.",
        &[Source::new(Place::Pcie, "current_link_speed", &[])],
    ),
    gauge(
        "pcie_max_link_speed",
        Measure::MegaTransfers,
        "Highest speed that the device supports.",
        &[Source::new(Place::Pcie, "max_link_speed", &[])],
    ),
    gauge(
        "pcie_link_width",
        Measure::Lanes,
        "Width of the PCIe link.",
        &[Source::new(Place::Pcie, "current_link_width", &[])],
    ),
    gauge(
        "pcie_max_link_width",
        Measure::Lanes,
        "Largest width that the device supports.",
        &[Source::new(Place::Pcie, "max_link_width", &[])],
    ),
    metric(
        "outbound_pci_stalled_rd_events",
        Measure::Events,
        "Seconds in which the NIC could not read from the host for lack of PCIe credits for over 30 % of the time.",
    )
    .negative()
    .from(&[Source::ethtool(MLX5, "outbound_pci_stalled_rd_events")]),
    metric(
        "outbound_pci_stalled_wr_events",
        Measure::Events,
        "Seconds in which the NIC could not write to the host for lack of PCIe credits for over 30 % of the time.",
    )
    .negative()
    .from(&[Source::ethtool(MLX5, "outbound_pci_stalled_wr_events")]),
    metric(
        "outbound_pci_buffer_overflow",
        Measure::Packets,
        "Packets dropped because the host did not take them over PCIe fast enough.",
    )
    .of_receiver()
    .from(&[Source::ethtool(MLX5, "outbound_pci_buffer_overflow")]),
    metric(
        "rx_pci_signal_integrity",
        Measure::Events,
        "PCIe errors on receipt: replays and CRC errors.",
    )
    .negative()
    .from(&[Source::ethtool(MLX5, "rx_pci_signal_integrity")]),
    metric(
        "tx_pci_signal_integrity",
        Measure::Events,
        "PCIe errors in the other direction.",
    )
    .negative()
    .from(&[Source::ethtool(MLX5, "tx_pci_signal_integrity")]),
    objects(
        "queue_pairs",
        "Queue pairs that exist.",
        &[Source::new(Place::Resources, "qp", &[])],
    ),
    objects(
        "completion_queues",
        "Completion queues that exist.",
        &[Source::new(Place::Resources, "cq", &[])],
    ),
    objects(
        "memory_regions",
        "Memory regions that are registered.",
        &[Source::new(Place::Resources, "mr", &[])],
    ),
    objects(
        "protection_domains",
        "Protection domains that exist.",
        &[Source::new(Place::Resources, "pd", &[])],
    ),
    objects(
        "cm_ids",
        "Connections and listeners of the connection manager.",
        &[Source::new(Place::Resources, "cm_id", &[])],
    ),
    objects(
        "contexts",
        "Processes' contexts on the device.",
        &[Source::new(Place::Resources, "ctx", &[])],
    ),
    objects(
        "shared_receive_queues",
        "Shared receive queues that exist.",
        &[Source::new(Place::Resources, "srq", &[])],
    ),
    metric(
        "cpu_busy",
        Measure::Nanoseconds,
        "Time that processors worked, summed over them.",
    )
    .from(&[processor("cpu_busy")]),
    metric(
        "cpu_idle",
        Measure::Nanoseconds,
        "Time that processors were idle or waited for disks, summed over them.",
    )
    .from(&[processor("cpu_idle")]),
    metric(
        "counter_reads",
        Measure::Events,
        "Reads of the counters of the host. Every read has this row, so a host on which nothing changes is known to be read.",
    )
    .from(&[Source::new(Place::Reader, "reads", &[]).width(Width::Wraps64)]),
    gauge(
        "memory_total",
        Measure::Bytes,
        "Memory of the host.",
        &[Source::new(Place::Proc, "MemTotal", &[]).times(1024)],
    ),
    gauge(
        "memory_available",
        Measure::Bytes,
        "Memory that programs can get without swapping.",
        &[Source::new(Place::Proc, "MemAvailable", &[]).times(1024)],
    ),
];
