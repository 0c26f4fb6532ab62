//! Traffic by owner as metrics of a collector: each minute, of what the rows of capture boxes grew by.

use crate::collector::{Collector, SECOND, START};
use rocescope_collector::metrics::page::{self, CollectorMetrics};
use rocescope_model::{ConnectionRow, QueuePairRow, Time};

const fn at(seconds: i64) -> i64 {
    START + seconds * SECOND
}

/// The queue pair of a job on host `10.0.0.HOST`.
fn pair(host: u8, job: &str) -> QueuePairRow {
    QueuePairRow {
        observer: format!("gpu-{host}").into(),
        time: Time(at(-200)),
        time_ns: at(-200),
        first_ns: at(-200),
        device: "mlx5_0".into(),
        local_qpn: 7,
        pid: Some(42),
        job_id: Some(job.to_owned().into()),
        port_addresses: Some(format!("10.0.0.{host}").into()),
        ..QueuePairRow::default()
    }
}

/// What a host sent since the start.
fn row(host: u8, seconds: i64, payload_bytes: u64) -> ConnectionRow {
    ConnectionRow {
        observer: "tap".into(),
        time: Time(at(seconds)),
        time_ns: at(seconds),
        connection: host.into(),
        role: "a_to_b".into(),
        state: "active".into(),
        src: [10, 0, 0, host].into(),
        dst: [10, 0, 0, 9].into(),
        src_qpn: Some(7),
        dst_qpn: Some(7),
        packets: payload_bytes / 1_000,
        payload_bytes,
        fabric_lost_upstream_packets: payload_bytes / 10_000,
        retransmitted_packets: payload_bytes / 5_000,
        first_ns: Some(at(0)),
        last_ns: at(seconds),
        ..ConnectionRow::default()
    }
}

/// The series of owners, each without the name of the collector.
fn series(collector: &Collector) -> Vec<String> {
    series_of(collector, "rocescope_owner_")
}

fn series_of(collector: &Collector, start: &str) -> Vec<String> {
    let page = page::page(CollectorMetrics::default(), Some(&collector.diagnosed), "c").unwrap();
    let lines = page.lines().filter(|line| line.starts_with(start));
    let mut lines: Vec<String> = lines
        .map(|line| line.replace("observer=\"c\",", "").replace("{observer=\"c\"}", ""))
        .collect();
    lines.sort();
    lines
}

fn payload(collector: &Collector) -> Vec<String> {
    let prefix = "rocescope_owner_payload_bytes{owner=";
    let all = series(collector).into_iter();
    all.filter_map(|line| Some(line.strip_prefix(prefix)?.to_owned()))
        .collect()
}

#[test]
fn each_minute_has_what_the_rows_of_jobs_grew_by() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    let mut collector = Collector::start(&dataset, START, None);
    collector.store(&vec![row(1, 30, 10_000)]);
    collector.advance_to(at(70));
    collector.due();
    // Without agents there is no owner.
    assert_eq!(series(&collector), [""; 0]);

    // Hosts 1 and 2 are of a job; host 3 has no agent.
    collector.store(&vec![pair(1, "4711"), pair(2, "4711"), pair(4, "4712")]);
    let rows = vec![
        row(1, 90, 40_000),
        row(2, 90, 50_000),
        row(3, 90, 7_000),
        row(4, 90, 20_000),
    ];
    collector.store(&rows);
    assert_eq!(series(&collector), [""; 0]);
    collector.advance_to(at(131));
    collector.due();
    assert_eq!(
        series(&collector),
        [
            "rocescope_owner_fabric_lost_packets{owner=\"job 4711\"} 8.0",
            "rocescope_owner_fabric_lost_packets{owner=\"job 4712\"} 2.0",
            "rocescope_owner_fabric_lost_packets{owner=\"unknown\"} 0.0",
            "rocescope_owner_payload_bytes{owner=\"job 4711\"} 80000.0",
            "rocescope_owner_payload_bytes{owner=\"job 4712\"} 20000.0",
            "rocescope_owner_payload_bytes{owner=\"unknown\"} 7000.0",
            "rocescope_owner_retransmitted_packets{owner=\"job 4711\"} 16.0",
            "rocescope_owner_retransmitted_packets{owner=\"job 4712\"} 4.0",
            "rocescope_owner_retransmitted_packets{owner=\"unknown\"} 1.0",
            "rocescope_owner_untracked_rows_total 0",
            "rocescope_owner_window_seconds 61.0",
        ]
    );
    collector.store(&vec![row(2, 150, 51_000)]);
    collector.advance_to(at(200));
    collector.due();
    assert_eq!(payload(&collector), ["\"job 4711\"} 1000.0"]);
    collector.stop();

    // The next collector knows owners and totals, and counts nothing a second time.
    let mut next = Collector::start(&dataset, at(205), None);
    next.store(&vec![row(2, 210, 53_000), row(4, 210, 26_000)]);
    next.advance_to(at(270));
    next.due();
    assert_eq!(payload(&next), ["\"job 4711\"} 2000.0", "\"job 4712\"} 6000.0"]);
    next.stop();
}

#[test]
fn a_cluster_of_many_jobs_has_as_many_series_as_are_allowed() {
    let directory = tempfile::tempdir().unwrap();
    let mut collector = Collector::start(&directory.path().join("dataset"), START, None);
    collector.store(&(1..=200).map(|host| pair(host, &format!("{host}"))).collect::<Vec<_>>());
    let rows = (1..=200).map(|host| row(host, 60, 1_000 * u64::from(host)));
    collector.store(&rows.collect::<Vec<_>>());
    collector.advance_to(at(70));
    collector.due();
    let payload = payload(&collector);
    assert_eq!(payload.len(), 51);
    // Jobs 1 to 150.
    assert!(payload.contains(&"\"other\"} 11325000.0".to_owned()), "{payload:?}");
    assert!(payload.contains(&"\"job 151\"} 151000.0".to_owned()), "{payload:?}");
    collector.stop();
}

/// They need no agent, and a collector that starts again counts nothing a second time.
#[test]
fn the_worst_connections_are_those_of_the_last_minute() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    let mut collector = Collector::start(&dataset, START, None);
    let lost = |collector: &Collector| series_of(collector, "rocescope_worst_fabric_lost_packets{");
    let series = |host: u8, lost: &str| {
        format!(
            "rocescope_worst_fabric_lost_packets{{src=\"10.0.0.{host}\",src_qpn=\"7\",dst=\"10.0.0.9\",dst_qpn=\"7\"}} {lost}"
        )
    };
    collector.store(
        &(1..=20)
            .map(|host| row(host, 30, 10_000 * u64::from(host)))
            .collect::<Vec<_>>(),
    );
    assert_eq!(lost(&collector), [""; 0]);
    collector.advance_to(at(70));
    collector.due();
    let shown = lost(&collector);
    assert_eq!(shown.len(), 10);
    assert!(
        shown.contains(&series(20, "20.0")) && shown.contains(&series(11, "11.0")),
        "{shown:?}"
    );
    collector.stop();

    let mut next = Collector::start(&dataset, at(75), None);
    next.store(&vec![row(2, 90, 50_000)]);
    next.advance_to(at(140));
    next.due();
    assert_eq!(lost(&next), [series(2, "3.0")]);
    next.stop();
}
