//! The metrics for Prometheus: names of the registry, bounded labels, and dashboards that query nothing else.
#![expect(clippy::unwrap_used, clippy::panic, clippy::float_cmp, reason = "it is a test")]

use crate::control::rig::files;
use rocescope_collector::control::Member;
use rocescope_collector::control::message::Role;
use rocescope_collector::metrics as mesh;
use rocescope_collector::metrics::Diagnosed;
use rocescope_collector::metrics::owners::Window;
use rocescope_collector::server::{ControlSettings, Monitor, Refusal, Settings};
use rocescope_collector::{Sender, Server, sender};
use rocescope_diagnose::growth::Sums;
use rocescope_engine::drops::Drops;
use rocescope_engine::metrics::{Measured, Metrics, text};
use rocescope_model::{ConnectionRow, EventRow, FlowRow, OpcodeRow, Row, SlaRow, VerdictRow, WindowRow, WindowRows};
use rocescope_runtime::metrics::serve;
use rocescope_runtime::metrics::serve::Page;
use rocescope_testkit::{Authority, Signed, until};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// A window with `flows` flows; those with lower QPs are larger.
fn window(start_s: i64, flows: u32) -> WindowRows {
    let start = start_s * 1_000_000_000;
    let flow = |qpn: u32| FlowRow {
        window_start_ns: start,
        dst_qpn: qpn,
        service: "RC".into(),
        packets: u64::from(1_000 - qpn),
        frame_bps: 1e9,
        ..FlowRow::default()
    };
    WindowRows {
        windows: vec![WindowRow {
            window_start_ns: start,
            window_ns: 1_000_000_000,
            frames: 12,
            roce_packets: 10,
            frame_bytes: 1_000,
            nak_packets: 2,
            flows: u64::from(flows),
            linear_counting: Some(vec![0; 1 << 16].into()),
            ..WindowRow::default()
        }],
        flows: (0..flows).map(flow).collect(),
        opcodes: vec![OpcodeRow {
            opcode: "RC_SEND_ONLY".into(),
            packets: 10,
            ..OpcodeRow::default()
        }],
        events: vec![EventRow {
            kind: "nak".into(),
            count: 2,
            ..EventRow::default()
        }],
        ..WindowRows::default()
    }
}

/// With connections and `--verify-icrc`.
const TRACKED: Measured = Measured {
    connections: true,
    icrc: true,
};

/// Metrics of a capture on interfaces.
fn live() -> Metrics {
    Metrics::new(3, Some(Arc::new(Drops::begin(&[], false, Arc::default()))), TRACKED)
}

fn page(metrics: &Metrics) -> String {
    text::page(metrics, "rail-\"3\"").unwrap()
}

fn shown(metrics: Metrics, observer: &'static str) -> Page {
    Arc::new(move || text::page(&metrics, observer))
}

/// The value of the only line that begins with `series`.
fn value(page: &str, series: &str) -> f64 {
    let mut lines = page.lines().filter(|line| line.starts_with(series));
    let line = lines.next().unwrap_or_else(|| panic!("{series} in {page}"));
    assert_eq!(lines.next(), None);
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn windows_are_summed_and_flows_are_those_of_the_last() {
    let metrics = Metrics::new(3, None, Measured::default());
    metrics.add(&window(1, 100));
    metrics.add(&window(2, 50));
    let page = page(&metrics);
    assert_eq!(value(&page, "rocescope_windows_total{"), 2.0);
    assert_eq!(value(&page, "rocescope_frames_total{"), 24.0);
    assert_eq!(value(&page, "rocescope_nak_packets_total{"), 4.0);
    assert_eq!(value(&page, "rocescope_flows{"), 50.0);
    assert_eq!(value(&page, "rocescope_frame_bps{"), 8_000.0);
    assert_eq!(value(&page, "rocescope_opcode_packets_total{"), 20.0);
    let naks = "rocescope_events_total{observer=\"rail-\\\"3\\\"\",kind=\"nak\"}";
    assert_eq!(value(&page, naks), 4.0);
    let flows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("rocescope_flow_packets{"))
        .collect();
    assert_eq!(flows.len(), 3, "{flows:?}");
    assert!(flows[0].contains("dst_qpn=\"0\"") && flows[0].ends_with(" 1000.0"));
    assert!(page.contains("observer=\"rail-\\\"3\\\"\""), "{page}");
    assert!(page.ends_with("# EOF\n"));
}

