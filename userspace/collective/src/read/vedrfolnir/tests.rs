use super::*;
use crate::telemetry::Source;
use alloc::string::ToString;

const TOPOLOGY: &str = "\
4 2 3
0 1
2 0 25Gbps 0.003ms 0
3 1 25Gbps 0.003ms 0
0 1 25Gbps 0.003ms 0

First line: total node #
";

const FCT: &str = "\
2 3 1 1 3 10000 10000 100 0 34 33
3 2 1 2 2 10000 10000 100 0 30 29
### 2 3 10001 10001 500 7 40 20
2 3 2 2 3 10000 10000 100 34 34 33
";

const TELEMETRY: &str = "\
time 20

signal

epoch now

traffic meter form port 1 to port 2
portToPortBytes
4000

port telemetry data for port 2
enqQdepth pfcPausedPacketNum packetNum
90 3 12

flow telemetry data for port 2
flowIdx srcIp dstIp srcPort dstPort protocol minSeq maxSeq packetNum enqQdepth pfcPausedPacketNum
7 0b000201 0b000301 10000 10000 17 0 5 12 90 3

epoch last

port telemetry data for port 2
enqQdepth pfcPausedPacketNum packetNum
0 0 0

flow telemetry data for port 2
flowIdx srcIp dstIp srcPort dstPort protocol minSeq maxSeq packetNum enqQdepth pfcPausedPacketNum

end
";

fn files() -> Files {
    Files {
        fct: Some(FCT.to_string()),
        pfc: Some("5 0 1 2 1\n9 0 1 2 0\n11 3 0 1 1\n".to_string()),
        topology: Some(TOPOLOGY.to_string()),
        telemetry: Vec::from([("0".to_string(), TELEMETRY.to_string())]),
    }
}

#[test]
fn steps_wait_for_what_their_host_received_when_the_step_before_completed() {
    let all = read(&files(), "run", "here");
    assert_eq!(all.complaints.lines(), [] as [&str; 0]);
    assert_eq!(all.steps.len(), 4);
    let step = &all.steps[3];
    assert_eq!((&*step.host, step.step, &*step.dst_host), ("2", 2, "3"));
    assert_eq!(step.awaited_host.as_deref(), Some("3"));
    assert_eq!(
        (step.awaited_step, step.duration_ns, step.expected_ns),
        (Some(1), Some(34), Some(33))
    );
    assert_eq!(
        (&*step.collective, &*step.observer, &*step.format),
        ("run", "here", "vedrfolnir")
    );
    assert_eq!(step.src, Some([11, 0, 2, 1].into()));
    // Another flow is no step.
    assert_eq!((all.steps[2].step, all.steps[2].src_port), (0, Some(10_001)));
    assert!(all.steps[0].waits_known && all.steps[1].waits_known && all.steps[0].awaited_host.is_none());
}

#[test]
fn reports_and_pauses_become_rows_and_reports_again() {
    let all = read(&files(), "run", "here");
    let telemetry = all.telemetry.as_slice().telemetry();
    assert_eq!((telemetry.reports.len(), telemetry.pauses.len()), (1, 2));
    let report = &telemetry.reports[0];
    assert_eq!(
        (&*report.switch, report.time_ns, report.trigger.name()),
        ("0", 20, "pause")
    );
    let port = &report.now[0];
    assert_eq!(
        (port.queued, port.paused, port.packets, port.flows.len()),
        (90, 3, 12, 1)
    );
    // Port 1 of switch 0 leads to host 2, port 2 to port 2 of switch 1.
    let (from, upstream, bytes) = port.metered.as_ref().unwrap();
    assert_eq!(
        (&**from, &*upstream.port.as_ref().unwrap().switch, *bytes),
        ("1", "2", 4_000)
    );
    let peer = port.peer.port.as_ref().unwrap();
    assert_eq!((&*peer.switch, &*peer.port, port.peer.is_host), ("1", "2", Some(false)));
    assert_eq!((report.last.len(), report.last[0].packets), (1, 0));
    let ends: Vec<_> = telemetry.pauses.iter().map(|pause| pause.duration_ns).collect();
    assert_eq!(ends, [Some(4), None]);
}

#[test]
fn files_that_are_cut_or_damaged_cost_the_lines_that_are_damaged() {
    let whole = read(&files(), "run", "here");
    for length in 0..FCT.len().max(TELEMETRY.len()) {
        let cut = |text: &str| text.get(..length.min(text.len())).unwrap_or_default().to_string();
        let all = read(
            &Files {
                fct: Some(cut(FCT)),
                pfc: None,
                topology: Some(cut(TOPOLOGY)),
                telemetry: Vec::from([("0".to_string(), cut(TELEMETRY))]),
            },
            "run",
            "here",
        );
        assert!(all.steps.len() <= whole.steps.len());
        // At most one line for the end of each file, and the two of the topology.
        assert!(all.complaints.lines().len() <= 4, "{:?}", all.complaints.lines());
    }
    let mut damaged = files();
    damaged.fct = Some(FCT.replace("30 29", "30 x"));
    let all = read(&damaged, "run", "here");
    assert_eq!(all.steps.len(), 3);
    assert_eq!(
        all.complaints.lines(),
        ["fct.txt:2: not the numbers of a step; skipped"]
    );
}

#[test]
fn what_is_not_there_is_said() {
    let all = read(&Files::default(), "run", "here");
    assert_eq!(
        all.complaints.lines(),
        [
            "topology.txt: no such file: it is unknown which ports are linked, so pauses cannot be tracked",
            "fct.txt: no such file: there are no steps",
            "telemetry_SWITCH.txt: no such file: the causes of slow steps are unknown",
        ]
    );
}
