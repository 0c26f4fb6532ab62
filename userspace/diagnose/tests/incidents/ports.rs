//! What the counters of switches show by themselves: damage, light, pauses and their origin, headroom, deaf ports.

use super::rows::{SECOND, address, find};
use rocescope_diagnose::incidents::ports::{Cable, Cables, End, Ports};
use rocescope_diagnose::incidents::{Certainty, Incident, Place, Source, ToldBy, Wire, join};
use rocescope_model::SwitchPortRow;

/// A reading of ten seconds.
fn reading(switch: &str, port: &str, at: i64) -> SwitchPortRow {
    SwitchPortRow {
        time_ns: at * SECOND,
        interval_ns: Some(10 * SECOND),
        switch: switch.to_owned().into(),
        port_name: port.to_owned().into(),
        speed_bps: Some(400e9),
        in_frames: Some(1_000_000),
        ..SwitchPortRow::default()
    }
}

/// PFC in priority 3: the share of the reading for which the port is paused, and for which it pauses.
fn pauses(switch: &str, port: &str, at: i64, (paused, pausing): (f64, f64)) -> SwitchPortRow {
    let nanoseconds = |share: f64| Some((share * 1e10) as i64);
    let frames = |share: f64| Some((share * 1e5) as u64);
    SwitchPortRow {
        priority: Some(3),
        in_frames: None,
        received_pause_frames: frames(paused),
        paused_ns: nanoseconds(paused),
        sent_pause_frames: frames(pausing),
        pausing_ns: nanoseconds(pausing),
        ..reading(switch, port, at)
    }
}

/// Hosts h1 to h4 at leaves l1 and l2, which have one spine; `h3/nic0` has address 3.
fn cables() -> Cables {
    let end = |node: &str, port: &str| End {
        node: node.into(),
        port: port.into(),
        is_host: node.starts_with('h'),
        addresses: node
            .strip_prefix('h')
            .map(|number| address(number.parse().unwrap()))
            .into_iter()
            .collect(),
    };
    let cable = |a: (&str, &str), b: (&str, &str)| Cable {
        a: end(a.0, a.1),
        b: end(b.0, b.1),
    };
    Cables::new(vec![
        cable(("h1", "nic0"), ("l1", "e1")),
        cable(("h2", "nic0"), ("l1", "e2")),
        cable(("h3", "nic0"), ("l2", "e1")),
        cable(("h4", "nic0"), ("l2", "e2")),
        cable(("l1", "up"), ("s", "e1")),
        cable(("l2", "up"), ("s", "e2")),
    ])
}

fn found(rows: &[SwitchPortRow], cables: &Cables) -> Vec<Incident> {
    let mut ports = Ports::default();
    rows.iter().for_each(|row| ports.add(row));
    ports.find(cables)
}

fn shown(found: &[Incident]) -> Vec<(&str, &str)> {
    found.iter().map(|one| (&*one.class, &*one.place.name)).collect()
}

#[test]
fn a_port_with_damaged_frames_is_a_sick_cable_with_what_its_light_says() {
    let light = |port: &str, dbm: f64| SwitchPortRow {
        rx_power_dbm: Some(dbm),
        fcs_errors: Some(0),
        ..reading("l1", port, 10)
    };
    let sick = SwitchPortRow {
        fcs_errors: Some(40),
        fec_uncorrected: Some(9),
        bit_error_ratio: Some(2e-7),
        ..light("up", -6.1)
    };
    let rows = [light("e1", -3.2), light("e2", -2.8), light("e3", -3.0), sick.clone()];
    let all = found(&rows, &cables());
    assert_eq!(shown(&all), [("sick_cable", "l1 up – s e1")]);
    let one = &all[0];
    assert_eq!(
        one.meaning,
        "l1 up received 40 damaged frames of 1,000,000, 9 code words not corrected (FEC), 2e-7 wrong bits before FEC, \
         receives -6.1 dBm, 3.1 dB under its neighbours"
    );
    assert!(
        one.action
            .starts_with("clean or replace the optics between l1 up and s e1"),
        "{}",
        one.action
    );
    assert_eq!((one.certainty, one.is_open), (Certainty::Likely, true));
    assert_eq!(one.place.link.as_deref(), Some("l1>s"));

    // Few damaged frames, or few among many, are no fault; nor is weak light alone.
    let few = SwitchPortRow {
        fcs_errors: Some(9),
        ..sick.clone()
    };
    let rare = SwitchPortRow {
        in_frames: Some(10_000_000_000),
        fec_uncorrected: None,
        ..sick.clone()
    };
    let weak = SwitchPortRow {
        fcs_errors: Some(0),
        fec_uncorrected: Some(0),
        ..sick
    };
    for healthy in [few, rare, weak] {
        assert_eq!(
            shown(&found(
                &[rows[0].clone(), rows[1].clone(), rows[2].clone(), healthy],
                &cables()
            )),
            []
        );
    }
}