/// A rate needs the zero before the first count.
#[test]
fn counters_are_there_before_the_first_window() {
    let metrics = live();
    let before = page(&metrics);
    metrics.add(&window(1, 5));
    let after = page(&metrics);
    let counters = |page: &str| -> BTreeSet<String> {
        let series = page.lines().filter(|line| line.contains("_total{"));
        let counted = series.filter(|line| !line.starts_with("rocescope_opcode_"));
        counted
            .map(|line| line.rsplit_once(' ').unwrap().0.to_owned())
            .collect()
    };
    assert!(counters(&before).len() > 30, "{before}");
    assert_eq!(counters(&before), counters(&after));
    for series in [
        "windows",
        "nak_packets",
        "interface_dropped_frames",
        "socket_dropped_frames",
    ] {
        assert_eq!(value(&before, &format!("rocescope_{series}_total{{")), 0.0);
    }
}

#[test]
fn sketches_are_not_exported_and_labels_stay_bounded() {
    let metrics = Metrics::new(20, None, Measured::default());
    for second in 0..1_000 {
        let mut rows = window(second, 30);
        for flow in &mut rows.flows {
            flow.udp_src_port = Some(u16::try_from(second).unwrap());
        }
        metrics.add(&rows);
    }
    let page = page(&metrics);
    let lines = page.lines().filter(|line| !line.starts_with('#')).count();
    let most = 20 * 4 + WindowRow::TABLE.columns.len() + EventRow::KINDS.len() + 20;
    assert!(lines < most, "{lines}");
}

/// Two windows with a verdict each.
fn diagnosed() -> Diagnosed {
    let diagnosed = Diagnosed::default();
    let verdict = VerdictRow {
        class: "loss".into(),
        place_kind: "link".into(),
        ..VerdictRow::default()
    };
    for late in [0, 3] {
        let sla = SlaRow {
            probes: 100,
            late,
            hosts: 4,
            network_p50_ns: Some(3_000),
            network_p99_ns: Some(7_000),
            network_p999_ns: Some(9_000),
            asymmetric_ratio: Some(0.0),
            switch_drop_ratio: Some(0.0),
            ..SlaRow::default()
        };
        diagnosed.add(&sla, std::slice::from_ref(&verdict));
    }
    diagnosed.add_revised();
    for (began, open) in [(0, 0), (2, 2), (1, 1)] {
        diagnosed.add_hosts([("link_down", began, open), ("jitter", 0, 0)]);
    }
    diagnosed
}

/// A collector and controller without connections, whose certificate is also that of an agent.
fn collector(directory: &Path) -> Server {
    Authority::new(directory).sign("collector", &["localhost"]);
    let at = |name: &str| directory.join(name);
    let listen = "127.0.0.1:0".parse().unwrap();
    let mut settings = Settings::new(listen, files(Signed::of(directory, "collector")), at("dataset"));
    settings.control = Some(ControlSettings {
        directory: at("control"),
        first: Some("operators = [\"ops\"]\n[[group]]\nname = \"hosts\"\nmembers = [\"local*\"]\n".into()),
    });
    Server::start(settings, None).unwrap()
}

