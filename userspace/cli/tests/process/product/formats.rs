//! The formats of rows: the same names and the same rows in every command.

use crate::product::{captures, rocescope};
use rocescope_model::{ChangeRow, ConnectionRow, FlowRow, IncidentRow, Row, csv};

fn printed(arguments: &[&str]) -> String {
    let output = rocescope::run(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        rocescope::text(&output.stderr)
    );
    rocescope::text(&output.stdout).to_owned()
}

#[test]
fn a_command_prints_its_rows_in_every_format() {
    let path = captures::named("rnr_nak").path;
    let path = path.to_str().unwrap();
    for (command, table) in [
        (&["capture", "-r", path][..], FlowRow::TABLE),
        (&["connections", path], ConnectionRow::TABLE),
        (&["diagnose", path], IncidentRow::TABLE),
        (&["report", path], FlowRow::TABLE),
    ] {
        let of = |format| printed(&[command, &["-o", format]].concat());
        let lines = of("csv");
        assert_eq!(lines.lines().next(), csv::heading(table).lines().next(), "{command:?}");
        let rows = lines.lines().count() - 1;
        assert!(rows > 0, "{command:?}");
        assert!(of("markdown").contains("\n|---"), "{command:?}");
        let objects = of("jsonl");
        let objects = objects
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let keys: Vec<bool> = objects.map(|object| object.get("summary").is_some()).collect();
        match command[0] {
            // Its lines are windows.
            "capture" => assert_eq!(keys.last(), Some(&true)),
            _ => assert_eq!(keys.len(), rows, "{command:?}"),
        }
        serde_json::from_str::<serde_json::Value>(&of("json")).unwrap();
        assert_eq!(of("table"), of("text"), "{command:?}");
    }
}

#[test]
fn changes_are_rows_too() {
    let [a, b] = ["rnr_nak", "cm_rping"].map(|name| captures::named(name).path);
    let files = [a.to_str().unwrap(), b.to_str().unwrap()];
    let lines = printed(&["compare", files[0], files[1], "-o", "csv"]);
    assert_eq!(lines.lines().next(), csv::heading(ChangeRow::TABLE).lines().next());
    assert!(lines.lines().count() > 10, "{lines}");
}

#[test]
fn a_format_without_sense_is_refused_with_those_that_have_some() {
    let output = rocescope::run(&["counters", "--once", "-o", "markdown"]);
    let said = rocescope::text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("'markdown'") && said.contains("[possible values: table, json, jsonl, csv]"),
        "{said}"
    );
    let output = rocescope::run(&["capture", "-D", "-o", "csv"]);
    let said = rocescope::text(&output.stderr);
    assert!(
        said.contains("--list-interfaces prints no rows: `-o table` or `-o json`"),
        "{said}"
    );
}
