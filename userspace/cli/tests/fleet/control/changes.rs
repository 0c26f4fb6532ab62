//! What an operator learns of a change: whom it concerns, who is away, who refused it before.

use crate::control::rig::{Checks, Rig, control, until, write};
use rocescope_collector::control::Operator;
use rocescope_collector::control::message::{ControllerStatus, Role};
use rocescope_collector::{Files, Server};

fn plan(pattern: &str, interval: &str) -> String {
    format!(
        "operators = [\"ops\"]\n[[group]]\nname = \"hosts\"\nmembers = [\"{pattern}\"]\n[group.counters]\n\
         interval = \"{interval}\"\n"
    )
}

/// What a command prints to its output, and to its error.
fn said(server: &Server, files: &Files, words: &[&str]) -> (String, String) {
    let output = control(server, files, words);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

fn all(
    operator: &Operator,
    so: impl Fn(&rocescope_collector::control::message::MemberStatus) -> bool,
) -> ControllerStatus {
    until(operator, "of every member", |status| {
        status.members.len() == 2 && status.members.iter().all(&so)
    })
}

#[test]
fn patterns_without_a_member_are_named_and_the_others_keep_their_own_settings() {
    let rig = Rig::new();
    let server = rig.controller(&plan("h*", "1s"));
    let port = server.address().port();
    let (files, operator, checks) = (rig.sign("ops", &["ops"]), rig.operator("ops", port), Checks::default());
    let _members = ["h0", "h1"].map(|name| rig.member(Role::Agent, name, port, &checks));
    all(&operator, |member| member.connected);
    let (_, warnings) = said(&server, &files, &["status"]);
    assert_eq!(warnings, "");
    let file = write(&rig.path("fleet.toml"), &plan("x*", "1s"));
    let file = file.to_str().unwrap();
    let warning = "warning: group hosts: no member matches x*\n";
    assert_eq!(said(&server, &files, &["diff", file]).1, warning);
    let (applied, warnings) = said(&server, &files, &["apply", file]);
    assert_eq!(warnings, warning);
    assert!(
        applied.starts_with("version 2 is in force; 2 members will take it, with their own settings, because no group"),
        "{applied}"
    );
    let (status, _) = said(&server, &files, &["status"]);
    assert!(status.contains("\ngroup hosts: no member matches x*\n"), "{status}");
    write(file.as_ref(), &plan("h1", "1s"));
    let (applied, warnings) = said(&server, &files, &["apply", file]);
    assert_eq!(warnings, "");
    assert!(
        applied.contains("2 members will take it, 1 of them with their own settings"),
        "{applied}"
    );
}

#[test]
fn a_version_that_members_refused_returns_with_a_warning_until_they_took_its_text() {
    let rig = Rig::new();
    let server = rig.controller(&plan("h*", "1s"));
    let port = server.address().port();
    let (files, operator, checks) = (rig.sign("ops", &["ops"]), rig.operator("ops", port), Checks::default());
    let members = ["h0", "h1"].map(|name| rig.member(Role::Agent, name, port, &checks));
    let take = |version: u64| {
        all(&operator, |member| member.state.waiting == Some(version));
        members.iter().for_each(|(member, _)| drop(member.take()));
        all(&operator, |member| member.state.running == version);
    };
    take(1);
    operator.apply(plan("h*", "5 parsecs")).unwrap();
    let refused = |version: u64| {
        all(&operator, |member| {
            member
                .state
                .refused
                .as_ref()
                .is_some_and(|refused| refused.version == version)
        });
    };
    refused(2);
    said(&server, &files, &["rollback"]);
    take(3);
    let (_, warnings) = said(&server, &files, &["rollback", "2"]);
    let expected = |version: u64| format!("warning: h0 refused this text as version {version}: ");
    assert!(
        warnings.starts_with(&expected(2)) && warnings.contains("5 parsecs") && warnings.lines().count() == 2,
        "{warnings}"
    );
    refused(4);
    said(&server, &files, &["rollback", "1"]);
    take(5);
    // By another number of the same text.
    let (_, warnings) = said(&server, &files, &["rollback", "4"]);
    assert!(warnings.starts_with(&expected(2)), "{warnings}");
    let (_, warnings) = said(&server, &files, &["rollback", "3"]);
    assert_eq!(warnings, "");
}

#[test]
fn who_is_away_takes_nothing_at_the_end_of_a_window() {
    let rig = Rig::new();
    let server = rig.controller(&plan("x*", "1s"));
    let port = server.address().port();
    let (files, operator, checks) = (rig.sign("ops", &["ops"]), rig.operator("ops", port), Checks::default());
    let [here, (_, sender)] = ["h0", "h1"].map(|name| rig.member(Role::Agent, name, port, &checks));
    all(&operator, |member| member.state.waiting == Some(1));
    drop(sender);
    until(&operator, "h1 is away", |status| {
        status
            .members
            .iter()
            .any(|member| member.name == "h1" && !member.connected)
    });
    let (status, _) = said(&server, &files, &["status"]);
    let line = |name: &str| status.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(line("h0").contains("takes 1 at the end of its window"), "{status}");
    assert!(
        line("h1").contains("not current") && line("h1").contains("away since"),
        "{status}"
    );
    // It runs the version, and leaves: what it runs from then on is unknown.
    drop(here.0.take());
    until(&operator, "h0 runs it", |status| {
        status.members.iter().any(|member| member.state.running == 1)
    });
    let (status, _) = said(&server, &files, &["status"]);
    assert!(
        status.contains("\n1 of 2 members run it, 0 refused it, 1 away\n"),
        "{status}"
    );
    drop(here);
    until(&operator, "both are away", |status| {
        status.members.iter().all(|member| !member.connected)
    });
    let (status, _) = said(&server, &files, &["status"]);
    assert!(
        status.contains("\n0 of 2 members run it, 0 refused it, 2 away\n"),
        "{status}"
    );
    let line = |name: &str| status.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(line("h0").contains("current when it left  away since"), "{status}");
}

#[test]
fn white_space_at_the_ends_of_lines_is_no_line_of_a_difference() {
    let rig = Rig::new();
    let first = plan("h*", "1s");
    let server = rig.controller(&first);
    let files = rig.sign("ops", &["ops"]);
    let file = write(&rig.path("fleet.toml"), &first.replace('\n', " \r\n"));
    let file = file.to_str().unwrap();
    let (differing, _) = said(&server, &files, &["diff", file]);
    assert_eq!(
        differing,
        "version 1 differs in white space at the ends of lines only\n"
    );
}
