//! Each generated PDC against the rows of the analysis: whatever is reported as lost was lost.

use crate::truth::PdcTruth;
use crate::{Frame, Generator, Scenario, UET};
use rocescope_model::PdcRow;
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::observer::FrameTime;
use rocescope_record::{Config, Observer, Slot};
use rocescope_wire::{FrameLengths, LinkType};

const SEEDS: u64 = if cfg!(debug_assertions) { 4 } else { 40 };

/// The truth, and the sum of the rows of each direction from sender to receiver.
fn analyze(scenario: &Scenario, seed: u64) -> Vec<(PdcTruth, PdcRow)> {
    let settings = Settings {
        sketches: false,
        ..Settings::default()
    };
    let slot: Slot = bytemuck::Zeroable::zeroed();
    let mut observer = Observer::new(Config::exact(settings.window_ns), vec![[slot; 2]; 64]);
    let mut pipeline = Pipeline::new(settings).unwrap();
    let mut generator = Generator::new(scenario, seed);
    let mut frame = Vec::new();
    while let Some(Frame { at_ns, original_bytes }) = generator.next_frame(&mut frame) {
        if !pipeline.is_current(at_ns) {
            pipeline.turn(at_ns, observer.counters());
        }
        let lengths = FrameLengths {
            captured: frame.len() as u32,
            original: original_bytes,
        };
        observer.observe(&frame, LinkType::Ethernet, lengths, 0, &FrameTime(at_ns), &mut pipeline);
    }
    pipeline.finish(observer.counters());
    assert_eq!(observer.counters().roce_packets, 0);
    let rows = core::mem::take(&mut pipeline.rows().pdcs);
    let truth = generator.truth();
    let passed: u64 = truth
        .pdcs
        .iter()
        .map(|pdc| pdc.request_packets + pdc.control_packets + pdc.ack_packets + pdc.nack_packets)
        .sum();
    assert_eq!(pipeline.summary().pdcs.packets, passed);
    assert_eq!(observer.counters().delivered_uet(), passed);
    assert_eq!(truth.frames, passed);
    truth
        .pdcs
        .into_iter()
        .map(|pdc| {
            let own = rows
                .iter()
                .filter(|row| row.src == pdc.src && row.src_pdc == Some(pdc.src_pdc));
            let sum = own.cloned().reduce(|mut sum, row| {
                rocescope_model::Row::merge(&mut sum, &row, rocescope_model::Over::Time);
                sum
            });
            (pdc, sum.unwrap())
        })
        .collect()
}

/// Sums over PDCs and seeds: reported and lost upstream as far as it is visible, reported and lost downstream, and what may
/// have been lost or not.
#[derive(Debug, Default)]
struct Losses {
    reported_before: u64,
    lost_before: u64,
    reported_after: u64,
    lost_after: u64,
    unanswered: u64,
}

#[test]
fn rows_of_pdcs_have_the_truth() {
    for (name, text) in UET {
        let scenario = Scenario::parse(text).unwrap();
        let mut losses = Losses::default();
        for seed in 1..=SEEDS {
            for (truth, row) in analyze(&scenario, seed) {
                let place = format!("{name}, seed {seed}, PDC {}", truth.src_pdc);
                for (column, found, wanted) in [
                    ("request_packets", row.request_packets, truth.request_packets),
                    ("control_packets", row.control_packets, truth.control_packets),
                    ("ack_packets", row.ack_packets, truth.ack_packets),
                    ("nack_packets", row.nack_packets, truth.nack_packets),
                    ("nack_trimmed", row.nack_trimmed, truth.nack_packets),
                    ("messages", row.write_messages, truth.messages),
                    (
                        "retransmitted_packets",
                        row.retransmitted_packets,
                        truth.retransmitted_packets,
                    ),
                    ("repeated_packets", row.repeated_packets, truth.repeated_packets),
                    ("trimmed_packets", row.trimmed_packets, truth.trimmed_packets),
                    ("ecn_ce_packets", row.ecn_ce_packets, truth.ecn_ce_packets),
                    ("ecn_echo_packets", row.ecn_echo_packets, truth.ecn_echo_packets),
                    ("unseen_packets", row.unseen_packets, 0),
                    (
                        "fabric_lost_upstream_packets",
                        row.fabric_lost_upstream_packets,
                        truth.fabric_lost_upstream_packets,
                    ),
                ] {
                    assert_eq!(found, wanted, "{place}: {column}");
                }
                assert_eq!((row.dst, row.dst_pdc), (truth.dst, Some(truth.dst_pdc)), "{place}");
                assert_eq!((&*row.mode, row.job), ("RUD", Some(truth.job)), "{place}");
                assert!(
                    row.rtt_samples > 100 && row.rtt_min_ns >= Some(10_000),
                    "{place}: {row:?}"
                );
                losses.reported_before += row.fabric_lost_upstream_packets;
                losses.lost_before += truth.fabric_lost_upstream_packets;
                assert!(
                    row.fabric_lost_downstream_packets <= truth.fabric_lost_downstream_packets,
                    "{place}: {} reported, {} lost downstream: {row:#?}",
                    row.fabric_lost_downstream_packets,
                    truth.fabric_lost_downstream_packets
                );
                losses.reported_after += row.fabric_lost_downstream_packets;
                losses.lost_after += truth.fabric_lost_downstream_packets;
                losses.unanswered += row.unanswered_packets;
            }
        }
        println!("{name}: {losses:?}");
        let is_lossless = matches!(*name, "uet-clean" | "uet-spray" | "uet-impatient");
        assert_eq!(losses.lost_before + losses.lost_after == 0, is_lossless, "{name}");
        assert!(
            losses.reported_after * 100 >= losses.lost_after * 95,
            "{name}: {losses:?}"
        );
    }
}

#[test]
fn one_seed_is_one_truth() {
    let scenario = Scenario::parse(crate::class("uet-mixed").unwrap()).unwrap();
    let bytes = |seed| {
        let mut bytes = Vec::new();
        let truth = crate::write(&scenario, seed, &mut bytes).unwrap();
        (bytes, truth.pdcs)
    };
    assert!(bytes(5) == bytes(5));
    assert!(bytes(5) != bytes(6));
}

/// The mirror loses packets: what arrives without having passed is unseen, and nothing is lost that was not.
#[test]
fn mirror_loss_is_no_fabric_loss() {
    let text = format!("{}\n[mirror]\nloss = 0.002\n", crate::class("uet-spray").unwrap());
    let scenario = Scenario::parse(&text).unwrap();
    for seed in 1..=SEEDS {
        let (mut unseen, mut lost) = (0, 0);
        for (truth, row) in analyze(&scenario, seed) {
            assert_eq!(
                (row.fabric_lost_upstream_packets, row.fabric_lost_downstream_packets),
                (0, 0)
            );
            unseen += row.unseen_packets;
            lost += truth.lost_by_mirror;
        }
        // Answers are lost too, and they have no PSN of their own.
        assert!(unseen > 0 && unseen <= lost, "{unseen} unseen of {lost}");
    }
}
