//! The columns of earlier formats that have another name now.

use rocescope_model::FORMAT_VERSION;

/// Table, name in format 1, name since format 2.
const SINCE_2: [(&str, &str, &str); 14] = [
    ("windows", "lost_packets", "capture_lost_packets"),
    ("windows", "dropped_frames", "capture_dropped_frames"),
    ("windows", "mirrored_twice_packets", "mirror_duplicate_packets"),
    ("connections", "lost_before_tap_packets", "fabric_lost_upstream_packets"),
    (
        "connections",
        "lost_after_tap_packets",
        "fabric_lost_downstream_packets",
    ),
    ("connections", "lost_gaps", "unfilled_gaps"),
    ("connections", "lost_gap_packets", "unfilled_gap_packets"),
    ("connections", "lost_gaps_acknowledged", "unfilled_gaps_acknowledged"),
    ("connections", "lost_gaps_nak", "unfilled_gaps_nak"),
    ("connections", "lost_gaps_unanswered", "unfilled_gaps_unanswered"),
    ("connections", "lost_gaps_unknown", "unfilled_gaps_unknown"),
    ("connections", "lost_response_gaps", "unfilled_response_gaps"),
    ("pdcs", "lost_before_tap_packets", "fabric_lost_upstream_packets"),
    ("pdcs", "lost_after_tap_packets", "fabric_lost_downstream_packets"),
];

/// The name of a column in a segment of this format.
pub(crate) fn stored_name(table: &str, column: &'static str, format: u32) -> &'static str {
    if format >= FORMAT_VERSION {
        return column;
    }
    let mut renamed = SINCE_2.iter();
    let found = renamed.find(|(of, _, now)| *of == table && *now == column);
    found.map_or(column, |(_, before, _)| before)
}
