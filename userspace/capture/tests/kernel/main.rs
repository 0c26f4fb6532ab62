//! The kernel's program against the same code in user space: the same frames, times and flush
//! points must give the same records, byte for byte and in order, and the same counters.
//!
//! The environment variable `ROCESCOPE_OBJECT` selects another object than the committed one.
#![expect(clippy::unwrap_used, reason = "it is a test")]
#![expect(clippy::panic, reason = "it is a test")]

mod corpus;
mod filtered;
mod mirrored;
mod overload;
mod pair;
mod reconfigured;
mod tunnels;

use corpus::{Frames, captures, chains, mrc, mutated, nested, scenarios, uet};
use pair::{Compared, Pair};
use rocescope_record::Config;
use rocescope_wire::NotRoce;
use rocescope_wire::tunnel::Encapsulation;
use rocescope_wire::uet::Kind;

/// Windows of 10 ms, so that even short captures cross edges; every PSN marked, exact ticks.
fn exact() -> Config {
    Config::exact(10_000_000)
}

/// Like a live capture: jiffies of 4 ms, one PSN in sixteen marked, exact times for a few packets of each jiffy.
fn live() -> Config {
    Config {
        tick_ns: 4_000_000,
        mark_mask: 15,
        exact_burst: 40,
        exact_a_tick: 5,
        ..Config::exact(1_000_000_000)
    }
}

fn same(mut pair: Pair, inputs: impl Iterator<Item = (String, Frames)>) -> Compared {
    let (mut frames, mut sum) = (0, Compared::default());
    for (name, input) in inputs {
        frames += input.len();
        let compared = pair.compare(&name, &input);
        sum.runs += compared.runs;
        sum.mads += compared.mads;
        sum.handshakes += compared.handshakes;
    }
    assert!(frames > 0 && sum.runs > 0);
    let Compared {
        runs, mads, handshakes, ..
    } = sum;
    eprintln!("{frames} frames, {runs} runs, {mads} datagrams, {handshakes} handshakes: equal");
    sum
}

#[test]
fn every_capture_gives_the_same_records() {
    let Some(pair) = Pair::new(exact(), 4_096) else {
        return;
    };
    let compared = same(pair, captures());
    assert!(compared.mads > 0 && compared.handshakes > 0);
}

#[test]
fn every_capture_gives_the_same_records_with_the_ticks_and_marks_of_a_live_capture() {
    let Some(pair) = Pair::new(live(), 16_384) else {
        return;
    };
    same(pair, captures());
}

#[test]
fn generated_scenarios_give_the_same_records_even_when_they_crowd_the_cache() {
    let Some(pair) = Pair::new(exact(), 256) else {
        return;
    };
    same(pair, scenarios());
}

#[test]
fn damaged_frames_give_the_same_records() {
    let Some(pair) = Pair::new(live(), 256) else {
        return;
    };
    let damaged = captures().chain(scenarios()).zip(1..);
    same(
        pair,
        damaged.map(|((name, frames), seed)| (format!("{name}, seed {seed}"), mutated(&frames, seed))),
    );
}

/// The program holds 1,024 bytes of a frame, a file reader all of them: both accept the same chains.
#[test]
fn chains_of_ipv6_extension_headers_have_the_same_classes() {
    let Some(mut pair) = Pair::new(exact(), 256) else {
        return;
    };
    let counters = pair.compare("chains", &chains(1)).counters;
    assert!(
        counters.roce_packets > 1_000 && counters.malformed() > 1_000,
        "{counters:?}"
    );
}

#[test]
fn ipv6_in_ipv6_has_the_same_classes() {
    let Some(mut pair) = Pair::new(exact(), 256) else {
        return;
    };
    let counters = pair.compare("nested", &nested(chains(1), 2)).counters;
    let inside = counters.encapsulated[Encapsulation::Ipv6 as usize];
    assert!(counters.roce_packets > 1_000 && inside > 2_000, "{counters:?}");
}

#[test]
fn mrc_has_the_same_runs() {
    for config in [exact(), live()] {
        let Some(mut pair) = Pair::new(config, 256) else {
            return;
        };
        let frames = mrc(1);
        let counters = pair.compare("mrc", &frames).counters;
        assert!(counters.trimmed_packets > 300, "{}", counters.trimmed_packets);
        let all = counters.roce_packets + counters.malformed() + counters.snapped;
        assert_eq!(all, frames.len() as u64);
        pair.compare("nested mrc", &nested(mutated(&mrc(2), 3), 4));
    }
}

#[test]
fn uet_has_the_same_counts() {
    let Some(mut pair) = Pair::new(exact(), 256) else {
        return;
    };
    let frames = uet(1);
    let compared = pair.compare("uet", &frames);
    let counters = compared.counters;
    // One type in sixteen is reserved, and one is 15.
    // Each that is not encrypted has a record.
    assert!(
        compared.runs as u64 == counters.delivered_uet() && compared.runs > 2_500,
        "{compared:?}"
    );
    let packets = counters.uet_packets(|_| true);
    assert!(packets > 3_000 && packets < 3_900, "{packets}");
    assert_eq!(packets, counters.not_roce[NotRoce::Uet as usize]);
    assert!(counters.uet_packets(Kind::is_retransmission) > 300);
    assert!(counters.uet_packets(Kind::is_ecn_echo) > 300);
    assert!(counters.uet_packets(Kind::is_nack_trimmed) > 100);
    pair.compare("nested uet", &nested(mutated(&frames, 3), 4));
}
