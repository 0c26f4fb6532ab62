//! The counters as metrics of Prometheus.

use super::{STATISTICS, Tree};
use rocescope_testkit::until_some;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

/// What `--metrics` serves of the made devices and of this host.
fn metrics_page() -> String {
    use std::io::{BufRead, BufReader, Read, Write};
    let tree = Tree::new();
    for (interface, text) in STATISTICS {
        fs::create_dir_all(tree.path("ethtool")).unwrap();
        fs::write(tree.path("ethtool").join(interface), text).unwrap();
    }
    let mut command = tree.command(&["--metrics", "127.0.0.1:0", "--interval", "50ms", "--quiet"]);
    command
        .args(["--proc-root", "/proc", "--ethtool-root"])
        .arg(tree.path("ethtool"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line.trim().rsplit_once("//").unwrap().1;
    let address = address.trim_end_matches("/metrics").to_owned();
    let page = until_some("the first read", || {
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        let request = "GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        // The first read may not be done yet.
        page.contains("rdma_present").then_some(page)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    page
}

/// The endpoint has the counters of every driver under names that dashboards know.
#[test]
fn metrics_have_the_names_of_other_exporters() {
    let page = metrics_page();
    let has = |line: &str| assert!(page.contains(line), "{line}\n{page}");
    has("node_infiniband_port_data_transmitted_bytes_total{observer=\"host-1\",device=\"mlx5_0\",port=\"1\"} 60568");
    has("rdma_local_ack_timeout_err_total{observer=\"host-1\",device=\"bnxt_re0\",port=\"1\"} 63574");
    has("rdma_rnr_nak_retry_err_total{observer=\"host-1\",device=\"rxe0\",port=\"1\"} 7070");
    // Two names of one metric.
    has("node_infiniband_port_packets_received_total{observer=\"host-1\",device=\"rocep177s0\",port=\"1\"} 47437");
    let series = page
        .lines()
        .filter(|line| line.starts_with("rdma_") || line.starts_with("node_"));
    let count = series.count();
    assert!((100..400).contains(&count), "{count}");
}

/// A panel that queries a metric which no driver has stays empty without any error.
#[test]
fn the_dashboard_queries_counters_that_are_exported() {
    let series: BTreeSet<String> = metrics_page()
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| Some(line.split(['{', ' ']).next()?.to_owned()))
        .collect();
    let dashboard: Value = serde_json::from_str(include_str!("../../../../../deploy/grafana/rocescope.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let panels = panels.skip_while(|panel| panel["title"] != "Host counters").skip(1);
    let panels = panels.take_while(|panel| panel["type"] != "row");
    let mut asked = BTreeSet::new();
    for panel in panels {
        for target in panel["targets"].as_array().unwrap() {
            let query = target["expr"].as_str().unwrap();
            assert!(query.contains("{observer=~\"$host\"}"), "{query}");
            let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let names: Vec<&str> = words
                .filter(|word| word.starts_with("rdma_") || word.starts_with("node_"))
                .collect();
            assert!(!names.is_empty(), "{query}");
            asked.extend(names.into_iter().map(str::to_owned));
        }
    }
    let variable = dashboard["templating"]["list"].to_string();
    assert!(variable.contains("label_values(rdma_present, observer)"));
    let unknown: Vec<&String> = asked.difference(&series).collect();
    assert!(unknown.is_empty() && asked.len() > 20, "{unknown:?} of {}", asked.len());
}
