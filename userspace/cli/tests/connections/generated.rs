//! Over generated scenarios, whose truth is known to the packet.
#![allow(dead_code)]

use rocescope::output::connections::{Connection, gather};
use rocescope::session::Session;
use rocescope_capture::file::FrameReader;
use rocescope_capture::generate::{self, Lost, PacketKind, Place, Scenario, Truth};
use rocescope_model::{ConnectionRow, EventRow};
use rocescope_pipeline::Settings;
use rocescope_record::Config;
use std::path::Path;

pub(super) struct Run {
    pub(super) truth: Truth,
    pub(super) connections: Vec<Connection>,
    pub(super) events: Vec<EventRow>,
}

pub(super) fn follow(scenario: &Scenario, seed: u64) -> Run {
    let mut capture = Vec::new();
    let truth = generate::write(scenario, seed, &mut capture).unwrap();
    let settings = Settings {
        sketches: false,
        ..Settings::default()
    };
    let config = Config::exact(settings.window_ns);
    let mut session = Session::new(settings, config, None).unwrap();
    session.keep_connections();
    let mut reader = FrameReader::new(&capture[..]).unwrap();
    while let Some(frame) = reader.next_frame().unwrap() {
        session.frame(&frame).unwrap();
    }
    let (rows, events) = session.finish().unwrap().kept.unwrap();
    Run {
        truth,
        connections: gather(rows),
        events,
    }
}

fn scenario(name: &str) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../capture/scenarios")
        .join(name)
        .with_extension("toml");
    Scenario::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn tap_sees_before(lost: &Lost) -> bool {
    matches!(lost.place, Place::BeforeTap | Place::Mirror)
        && lost.of != PacketKind::Acknowledge
        && lost.followed
}

fn tap_sees_behind(lost: &Lost) -> bool {
    matches!(lost.place, Place::AfterTap | Place::Damaged)
        && lost.of != PacketKind::Acknowledge
        && lost.refused
}

