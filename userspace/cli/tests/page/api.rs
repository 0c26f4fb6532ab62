//! Documents and rows of the page are those that `report` prints.

use crate::rig::Rig;
use rocescope_testkit::run_in;
use serde_json::Value;

const DEMO: &str = rocescope_generate::DEMO;

fn printed(rig: &Rig, options: &[&str]) -> String {
    let output = run_in(&[&["report", "data"], options].concat(), &rig.path(""));
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn documents_and_rows_are_those_of_the_report() {
    let rig = Rig::of_scenario(DEMO);
    let report: Value = serde_json::from_str(&printed(&rig, &["-o", "json"])).unwrap();
    assert_eq!(rig.get("api/report").json(), report);
    assert_eq!(rig.get("api/report?last=all").json(), report);
    assert_eq!(rig.get("api/incidents").json()["incidents"], report["incidents"]);
    for table in ["flows", "connections", "opcodes", "events", "windows", "pairs"] {
        let lines = printed(&rig, &["-o", "jsonl", "--table", table]);
        let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rig.get(&format!("api/{table}")).json(), Value::from(rows), "{table}");
    }
    let (from, filter) = ("2026-01-01T00:00:01Z", "not service cnp");
    let options = ["-o", "json", "--from", from, "--filter", filter, "--by", "src"];
    let report: Value = serde_json::from_str(&printed(&rig, &options)).unwrap();
    let found = rig
        .get(&format!("api/report?from={from}&q=not+service+cnp&by=src"))
        .json();
    assert_eq!(found, report);
    assert!(report["groups"]["rows"].as_array().is_some_and(|rows| !rows.is_empty()));
}

#[test]
fn rows_are_parquet_if_asked() {
    let rig = Rig::of_scenario(DEMO);
    let file = rig.get("api/flows?format=parquet");
    assert_eq!(
        (file.status, &file.body[..4], &file.body[file.body.len() - 4..]),
        (200, &b"PAR1"[..], &b"PAR1"[..])
    );
    assert!(file.head.contains("flows.parquet"));
    // A dataset of one table is read like any other.
    let folder = rig.path("copy/flows/date=2026-01-01/hour=00");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("flows.parquet"), &file.body).unwrap();
    let rows = rig.get("api/flows").json().as_array().unwrap().len() as u64;
    assert!(rows > 0);
    let found = rocescope_store::Query::default().scan(&rig.path("copy")).unwrap();
    assert_eq!(found.unreadable, []);
    assert_eq!(found.row_count("flows"), rows);
}

#[test]
fn the_description_lists_what_there_is_and_the_rest_is_refused() {
    let rig = Rig::of_scenario(DEMO);
    let description = rig.get("api/openapi.json").json();
    let paths = description["paths"].as_object().unwrap();
    assert!(paths.len() >= 14);
    for path in paths.keys() {
        assert_eq!(rig.get(&path[1..]).status, 200, "{path}");
    }
    for (address, status) in [
        ("api/nothing", 404),
        ("nothing", 404),
        ("api/flows?format=xml", 400),
        ("api/report?format=parquet", 400),
        ("api/flows?q=colour+%3D+1", 400),
        ("api/flows?last=soon", 400),
        ("fields?row=flows.0.0", 404),
    ] {
        let answer = rig.get(address);
        assert_eq!(answer.status, status, "{address}");
        assert!(!answer.body.is_empty());
    }
}
