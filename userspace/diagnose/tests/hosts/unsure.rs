//! What the counters of a port do not tell is no ground for a verdict.

use super::rows::{alive, analyzer, counter, finish};
use rocescope_diagnose::hosts::{Class, HostVerdict};

/// Windows in which a counter of host 1 grows by this much, and what else is known of it.
fn grows(metric: &str, increase: u64, others: &[(&str, u64)]) -> HostVerdict {
    let mut analyzer = analyzer();
    for window in 0..6 {
        analyzer.counter(&alive(1, window));
        analyzer.counter(&counter(1, window, metric, increase));
        for (other, increase) in others {
            analyzer.counter(&counter(1, window, other, *increase));
        }
    }
    let mut verdicts = finish(&mut analyzer);
    assert_eq!(verdicts.len(), 1, "{verdicts:#?}");
    verdicts.remove(0)
}

/// It was reported as damage by the own link where the counters of the link were unknown.
#[test]
fn a_wrong_icrc_alone_accuses_no_link() {
    for others in [&[][..], &[("symbol_error", 0)]] {
        let verdict = grows("rx_icrc_encapsulated", 25, others);
        assert_eq!(verdict.class, Class::SickCable);
        assert!(
            verdict
                .confidence
                .starts_with("possible: packets arrive with a wrong ICRC"),
            "{verdict:#?}"
        );
    }
    let verdict = grows("rx_icrc_encapsulated", 25, &[("symbol_error", 25)]);
    assert!(
        verdict
            .confidence
            .starts_with("likely: the NIC counts errors of its own link"),
        "{verdict:#?}"
    );
}

/// It was reported that the port is not paused itself, although its driver does not count that.
#[test]
fn a_port_whose_own_pauses_are_not_counted_may_pass_a_storm_on() {
    let verdict = grows("tx_pause_duration", 500_000, &[]);
    assert_eq!(verdict.class, Class::PauseStorm);
    assert!(verdict.confidence.starts_with("possible: "), "{verdict:#?}");
    assert!(!verdict.sentence.contains("is not paused itself"), "{verdict:#?}");
    let verdict = grows("tx_pause_duration", 500_000, &[("rx_pause_duration", 0)]);
    assert!(verdict.confidence.starts_with("likely: "), "{verdict:#?}");
}