fn differences(run: &Run) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut matched = 0;
    for (at, t) in run.truth.connections.iter().enumerate() {
        let silent = ConnectionRow::default();
        let qpns = |c: &&Connection| {
            let dst = |row: &Option<ConnectionRow>| row.as_ref().and_then(|r| r.dst_qpn);
            let (ab, ba) = (dst(&c.a_to_b), dst(&c.b_to_a));
            let any = c.a_to_b.as_ref().or(c.b_to_a.as_ref()).unwrap();
            let hosts = [any.src.to_string(), any.dst.to_string()];
            let mut hosts2 = [t.a.ip.to_string(), t.b.ip.to_string()];
            hosts2.sort();
            let mut hosts1 = hosts.clone();
            hosts1.sort();
            hosts1 == hosts2
                && (ab == Some(t.b.qpn)
                    || ba == Some(t.a.qpn)
                    || ab == Some(t.a.qpn)
                    || ba == Some(t.b.qpn))
        };
        let found: Vec<&Connection> = run.connections.iter().filter(qpns).collect();
        let name = format!("{at} {}", t.group);
        if found.len() != 1 {
            wrong.push(format!("{name}: {} connections", found.len()));
        }
        let Some(c) = found.first() else { continue };
        matched += 1;
        let row = |qpn: u32| {
            [&c.a_to_b, &c.b_to_a]
                .into_iter()
                .flatten()
                .find(|r| r.dst_qpn == Some(qpn))
                .unwrap_or(&silent)
        };
        for (way, row, d, end) in [
            ("a>b", row(t.b.qpn), &t.a_to_b, &t.a),
            ("b>a", row(t.a.qpn), &t.b_to_a, &t.b),
        ] {
            let mut check = |key: &str, found: u64, wanted: u64| {
                if found != wanted {
                    wrong.push(format!("{name} {way}: {key} {found}, truth {wanted}"));
                }
            };
            check("packets", row.packets, d.volume.packets);
            check("payload", row.payload_bytes, d.volume.payload_bytes);
            check(
                "unique_payload",
                row.unique_payload_bytes,
                d.unique_payload_bytes,
            );
            check("messages", row.messages, d.messages);
            check("unique_messages", row.unique_messages, d.unique_messages);
            check(
                "out_of_order",
                row.out_of_order_packets,
                d.out_of_order_packets,
            );
            check("duplicate", row.duplicate_packets, d.duplicate_packets);
            check(
                "retransmitted",
                row.retransmitted_packets,
                d.retransmitted_packets,
            );
            check("repeated", row.repeated_packets, d.repeated_request_psns);
            let (gone, wanted_gone) = (
                row.lost_before_tap_packets + row.lost_gap_packets,
                d.lost.iter().filter(|l| tap_sees_before(l)).count() as u64,
            );
            check("lost_before+gap", gone, wanted_gone);
            check(
                "lost_after",
                row.lost_after_tap_packets,
                d.lost.iter().filter(|l| tap_sees_behind(l)).count() as u64,
            );
            let told = |start: &str| -> Vec<u32> {
                let peer = if end.qpn == t.a.qpn { &t.b } else { &t.a };
                let mut psns: Vec<u32> = run
                    .events
                    .iter()
                    .filter(|e| {
                        &*e.kind == "loss"
                            && e.detail.starts_with(start)
                            && e.dst_qpn == Some(peer.qpn)
                            && e.src.map(|s| s.to_string()) == Some(end.ip.to_string())
                    })
                    .flat_map(|e| {
                        (0..e.count as u32).map(move |n| {
                            if start.starts_with("lost before") {
                                (e.psn.unwrap() + n) & 0xffffff
                            } else {
                                e.psn.unwrap()
                            }
                        })
                    })
                    .collect();
                psns.sort();
                psns
            };
            let mut before: Vec<u32> = d
                .lost
                .iter()
                .filter(|l| tap_sees_before(l))
                .map(|l| l.psn)
                .collect();
            before.sort();
            let found = told("lost before");
            if found != before && t.service == "RC" && row.lost_gaps == 0 {
                wrong.push(format!("{name} {way}: before {found:?} truth {before:?}"));
            }
            let mut behind: Vec<u32> = d
                .lost
                .iter()
                .filter(|l| tap_sees_behind(l))
                .map(|l| l.psn)
                .collect();
            behind.sort();
            let mut found = told("lost behind the tap: ");
            found.extend(told("response lost"));
            found.sort();
            if found != behind {
                wrong.push(format!("{name} {way}: behind {found:?} truth {behind:?}"));
            }
            let found = told("lost behind the tap, or");
            let other = if way == "a>b" { &t.b_to_a } else { &t.a_to_b };
            if !found.is_empty()
                && !d
                    .lost
                    .iter()
                    .any(|l| l.awaited && !l.refused && l.of == PacketKind::Request)
                && !other
                    .lost
                    .iter()
                    .any(|l| l.place == Place::BeforeTap && l.of != PacketKind::Request)
            {
                wrong.push(format!("{name} {way}: unanswered {found:?}"));
            }
            let mut check = |key: &str, found: u64, wanted: u64| {
                if found != wanted {
                    wrong.push(format!("{name} {way}: {key} {found}, truth {wanted}"));
                }
            };
            check("timeouts", row.timeouts, d.timeouts);
            check("ce", row.ecn_ce_packets, d.ce_packets);
            check("cnps", row.cnp_sent_packets, d.cnps);
            check("acks", row.ack_packets, d.acks);
            check("nak", row.nak_psn_sequence, d.nak_psn_sequence);
            check("rnr", row.rnr_nak, d.rnr_nak);
            check("fatal", row.nak_fatal, d.nak_fatal);
            check("rtt", row.rtt_samples, d.rtt.samples);
            check("rtt_min", row.rtt_min_ns.unwrap_or(0), d.rtt.min_ns);
            check("rtt_max", row.rtt_max_ns.unwrap_or(0), d.rtt.max_ns);
            check("response", row.response_samples, d.response_delay.samples);
            if t.service != "UD" {
                check(
                    "start",
                    row.start_psn.map_or(u64::MAX, u64::from),
                    end.start_psn.map_or(u64::MAX, u64::from),
                );
            }
        }
    }
    if matched != run.connections.len() {
        wrong.push(format!(
            "{} connections for {matched}",
            run.connections.len()
        ));
    }
    wrong
}

#[test]
fn look() {
    for name in std::env::var("LOOK")
        .unwrap_or("loss,reorder,demo,incast-ecn".into())
        .split(',')
    {
        let seeds = std::env::var("SEEDS").map_or(1..=1, |s| 1..=s.parse::<u64>().unwrap());
        for seed in seeds {
            let run = follow(&scenario(name), seed);
            println!("== {name} {seed}: {} connections", run.connections.len());
            for line in differences(&run) {
                println!("{line}");
            }
            if let Some(at) = std::env::var("TRUTH")
                .ok()
                .map(|at| at.parse::<usize>().unwrap())
            {
                let t = &run.truth.connections[at];
                println!("{:?} {:?} a {:?}", t.a, t.b, t.a_to_b.lost);
                println!("b {:?}", t.b_to_a.lost);
            }
            if std::env::var_os("EVENTS").is_some() {
                for e in &run.events {
                    println!(
                        "{} {} {:?} {:?} {} {}",
                        e.time_ns, e.kind, e.dst_qpn, e.psn, e.count, e.detail
                    );
                }
            }
        }
    }
}
