//! Who may apply, and what `rocescope collector` prints.

use crate::control::rig::{self, Checks, Rig, until, write};
use rocescope_collector::control::message::Role;
use rocescope_collector::{Files, Server};
use rocescope_testkit::binary;
use std::process::Command;

const FIRST: &str =
    "operators = [\"ops\"]\n[[group]]\nname = \"hosts\"\nmembers = [\"h*\"]\n[group.probe]\ninterval = \"100ms\"\n";

/// Runs `rocescope collector`; returns whether it succeeded, and what it printed.
fn control(server: &Server, files: &Files, words: &[&str]) -> (bool, String) {
    let output = rig::control(server, files, words);
    let text = match output.status.success() {
        true => output.stdout,
        false => output.stderr,
    };
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[test]
fn an_operator_applies_compares_and_rolls_back() {
    let rig = Rig::new();
    let server = rig.controller(FIRST);
    let files = rig.sign("ops", &["ops"]);
    let next = FIRST.replace("100ms", "50ms");
    let file = write(&rig.path("fleet.toml"), &next);
    let file = file.to_str().unwrap();
    let (_, said) = control(&server, &files, &["diff", file]);
    assert_eq!(
        said,
        format!("--- version 1\n+++ {file}\n-interval = \"100ms\"\n+interval = \"50ms\"\n")
    );
    let (is_done, said) = control(&server, &files, &["apply", file]);
    assert!(
        is_done && said.starts_with("version 2 is in force; 0 members will take it"),
        "{said}"
    );
    let (_, said) = control(&server, &files, &["apply", file]);
    assert_eq!(said, "version 2 is in force, and is the same\n");
    let (_, said) = control(&server, &files, &["diff", file]);
    assert_eq!(said, "version 2 is the same\n");
    let (is_done, said) = control(&server, &files, &["rollback"]);
    assert!(
        is_done && said.starts_with("version 3: the text of version 1 is in force"),
        "{said}"
    );
    // What was undone does not return.
    let (is_done, said) = control(&server, &files, &["rollback"]);
    assert!(
        !is_done && said.contains("none was before it: name a version"),
        "{said}"
    );
    let operator = rig.operator("ops", server.address().port());
    assert_eq!(operator.version(None).unwrap().text, FIRST);
    let (is_done, said) = control(&server, &files, &["rollback", "9"]);
    assert!(
        !is_done && said.ends_with(": there is no version 9: the controller has 1 to 3\n"),
        "{said}"
    );
    let (_, said) = control(&server, &files, &["status"]);
    assert!(
        said.starts_with("version 3 (the text of version 1) in force since 20") && said.contains("operators: ops"),
        "{said}"
    );
    let (_, said) = control(&server, &files, &["status", "-o", "json"]);
    let json: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(json["version"], 3);
    // A typing error stays with the operator.
    write(&rig.path("fleet.toml"), &FIRST.replace("interval", "intervall"));
    let (is_done, said) = control(&server, &files, &["apply", file]);
    assert!(
        !is_done && said.contains("group hosts: unknown setting `intervall`; did you mean `interval`?"),
        "{said}"
    );
    assert_eq!(
        control(&server, &files, &["diff", file]),
        (false, said),
        "`diff` refuses it, too"
    );
    let (is_done, said) = control(&server, &files, &["diff", file, "--unchecked"]);
    assert!(is_done && said.ends_with("+intervall = \"100ms\"\n"), "{said}");
    write(
        &rig.path("fleet.toml"),
        &FIRST.replace("interval = \"100ms\"", "all = true"),
    );
    let (_, said) = control(&server, &files, &["apply", file]);
    assert!(said.contains("`all` of [probe] is set on the host only"), "{said}");
    write(&rig.path("fleet.toml"), &FIRST.replace("\"ops\"", "\"b\""));
    let (_, said) = control(&server, &files, &["apply", file]);
    assert!(
        said.contains("it would lock you out: keep ops among the operators"),
        "{said}"
    );
    assert_eq!(control(&server, &files, &["diff", file]), (false, said));
    // Values that would burn a processor or fill a disk.
    for (value, expected) in [
        ("interval = \"1ns\"", "expected a duration from 1ms to 1h"),
        ("max-cpu = 500.0", "expected a share of a core from 0.001 to 1"),
    ] {
        write(&rig.path("fleet.toml"), &FIRST.replace("interval = \"100ms\"", value));
        let (is_done, said) = control(&server, &files, &["apply", file]);
        assert!(
            !is_done && said.contains(expected) && said.lines().count() == 1,
            "{said}"
        );
    }
    assert_eq!(operator.status().unwrap().version, 3);
}

#[test]
fn a_controller_checks_its_first_file_and_names_it() {
    let rig = Rig::new();
    let files = rig.sign("collector", &["localhost"]);
    let wrong = write(&rig.path("fleet.toml"), &FIRST.replace("100ms", "1ns"));
    let output = std::process::Command::new(binary())
        .args([
            "collector",
            "run",
            "--listen",
            "127.0.0.1:0",
            "--duration",
            "1s",
            "--out",
        ])
        .arg(rig.path("mesh"))
        .arg("--cert")
        .arg(&files.certificate)
        .arg("--key")
        .arg(&files.key)
        .arg("--client-ca")
        .arg(&files.authority)
        .arg("--control-dir")
        .arg(rig.path("first"))
        .arg("--control")
        .arg(&wrong)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{said}");
    let expected = format!("{}: group hosts: ", wrong.display());
    assert!(
        said.contains(&expected) && said.contains("expected a duration from 1ms to 1h"),
        "{said}"
    );
    assert!(!rig.path("first").join("versions").exists());
}

/// 16 long reasons of one member were more than the answer to `status` may have.
#[test]
fn what_members_report_is_shortened_and_an_answer_to_an_operator_may_be_long() {
    let rig = Rig::new();
    let server = rig.controller(FIRST);
    let port = server.address().port();
    let checks = Checks::default();
    let members: Vec<_> = (0..90)
        .map(|n| rig.member(Role::Agent, &format!("h{n}"), port, &checks))
        .collect();
    for (member, _) in &members {
        member.needs_restart(vec!["x".repeat(1_000); 80]);
    }
    let operator = rig.operator("ops", port);
    let status = until(&operator, "all have reported", |status| {
        let reported = status.members.iter().filter(|member| !member.state.restart.is_empty());
        reported.count() == members.len()
    });
    let longest = status
        .members
        .iter()
        .map(|member| member.state.restart.concat().chars().count())
        .max();
    assert_eq!(longest, Some(64 * 101), "shortened");
    assert!(
        serde_json::to_vec(&status).unwrap().len() > 1 << 19,
        "more than one message"
    );
}

#[test]
fn another_certificate_gets_one_refusal_and_one_of_another_authority_never_connects() {
    let rig = Rig::new();
    let server = rig.controller(FIRST);
    let port = server.address().port();
    let checks = Checks::default();
    let (_, _sender) = rig.member(Role::Agent, "h0", port, &checks);
    let operator = rig.operator("ops", port);
    until(&operator, "h0 is there", |status| {
        status.members.iter().any(|member| member.connected)
    });
    let file = write(&rig.path("fleet.toml"), &FIRST.replace("100ms", "50ms"));
    let file = file.to_str().unwrap();
    // The certificate of an agent that is connected: its connection stays.
    let agent = rig.sign("h0", &["h0"]);
    for words in [&["apply", file][..], &["rollback"]] {
        let (is_done, said) = control(&server, &agent, words);
        let expected = "h0 is no operator: use the certificate of one, or have an operator add it to `operators`\n";
        assert!(
            !is_done && said.ends_with(expected) && said.lines().count() == 1,
            "{said}"
        );
    }
    let (is_done, _) = control(&server, &agent, &["status"]);
    assert!(is_done, "everyone of the fleet may look");
    assert_eq!(server.status().counts.connections, 1, "the agent was not replaced");
    let refused = server.status().refusals;
    let names: Vec<_> = refused
        .iter()
        .map(|(refusal, count)| (refusal.name(), *count))
        .collect();
    assert_eq!(names, [("not_operator", 2)]);

    let strangers = Rig::new();
    let stranger = Files {
        authority: rig.path("ca.pem"),
        ..strangers.sign("ops", &["ops"])
    };
    let (is_done, said) = control(&server, &stranger, &["apply", file]);
    assert!(!is_done && said.lines().count() == 1, "{said}");
    let refused = server.status().refusals;
    assert!(
        refused.iter().any(|(refusal, _)| refusal.name() == "wrong_certificate"),
        "{refused:?}"
    );
    assert_eq!(operator.status().unwrap().version, 1);
}

#[test]
fn a_collector_without_a_controller_refuses_and_options_are_named() {
    let output = Command::new(binary()).args(["collector", "status"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("--collector, --cert, --key and --ca are not set"),
        "{said}"
    );
}
