//! What the analysis reports of connections does not depend on the length of windows, which cuts runs elsewhere.

use super::follow::{class, follow_in};
use rocescope_model::ConnectionRow;
use rocescope_record::Config;

const MILLISECOND_NS: u64 = 1_000_000;

const RUNS: &[(&str, u64)] = &[
    ("atomic-loss", 1),
    ("loss-after", 1),
    ("loss-bursts", 1),
    ("mirror-copies", 1),
    ("mixed-loss", 2),
    ("one-sided-requests", 1),
    ("one-sided-responses", 1),
    ("read-loss", 1),
    ("read-spray", 1),
    ("read-spray-loss", 3),
    ("reorder-strict", 1),
    ("selective-bursts", 1),
    ("slow-timer", 1),
    ("spray", 1),
    ("spray-after", 1),
    ("spray-loss", 1),
    ("spray-ports-loss", 1),
    ("tail-loss", 1),
    ("uc-loss", 1),
];

/// The figures of a direction, named.
fn figures(row: &ConnectionRow) -> String {
    format!(
        "{} {:?}: {} packets, {} + {} + {} lost, {} again, {} late, {} copies, {} messages, {} new, {} bytes new, \
         gaps {} and {}, sizes {:?}",
        row.src,
        row.dst_qpn,
        row.packets,
        row.fabric_lost_upstream_packets,
        row.fabric_lost_downstream_packets,
        row.unanswered_packets,
        row.retransmitted_packets,
        row.out_of_order_packets,
        row.duplicate_packets,
        row.messages,
        row.unique_messages,
        row.unique_payload_bytes,
        row.unfilled_gap_packets,
        row.unfilled_response_gaps,
        row.message_sizes,
    )
}

#[test]
fn windows_of_any_length_show_the_same() {
    let mut wrong = Vec::new();
    for (name, seed) in RUNS {
        let of = |window_ns| {
            let followed = follow_in(&class(name), *seed, Config::exact, window_ns);
            let rows = followed.connections.iter().flat_map(|one| [&one.a_to_b, &one.b_to_a]);
            let mut lines: Vec<String> = rows.flatten().map(figures).collect();
            let event = |event: &rocescope_model::EventRow| {
                format!("{:?} lost {} at {}", event.psn, event.count, event.time_ns)
            };
            lines.extend(followed.losses.iter().map(event));
            lines.sort();
            lines
        };
        let second = of(1_000 * MILLISECOND_NS);
        for window_ns in [10, 100, 10_000].map(|ms| ms * MILLISECOND_NS) {
            let other = of(window_ns);
            for line in other.iter().filter(|line| !second.contains(line)) {
                wrong.push(format!("{name} {seed}, {} ms: {line}", window_ns / MILLISECOND_NS));
            }
            for line in second.iter().filter(|line| !other.contains(line)) {
                wrong.push(format!("{name} {seed}, {} ms, not: {line}", window_ns / MILLISECOND_NS));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
