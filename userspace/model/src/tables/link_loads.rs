//! `link_loads`: how many flows cross each link.

use crate::row::table;
use crate::{Text, Time};

table! {
    /// One row for each window or run and direction of a link, unused ones included: how many flows cross it, and how
    /// many would if all links of its layer carried the same.
    LinkLoadRow = "link_loads" [merged] {
        /// Name of the analysis.
        observer: Text, None, [same], hide "Observer";
        /// Start of the window, or of the run.
        window_start: Time, None, [min], show "Window";
        /// `window_start` in full precision.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Exact window start";
        /// Length of the window; 0 for a run.
        window_ns: i64, Nanoseconds, [span], hide "Window length";
        /// Node where the direction starts.
        from: Text, None, [same], show "From";
        /// Port where it starts.
        from_port: Text, None, [same], show "Port";
        /// Node where it ends.
        to: Text, None, [same], show "To";
        /// Port where it ends.
        to_port: Text, None, [same], show "Far port";
        /// Tier where it starts; `unknown` without one.
        from_tier: Text, None, [same], hide "From tier";
        /// Tier where it ends.
        to_tier: Text, None, [same], hide "To tier";
        /// Flows that cross it.
        flows: u64, Flows, [max | sum], show "Flows";
        /// Flows per link of the layer if all were equal; null without flows or tiers.
        ideal_flows: Option<f64>, Flows, [none], show "Ideal";
        /// How far `flows` is from `ideal_flows`, relative to it.
        deviation_ratio: Option<f64>, Ratio, [none], show "Deviation";
        /// Rate of these flows; null unless the rates of all flows are known.
        flow_bps: Option<f64>, BitsPerSecond, [none], show "Rate";
    }
}
