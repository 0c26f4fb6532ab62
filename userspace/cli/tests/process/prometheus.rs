//! `paths prometheus`: counters of switches from a real Prometheus server, and from one that refuses, hangs and breaks off.

use rocescope_model::SwitchPortRow;
use rocescope_store::{Query, Rows};
use rocescope_testkit::{Running, command, fails_in_ci, until};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a server does with a request.
enum Reply {
    Body(String),
    Status(&'static str),
    /// It sends a part of what it announced.
    Cut,
    /// It sends nothing.
    Hang,
}

/// A server of HTTP; `reply` gets the request line and the headers. Returns its address.
fn serve(mut reply: impl FnMut(&str) -> Reply + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let request: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let sent = match reply(&request.join("\n")) {
                Reply::Body(body) => {
                    let length = body.len();
                    format!(
                        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nContent-Type: text/plain; version=0.0.4\r\nConnection: close\r\n\r\n{body}"
                    )
                }
                Reply::Status(status) => format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n"),
                Reply::Cut => "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"status\":".into(),
                Reply::Hang => {
                    silent.push(stream);
                    continue;
                }
            };
            // A client that has gone needs no answer.
            let _ = stream.write_all(sent.as_bytes());
        }
    });
    address
}

/// The rows of a dataset in the order of time, port and queue.
pub(crate) fn rows(dataset: &Path) -> Vec<SwitchPortRow> {
    let scan = Query::default().open(dataset).unwrap();
    let mut rows = Vec::new();
    Rows::<SwitchPortRow>::of(&[scan])
        .for_each(|row| rows.push(row))
        .unwrap();
    rows.sort_by(|a, b| (a.time_ns, &*a.port_name, a.queue).cmp(&(b.time_ns, &*b.port_name, b.queue)));
    rows
}

