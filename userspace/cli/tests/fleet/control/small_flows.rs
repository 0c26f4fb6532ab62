//! Small flows end to end: a capture box on the mirror of a switch names them, agents in the hosts probe their paths.

use crate::control::hub::{CONTROLLER, Hub, MIRROR};
use crate::control::rig::{Rig, end, spawn, until_file_has, write};
use rocescope_model::{FlowRow, PathRow, SmallFlowRow};
use rocescope_store::{repair, scan};
use rocescope_testkit::binary;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

/// Ports of the flows: the big one, two small ones between hosts without delay, and two along the slow cable, which loses
/// packets of one.
const BIG: u16 = 50_001;
const QUICK: [u16; 2] = [50_002, 50_003];
const SLOW: u16 = 50_004;
const LOSSY: u16 = 50_005;
const DELAY: Duration = Duration::from_millis(8);
const SECOND: i64 = 1_000_000_000;

fn flow(src: u8, dst: u8, port: u16, rate: &str) -> String {
    format!(
        "[[flows]]\nsrc = \"10.9.0.{src}\"\ndst = \"10.9.0.{dst}\"\nsrc_ports = [{port}, {port}]\nqpn = {port}\n\
        service = \"uc\"\noperation = \"send\"\nmessage = 1000\nrate = \"{rate}\"\n"
    )
}

