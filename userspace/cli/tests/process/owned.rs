//! Whose captured connections are: a dataset of a capture and of the agents of its hosts.

use rocescope_model::{ConnectionRow, QUEUE_PAIR_TABLES, QueuePairRow, Time};
use rocescope_store::{Options, Writer, scan};
use rocescope_testkit::command;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The dataset of a recorded capture.
pub(crate) fn captured(folder: &Path, name: &str) -> PathBuf {
    let dataset = folder.join("d");
    let capture = format!("{}/tests/captures/{name}.pcap.gz", env!("CARGO_MANIFEST_DIR"));
    printed(&["capture", "-q", "-r", &capture, "--out", &dataset.display().to_string()]);
    dataset
}

/// The queue pairs of all connections, as agents of both hosts report them. The job of a queue pair is the smaller number of
/// the two, its rank its own number.
pub(crate) fn pairs(dataset: &Path) -> Vec<QueuePairRow> {
    let connections = scan(dataset).unwrap().rows::<ConnectionRow>().unwrap();
    let first_ns = connections.iter().filter_map(|row| row.first_ns).min().unwrap();
    let pairs = connections.iter().filter_map(|row| {
        let (local, remote) = (row.src_qpn?, row.dst_qpn?);
        Some(QueuePairRow {
            observer: format!("host-of-{}", row.src).into(),
            time: Time(first_ns),
            time_ns: first_ns,
            first_ns,
            device: "rxe0".into(),
            local_qpn: local,
            remote_qpn: Some(remote),
            pid: Some(local),
            process: "python".into(),
            job_id: Some(format!("{}", local.min(remote)).into()),
            rank: Some(local),
            local_address: Some(row.src),
            ..QueuePairRow::default()
        })
    });
    pairs.collect()
}

/// Writes rows as an agent does.
pub(crate) fn report(dataset: &Path, rows: &[QueuePairRow]) {
    let options = Options {
        tables: QUEUE_PAIR_TABLES,
        ..Options::new("agent")
    };
    let mut writer = Writer::create(dataset, options).unwrap();
    writer.append_cells(&rows, Instant::now()).unwrap();
    writer.finish().unwrap();
}

