//! A ring without a reader: what does not fit is lost, counted, and reported with its interval.

use crate::corpus::scenarios;
use crate::pair::load;
use rocescope_capture::xdp::Options;
use rocescope_record::Config;

/// The smallest possible ring: 15 batches of 32 runs.
const SMALLEST: usize = 64 << 10;

#[test]
fn runs_lost_to_a_full_ring_are_counted_and_their_interval_is_blind() {
    let config = Config::exact(1_000_000_000);
    let options = Options {
        slots: 256,
        ring_bytes: 1,
    };
    let Some(mut kernel) = load(options, config) else {
        return;
    };
    let (mut delivered, mut packets, mut span) = (0, 0, (u64::MAX, 0));
    let (_, frames) = scenarios().find(|(name, _)| name == "demo.toml").unwrap();
    let mut warnings = Vec::new();
    // Two overloads with a pause between them.
    for part in frames.chunks(frames.len() / 2) {
        for (now, frame) in part {
            kernel.observe(frame, *now, *now).unwrap();
            span = (span.0.min(*now), span.1.max(*now));
        }
        for _ in 0..2 {
            for run in kernel.take() {
                delivered += 1;
                packets += u64::from(run.packets);
            }
            kernel.flush(None).unwrap();
        }
        warnings.push(kernel.take_warnings());
    }
    for run in kernel.take() {
        delivered += 1;
        packets += u64::from(run.packets);
    }
    let counters = kernel.counters().unwrap();
    assert!(counters.lost_runs > 0, "{delivered} runs fit");
    assert_eq!(counters.roce_packets, counters.published_packets);
    assert_eq!(packets, counters.delivered_packets());
    let runs: u64 = counters.published.iter().sum();
    assert_eq!(delivered, runs - counters.lost_runs);

    let losses = kernel.losses();
    assert_eq!(
        (losses.runs, losses.packets, losses.unreadable),
        (counters.lost_runs, counters.lost_packets, 0)
    );
    assert_eq!(losses.intervals as usize, losses.blind.len());
    for blind in &losses.blind {
        assert!(blind.from_ns < blind.to_ns && blind.to_ns <= span.1);
    }
    assert!(delivered as usize * 128 >= SMALLEST / 2);

    // Once a CPU, whatever follows.
    let [first, second] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    assert_eq!(first.len(), 1, "{first:?}");
    assert!(first[0].starts_with("the ring of CPU "), "{first:?}");
    assert_eq!(second.len(), 0, "{second:?}");
}
