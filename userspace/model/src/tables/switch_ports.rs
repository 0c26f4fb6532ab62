//! `switch_ports`: what switches count at their ports.

use crate::row::table;
use crate::{Text, Time};

table! {
    /// One row for each reading of a port of a switch, and beside it one for each of its queues and priorities that the
    /// source has. Growth is that since the reading before; a value is null if the source does not have it, and after a
    /// reset of the counters. Rows of a queue or priority repeat a part of what the row of the port counts: never add up
    /// both.
    SwitchPortRow = "switch_ports" [merged] {
        /// Name of what received or asked.
        observer: Text, None, [same], hide "Observer";
        /// Time of the reading.
        time: Time, None, [last], show "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [last], hide "Exact time";
        /// Time since the reading before; null at the first one and after a reset.
        interval_ns: Option<i64>, Nanoseconds, [sum | max], hide "Interval";
        /// Name of the switch, otherwise its address.
        switch: Text, None, [same], show "Switch";
        /// Name of the port, otherwise `if` and its index.
        port_name: Text, None, [same], show "Port";
        /// Index of the interface (`ifIndex`).
        port_index: Option<u32>, None, [same], hide "Index";
        /// The egress queue that the row is about; null in rows of the port or of a priority.
        queue: Option<u32>, None, [same], show "Queue";
        /// The priority (PFC) that the row is about; null in rows of the port or of a queue.
        priority: Option<u8>, None, [same], show "Priority";
        /// Whether the link is up.
        up: Option<bool>, None, [last], hide "Up";
        /// Speed of the port.
        speed_bps: Option<f64>, BitsPerSecond, [last | none], hide "Speed";
        /// Bytes that the port received.
        in_bytes: Option<u64>, Bytes, [sum], hide "In bytes";
        /// Frames that it received.
        in_frames: Option<u64>, Frames, [sum], hide "In frames";
        /// `in_bytes` divided by `interval_ns`.
        in_bps: Option<f64>, BitsPerSecond, [none], show "In";
        /// Bytes that it sent.
        out_bytes: Option<u64>, Bytes, [sum], hide "Out bytes";
        /// Frames that it sent.
        out_frames: Option<u64>, Frames, [sum], hide "Out frames";
        /// `out_bytes` divided by `interval_ns`.
        out_bps: Option<f64>, BitsPerSecond, [none], show "Out";
        /// Received frames that it dropped although they were not damaged.
        in_dropped_frames: Option<u64>, Frames, [sum], show "Drops in";
        /// Frames that it dropped instead of sending them.
        out_dropped_frames: Option<u64>, Frames, [sum], show "Drops out";
        /// Bytes in the egress queue at the last look.
        queue_bytes: Option<u64>, Bytes, [last], hide "Queue";
        /// The most bytes in the egress queue: a watermark of the switch, which may be older than the reading before, or that of the sampled packets (`sflow`).
        queue_max_bytes: Option<u64>, Bytes, [max], show "Queue max";
        /// The longest time that a sampled packet spent in the switch.
        transit_max_ns: Option<i64>, Nanoseconds, [max], hide "Transit max";
        /// Frames that it marked (ECN: congestion experienced).
        ecn_marked_frames: Option<u64>, Frames, [sum], show "ECN marks";
        /// PFC frames that the port sent: it asked the other end of its link to pause.
        sent_pause_frames: Option<u64>, Frames, [sum], show "Pauses sent";
        /// PFC frames that it received: the other end asked it to pause.
        received_pause_frames: Option<u64>, Frames, [sum], show "Pauses received";
        /// Time for which it paused the other end of its link.
        pausing_ns: Option<i64>, Nanoseconds, [sum], hide "Pausing";
        /// Time for which it was paused.
        paused_ns: Option<i64>, Nanoseconds, [sum], show "Paused";
        /// How often the PFC watchdog of the switch found a storm.
        watchdog_storms: Option<u64>, None, [sum], hide "Storms";
        /// How often it found that a storm was over.
        watchdog_restores: Option<u64>, None, [sum], hide "Restores";
        /// Received frames with errors.
        in_errors: Option<u64>, None, [sum], show "Errors in";
        /// Frames that could not be sent because of errors.
        out_errors: Option<u64>, None, [sum], hide "Errors out";
        /// Received frames whose check sequence is wrong (FCS); a part of `in_errors`.
        fcs_errors: Option<u64>, None, [sum], hide "FCS errors";
        /// Symbol errors.
        symbol_errors: Option<u64>, None, [sum], hide "Symbol errors";
        /// Code words that FEC corrected.
        fec_corrected: Option<u64>, None, [sum], hide "FEC corrected";
        /// Code words that FEC could not correct.
        fec_uncorrected: Option<u64>, None, [sum], show "FEC uncorrected";
        /// Share of wrong bits before FEC.
        bit_error_ratio: Option<f64>, Ratio, [last], hide "Bit errors";
        /// Light that the port receives, in dBm; of several lanes, the weakest. Null without light: then `dark_lanes` counts.
        rx_power_dbm: Option<f64>, None, [last], show "Light in";
        /// Light that it sends, in dBm; of several lanes, the weakest.
        tx_power_dbm: Option<f64>, None, [last], hide "Light out";
        /// Lanes that receive no light.
        dark_lanes: Option<u32>, None, [last], hide "Dark lanes";
        /// Temperature of the module in degrees Celsius.
        module_celsius: Option<f64>, None, [last], hide "Temperature";
        /// What happened: `first` reading; `restart` of the switch; `reset` of the counters; null if nothing did.
        event: Option<Text>, None, [last], show "Event";
        /// What the row comes from: `sflow`, `prometheus` or `gnmi`.
        source: Text, None, [same], hide "Source";
    }
}