fn printed(arguments: &[&str]) -> String {
    let output = command(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn connections(dataset: &Path, options: &[&str]) -> String {
    let path = dataset.display().to_string();
    printed(&[&["connections", &path], options].concat())
}

fn json(dataset: &Path, options: &[&str]) -> Value {
    serde_json::from_str(&connections(dataset, &[&["-o", "json"], options].concat())).unwrap()
}

#[test]
fn connections_name_job_rank_and_process_of_both_ends() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = captured(folder.path(), "loss1_egress_node1");
    let without = connections(&dataset, &[]);
    assert!(!without.contains("Owners"), "{without}");
    assert!(!connections(&dataset, &["-o", "csv"]).contains("owners"));
    assert!(!connections(&dataset, &["-o", "json"]).contains("owner"));

    report(&dataset, &pairs(&dataset));
    let document = json(&dataset, &[]);
    let all = document["connections"].as_array().unwrap();
    assert!(all.len() > 1);
    for connection in all {
        let (a, b) = (&connection["a"], &connection["b"]);
        let (a_qpn, b_qpn) = (a["qpn"].as_u64().unwrap(), b["qpn"].as_u64().unwrap());
        for (end, qpn) in [(a, a_qpn), (b, b_qpn)] {
            let owner = &end["owner"];
            assert_eq!(owner["job"], a_qpn.min(b_qpn).to_string().as_str(), "{connection}");
            assert_eq!((&owner["rank"], &owner["pid"]), (&qpn.into(), &qpn.into()));
            assert_eq!(owner["process"], "python");
            assert_eq!(
                owner["host"],
                format!("host-of-{}", end["ip"].as_str().unwrap()).as_str()
            );
        }
    }
    let ends = 2 * all.len();
    let text = connections(&dataset, &[]);
    assert!(
        text.contains(&format!("Owners       of {ends} of {ends} ends\n")),
        "{text}"
    );
    // The other lines and columns are those of before.
    assert_eq!(text.lines().count(), without.lines().count() + 1);
    let worst = &all[0];
    let (a, b) = (worst["a"]["qpn"].as_u64().unwrap(), worst["b"]["qpn"].as_u64().unwrap());
    let job = a.min(b);
    for (from, to) in [(a, b), (b, a)] {
        let short = format!(" {job}/{from} > {job}/{to} ");
        assert!(text.contains(&short), "no {short} in\n{text}");
    }

    let filter = format!("src_job_id = {job} and dst_process = python");
    let found = json(&dataset, &["--filter", &filter]);
    assert_eq!(found["connections"], serde_json::json!([worst]));
    let csv = connections(&dataset, &["-o", "csv", "--filter", &filter]);
    let mut lines = csv.lines();
    let heading: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| heading.iter().position(|column| *column == name).unwrap();
    let first: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(first[column("src_rank")], first[column("src_qpn")]);
    assert_eq!(first[column("dst_rank")], first[column("dst_qpn")]);
    assert_eq!(lines.count(), 1);
}

/// Two agents report the same address and number.
#[test]
fn an_owner_that_may_be_one_of_two_is_ambiguous() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = captured(folder.path(), "loss1_egress_node1");
    let rows = pairs(&dataset);
    let twin = QueuePairRow {
        observer: "twin".into(),
        job_id: Some("other".into()),
        ..rows[0].clone()
    };
    report(&dataset, &[&rows[..], &[twin]].concat());
    let document = json(&dataset, &[]);
    let all = document["connections"].as_array().unwrap().iter();
    let ends: Vec<&Value> = all.flat_map(|one| [&one["a"], &one["b"]]).collect();
    let ambiguous: Vec<&&Value> = ends.iter().filter(|end| end["owner_ambiguous"] == true).collect();
    let [end] = ambiguous.as_slice() else {
        panic!("{document}")
    };
    assert_eq!((&end["qpn"], end.get("owner")), (&rows[0].local_qpn.into(), None));
    let text = connections(&dataset, &[]);
    let known = format!(
        "Owners       of {} of {} ends; 1 ambiguous: several processes may have had the number at that time\n",
        ends.len() - 1,
        ends.len()
    );
    assert!(text.contains(&known), "{text}");
    assert!(text.contains("ambiguous > ") && text.contains(" > ambiguous"), "{text}");
}

/// `top` of a dataset has them in a column, if there are any.
#[test]
fn the_tables_of_top_have_owners_where_agents_report_them() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = captured(folder.path(), "loss1_egress_node1");
    let path = dataset.display().to_string();
    let top = |options: &[&str]| printed(&[&["top", &path, "--once", "--windows", "1000"], options].concat());
    let of_connections = |format: &str| top(&["--table", "connections", "-o", format]);
    assert!(!of_connections("csv").contains("owners"));
    assert!(!of_connections("table").contains("Owners"));
    assert!(!top(&["-o", "jsonl"]).contains("connection_owners"));

    let rows = pairs(&dataset);
    report(&dataset, &rows);
    let csv = of_connections("csv");
    let heading: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = |name: &str| heading.iter().position(|column| *column == name).unwrap();
    let printed: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert!(!printed.is_empty());
    for row in &printed {
        assert_eq!(row[column("src_rank")], row[column("src_qpn")]);
        let (src, dst) = (row[column("src_qpn")], row[column("dst_qpn")]);
        let job = row[column("src_job_id")];
        assert_eq!(row[column("owners")], format!("{job}/{src} > {job}/{dst}"));
    }
    assert!(of_connections("table").contains(printed[0][column("owners")]));

    let job = printed[0][column("src_job_id")];
    let filter = format!("src_job_id = {job}");
    let filtered = top(&["--table", "connections", "-o", "csv", "--filter", &filter]);
    let expected = printed.iter().filter(|row| row[column("src_job_id")] == job).count();
    assert_eq!(filtered.lines().count(), expected + 1);

    let lines = top(&["-o", "jsonl"]);
    let owners = lines.lines().flat_map(|line| {
        let window: Value = serde_json::from_str(line).unwrap();
        window["connection_owners"].as_array().cloned().unwrap_or_default()
    });
    let owners: Vec<Value> = owners.collect();
    assert_eq!(owners.len(), printed.len());
    assert!(owners.iter().all(|row| row["src_process"] == "python"));
}
