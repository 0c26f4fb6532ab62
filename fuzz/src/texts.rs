//! Topologies, answers of switches, lists of flows, sFlow and gNMI: what `rocescope topology` and `rocescope paths` read.

use rocescope_paths::driver::{Answer, Driver};
use rocescope_paths::gnmi::{Gnmi, Mapping, PRESETS, Requests};
use rocescope_paths::sflow::{Item, PfcRequests, Reader, SampledFlows, Switches};
use rocescope_paths::switch::{Growth, Part, Source as _};
use rocescope_paths::topology::{Format, check, parse, tiers, to_dot, to_toml};
use rocescope_paths::transport::Reply;
use rocescope_paths::workload::{list, pairs, rdma, ss};
use rocescope_paths::{Flow, known};
use std::path::Path;
use std::time::Duration;

const FORMATS: [Format; 4] = [Format::Toml, Format::Containerlab, Format::Dot, Format::Lldp];
const DRIVERS: [&str; 6] = ["linux", "eos", "cumulus", "sonic", "nxos", "junos"];

/// Input: a byte that selects the reader, and what it reads.
pub fn run(input: &[u8]) {
    let Some((selector, bytes)) = input.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(bytes);
    match usize::from(*selector) {
        format @ 0..=3 => topology(&text, FORMATS[format]),
        driver @ 4..=9 => answer(&text, DRIVERS[driver - 4]),
        10 => own_driver(&text),
        11 => lists(&text),
        12 => sflow(bytes),
        13 => gnmi(bytes),
        14 => drop(Mapping::parse(&text)),
        _ => {}
    }
}

fn topology(text: &str, format: Format) {
    let Ok(topology) = parse(text, format, "leaf1") else {
        return;
    };
    assert_eq!(tiers(&topology).len(), topology.nodes.len());
    let _ = (check(&topology, Path::new(".")), topology.fabric(), to_dot(&topology));
    if format == Format::Toml {
        let written = to_toml(&topology);
        let again = parse(&written, Format::Toml, "leaf1");
        let again = again.unwrap_or_else(|error| panic!("{error:?}: {written}"));
        assert_eq!(to_toml(&again), written, "writing is stable");
        assert_eq!(again.nodes.len(), topology.nodes.len());
    }
}

fn answer(text: &str, name: &str) {
    let Ok(driver) = Driver::find(name, Path::new(".")) else {
        panic!("{name} is no driver of rocescope");
    };
    let reply = &Reply::new(text, "", 0);
    if let Ok(Answer::Port(port) | Answer::Tunnel(port)) = driver.answer(reply) {
        assert!(
            !port.is_empty() && reply.output.contains(&port),
            "{port:?} is no piece of the answer"
        );
        // What a switch answers gets into the next question.
        let flow = Flow::roce([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 49_152);
        for question in [
            driver.question(&flow, Some(&port)).ok(),
            driver.channel_question(&flow, Some("p1"), &port).ok().flatten(),
        ] {
            let Some(question) = question else { continue };
            let is_harmless = |c: char| c.is_ascii_alphanumeric() || "/.:_-".contains(c);
            assert!(
                !question.contains(&*port) || port.chars().all(is_harmless),
                "{question}"
            );
        }
    }
    let _ = (
        driver.channel_answer(reply),
        driver.hash_fields(reply),
        driver.outer_src_port(reply),
    );
}

/// A driver and an answer, with an empty line between them.
fn own_driver(text: &str) {
    let (driver, answer) = text.split_once("\n\n\n").unwrap_or((text, ""));
    if let Ok(driver) = Driver::parse(driver) {
        let flow = Flow::roce([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 49_152);
        let _ = (
            driver.question(&flow, Some("p1")),
            driver.answer(&Reply::new(answer, "", 0)),
            driver.answer(&Reply::new("", answer, 1)),
            driver.hash_fields(&Reply::new(answer, "", 0)),
        );
    }
}

fn lists(text: &str) {
    let _ = (
        list::parse(text),
        pairs::parse(text),
        known::parse(text),
        rdma::Report::parse(text),
    );
    let mut workload = ss::parse(text).unwrap_or_default();
    workload.settle();
    for line in text.lines() {
        if let Ok(flow) = line.parse::<Flow>() {
            assert_eq!(flow.to_string().parse(), Ok(flow), "{line}");
        }
    }
}

fn sflow(datagram: &[u8]) {
    let mut reader = Reader::new([4791; 4], PfcRequests::Sent);
    let mut flows = SampledFlows::default();
    let mut switches = Switches::default();
    let (mut ports, mut drops) = (0, 0);
    reader.datagram(datagram, |item| match item {
        Item::Packet(sampled) => flows.add(&sampled),
        Item::Port {
            switch,
            index,
            restarts,
            port,
        } => {
            ports += 1;
            switches.port(0, switch, index, restarts, &port);
        }
        Item::Queue(sample) => switches.queue(&sample),
        Item::Dropped(dropped, rate) => {
            drops += 1;
            switches.dropped(0, dropped, rate);
        }
    });
    let counts = &reader.counts;
    assert_eq!(counts.datagrams, 1);
    assert_eq!(drops, counts.drops);
    assert!(ports + counts.other_counter_samples <= counts.counter_samples);
    let found = flows.flows(Duration::from_secs(1));
    assert_eq!(found.iter().map(|flow| flow.samples).sum::<u64>(), counts.packets);
    let mut growth = Growth::default();
    let (mut rows, observer) = (0, "box".into());
    switches.readings(1, &mut |reading| {
        let is_queue = matches!(reading.part, Part::Queue(_));
        let row = growth.row(&observer, Switches::NAME, &reading);
        rows += u64::from(row.is_some() && !is_queue);
    });
    assert_eq!(rows, ports, "each reading of a port is a row");
    let reported: u64 = switches.drops(&observer).iter().map(|row| row.dropped_frames).sum();
    assert_eq!(reported + switches.overflow(), drops);
}

/// One message of a switch, in answer to each request.
fn gnmi(bytes: &[u8]) {
    let mappings = PRESETS.iter().filter_map(|(_, text)| Mapping::parse(text).ok());
    let requests = Requests::new(mappings.collect(), None);
    let mut source = Gnmi::new(&["leaf1".into()], &requests);
    let mut growth = Growth::default();
    for round in 1..3 {
        for request in 0..requests.paths().count() {
            source.message(0, request, bytes, round);
            source.answered(0, request);
        }
        source.readings(round, &mut |reading| {
            let row = growth.row(&"box".into(), Gnmi::NAME, &reading);
            assert!(row.is_some_and(|row| row.queue.is_none() || row.priority.is_none()));
        });
    }
    source.ended(0);
}
