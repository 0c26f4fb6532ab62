//! The three scenarios of the paper (section 5.3), as far as its text allows, a thousandth or less of its rates.
//!
//! Its hosts are 192.168.2.201, .202, .203 and .206 with ConnectX-5, and all counters are those of mlx5.

use super::cause::Cause;
use super::nic::Driver::Mlx5;
use super::run::{START_NS, analyze, play};
use super::script::Script;
use rocescope_diagnose::hosts::Class;
use rocescope_model::CounterRow;

/// The increase of a metric of a host.
fn grown(rows: &[CounterRow], host: usize, metric: &str) -> u64 {
    let of_host = rows.iter().filter(|row| *row.observer == super::world::host(host));
    let of_metric = of_host.filter(|row| row.metric.as_deref() == Some(metric));
    of_metric.filter_map(|row| row.increase).sum()
}

/// 1: "the receiver's program stops during RC SEND": `local_ack_timeout_err`, `req_cqe_error` and `req_cqe_flush_error`
/// grow at the sender; links, discards and congestion are normal.
#[test]
fn scenario_1_the_receiver_program_stops() {
    let mut script = Script::plain(Cause::ReceiverDied, vec![Mlx5; 4], 110);
    (script.other, script.culprit, script.from, script.vanished) = (3, 1, 50, 1);
    script.flow(
        3,
        1,
        120,
        "loss = [{ probability = 1, where = \"downstream\", from = \"50s\" }]\n",
    );
    script.flow(0, 1, 120, "");
    let (rows, captured, _) = play(&mut script, 1);
    let figures =
        ["local_ack_timeout_err", "req_cqe_error", "req_cqe_flush_error"].map(|metric| grown(&rows, 3, metric));
    println!("scenario 1: local_ack_timeout_err, req_cqe_error, req_cqe_flush_error of the sender +{figures:?}");
    assert!(figures[0] > 0 && figures[1] > 0 && figures[2] >= 8, "{figures:?}");
    for metric in [
        "port_xmit_discards",
        "np_ecn_marked_roce_packets",
        "rp_cnp_handled",
        "link_downed",
    ] {
        assert_eq!([grown(&rows, 3, metric), grown(&rows, 1, metric)], [0, 0], "{metric}");
    }
    let verdicts = analyze(&rows, &captured);
    let [verdict] = &verdicts[..] else {
        panic!("{verdicts:#?}")
    };
    println!("    {} ({})", verdict.sentence, verdict.confidence);
    assert_eq!(
        (verdict.class, verdict.host.as_deref()),
        (Class::ReceiverDied, Some("gpu-1"))
    );
    assert!(verdict.confidence.starts_with("certain"), "{}", verdict.confidence);
    assert!((verdict.since_ns - START_NS - 50_000_000_000).abs() < 5_000_000_000);
}

/// 2: "one node sends congestion": 25 queue pairs of SEND, WRITE and READ from .206 to .202; latency 9.1 to 87.7 % up, the
/// load of both ends is not zero, and `rp_cnp_handled` gathers most: the sender is the cause.
#[test]
fn scenario_2_one_node_congests_the_network() {
    let mut script = Script::plain(Cause::OneSender, vec![Mlx5; 4], 120);
    (script.culprit, script.other, script.from, script.until) = (3, 1, 50, 100);
    for number in 0..25 {
        let operation = ["send", "write", "read"][number % 3];
        let keys = format!(
            "operation = \"{operation}\"\necn = {{ mark = 0.15, from = \"50s\", until = \"100s\", cut = 0.5, recovery = \"20ms\" }}\n"
        );
        script.flow(3, 1, 40, &keys);
    }
    script.flow(0, 2, 60, "");
    let (rows, captured, _) = play(&mut script, 2);
    let handled = grown(&rows, 3, "rp_cnp_handled");
    let loads = ["port_xmit_data", "port_rcv_data"].map(|metric| [grown(&rows, 3, metric), grown(&rows, 1, metric)]);
    let negative = [
        "packet_seq_err",
        "out_of_sequence",
        "port_rcv_errors",
        "port_xmit_discards",
        "rx_icrc_encapsulated",
    ];
    let others = negative.map(|metric| grown(&rows, 3, metric).max(grown(&rows, 1, metric)));
    println!(
        "scenario 2: rp_cnp_handled of the sender +{handled}; {negative:?} of either end +{others:?}; load {loads:?}"
    );
    assert!(loads.iter().flatten().all(|bytes| *bytes > 0));
    assert!(others.iter().all(|other| *other < handled), "{others:?}");
    let verdicts = analyze(&rows, &captured);
    let [verdict] = &verdicts[..] else {
        panic!("{verdicts:#?}")
    };
    println!("    {} ({})", verdict.sentence, verdict.confidence);
    assert_eq!(
        (verdict.class, verdict.host.as_deref()),
        (Class::Congestion, Some("gpu-3"))
    );
    let risen = verdict
        .evidence
        .iter()
        .find(|row| row.name.starts_with("latency"))
        .unwrap();
    assert!((1.05..2.0).contains(&risen.value), "{risen:?}");
}

/// 3: "three big flows of random rate over ten of the background": thresholds 5 and 2.5 Gbit/s, windows of 1 s; every
/// change of the three is found, and no other.
#[test]
fn scenario_3_big_flows_jitter() {
    let mut script = Script::plain(Cause::Jitter, vec![Mlx5; 4], 100);
    (script.from, script.until) = (30, 90);
    for number in 0..10 {
        script.flow(number % 4, (number + 1) % 4, 12, "");
    }
    let mut changes = 0;
    for (src, dst) in [(0, 1), (2, 3), (3, 0)] {
        let mut keys = String::from("rate_changes = [");
        for step in 0..10 {
            let at = 30 + 6 * step + src as u64;
            let rate = if step % 2 == 0 {
                script.random.between(1_000, 1_200)
            } else {
                script.random.between(550, 650)
            };
            keys += &format!("{{ at = \"{at}s\", rate = \"{rate}kbit/s\" }}, ");
            changes += 1;
        }
        script.flow(src, dst, 600, &format!("{keys}]\n"));
    }
    let (rows, captured, _) = play(&mut script, 3);
    let found = captured.events.iter().filter(|event| &*event.kind == "jitter").count();
    println!("scenario 3: {found} of {changes} changes found");
    assert_eq!(found, changes);
    let verdicts = analyze(&rows, &captured);
    verdicts.iter().for_each(|verdict| println!("    {}", verdict.sentence));
    assert_eq!(verdicts.len(), 3, "{verdicts:#?}");
    assert!(verdicts.iter().all(|verdict| verdict.class == Class::Jitter));
    assert!(
        verdicts
            .iter()
            .all(|verdict| verdict.sentence.contains("the application changes its rate"))
    );
}
