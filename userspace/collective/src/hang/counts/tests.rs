use crate::document::hangs::sentence;
use crate::hang::Hangs;
use crate::read::{File, Imported, nccl_ras};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A rank that answered, as NCCL writes it.
fn answered(rank: u32, gathers: u64, reduces: u64) -> String {
    format!(
        "{{\n\"rank\": {rank},\n\"host\": \"10.0.0.{rank}\",\n\"pid\": 7,\n\"nvml_dev\": 0,\n\"status\": {{\n\"init_state\": 0,\n\
         \"async_error\": 0,\n\"finalize_called\": false,\n\"abort_flag\": false\n}},\n\"collective_counts\": {{\n\
         \"AllGather\": {gathers},\n\"AllReduce\": {reduces},\n\"Send\": {rank}\n}}\n}}"
    )
}

/// One that did not; NCCL 2.28 writes no comma before its status.
fn missing(rank: u32, status: &str) -> String {
    format!(
        "{{\n\"rank\": {rank},\n\"host\": \"10.0.0.{rank}\",\n\"nvml_dev\": 1\n\"status\": {{\n\"{status}\": true\n}}\n}}"
    )
}

fn report(second: u32, ranks: &[String], missing: &[String]) -> File {
    let size = ranks.len() + missing.len();
    File {
        name: "ras.json".into(),
        text: format!(
            "{{\n\"timestamp\": \"2026-06-19 06:51:{second:02}\",\n\"communicators\": [\n{{\n\"hash\": \"0x51\",\n\"size\": {size},\n\
             \"ranks\": [\n{}\n],\n\"missing_ranks\": [\n{}\n]\n}}\n]\n}}\n",
            ranks.join(",\n"),
            missing.join(",\n")
        ),
    }
}

fn hang(reports: &[File]) -> Option<(&'static str, String)> {
    let Imported { steps, .. } = nccl_ras::read(reports, "test");
    let mut hangs = Hangs::default();
    // Rows of a dataset come in any order.
    steps.iter().rev().for_each(|row| hangs.add(row));
    let found = hangs.find();
    assert!(found.len() < 2);
    found
        .first()
        .map(|hang| (hang.class.name(), sentence(hang, "Collective")))
}

#[test]
fn the_rank_that_is_the_reason_is_named() {
    let all = |gathers, reduces| -> Vec<String> { [0, 1, 2].map(|rank| answered(rank, gathers, reduces)).into() };
    let with = |gathers, reduces| -> Vec<String> {
        let ranks = [answered(0, 2, 6), answered(1, gathers, reduces), answered(2, 2, 6)];
        ranks.into()
    };
    let without: Vec<String> = [answered(0, 2, 6), answered(2, 2, 6)].into();
    let silent = |status| [report(0, &without, &[missing(1, status)])];
    let second = "; a second report, a minute later, would show whether the job goes on; rank 1 is at 10.0.0.1";
    let still = "; no rank called another in the 40.0 s between two reports";
    let cases: [(&[File], &str, String); 7] = [
        (
            &silent("unresponsive"),
            "rank_missing",
            format!("8 of group 0x51 may hang: rank 1 does not answer, ranks 0, 2 called AllGather 2, AllReduce 6{second}"),
        ),
        (
            &silent("considered_dead"),
            "rank_missing",
            format!("8 of group 0x51 hangs: rank 1 is considered dead, ranks 0, 2 called AllGather 2, AllReduce 6{second}"),
        ),
        (
            &silent("other"),
            "rank_missing",
            format!(
                "8 of group 0x51 may hang: rank 1 lives and does not have the communicator, ranks 0, 2 called AllGather 2, \
                 AllReduce 6{second}"
            ),
        ),
        (
            &[report(0, &with(2, 5), &[])],
            "rank_missing",
            format!("8 of group 0x51 may hang: rank 1 never called it (last: 7), ranks 0, 2 did (AllReduce){second}"),
        ),
        (
            &[report(0, &with(2, 5), &[]), report(40, &with(2, 5), &[])],
            "rank_missing",
            format!(
                "8 of group 0x51 hangs: rank 1 never called it (last: 7), ranks 0, 2 did (AllReduce){still}; rank 1 is at \
                 10.0.0.1"
            ),
        ),
        (
            &[report(0, &with(3, 5), &[])],
            "calls_differ",
            "8 of group 0x51 hangs: rank 1 called AllGather 3, AllReduce 5, most others called AllGather 2, AllReduce 6; rank \
             1 is at 10.0.0.1"
                .into(),
        ),
        (
            &[report(0, &all(2, 6), &[]), report(40, &all(2, 6), &[])],
            "collective_stuck",
            format!(
                "8 of group 0x51 may hang: ranks 0, 1, 2 called it (AllGather 2, AllReduce 6); whether it has completed is \
                 unknown{still}"
            ),
        ),
    ];
    for (reports, class, text) in cases {
        assert_eq!(hang(reports), Some((class, format!("Collective {text}"))));
    }
    // One report with equal counts, and a job that goes on, show no hang: ranks are never asked at the same moment.
    assert_eq!(hang(&[report(0, &all(2, 6), &[])]), None);
    assert_eq!(hang(&[report(0, &with(2, 5), &[]), report(40, &with(2, 6), &[])]), None);
    assert_eq!(hang(&[report(0, &all(2, 5), &[]), report(40, &with(2, 5), &[])]), None);
    // What is between two ranks is no collective of all.
    assert_eq!(hang(&[report(0, &[answered(0, 0, 1), answered(4, 0, 1)], &[])]), None);
}

#[test]
fn an_error_of_a_rank_is_stated_and_damage_is_skipped() {
    let failed = answered(0, 1, 1).replace("\"async_error\": 0", "\"async_error\": 6");
    let mut file = report(0, &[failed, answered(1, 1, 1)], &[]);
    let all = nccl_ras::read(core::slice::from_ref(&file), "test");
    let line = "communicator 0x51, rank 0: NCCL reports an error: another process or the network failed (error 6)";
    assert_eq!(all.complaints.lines()[0], line);
    assert_eq!((all.steps.len(), all.steps[0].time_ns), (2, 1_781_851_860_000_000_000));
    file.text.truncate(file.text.len() / 2);
    let all = nccl_ras::read(&[file], "test");
    assert!(all.steps.is_empty() && !all.complaints.is_empty());
}
