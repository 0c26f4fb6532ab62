//! Rows that a full spool dropped, as the controller and its metrics show them.

use crate::control::rig::{Rig, control, end, free_port, spawn, until, until_file_has, url, write};
use rocescope::collector_metrics;
use rocescope_testkit::binary;
use std::process::Command;

const PLAN: &str = "operators = [\"ops\"]\n[[group]]\nname = \"hosts\"\nmembers = [\"h*\"]\n";

#[test]
fn rows_that_a_full_spool_dropped_are_counted_by_the_controller() {
    let rig = Rig::new();
    let port = free_port();
    let files = rig.sign("h0", &["h0"]);
    write(
        &rig.path("agent.toml"),
        "[counters]\ninterval = \"20ms\"\nrefresh = \"100ms\"\n",
    );
    std::fs::create_dir_all(rig.path("sys/class/infiniband/mlx5_0/ports/1")).unwrap();
    write(&rig.path("sys/class/infiniband/mlx5_0/ports/1/state"), "4: ACTIVE\n");
    let mut command = Command::new(binary());
    command.args([
        "agent",
        "--observer",
        "h0",
        "--collector",
        &url(port),
        "--spool-bytes",
        "20k",
    ]);
    for (option, file) in [
        ("--config", &rig.path("agent.toml")),
        ("--spool", &rig.path("spool")),
        ("--cert", &files.certificate),
        ("--key", &files.key),
        ("--ca", &files.authority),
    ] {
        command.arg(option).arg(file);
    }
    command.env("ROCESCOPE_SYSFS_ROOT", rig.path("sys"));
    let log = rig.path("agent.log");
    let agent = spawn(&mut command, &log);
    until_file_has(&log, "the spool is full: its oldest rows are dropped, ");

    let server = rig.controller_at(port, PLAN);
    let operator = rig.operator("ops", port);
    let status = until(&operator, "the agent reports its dropped rows", |status| {
        status.members.iter().any(|member| member.state.dropped.spool_full > 0)
    });
    let dropped = status.members[0].state.dropped.spool_full;
    assert_eq!(
        status.dropped.spool_full, dropped,
        "all since the start of the controller"
    );
    let files = rig.sign("ops", &["ops"]);
    let text = String::from_utf8(control(&server, &files, &["status"]).stdout).unwrap();
    assert!(
        text.contains("rows that agents dropped since the start of the controller: ")
            && text.contains("; dropped rows since its start: "),
        "{text}"
    );
    let json = control(&server, &files, &["status", "-o", "json"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert!(json["members"][0]["state"]["dropped"]["spool_full"].as_u64().unwrap() >= dropped);
    let page = collector_metrics::page(&server.monitor(), None, "c").unwrap();
    let series = "rocescope_controller_agent_dropped_rows_total{observer=\"c\",reason=\"spool_full\"} ";
    let line = page.lines().find(|line| line.starts_with(series)).unwrap();
    assert!(line[series.len()..].parse::<u64>().unwrap() >= dropped, "{line}");
    end(agent, &log);
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(said.contains(" dropped: spool full"), "{said}");
}
