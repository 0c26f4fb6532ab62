//! A disk that is full for a while: every probe has a row, or a gap that an event names.

use crate::probe::rails::Rails;
use rocescope_model::{EventRow, PathRow, ProbeRow};
use rocescope_store::scan;
use rocescope_testkit::{Ballast, Running, SmallDisk, binary, until};

#[test]
fn an_agent_resumes_after_a_full_disk_and_names_the_gap() {
    let (Some(rails), Some(disk)) = (Rails::new(0, false), SmallDisk::mount("8m")) else {
        return;
    };
    let root = disk.path().join("data");
    let mut command = rails.command("h", binary());
    command.args([
        "probe",
        "--all",
        "-o",
        "json",
        "--observer",
        "h0",
        "--window",
        "500ms",
        "--segment-age",
        "1s",
    ]);
    command.args(["--keep-free", "1", "--out", root.to_str().unwrap()]);
    let agent = Running::begin(&mut command, "probing between ");
    let rows = || scan(&root).map_or(0, |found| found.row_count("probes"));
    until("rows before the gap", || rows() > 0);
    let ballast = Ballast::fill(disk.path().join("ballast"));
    agent.until_said("not stored so far");
    drop(ballast);
    agent.until_said("the dataset is written again");
    let before = rows();
    until("rows after the gap", || rows() > before);
    let ended = agent.stop("-INT");
    let (summary, said) = (ended.json(), &ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(
        said.contains("not stored so far") && said.contains("the dataset is written again"),
        "{said}"
    );

    let found = scan(&root).unwrap();
    assert_eq!((found.open.len(), found.unreadable.len()), (0, 0));
    let probes: Vec<ProbeRow> = found.rows().unwrap();
    let paths: Vec<PathRow> = found.rows().unwrap();
    let gaps: Vec<EventRow> = found.rows().unwrap();
    let lost: u64 = gaps.iter().map(|gap| gap.count).sum();
    assert!(
        lost > 0
            && gaps
                .iter()
                .all(|gap| &*gap.kind == "not_stored" && &*gap.observer == "h0")
    );
    assert_eq!(summary["dataset"]["lost"].as_u64(), Some(lost), "{summary}");
    let stored = [("probes", probes.len()), ("paths", paths.len())];
    for (key, rows) in stored {
        assert_eq!(summary["dataset"][key].as_u64(), Some(rows as u64), "{key}");
    }
    let missing_probes = summary["probes"].as_u64().unwrap() - probes.len() as u64;
    assert!(
        missing_probes > 0 && missing_probes <= lost,
        "{missing_probes} of {lost}"
    );
    // Rows before and after the gap, none within.
    for gap in &gaps {
        let end_ns = gap.time_ns + gap.value.unwrap() as i64;
        let within = probes
            .iter()
            .filter(|row| (gap.time_ns..=end_ns).contains(&row.time_ns));
        assert!(within.count() <= 2, "probes that were decided before earlier ones");
        assert!(probes.iter().any(|row| row.time_ns < gap.time_ns));
        assert!(probes.iter().any(|row| row.time_ns > end_ns));
    }
}