/// Probes are lost at this link.
fn lossy_link(link: &str) -> Incident {
    let place = Place {
        link: Some(link.into()),
        ..Place::named("link", link)
    };
    let mut lossy = Incident::new("loss", place, ToldBy::Mesh, Source::Mesh);
    (lossy.since_ns, lossy.until_ns) = (SECOND, 30 * SECOND);
    lossy.action = "check the link".into();
    lossy
}

#[test]
fn a_verdict_of_the_mesh_meets_the_ports_of_its_link() {
    let judged = |rows: &[SwitchPortRow], link: &str| {
        let mut ports = Ports::default();
        rows.iter().for_each(|row| ports.add(row));
        let mut all = vec![lossy_link(link)];
        ports.beside(&cables(), &mut all);
        all.extend(ports.find(&cables()));
        let wire = Wire::default();
        assert!(find(&wire).is_empty());
        join(all, &wire)
    };
    let damaged = |errors| SwitchPortRow {
        in_errors: Some(errors),
        ..reading("s", "e1", 20)
    };
    // One fault, whichever direction the mesh names.
    for link in ["l1>s", "s>l1"] {
        let joined = judged(&[damaged(5_000)], link);
        assert_eq!(shown(&joined), [("sick_cable", "l1 up – s e1")], "{link}");
        assert!(joined[0].sources.contains(&Source::Mesh) && joined[0].explains.len() == 1);
    }
    let healthy = judged(&[damaged(0)], "l1>s");
    assert_eq!(shown(&healthy), [("loss", "l1>s")]);
    assert!(
        healthy[0]
            .meaning
            .contains("s e1 counted no damaged frame of 1,000,000"),
        "{}",
        healthy[0].meaning
    );
    let uncounted = judged(&[reading("s", "e1", 20)], "l1>s");
    assert!(
        uncounted[0].unknown[0].contains("s e1 damages frames"),
        "{:?}",
        uncounted[0].unknown
    );
    // Another cable.
    let elsewhere = judged(&[damaged(5_000)], "l2>s");
    assert_eq!(elsewhere.len(), 2, "{elsewhere:#?}");
}

#[test]
fn pauses_begin_at_the_port_that_is_not_paused_itself() {
    // h3 pauses its leaf, which pauses the spine, which pauses the other leaf, which pauses its hosts.
    let rows = [
        pauses("l2", "e1", 20, (0.8, 0.0)),
        pauses("l2", "up", 20, (0.0, 0.5)),
        pauses("s", "e2", 20, (0.5, 0.0)),
        pauses("s", "e1", 20, (0.0, 0.3)),
        pauses("l1", "up", 20, (0.3, 0.0)),
        pauses("l1", "e1", 20, (0.0, 0.2)),
    ];
    let all = found(&rows, &cables());
    assert_eq!(shown(&all), [("pause_storm", "h3/nic0")]);
    let one = &all[0];
    assert_eq!(
        one.meaning,
        "it pauses its link in priority 3: l2 e1 received 80,000 pause frames, 80 % of 10.0 s; 2 further ports are paused by \
         switches that are paused themselves"
    );
    assert_eq!(
        (one.certainty, one.place.nic.as_deref()),
        (Certainty::Certain, Some("h3/nic0"))
    );
    assert!(one.place.addresses.contains(&address(3)));

    // The same without the host: the leaf fills its queues by itself.
    let incast = found(&rows[1..], &cables());
    assert_eq!(shown(&incast), [("pause_storm", "switch l2")]);
    assert_eq!(incast[0].certainty, Certainty::Likely);
    // No row of that leaf: whether it passes them on is not known.
    let without = found(&rows[2..], &cables());
    assert_eq!(
        (shown(&without), without[0].certainty),
        (vec![("pause_storm", "switch l2")], Certainty::Possible)
    );
    let unknown = found(&rows[..1], &Cables::default());
    assert_eq!(shown(&unknown), [("pause_storm", "the other end of l2 e1")]);
    assert!(unknown[0].action.contains("--topology"), "{}", unknown[0].action);
}