/// An agent of its controller, when it runs the version in force.
fn member(directory: &Path, collector: &Server) -> Sender {
    let member = Member::new(
        Role::Agent,
        &directory.join("held"),
        None,
        Box::new(|_| Ok(())),
        Arc::new(|_| {}),
    );
    let member = Arc::new(member);
    let url = format!("https://localhost:{}", collector.address().port());
    let settings = sender::Settings::new(url, files(Signed::of(directory, "collector")), "localhost");
    let sender = Sender::start_with(None, Some(Arc::clone(&member)), settings).unwrap();
    until("a version comes", || member.take().is_some());
    until("it runs", || {
        collector.monitor().controller().unwrap().members[0].state.running == 1
    });
    sender
}

#[test]
fn a_collector_exports_its_agents_and_the_mesh() {
    let directory = tempfile::tempdir().unwrap();
    let collector = collector(directory.path());
    let mut stranger = TcpStream::connect(collector.address()).unwrap();
    stranger.write_all(&[0xff; 100]).unwrap();
    let _ = stranger.read_to_end(&mut Vec::new());
    let monitor: Monitor = collector.monitor();
    while monitor.status().refusals.is_empty() {
        std::thread::yield_now();
    }
    let page = mesh::page(&monitor, Some(&diagnosed()), "c0").unwrap();
    assert_eq!(value(&page, "rocescope_collector_agents{"), 0.0);
    assert_eq!(value(&page, "rocescope_collector_rows_total{"), 0.0);
    let refusals = |reason: &str| format!("rocescope_collector_refusals_total{{observer=\"c0\",reason=\"{reason}\"}} ");
    for reason in Refusal::ALL {
        let met = f64::from(u8::from(*reason == Refusal::NoTls));
        assert_eq!(value(&page, &refusals(reason.name())), met, "{page}");
    }
    assert_eq!(value(&page, "rocescope_sla_windows_total{"), 2.0);
    assert_eq!(value(&page, "rocescope_sla_revised_windows_total{"), 1.0);
    assert_eq!(value(&page, "rocescope_sla_probes_total{"), 200.0);
    assert_eq!(value(&page, "rocescope_sla_late_total{"), 3.0);
    assert_eq!(value(&page, "rocescope_sla_hosts{"), 4.0);
    assert_eq!(value(&page, "rocescope_sla_network_p99_ns{"), 7_000.0);
    let verdicts = "rocescope_verdicts_total{observer=\"c0\",class=\"loss\",place_kind=\"link\"}";
    assert_eq!(value(&page, verdicts), 2.0);
    let faults = |metric: &str, class: &str| format!("rocescope_host_{metric}{{observer=\"c0\",class=\"{class}\"}} ");
    assert_eq!(value(&page, &faults("faults_total", "link_down")), 3.0);
    assert_eq!(value(&page, &faults("faults_open", "link_down")), 1.0);
    assert_eq!(value(&page, &faults("faults_total", "jitter")), 0.0);
    let without = mesh::page(&monitor, None, "c0").unwrap();
    assert!(
        !without.contains("rocescope_sla_") && !without.contains("host_faults"),
        "{without}"
    );
}

#[test]
fn a_controller_exports_where_its_members_stand() {
    let directory = tempfile::tempdir().unwrap();
    let collector = collector(directory.path());
    let monitor = collector.monitor();
    let page = || mesh::page(&monitor, None, "c0").unwrap();
    let members = |page: &str, state: &str| {
        let series = format!("rocescope_controller_members{{observer=\"c0\",group=\"hosts\",state=\"{state}\"}} ");
        value(page, &series)
    };
    assert_eq!(value(&page(), "rocescope_controller_version{"), 1.0);
    let sender = member(directory.path(), &collector);
    let up = page();
    assert_eq!((members(&up, "current"), members(&up, "away")), (1.0, 0.0));
    let oldest = "rocescope_controller_oldest_version{observer=\"c0\",group=\"hosts\"} ";
    assert_eq!(value(&up, oldest), 1.0);
    drop(sender);
    until("it", || members(&page(), "away") == 1.0);
    let away = page();
    assert_eq!((members(&away, "current"), members(&away, "behind")), (0.0, 0.0));
    assert!(!away.contains(oldest), "what it runs is unknown: {away}");
}

