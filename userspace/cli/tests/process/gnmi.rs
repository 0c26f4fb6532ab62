//! `paths gnmi`: counters of switches from gNMI servers, and from ones that refuse, end and break off.

use super::prometheus::rows;
use rocescope_testkit::gnmi::message::Encoding;
use rocescope_testkit::gnmi::{Options, Switch};
use rocescope_testkit::{Authority, Running, command, json, refusal, until};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;

const SECOND: i64 = 1_000_000_000;
const START: i64 = 1_790_000_000 * SECOND;

const ALL: &[Encoding] = &[Encoding::Json, Encoding::Proto, Encoding::JsonIetf];

/// Runs `paths gnmi` to its end.
fn read(dataset: &Path, further: &[&str]) -> Output {
    let read = ["paths", "gnmi", "-o", "json", "--out", dataset.to_str().unwrap()];
    command(read).args(further).output().unwrap()
}

/// A file in a folder.
fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn rows_are_what_the_switches_sent() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(&folder.path().join("ca"));
    let signed = authority.sign("switch", &["127.0.0.1"]);
    let ca = signed.authority.to_str().unwrap();
    let password = file(folder.path(), "password", "secret\n");
    let dataset = folder.path().join("d");
    // One sends scalars, one has JSON alone and no queues, and one knows no question.
    for (at, (encodings, unserved)) in [
        (ALL, &[][..]),
        (&[Encoding::Json][..], &["/qos", "/components"][..]),
        (&[][..], &[][..]),
    ]
    .into_iter()
    .enumerate()
    {
        let switch = Switch::start(&Options {
            login: Some(("admin", "secret")),
            certificate: Some(&signed),
            encodings,
            unserved,
        });
        for (second, grown) in [(0, 0), (10, 12_345)] {
            let bytes = u64::MAX - 20_000 + grown;
            switch.set("/interfaces/interface[name=e1/1]/state/counters/in-octets", bytes);
            switch.set("/interfaces/interface[name=e1/1]/state/oper-status", "UP");
            switch.set(
                "/interfaces/interface[name=e1/1]/ethernet/state/port-speed",
                "SPEED_400GB",
            );
            let queue = "/qos/interfaces/interface[interface-id=e1/1]/output/queues/queue[name=UC3]/state/dropped-pkts";
            switch.set(queue, grown);
            switch.set_time(START + second * SECOND);
            let name = format!("leaf{at}={}", switch.address());
            let further = [
                "--once",
                "--user",
                "admin",
                "--password-file",
                &password,
                "--ca",
                ca,
                &name,
            ];
            let summary = json(&read(&dataset, &further));
            let asked = &summary["asked"][0];
            assert_eq!((&asked["connections"], &asked["failures"]), (&1.into(), &json!({})));
            let refused = asked["refused"].as_object().unwrap();
            assert_eq!(refused.len(), if unserved.is_empty() { 0 } else { 3 }, "{refused:?}");
            assert_eq!(summary["samples"]["unused"], json!({}));
            assert_eq!(summary["switches"]["rows"], if unserved.is_empty() { 2 } else { 1 });
        }
        let found = rows(&dataset);
        let found: Vec<_> = found.iter().filter(|row| *row.switch == *format!("leaf{at}")).collect();
        // Each run knows no reading before it.
        let shown: Vec<_> = found
            .iter()
            .filter(|row| row.queue.is_none())
            .map(|row| {
                (
                    (row.time_ns - START) / SECOND,
                    &*row.port_name,
                    row.event.as_deref(),
                    row.up,
                    row.speed_bps,
                )
            })
            .collect();
        let expected = |second| (second, "e1/1", Some("first"), Some(true), Some(4e11));
        assert_eq!(shown, [expected(0), expected(10)]);
        assert!(
            found
                .iter()
                .all(|row| &*row.source == "gnmi" && &*row.observer == "gnmi")
        );
    }
}

/// A mapping with one subscription: what is sent on it has an order.
const MAPPING: &str = "[[subscriptions]]\npath = \"/interfaces/interface[name={port}]/state\"\n\
                       [subscriptions.leaves]\n\"counters/in-octets\" = \"in_bytes\"\n";