#[test]
fn the_smallest_flows_are_probed_in_the_next_window_and_a_slow_and_a_lossy_path_are_found() {
    let Some(hub) = Hub::new(3, DELAY, Some(LOSSY)) else {
        return;
    };
    let rig = Rig::new();
    let at = |name: &str| rig.path(name).display().to_string();
    rig.sign("collector", &[CONTROLLER]);
    // The controller asks an agent for probes of the addresses in its certificate.
    for host in 1..=3 {
        let name = format!("h{host}");
        rig.sign(&name, &[&name, &format!("10.9.0.{host}")]);
    }
    rig.sign("box", &["box"]);
    let log = |name: &str| rig.path(&format!("{name}.log"));
    // The threshold and the number of flows come from the controller.
    let fleet = "operators = [\"ops\"]\n[[group]]\nname = \"boxes\"\nmembers = [\"box\"]\n\
        [group.capture]\nelephant = \"2M\"\nsmall-flows = 2\n";
    write(&rig.path("fleet.toml"), fleet);
    let mut command = hub.command("s", binary());
    command.args([
        "collector",
        "run",
        "--listen",
        "0.0.0.0:4792",
        "--out",
        &at("collected"),
        "--client-ca",
        &at("ca.pem"),
    ]);
    command.args(["--cert", &at("collector.pem"), "--key", &at("collector.key")]);
    command.args(["--control-dir", &at("control"), "--control", &at("fleet.toml")]);
    let collector = spawn(&mut command, &log("collect"));
    let url = format!("https://{CONTROLLER}:4792");
    let mut agents = Vec::new();
    for host in 1..=3 {
        let name = format!("h{host}");
        let file = format!(
            "observer = \"{name}\"\n[agent]\nwindow = \"1s\"\ncollector = \"{url}\"\ncert = \"{}\"\nkey = \"{}\"\nca = \"{}\"\n\
            spool = \"{}\"\n[probe]\ninterface = [\"rail0\"]\nmax-cpu = 1\nwindow = \"1s\"\n",
            at(&format!("{name}.pem")),
            at(&format!("{name}.key")),
            at("ca.pem"),
            at(&format!("spool-{name}")),
        );
        let file = write(&rig.path(&format!("{name}.toml")), &file);
        let mut command = hub.command(&host.to_string(), binary());
        agents.push((
            spawn(command.arg("agent").arg("--config").arg(file), &log(&name)),
            log(&name),
        ));
    }
    let mut command = hub.command("s", binary());
    command.args([
        "capture",
        "-i",
        MIRROR,
        "--mode",
        "af-packet",
        "--lateness",
        "200ms",
        "--out",
        &at("captured"),
    ]);
    command.args([
        "--observer",
        "box",
        "--collector",
        &url,
        "--cert",
        &at("box.pem"),
        "--key",
        &at("box.key"),
    ]);
    command.args(["--ca", &at("ca.pem"), "--control-file", &at("box.toml")]);
    let capture = spawn(&mut command, &log("box"));
    // All are connected, and the box runs what the controller sent.
    until_file_has(&log("box"), "configuration reloaded");
    for (_, log) in &agents {
        until_file_has(log, "collector connected");
    }
    let scenario = format!(
        "duration = \"9s\"\n{}{}{}{}{}",
        flow(1, 2, BIG, "4Mbit/s"),
        flow(1, 2, QUICK[0], "150kbit/s"),
        flow(2, 1, QUICK[1], "300kbit/s"),
        flow(1, 3, SLOW, "450kbit/s"),
        flow(2, 3, LOSSY, "600kbit/s"),
    );
    write(&rig.path("traffic.toml"), &scenario);
    let mut command = hub.command("1", binary());
    let sent = command
        .args(["generate", &at("traffic.toml"), "--iface", "rail0"])
        .output()
        .unwrap();
    assert!(sent.status.success(), "{sent:?}");
    std::thread::sleep(Duration::from_secs(4));
    end(capture, &log("box"));
    for (agent, log) in agents {
        end(agent, &log);
    }
    end(collector, &log("collect"));

    repair(&rig.path("collected")).unwrap();
    let rows = scan(&rig.path("collected")).unwrap().rows::<SmallFlowRow>().unwrap();
    let flows = scan(&rig.path("captured")).unwrap().rows::<FlowRow>().unwrap();
    let logs: Vec<String> = ["collect", "h1", "h3", "box"]
        .map(|name| std::fs::read_to_string(log(name)).unwrap())
        .into();
    assert!(!rows.is_empty(), "{logs:#?}");

    // No flow above the threshold of its window, and no flow of probes. In a window that has only a part of the traffic,
    // its first or its last, the big flow may be a small one.
    let ports: BTreeSet<u16> = rows.iter().map(|row| row.udp_src_port).collect();
    let expected = BTreeSet::from([QUICK[0], QUICK[1], SLOW, LOSSY]);
    assert!(ports.is_superset(&expected), "{ports:?}");
    assert!(
        ports.iter().all(|port| expected.contains(port) || *port == BIG),
        "{ports:?}"
    );
    let starts: BTreeSet<i64> = flows
        .iter()
        .filter(|flow| !flow.elephant)
        .map(|flow| flow.window_start_ns)
        .collect();
    let is_whole = |start: i64| {
        let big = flows
            .iter()
            .find(|flow| flow.window_start_ns == start && flow.udp_src_port == Some(BIG));
        big.is_some_and(|big| big.elephant)
    };
    assert!(starts.iter().filter(|start| is_whole(**start)).count() >= 5);
    assert!(
        rows.iter()
            .all(|row| row.udp_src_port != BIG || !is_whole(row.window_start_ns))
    );
    let mut means: BTreeMap<u16, Vec<i64>> = BTreeMap::new();
    let (mut lossy, mut whole, mut answered, mut others) = ((0, 0), 0, 0, 0);
    for row in &rows {
        let seen = flows
            .iter()
            .find(|flow| flow.window_start_ns == row.window_start_ns && flow.flow_hash == row.flow_hash);
        let seen = seen.unwrap();
        assert!(!seen.elephant && seen.frame_bytes == row.frame_bytes && &*row.capture == "box");
        assert_eq!((seen.src, seen.dst, seen.dst_qpn), (row.src, row.dst, row.dst_qpn));
        let host = if &*row.end == "sender" { row.src } else { row.dst };
        assert_eq!(format!("10.9.0.{}", &row.observer[1..]), host.to_string());
        // An agent that the machine stops within the window leaves out the rest, and states it.
        assert_eq!(row.probes + row.unsent, 10, "{row:?}");
        if row.unsent > 0 {
            continue;
        }
        whole += 1;
        if row.udp_src_port == LOSSY {
            lossy = (lossy.0 + row.probes, lossy.1 + row.answered);
        } else {
            // An agent that the machine stops does not answer in time.
            others += 1;
            answered += u64::from(row.answered >= 9);
        }
        // Windows are whole seconds: the one in which it was small, the one of the request, and the one of the probes. How soon
        // the request comes is up to the machine.
        let later = (row.time_ns - row.window_start_ns) / SECOND;
        assert!(later >= 3, "{later} windows later");
        if let Some(mean) = row.mean_round_trip_ns {
            means.entry(row.udp_src_port).or_default().push(mean);
        }
    }
    assert!(2 * whole > rows.len(), "{whole} of {}", rows.len());
    assert!(2 * answered > others, "{answered} of {others}");
    // In the first whole window, those are the smallest two of those that do not rest since the part before it.
    let first = rows
        .iter()
        .map(|row| row.window_start_ns)
        .filter(|start| is_whole(*start))
        .min()
        .unwrap();
    let before: BTreeSet<u16> = rows
        .iter()
        .filter(|row| row.window_start_ns < first)
        .map(|row| row.udp_src_port)
        .collect();
    let of = |start| rows.iter().filter(move |row| row.window_start_ns == start);
    let named: BTreeSet<u16> = of(first).map(|row| row.udp_src_port).collect();
    let mut sizes: Vec<_> = flows.iter().filter(|flow| flow.window_start_ns == first).collect();
    sizes.retain(|flow| flow.udp_src_port.is_some_and(|port| expected.contains(&port)));
    sizes.sort_by_key(|flow| {
        (
            flow.udp_src_port.is_some_and(|port| before.contains(&port)),
            flow.frame_bytes,
        )
    });
    let smallest: BTreeSet<u16> = sizes.iter().take(2).filter_map(|flow| flow.udp_src_port).collect();
    assert_eq!(named, smallest);
    // Each end made a row, and the ends of later windows too: not the same flows forever.
    assert_eq!(of(first).count(), 4);
    // The planted delay is on the path of one flow, twice in a round trip.
    let mean = |port: u16| means[&port].iter().sum::<i64>() / means[&port].len() as i64;
    let planted = 2 * i64::try_from(DELAY.as_nanos()).unwrap();
    println!(
        "mean round trips: {} us and {} us, and {} us along the slow cable",
        mean(QUICK[0]) / 1000,
        mean(QUICK[1]) / 1000,
        mean(SLOW) / 1000
    );
    assert!(mean(SLOW) >= planted, "{} ns", mean(SLOW));
    // Of three packets the cable loses one, of a probe or of its answer: 4 of 9 pass twice.
    let (probes, answered) = lossy;
    println!("{answered} of {probes} probes answered along the lossy path");
    assert!(
        probes >= 20 && answered * 10 < probes * 7 && answered > 0,
        "{answered} of {probes}"
    );
    for port in QUICK {
        assert!(mean(port) < planted / 2, "{port}: {} ns", mean(port));
    }
    // The sender traced it to the other end, whose agent answered: one hop, for the hosts share a network.
    let paths = scan(&rig.path("collected")).unwrap().rows::<PathRow>().unwrap();
    let traced = |port: u16, src: &str, dst: &str| {
        let (src, dst): (IpAddr, IpAddr) = (src.parse().unwrap(), dst.parse().unwrap());
        paths.iter().any(|row| {
            (row.udp_src_port, row.src, row.dst) == (port, src, dst) && (row.hops, row.address) == (1, Some(dst))
        })
    };
    assert!(traced(QUICK[0], "10.9.0.1", "10.9.0.2"), "{paths:#?}");
    assert!(traced(SLOW, "10.9.0.1", "10.9.0.3"), "{paths:#?}");
}
