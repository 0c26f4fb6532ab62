//! Senders that retry for long: whether their receiver is there.

use super::give_ups::{classes, hosts};
use super::rows::{SECOND, WINDOW, analyzer, counter, event, finish, flow, gauge};
use rocescope_diagnose::hosts::{Class, HostVerdict};

/// A sender that retries forever, as soft-RoCE does with a retry count of 7: the receiver dies in window 3.
fn retries(is_answered: bool, sends_more: bool, is_known: bool) -> Vec<HostVerdict> {
    let mut analyzer = analyzer();
    for window in 0..8 {
        let is_dead = window > 3;
        let known: &[u8] = if is_known { &[1, 2] } else { &[1] };
        hosts(&mut analyzer, known, window);
        if is_known {
            analyzer.counter(&gauge(2, window, "queue_pairs", if window >= 3 { 1.0 } else { 2.0 }));
        }
        let tries = if window >= 3 { 40 } else { 0 };
        analyzer.counter(&counter(1, window, "completer_retry_err", tries));
        let mut sent = flow(1, 2, window, 1_000);
        sent.retransmitted_packets = Some(match (is_dead, sends_more) {
            (true, false) => 1_000,
            (true, true) => 999,
            (false, _) => 0,
        });
        analyzer.flow(&sent);
        if !is_dead || is_answered {
            analyzer.flow(&flow(2, 1, window, 10));
        }
        for at in 0..i64::from(is_dead) * 5 {
            let at_ns = window * WINDOW + at * SECOND;
            analyzer.event(&event(1, 2, at_ns, "retransmission", 200));
        }
    }
    finish(&mut analyzer)
}

#[test]
fn a_sender_that_never_gives_up_finds_the_receiver_that_died() {
    let verdicts = retries(false, false, true);
    let [verdict] = &verdicts[..] else {
        panic!("{verdicts:#?}")
    };
    assert_eq!(
        (verdict.class, verdict.host.as_deref()),
        (Class::ReceiverDied, Some("gpu-2"))
    );
    assert_eq!(verdict.since_ns, 4 * WINDOW);
    assert!(verdict.confidence.starts_with("certain"), "{}", verdict.confidence);
    let evidence = verdict.evidence_text();
    for row in [
        "retransmission +20 events (10.0.0.1>10.0.0.2 QP 17)",
        "retransmitted_packets +4000 packets (10.0.0.1>10.0.0.2 QP 17)",
        "completer_retry_err 120 events (gpu-1 mlx5_0/1)",
        "queue_pairs 1 objects (gpu-2 mlx5_0/1)",
    ] {
        assert!(evidence.contains(row), "{evidence}");
    }
    let verdicts = retries(false, false, false);
    assert_eq!(classes(&verdicts), [(Class::ReceiverDied, "10.0.0.2")]);
    assert!(
        verdicts[0].confidence.starts_with("possible"),
        "{}",
        verdicts[0].confidence
    );
}

/// A network that loses much: something new passes, or something comes back.
#[test]
fn a_sender_that_retries_with_some_success_has_a_receiver() {
    for (is_answered, sends_more) in [(true, false), (false, true)] {
        let found = retries(is_answered, sends_more, true);
        assert!(classes(&found).is_empty(), "{found:#?}");
    }
}

/// The usual timer expires eight times in half a minute: the queue pairs vanished longer ago than three windows.
#[test]
fn a_receiver_that_died_long_before_its_sender_gave_up_is_named() {
    let place = |died: i64| {
        let mut analyzer = analyzer();
        for window in 0..14 {
            hosts(&mut analyzer, &[1, 2, 3], window);
            for host in 1..=3 {
                let is_dead = host == 2 && window >= died;
                analyzer.counter(&gauge(host, window, "queue_pairs", if is_dead { 1.0 } else { 3.0 }));
            }
            for metric in ["local_ack_timeout_err", "req_transport_retries_exceeded"] {
                analyzer.counter(&counter(1, window, metric, u64::from(window == 10)));
            }
        }
        let verdicts = finish(&mut analyzer);
        let found = verdicts.iter().map(|verdict| (verdict.class, verdict.host.clone()));
        found.collect::<Vec<_>>()
    };
    for died in [6, 10] {
        assert_eq!(place(died), [(Class::ReceiverDied, Some("gpu-2".into()))], "{died}");
    }
    assert_eq!(place(2), [(Class::ReceiverDied, None)]);
}