/// The names of all metrics of a capture and a collector.
fn known() -> BTreeSet<String> {
    let metrics = live();
    metrics.add(&window(1, 5));
    let directory = tempfile::tempdir().unwrap();
    let collector = collector(directory.path());
    let _member = member(directory.path(), &collector);
    let diagnosed = diagnosed();
    let open = [("loss", "leaf1>spine1".to_owned(), "certain")];
    diagnosed.incidents().set(open.into_iter());
    diagnosed.incidents().show(Arc::default());
    let sums = Sums {
        payload_bytes: 1,
        ..Sums::default()
    };
    diagnosed.owners().set(Window {
        length_ns: 1,
        owners: vec![("job 1".to_owned(), sums)],
        crowded_out: 0,
    });
    let slow = ConnectionRow {
        rtt_p99_ns: Some(1),
        ..ConnectionRow::default()
    };
    diagnosed.worst().add(&slow, 1, 1);
    diagnosed.worst().end();
    let mesh = mesh::page(&collector.monitor(), Some(&diagnosed), "collector").unwrap();
    let page = page(&metrics) + &mesh;
    let series = page.lines().filter(|line| !line.starts_with('#'));
    series
        .filter_map(|line| line.split(['{', ' ']).next())
        .map(str::to_owned)
        .collect()
}

/// The names of metrics in a text.
fn asked(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_name(c));
    let is_metric = |word: &&str| word.starts_with("rocescope_") || word.starts_with("process_");
    words.filter(is_metric).map(str::to_owned).collect()
}

const DASHBOARDS: [(&str, &str); 4] = [
    ("rocescope", include_str!("../../../../deploy/grafana/rocescope.json")),
    ("incidents", include_str!("../../../../deploy/grafana/incidents.json")),
    ("jobs", include_str!("../../../../deploy/grafana/jobs.json")),
    ("switches", include_str!("../../../../deploy/grafana/switches.json")),
];

/// A query for a missing metric stays empty without any error.
#[test]
fn the_dashboards_query_existing_metrics() {
    let known = known();
    for (name, dashboard) in DASHBOARDS {
        let json: serde_json::Value = serde_json::from_str(dashboard).unwrap();
        let panels = json["panels"].as_array().unwrap();
        assert!(panels.len() > 5, "{name}");
        let asked = asked(dashboard);
        assert!(asked.len() > 3, "{name}");
        let unknown: Vec<_> = asked.difference(&known).collect();
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
        // Cores and bytes on one axis hide each other.
        for panel in panels.iter().filter(|panel| panel["type"] != "row") {
            let targets = panel["targets"].as_array().unwrap();
            let units: BTreeSet<bool> = targets
                .iter()
                .map(|target| target["expr"].as_str().unwrap().contains("_memory_bytes"))
                .collect();
            assert_eq!(units.len(), 1, "{name}: {}", panel["title"]);
        }
    }
}

/// The folder of the package has them all, so that each is checked.
#[test]
fn every_dashboard_is_checked() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/grafana");
    let files = std::fs::read_dir(folder).unwrap();
    let names: BTreeSet<_> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        names,
        DASHBOARDS.iter().map(|(name, _)| format!("{name}.json")).collect()
    );
}

/// Queries that Prometheus cannot read stay empty too.
#[test]
fn prometheus_reads_the_queries_of_the_dashboards() {
    let mut rules = String::from("groups:\n  - name: dashboards\n    rules:\n");
    let mut count = 0;
    for (_, dashboard) in DASHBOARDS {
        let json: serde_json::Value = serde_json::from_str(dashboard).unwrap();
        let panels = json["panels"].as_array().unwrap().iter();
        for target in panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten()) {
            let query = target["expr"].as_str().unwrap().replace("$__rate_interval", "5m");
            let query = serde_json::Value::from(query);
            count += 1;
            writeln!(rules, "      - record: query:{count}\n        expr: {query}").unwrap();
        }
    }
    assert!(count > 50, "{count}");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rules.yml");
    std::fs::write(&file, rules).unwrap();
    match Command::new("promtool").args(["check", "rules"]).arg(file).output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) if std::env::var_os("CI").is_none() => eprintln!("skipped: promtool: {error}"),
        Err(error) => panic!("promtool: {error}"),
    }
}