#[test]
fn switches_that_pause_each_other_are_one_circle() {
    let rows = [pauses("l1", "up", 20, (0.9, 0.9)), pauses("s", "e1", 20, (0.9, 0.9))];
    assert_eq!(
        shown(&found(&rows, &cables())),
        [("pause_storm", "a circle of switches")]
    );
}

#[test]
fn short_pauses_are_none_and_a_watchdog_that_holds_is_no_end() {
    assert_eq!(shown(&found(&[pauses("l2", "e1", 20, (0.009, 0.0))], &cables())), []);
    // Frames alone are an upper bound: 8 ms of ten seconds, and 8 s.
    let frames = |count| SwitchPortRow {
        received_pause_frames: Some(count),
        ..reading("l2", "e1", 20)
    };
    assert_eq!(shown(&found(&[frames(100)], &cables())), []);
    let many = found(&[frames(95_000)], &cables());
    assert!(many[0].meaning.contains("up to 80 % of 10.0 s"), "{}", many[0].meaning);

    let stormy = SwitchPortRow {
        watchdog_storms: Some(1),
        ..pauses("l2", "e1", 20, (0.8, 0.0))
    };
    let rows = |restores| {
        let quiet = SwitchPortRow {
            watchdog_restores: Some(restores),
            ..pauses("l2", "e1", 60, (0.0, 0.0))
        };
        found(&[stormy.clone(), quiet], &cables())
    };
    assert!(rows(0)[0].is_open && rows(0)[0].unknown[0].starts_with("whether it goes on"));
    assert!(!rows(1)[0].is_open);
}

#[test]
fn drops_while_a_port_pauses_are_missing_headroom_and_unheard_pauses_a_mismatch() {
    let dropped = SwitchPortRow {
        in_dropped_frames: Some(70),
        ..reading("s", "e1", 20)
    };
    let rows = [
        dropped.clone(),
        pauses("s", "e1", 20, (0.0, 0.002)),
        pauses("l1", "up", 10, (0.0, 0.0)),
        pauses("l1", "up", 20, (0.0, 0.0)),
    ];
    let all = found(&rows, &cables());
    assert_eq!(
        shown(&all),
        [("headroom_drops", "l1 up – s e1"), ("pfc_mismatch", "l1 up – s e1")]
    );
    assert_eq!(
        all[1].meaning,
        "s e1 sent 200 PFC frames of priority 3, and l1 up received none"
    );
    assert!(all[1].action.contains("enable PFC for this priority at l1 up"));
    // One fault to the operator: pauses that are not heard overflow the headroom.
    let joined = join(all, &Wire::default());
    assert_eq!(shown(&joined), [("pfc_mismatch", "l1 up – s e1")]);

    // Drops at another time, an end that is not read, and one that hears.
    let later = SwitchPortRow {
        time_ns: 30 * SECOND,
        ..dropped
    };
    let heard = SwitchPortRow {
        received_pause_frames: Some(190),
        ..pauses("l1", "up", 20, (0.0, 0.0))
    };
    assert_eq!(
        shown(&found(&[later, rows[1].clone(), rows[2].clone(), heard], &cables())),
        []
    );
    assert_eq!(shown(&found(&rows[1..2], &cables())), []);
}