/// The samples of a metric, as the server itself answers: port, then time in milliseconds and value.
fn asked(server: &str, metric: &str) -> BTreeMap<String, Vec<(i64, u64)>> {
    let mut stream = TcpStream::connect(server).unwrap();
    write!(stream, "GET /api/v1/query?query={metric}%5B1h%5D HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let body: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    let series = body["data"]["result"].as_array().unwrap();
    let samples = |one: &Value| {
        let values = one["values"].as_array().unwrap().iter();
        let sample = |value: &Value| {
            #[expect(clippy::cast_possible_truncation, reason = "a time")]
            let ms = (value[0].as_f64().unwrap() * 1e3).round() as i64;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            let count = value[1].as_str().unwrap().parse::<f64>().unwrap() as u64;
            (ms, count)
        };
        values.map(sample).collect()
    };
    let port = |one: &Value| one["metric"]["interface_name"].as_str().unwrap().to_owned();
    series.iter().map(|one| (port(one), samples(one))).collect()
}

/// Scrapes that the exporter answers; those after them are refused.
const SCRAPES: usize = 4;

#[test]
fn rows_are_what_a_real_server_scraped() {
    if Command::new("prometheus").arg("--version").output().is_err() {
        fails_in_ci("prometheus is not installed");
        return;
    }
    let scraped = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&scraped);
    let exporter = serve(move |_| {
        let scrape = counted.fetch_add(1, Ordering::SeqCst);
        if scrape >= SCRAPES {
            return Reply::Status("503 Service Unavailable");
        }
        // The third is after a restart of the switch.
        let count = if scrape == 2 { 5 } else { (1 << 52) + 12_345 * scrape };
        let port = |port: usize| {
            let labels = format!("interface_name=\"Ethernet{port}\",source=\"leaf1:57400\"");
            let metric = "gnmic_ports_interfaces_interface_state_counters";
            let queue = format!(
                "gnmic_qos_qos_interfaces_interface_output_queues_queue_state_dropped_pkts{{{labels},queue_name=\"UC3\"}}"
            );
            format!(
                "{metric}_in_octets{{{labels}}} {}\n{queue} {}\n",
                count + port,
                scrape * port
            )
        };
        Reply::Body((0..3).map(port).collect())
    });
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("prometheus.yml");
    std::fs::write(
        &config,
        format!("scrape_configs: [{{job_name: a, scrape_interval: 2s, scrape_timeout: 2s, static_configs: [{{targets: ['{exporter}']}}]}}]"),
    )
    .unwrap();
    let server = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .to_string();
    let running = Running::spawn(
        Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address={server}")),
    );
    // A scrape is stored before the next one begins.
    until("the scrapes", || scraped.load(Ordering::SeqCst) > SCRAPES);
    let bytes = asked(&server, "gnmic_ports_interfaces_interface_state_counters_in_octets");
    let drops = asked(
        &server,
        "gnmic_qos_qos_interfaces_interface_output_queues_queue_state_dropped_pkts",
    );
    assert_eq!((bytes.len(), drops.len()), (3, 3));
    let dataset = folder.path().join("d");
    let output = read(
        &format!("http://{server}/"),
        &dataset,
        &["--last", "1h", "--delay", "1ms"],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let found = rows(&dataset);
    let is_shown = |port: &str, is_queue: bool, column: fn(&SwitchPortRow) -> Option<u64>, samples: &[(i64, u64)]| {
        let rows = found
            .iter()
            .filter(|row| &*row.port_name == port && row.queue.is_some() == is_queue);
        let shown = rows.map(|row| (row.time_ns, row.event.as_deref().unwrap_or(""), column(row)));
        let mut before = None;
        let expected = samples.iter().map(|(ms, count)| {
            let before = before.replace(*count);
            let event = match before {
                None => "first",
                Some(before) if before > *count => "reset",
                Some(_) => "",
            };
            (
                ms * 1_000_000,
                event,
                before.and_then(|before| count.checked_sub(before)),
            )
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{port}");
    };
    for (port, samples) in &bytes {
        is_shown(port, false, |row| row.in_bytes, samples);
    }
    for (port, samples) in &drops {
        is_shown(port, true, |row| row.out_dropped_frames, samples);
    }
    assert!(
        found
            .iter()
            .all(|row| &*row.switch == "leaf1" && row.queue.is_none_or(|queue| queue == 3))
    );
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["switches"]["rows"], found.len());
    assert_eq!(summary["samples"]["unused"], json!({}));
    drop(running);
}

/// Runs `paths prometheus` to its end.
fn read(url: &str, dataset: &Path, further: &[&str]) -> Output {
    let read = [
        "paths",
        "prometheus",
        url,
        "-o",
        "json",
        "--out",
        dataset.to_str().unwrap(),
    ];
    command(read).args(further).output().unwrap()
}

const MAPPING: &str =
    "switch = [\"switch\"]\nport = [\"port\"]\nmetrics = [{ metric = \"bytes\", column = \"in_bytes\" }]";

/// A sample each second of the requested range, of a counter that grows by 1,000 a second.
fn each_second(request: &str) -> Reply {
    let (_, asked) = request.split_once("%5B").unwrap();
    let (range, rest) = asked.split_once("ms%5D&time=").unwrap();
    let (to, _) = rest.split_once(' ').unwrap();
    let [range, to]: [u64; 2] = [range.parse().unwrap(), to.replace('.', "").parse().unwrap()];
    let values: Vec<Value> = ((to - range) / 1_000..=to / 1_000)
        .filter(|second| second * 1_000 >= to - range)
        .map(|second| json!([second, (second * 1_000).to_string()]))
        .collect();
    let series = json!({"metric": {"switch": "leaf1", "port": "e1", "job": "a"}, "values": values});
    Reply::Body(json!({"status": "success", "data": {"resultType": "matrix", "result": [series]}}).to_string())
}

#[test]
fn an_outage_of_the_server_leaves_no_gap() {
    let folder = tempfile::tempdir().unwrap();
    let mapping = folder.path().join("m.toml");
    std::fs::write(&mapping, MAPPING).unwrap();
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let server = serve(move |request| match counted.fetch_add(1, Ordering::SeqCst) {
        1 => Reply::Status("503 Service Unavailable"),
        2 => Reply::Cut,
        3 => Reply::Body("<html>".into()),
        4 => Reply::Body(json!({"status": "error", "error": "query timed out"}).to_string()),
        _ => each_second(request),
    });
    let dataset = folder.path().join("d");
    let url = format!("http://{server}");
    let mut following = command([
        "paths",
        "prometheus",
        &url,
        "--interval",
        "1s",
        "--delay",
        "1s",
        "-o",
        "json",
    ]);
    let running = Running::spawn(following.arg("--mapping").arg(&mapping).arg("--out").arg(&dataset));
    running.until_said("503 Service Unavailable; its span is asked for again");
    running.until_said("answers again");
    let ended = running.stop("-INT");
    assert!(ended.status.success(), "{}", ended.stderr);
    let summary: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (&summary["failed_polls"], &summary["last_failure"]),
        (&4.into(), &"bytes: query timed out".into())
    );
    let found = rows(&dataset);
    assert_eq!(
        (
            summary["switches"]["rows"].as_u64().unwrap(),
            &*found[0].event.clone().unwrap()
        ),
        (found.len() as u64, "first")
    );
    // From half a minute before the start on, each second once.
    assert!(found.len() >= 30, "{found:#?}");
    for row in &found[1..] {
        assert_eq!(
            (row.interval_ns, row.in_bytes, &row.event),
            (Some(1_000_000_000), Some(1_000), &None)
        );
    }
}

#[test]
fn a_server_that_does_not_answer_or_refuses_is_one_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (mapping, good, bad) = (file("m.toml", MAPPING), file("good", "secret\n"), file("bad", "guess"));
    // user:secret
    let server = serve(
        |request| match request.contains("uthorization: Basic dXNlcjpzZWNyZXQ=") {
            true => each_second(request),
            false => Reply::Status("401 Unauthorized"),
        },
    );
    let url = format!("http://{server}");
    let dataset = folder.path().join("d");
    let asked = |further: &[&str]| {
        let further = [&["--mapping", &mapping, "--last", "1m"], further].concat();
        read(&url, &dataset, &further)
    };
    let with_password = asked(&["--user", "user", "--password-file", &good]);
    assert!(
        with_password.status.success(),
        "{}",
        String::from_utf8_lossy(&with_password.stderr)
    );
    assert!(rows(&dataset).len() >= 44);
    for refused in [
        &[][..],
        &["--user", "user", "--password-file", &bad],
        &["--token-file", &good],
    ] {
        let output = asked(refused);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && message.contains("answers 401 Unauthorized"),
            "{message}"
        );
        assert!(!message.contains("secret") && !message.contains("guess"), "{message}");
    }
    let silent = format!("http://{}", serve(|_| Reply::Hang));
    let output = read(&silent, &dataset, &["--timeout", "1s"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && message.contains("no answer within 1 s"),
        "{message}"
    );

    let young = read(&url, &dataset, &["--mapping", &mapping, "--last", "10s"]);
    let message = String::from_utf8(young.stderr).unwrap();
    assert!(message.contains("younger than --delay (15s)"), "{message}");
    let bad_mapping = file(
        "bad.toml",
        "switch = []\nport = []\nmetrics = [{ metric = \"a\", column = \"b\" }]",
    );
    let output = read(&url, &dataset, &["--mapping", &bad_mapping]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("bad.toml") && message.contains("there is no column `b`"),
        "{message}"
    );
}
