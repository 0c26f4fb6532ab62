//! What looks like a fault and is administration.

use super::give_ups::{classes, hosts};
use super::rows::{SECOND, addresses, alive, analyzer, counter, finish, flow, gauge, present, read_at};
use rocescope_diagnose::hosts::Class;
use rocescope_model::CounterRow;

/// udev gives a device another name: its address and what it counts are under that one now.
#[test]
fn a_nic_with_a_new_name_is_not_gone() {
    let found = |address: &str| {
        let mut analyzer = analyzer();
        for window in 0..8 {
            hosts(&mut analyzer, if window >= 3 { &[1] } else { &[1, 2] }, window);
            analyzer.counter(&alive(2, window));
            analyzer.flow(&flow(1, 2, window, 100));
            if window >= 3 {
                let renamed = |row: CounterRow| CounterRow {
                    device: "rocep1s0".into(),
                    ..row
                };
                let first = (window == 3).then_some("first");
                analyzer.counter(&CounterRow {
                    event: first.map(Into::into),
                    increase: first.is_none().then_some(0),
                    ..renamed(counter(2, window, "link_downed", 0))
                });
                analyzer.counter(&renamed(gauge(2, window, "state", 4.0)));
                analyzer.counter(&renamed(addresses(2, window, address)));
            }
        }
        analyzer.counter(&read_at(present(2, 3, Some("vanished")), 35 * SECOND, SECOND));
        finish(&mut analyzer)
    };
    assert_eq!(classes(&found("10.0.0.2")), []);
    // Another NIC was added.
    let verdicts = found("10.0.0.9");
    assert_eq!(classes(&verdicts), [(Class::NicVanished, "gpu-2 mlx5_0")]);
    // It may have been taken out: no sender had a connection with it.
    assert!(
        verdicts[0].confidence.starts_with("possible"),
        "{}",
        verdicts[0].confidence
    );
}

/// A program that ends flushes its work requests, and some NICs count these as errors too; its path lost one packet before.
#[test]
fn a_program_that_ends_after_a_timeout_has_given_up_nothing() {
    let found = |timeouts: u64, errors: u64| {
        let mut analyzer = analyzer();
        for window in 0..8 {
            hosts(&mut analyzer, &[1, 2], window);
            for (metric, count) in [
                ("local_ack_timeout_err", timeouts),
                ("req_cqe_error", errors),
                ("req_cqe_flush_error", 256),
            ] {
                let count = if window == 3 { count } else { 0 };
                analyzer.counter(&counter(1, window, metric, count));
            }
        }
        classes(&finish(&mut analyzer)).len()
    };
    // Counted as errors or not, after one timeout or many.
    assert_eq!([found(1, 256), found(1, 0), found(8, 256), found(8, 0)], [0; 4]);
    assert_eq!([found(1, 257), found(3, 1)], [0; 2]);
    // The error of the give-up among the flushes, and beside them.
    assert_eq!([found(8, 257), found(8, 1)], [1; 2]);
}

/// A cable that is plugged in again: one failure of the link, and errors until the link is trained, in two windows.
#[test]
fn errors_while_a_link_trains_are_none_of_the_cable_and_later_ones_are() {
    for later in [0, 40] {
        let mut analyzer = analyzer();
        for window in 0..12 {
            hosts(&mut analyzer, &[1, 2], window);
            let errors = match window {
                3 | 4 => 30,
                8..=10 => later,
                _ => 0,
            };
            analyzer.counter(&counter(2, window, "link_downed", u64::from(window == 3)));
            analyzer.counter(&counter(2, window, "symbol_error", errors));
        }
        let verdicts = finish(&mut analyzer);
        let expected: &[_] = if later > 0 {
            &[(Class::SickCable, "gpu-2 mlx5_0/1")]
        } else {
            &[]
        };
        assert_eq!(classes(&verdicts), expected);
    }
}
