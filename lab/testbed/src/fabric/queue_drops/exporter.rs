//! An exporter of the counters of switches: what `ip` and `tc` state of their ports and queues, named as gnmic names them.

use crate::fabric::namespace::output;
use anyhow::{Context, Result};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Command;

/// A switch and its namespace.
pub(super) type Switch = (String, String);

/// Answers scrapes until the process ends; returns its address.
pub(super) fn start(switches: Vec<Switch>) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").context("the exporter")?;
    let address = listener.local_addr()?.to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            // The request ends with an empty line.
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            // A switch that does not answer misses a scrape.
            let body = switches.iter().map(metrics).collect::<Result<String>>();
            let head = match &body {
                Ok(body) => format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n",
                    body.len()
                ),
                Err(_) => "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n".into(),
            };
            let body = body.unwrap_or_default();
            let _ = write!(stream, "{head}Connection: close\r\n\r\n{body}");
        }
    });
    Ok(address)
}

/// The counters of a switch.
fn metrics((switch, namespace): &Switch) -> Result<String> {
    let links = read("ip", &["-n", namespace, "-json", "-stats", "link"])?;
    let queues = read("tc", &["-n", namespace, "-json", "-stats", "qdisc"])?;
    let mut text = String::new();
    for link in links.as_array().context("ip link")? {
        let port = link["ifname"].as_str().context("ifname")?;
        let labels = format!("interface_name=\"{port}\",source=\"{switch}\"");
        let mut dropped = 0;
        for queue in queues.as_array().context("tc qdisc")? {
            let class = queue["parent"].as_str().and_then(|parent| parent.split_once(':'));
            let (Some((_, class)), true) = (class, queue["dev"] == port) else {
                continue;
            };
            for (metric, counter) in [
                ("transmit_pkts", "packets"),
                ("transmit_octets", "bytes"),
                ("dropped_pkts", "drops"),
            ] {
                // Writing to a string does not fail.
                let _ = writeln!(
                    text,
                    "gnmic_qos_queue_state_{metric}{{{labels},queue_name=\"UC{class}\"}} {}",
                    queue[counter]
                );
            }
            dropped += queue["drops"].as_u64().unwrap_or(0);
        }
        let counters = &link["stats64"];
        for (metric, count) in [
            ("in_octets", counters["rx"]["bytes"].as_u64()),
            ("in_pkts", counters["rx"]["packets"].as_u64()),
            ("in_errors", counters["rx"]["errors"].as_u64()),
            ("in_discards", counters["rx"]["dropped"].as_u64()),
            ("out_octets", counters["tx"]["bytes"].as_u64()),
            ("out_pkts", counters["tx"]["packets"].as_u64()),
            ("out_discards", Some(dropped)),
        ] {
            let count = count.context(metric)?;
            let _ = writeln!(
                text,
                "gnmic_ports_interface_state_counters_{metric}{{{labels}}} {count}"
            );
        }
    }
    Ok(text)
}

fn read(program: &str, arguments: &[&str]) -> Result<Value> {
    let printed = output(Command::new(program).args(arguments))?;
    serde_json::from_str(&printed).with_context(|| program.to_owned())
}
