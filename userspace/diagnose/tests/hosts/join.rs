//! How the wire finds the counters of its ends.

use super::rows::{WINDOW, addresses, alive, analyzer, counter, event, finish, flow};
use rocescope_diagnose::hosts::{Analyzer, Class};
use rocescope_model::CounterRow;

/// RNR NAKs from 10.0.0.2 to 10.0.0.1 in four windows.
fn not_ready(analyzer: &mut Analyzer) {
    for window in 0..4 {
        analyzer.flow(&flow(1, 2, window, 100));
        analyzer.event(&event(2, 1, window * WINDOW, "rnr_nak", 30));
    }
}

fn hosts(analyzer: &mut Analyzer, all: &[u8]) {
    for window in 0..4 {
        for host in all {
            analyzer.counter(&alive(*host, window));
            analyzer.counter(&counter(
                *host,
                window,
                "rnr_nak_retry_err",
                if *host == 1 { 30 } else { 0 },
            ));
        }
    }
}

#[test]
fn an_address_finds_its_port_by_the_counters() {
    let mut analyzer = analyzer();
    not_ready(&mut analyzer);
    hosts(&mut analyzer, &[1, 2]);
    for host in [1, 2] {
        analyzer.counter(&addresses(host, 0, &format!("fe80::{host} 10.0.0.{host}")));
    }
    let verdicts = finish(&mut analyzer);
    assert_eq!((verdicts.len(), verdicts[0].class), (1, Class::SlowReceiver));
    assert_eq!(verdicts[0].host.as_deref(), Some("gpu-2"));
    assert!(
        verdicts[0]
            .evidence_text()
            .contains("rnr_nak_retry_err +120 packets (gpu-1 mlx5_0/1)")
    );
    let ends = |unknown: &rocescope_diagnose::hosts::Unknown| unknown.what.starts_with("the ends");
    assert!(!analyzer.unknowns().iter().any(ends));
}

#[test]
fn an_address_of_two_ports_or_of_none_stays_an_address() {
    for second in ["10.0.0.2", "10.0.0.9"] {
        let mut analyzer = analyzer();
        not_ready(&mut analyzer);
        hosts(&mut analyzer, &[1, 3]);
        analyzer.counter(&addresses(1, 0, "10.0.0.1 10.0.0.2"));
        analyzer.counter(&addresses(3, 0, second));
        let verdicts = finish(&mut analyzer);
        let place = if second == "10.0.0.2" {
            "10.0.0.2"
        } else {
            "gpu-1 mlx5_0/1"
        };
        assert_eq!((verdicts.len(), &*verdicts[0].place), (1, place));
    }
}

/// The file of names gives the host; its port is known if it has one.
#[test]
fn a_file_of_names_finds_the_host_of_an_address() {
    let verdicts = |ports: u16| {
        let mut analyzer = analyzer();
        analyzer.know(super::rows::ip(2), "gpu-2");
        not_ready(&mut analyzer);
        hosts(&mut analyzer, &[2]);
        for port in 1..=ports {
            let row = CounterRow {
                port: Some(port),
                ..counter(2, 0, "out_of_buffer", 0)
            };
            analyzer.counter(&row);
        }
        finish(&mut analyzer)
    };
    assert_eq!(verdicts(1)[0].place, "gpu-2 mlx5_0/1");
    assert_eq!(verdicts(2)[0].place, "10.0.0.2");
}

#[test]
fn only_a_counter_that_is_known_to_be_zero_accuses_the_mirror() {
    let verdicts = |known: &[&str], event: Option<&str>| {
        let mut analyzer = analyzer();
        for window in 0..8 {
            let mut row = flow(1, 2, window, 100);
            row.retransmitted_packets = Some(20);
            analyzer.flow(&row);
            analyzer.counter(&alive(1, window));
            analyzer.counter(&addresses(1, window, "10.0.0.1"));
            for metric in known {
                let mut row = counter(1, window, metric, 0);
                if window == 2
                    && let Some(event) = event
                {
                    (row.event, row.increase) = (Some(event.to_owned().into()), None);
                }
                analyzer.counter(&row);
            }
        }
        finish(&mut analyzer)
    };
    let both = ["local_ack_timeout_err", "packet_seq_err"];
    let found = verdicts(&both, None);
    assert_eq!(
        (found.len(), found[0].class, &*found[0].place),
        (1, Class::MirrorRepeats, "mirror of box")
    );
    assert!(verdicts(&both[..1], None).is_empty());
    // A reset hides what was counted: three windows after it, it is known again.
    let since = |found: &[rocescope_diagnose::hosts::HostVerdict]| found[0].since_ns;
    assert_eq!(since(&verdicts(&both, Some("reset"))), 5 * WINDOW);
}

/// A flow has the service of its first packet: CNPs with the UDP source port of acknowledgements are in a flow of these.
#[test]
fn cnps_among_acknowledgements_are_known_by_their_events() {
    let classes = |has_cnps: bool| {
        let mut analyzer = analyzer();
        for window in 0..5 {
            let mut marked = flow(1, 2, window, 1_000);
            marked.ecn_ce_packets = 100;
            analyzer.flow(&marked);
            analyzer.flow(&flow(2, 1, window, 500));
            if has_cnps {
                analyzer.event(&event(2, 1, window * WINDOW, "cnp_burst", 50));
            }
        }
        let verdicts = finish(&mut analyzer);
        verdicts.iter().map(|verdict| verdict.class).collect::<Vec<_>>()
    };
    assert_eq!(classes(false), [Class::NoCnps]);
    assert_eq!(classes(true), [Class::Congestion]);
}

/// Responses to READs are lost: the responder repeats them because READs come again, which its requester asks for.
#[test]
fn lost_responses_are_losses_by_what_responder_and_requester_count_of_reads() {
    let found = |of_responder: u64, of_requester: u64| {
        let mut analyzer = analyzer();
        for window in 0..8 {
            let mut responses = flow(2, 1, window, 1_000);
            responses.retransmitted_packets = Some(20);
            analyzer.flow(&responses);
            analyzer.event(&event(2, 1, window * WINDOW + 1, "loss", 10));
            for host in [1, 2] {
                analyzer.counter(&alive(host, window));
                analyzer.counter(&addresses(host, window, &format!("10.0.0.{host}")));
                for metric in ["local_ack_timeout_err", "packet_seq_err", "out_of_sequence"] {
                    analyzer.counter(&counter(host, window, metric, 0));
                }
            }
            analyzer.counter(&counter(1, window, "implied_nak_seq_err", of_requester));
            analyzer.counter(&counter(2, window, "duplicate_request", of_responder));
        }
        let verdicts = finish(&mut analyzer);
        let line = |verdict: &rocescope_diagnose::hosts::HostVerdict| {
            format!("{:?} {} {}", verdict.class, verdict.place, verdict.confidence)
        };
        verdicts.iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(
        found(10, 10),
        ["NetworkLoss 10.0.0.2>10.0.0.1 certain: the tap sees the losses, and both ends count them"]
    );
    assert_eq!(
        found(10, 0),
        ["NetworkLoss 10.0.0.2>10.0.0.1 likely: the tap sees the losses, and the sender counts them"]
    );
    assert_eq!(
        found(0, 0),
        ["MirrorRepeats mirror of box likely: the senders count no timeouts and NAKs for them, or hardly any"]
    );
}
