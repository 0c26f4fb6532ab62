//! `counters`: what a host, its NICs and their drivers count.

use crate::row::table;
use crate::{Text, Time};

table! {
    /// One row for each counter that changed since it was read before, and for each at the first read and periodically:
    /// between two rows of a counter, its increase was 0. Every read has a row of the metric `counter_reads`. The catalogue of metrics below explains `metric`; rows of a
    /// port with the same metric add up.
    CounterRow = "counters" [merged] {
        /// Name of the host, or of the agent on it.
        observer: Text, None, [same], show "Host";
        /// Time of the read.
        time: Time, None, [last], show "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [last], hide "Exact time";
        /// Name of the RDMA device; of a network interface without one, its name; `host` for the host itself.
        device: Text, None, [same], show "Device";
        /// Port of the device; null for counters of the whole device.
        port: Option<u16>, None, [same], show "Port";
        /// Network interface of the port; null if it has none.
        netdev: Option<Text>, None, [last], hide "Interface";
        /// Driver: `mlx5`, `bnxt_re`, `ionic`, `irdma`, `hns`, `efa`, `hfi1`, `rxe`, or the name of its kernel module;
        /// empty if unknown.
        driver: Text, None, [same], hide "Driver";
        /// Where the value was read: `port`, `counters`, `hw_counters`, `netlink`, `resources`, `ethtool`, `pcie`,
        /// `proc`, `device`, `reader` or `operation`.
        source: Text, None, [same], hide "Source";
        /// Name that the driver has for it; of an operation, its name and the address of the other end: `write 10.0.0.2`.
        name: Text, None, [same], show "Name";
        /// Priority (PFC), if the name has one.
        priority: Option<u8>, None, [same], hide "Priority";
        /// Metric of the catalogue; null if the catalogue does not have the name.
        metric: Option<Text>, None, [same], show "Metric";
        /// `availability`, `connection`, `load` or `operations`; null without a metric.
        dimension: Option<Text>, None, [same], hide "Dimension";
        /// `link`, `system`, `network` or `application`; null without a metric.
        level: Option<Text>, None, [same], hide "Level";
        /// `running` or `negative`; null without a metric.
        sign: Option<Text>, None, [same], hide "Sign";
        /// `sender` or `receiver`, for negative metrics that have a side.
        side: Option<Text>, None, [same], hide "Side";
        /// `counter`, `gauge` or `state`.
        kind: Text, None, [same], hide "Kind";
        /// Value in `unit`; null if it could not be read, or is only text. Above 2^53 it is rounded, `raw_value` and `text` are not.
        value: Option<f64>, None, [last], show "Value";
        /// Unit of `value`, `increase` and, each second, of `rate`; `unknown` without a metric.
        unit: Text, None, [same], show "Unit";
        /// The number that was read, before its conversion to `unit`; null above 2^63-1, where `text` has its digits.
        raw_value: Option<i64>, None, [last], hide "Raw value";
        /// The text that was read, for states: `4: ACTIVE`; the digits of a number above 2^63-1; of an operation, the name of the other agent.
        text: Option<Text>, None, [last], show "Text";
        /// How much a counter grew since it was read before; null at the first read, after a reset, at its largest
        /// value if it stops there, and for gauges and states.
        increase: Option<u64>, None, [sum], show "Increase";
        /// `increase` divided by `interval_ns`, for each second.
        rate: Option<f64>, None, [last | none], show "Rate";
        /// Time since the counter was read before; null at the first read.
        interval_ns: Option<i64>, Nanoseconds, [sum | max], hide "Interval";
        /// What happened: `first` read; `wrap` past the largest value, which `increase` includes; `reset`: it went down
        /// and no wrap explains that; `stopped` at its largest value; `unreadable`; `failed`, of an operation;
        /// `absent`, `vanished` and `returned`: its device; null if nothing did.
        event: Option<Text>, None, [last], show "Event";
    }
}