/// An alert on a missing metric never fires.
#[test]
fn the_alert_rules_name_existing_metrics() {
    let rules = include_str!("../../../../deploy/prometheus/rocescope.rules.yml");
    let expressions = rules.lines().filter(|line| !line.trim_start().starts_with(['#', '-']));
    let mut asked = asked(&expressions.collect::<Vec<_>>().join("\n"));
    asked.retain(|name| !name.ends_with("_pct"));
    assert!(asked.len() > 10, "{asked:?}");
    let known = known();
    let unknown: Vec<_> = asked.difference(&known).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// The alerts fire when they should, and only then.
#[test]
fn promtool_accepts_the_alert_rules_and_their_tests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/prometheus");
    let promtool = |arguments: &[&str]| Command::new("promtool").args(arguments).current_dir(&folder).output();
    for arguments in [
        ["check", "rules", "rocescope.rules.yml"],
        ["test", "rules", "rocescope.rules.test.yml"],
    ] {
        match promtool(&arguments) {
            Ok(output) => assert!(output.status.success(), "{output:?}"),
            Err(error) if std::env::var_os("CI").is_none() => eprintln!("skipped: promtool: {error}"),
            Err(error) => panic!("promtool: {error}"),
        }
    }
}

/// Fabric loss, retransmissions and round trips are metrics; where nothing measures them, they are unknown, not 0.
#[test]
fn connections_become_metrics_only_if_they_are_tracked() {
    let mut rows = window(1, 5);
    rows.windows[0].fabric_lost_packets = Some(15);
    rows.windows[0].retransmitted_packets = Some(412);
    rows.connections = vec![ConnectionRow {
        connection: 1,
        role: "a_to_b".into(),
        // Two round trips of 64 ns, one of 4,096 ns.
        rtt_histogram: vec![6, 64, 2, 64 * 7, 1],
        ..ConnectionRow::default()
    }];
    let metrics = live();
    assert_eq!(value(&page(&metrics), "rocescope_fabric_lost_packets_total{"), 0.0);
    metrics.add(&rows);
    metrics.add(&rows);
    let page = page(&metrics);
    assert_eq!(value(&page, "rocescope_fabric_lost_packets_total{"), 30.0);
    assert_eq!(value(&page, "rocescope_retransmitted_packets_total{"), 824.0);
    // The second row has the totals of the first.
    assert_eq!(value(&page, "rocescope_rtt_seconds_count{"), 3.0);
    let bucket = |le: &str| format!("rocescope_rtt_seconds_bucket{{observer=\"rail-\\\"3\\\"\",le=\"{le}\"}} ");
    assert_eq!(value(&page, &bucket("+Inf")), 3.0, "{page}");
    let untracked = Metrics::new(3, None, Measured::default());
    untracked.add(&window(1, 5));
    let page = text::page(&untracked, "here").unwrap();
    for name in ["fabric_lost", "retransmitted", "mirror_lost", "rtt_seconds", "icrc_bad"] {
        assert!(!page.contains(&format!("rocescope_{name}")), "{name} in {page}");
    }
}