#[test]
fn streams_that_end_leave_no_gap() {
    let folder = tempfile::tempdir().unwrap();
    let mapping = file(folder.path(), "m.toml", MAPPING);
    let dataset = folder.path().join("d");
    let switch = Switch::start(&Options {
        encodings: ALL,
        ..Options::default()
    });
    let set = |second: i64, bytes: u64| {
        switch.set("/interfaces/interface[name=e1]/state/counters/in-octets", bytes);
        switch.set_time(START + second * SECOND);
    };
    set(10, 1_000);
    let name = format!("leaf1={}", switch.address());
    let mut following = command([
        "paths",
        "gnmi",
        &name,
        "--insecure",
        "--mapping",
        &mapping,
        "-o",
        "json",
    ]);
    let running = Running::spawn(following.arg("--out").arg(&dataset));
    let is_subscribed = || switch.subscribers() == 1;
    until("the subscription", is_subscribed);
    set(20, 1_500);
    switch.sample(START + 20 * SECOND);
    set(30, 1_600);
    switch.end("first end");
    running.until_said("leaf1: the connection ended: first end; it is connected again in 1s");
    running.until_said("leaf1 answers again");
    until("the subscription", is_subscribed);
    // Cut in the middle: maybe before what was sent is read, so that the next reading has its growth.
    set(40, 1_700);
    switch.cut();
    until("the subscription", is_subscribed);
    set(50, 1_900);
    switch.sample(START + 50 * SECOND);
    // The counters are cleared.
    set(60, 7);
    switch.sample(START + 60 * SECOND);
    switch.end("last end");
    running.until_said("leaf1: the connection ended: last end");
    let ended = running.stop("-INT").success();
    let summary: Value = ended.json();
    let asked = &summary["asked"][0];
    assert_eq!(asked["failures"], json!({"cut": 3}), "{summary}");
    let found = rows(&dataset);
    assert_eq!(summary["switches"]["rows"], found.len());
    let shown: Vec<_> = found
        .iter()
        .map(|row| ((row.time_ns - START) / SECOND, row.event.as_deref(), row.in_bytes))
        .collect();
    assert_eq!(shown[..2], [(10, Some("first"), None), (20, None, Some(500))]);
    let grown: u64 = found.iter().filter_map(|row| row.in_bytes).sum();
    let took: i64 = found.iter().filter_map(|row| row.interval_ns).sum();
    assert_eq!((grown, took), (900, 40 * SECOND), "{shown:?}");
    assert_eq!(
        shown.iter().filter(|row| row.1 == Some("reset")).count(),
        1,
        "{shown:?}"
    );
}

#[test]
fn a_switch_that_does_not_answer_or_refuses_is_one_error() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(&folder.path().join("ca"));
    let other = Authority::new(&folder.path().join("other"));
    let signed = authority.sign("switch", &["127.0.0.1"]);
    let ca = signed.authority.to_str().unwrap();
    let wrong_ca = other.directory().join("ca.pem");
    let good = file(folder.path(), "good", "secret\n");
    let bad = file(folder.path(), "bad", "guess\n");
    let dataset = folder.path().join("d");
    let switch = Switch::start(&Options {
        login: Some(("admin", "secret")),
        certificate: Some(&signed),
        encodings: ALL,
        ..Options::default()
    });
    let name = switch.address().to_string();
    let user = |password| ["--user", "admin", "--password-file", password];
    // No one listens there any more.
    let silent = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let silent = silent.unwrap().to_string();
    let listening = TcpListener::bind("127.0.0.1:0").unwrap();
    let mute = listening.local_addr().unwrap().to_string();
    for (further, expected) in [
        (
            [&[&*name, "--ca", ca][..], &user(&*bad)].concat(),
            "the user or the password was refused",
        ),
        (vec![&*name, "--ca", ca], "the user or the password was refused"),
        (
            [&[&*name, "--ca", wrong_ca.to_str().unwrap()][..], &user(&*good)].concat(),
            "no TLS connection: invalid peer certificate",
        ),
        (vec![&*silent, "--insecure"], "no connection: Connection refused"),
        (
            vec![&*mute, "--insecure", "--timeout", "100ms"],
            "no answer within 0.1 s",
        ),
        (vec!["a", "a"], "two switches have the name a"),
        (vec![&*name, "--ca", "/nonexistent"], "/nonexistent"),
        (vec!["--switches", "/nonexistent"], "cannot read /nonexistent"),
    ] {
        let message = refusal(&read(&dataset, &further));
        let last = message.lines().last().unwrap();
        assert!(last.contains(expected), "{further:?}: {message}");
        assert!(!message.contains("secret") && !message.contains("guess"), "{message}");
    }
    // A file of switches; asked once, a switch that does not answer is an error, and the rows of the others are stored.
    switch.set("/interfaces/interface[name=e1]/state/oper-status", "UP");
    switch.set_time(START);
    let list = file(
        folder.path(),
        "switches",
        &format!("leaf1={name} # answers\nleaf2={silent}\n"),
    );
    let further = [&["--once", "--switches", &*list, "--ca", ca][..], &user(&*good)].concat();
    let output = read(&dataset, &further);
    assert_eq!(output.status.code(), Some(1));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["asked"][1]["failures"], json!({"unreachable": 1}));
    assert_eq!((rows(&dataset).len(), &summary["switches"]["rows"]), (1, &1.into()));
}