/// A minute shows what its rows count beyond those of the minute before.
#[test]
fn the_worst_connections_are_those_of_the_last_minute() {
    let row = |second: i64, lost: u64| ConnectionRow {
        connection: 1,
        role: "a_to_b".into(),
        state: "active".into(),
        src: [10, 0, 0, 1].into(),
        src_qpn: Some(17),
        dst: [10, 0, 0, 2].into(),
        dst_qpn: Some(18),
        time_ns: second * 1_000_000_000,
        first_ns: Some(0),
        packets: 100 + lost,
        fabric_lost_upstream_packets: lost,
        rtt_p99_ns: Some(5_000),
        ..ConnectionRow::default()
    };
    let metrics = live();
    let minute = |start_s: i64, rows: Vec<ConnectionRow>| {
        let mut window = window(start_s, 5);
        window.connections = rows;
        metrics.add(&window);
        page(&metrics)
    };
    let lost = "rocescope_worst_fabric_lost_packets{observer=\"rail-\\\"3\\\"\",src=\"10.0.0.1\",src_qpn=\"17\",\
                dst=\"10.0.0.2\",dst_qpn=\"18\"} ";
    assert!(!minute(59, vec![row(59, 3)]).contains(lost), "the minute has not ended");
    assert_eq!(value(&minute(60, Vec::new()), lost), 3.0);
    minute(119, vec![row(119, 10)]);
    let page = minute(120, Vec::new());
    assert_eq!(value(&page, lost), 7.0);
    assert_eq!(value(&page, "rocescope_worst_rtt_p99_seconds{"), 5e-6);
    assert!(!minute(180, Vec::new()).contains(lost), "nothing was lost");
}

#[test]
fn the_process_has_its_standard_names_and_every_metric_a_help_of_its_own() {
    let page = page(&live());
    for name in [
        "process_cpu_seconds_total{",
        "process_resident_memory_bytes{",
        "process_open_fds{",
        "process_start_time_seconds{",
        "rocescope_build_info{",
    ] {
        assert!(value(&page, name) > 0.0, "{name} in {page}");
    }
    assert!(!page.contains("rocescope_process_"), "{page}");
    for help in page.lines().filter(|line| line.starts_with("# HELP ")) {
        for word in [" null", "`", "this window", "column"] {
            assert!(!help.contains(word), "{help}");
        }
    }
}

fn ask(address: std::net::SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    // The peer may reset a connection with an invalid request.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn the_endpoint_survives_bad_clients() {
    let metrics = Metrics::new(3, None, Measured::default());
    metrics.add(&window(1, 5));
    let address = serve("127.0.0.1:0".parse().unwrap(), shown(metrics, "here")).unwrap();
    for _ in 0..3 {
        let series = "rocescope_frames_total{observer=\"here\"} 12\n";
        let answer = ask(address, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("content-type: text/plain; version=0.0.4"));
        assert!(answer.contains("# TYPE rocescope_frames_total counter\n"));
        assert!(answer.contains(series) && !answer.contains("# EOF"));
        // The request that Prometheus sends.
        let accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
        let request = format!("GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\n\r\n");
        let answer = ask(address, request.as_bytes());
        assert!(answer.contains("content-type: application/openmetrics-text"));
        assert!(answer.contains("# TYPE rocescope_frames counter\n"));
        assert!(answer.contains(series) && answer.ends_with("# EOF\n"));
        let wrong = ask(address, b"GET /else HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(wrong.starts_with("HTTP/1.1 404"), "{wrong}");
        ask(address, &[0xff; 100_000]);
        // A client that connects, sends nothing and leaves.
        let mut silent = TcpStream::connect(address).unwrap();
        silent.shutdown(Shutdown::Write).unwrap();
        assert_eq!(silent.read_to_end(&mut Vec::new()).unwrap(), 0);
    }
    // A client that never sends a request occupies one of a few slots, not the last.
    let idle: Vec<TcpStream> = (0..8).map(|_| TcpStream::connect(address).unwrap()).collect();
    let answer = ask(address, b"GET /metrics HTTP/1.0\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.0 200 OK") || answer.starts_with("HTTP/1.1 200 OK"));
    drop(idle);
    let taken = serve(address, shown(Metrics::new(1, None, Measured::default()), "there")).unwrap_err();
    assert!(format!("{taken:#}").starts_with(&format!("cannot serve metrics at {address}: ")));
}
