//! Paths of flows over a fabric: as a picture, as distributions and as throughput.

use super::{Bench, list, printed};
use rocescope_model::{FLOW_PATH_TABLES, FlowPathRow, FlowRow, QUEUE_PAIR_TABLES, QueuePairRow, Time, WindowRow};
use rocescope_store::{Options, Writer};
use std::fmt::Write;
use std::net::IpAddr;
use std::time::Instant;

const SECOND: i64 = 1_000_000_000;
const START: i64 = 1_700_000_000 * SECOND;

/// 16 hosts, 4 leaves and 4 spines with 4 links between each pair.
fn topology() -> String {
    let mut toml = String::new();
    let mut add = |text: std::fmt::Arguments<'_>| toml.write_fmt(text).unwrap();
    for leaf in 1..=4 {
        add(format_args!("[[node]]\nname = \"leaf{leaf}\"\nkind = \"switch\"\n"));
        add(format_args!("[[node]]\nname = \"spine{leaf}\"\nkind = \"switch\"\n"));
    }
    for host in 1..=16_u8 {
        let leaf = host.div_ceil(4);
        add(format_args!(
            "[[node]]\nname = \"gpu-node-{host}\"\nkind = \"host\"\naddresses = [\"10.0.0.{host}\"]\n"
        ));
        add(format_args!(
            "[[link]]\nends = [\"gpu-node-{host}:eth0\", \"leaf{leaf}:h{host}\"]\n"
        ));
    }
    for (leaf, spine, link) in (1..=4).flat_map(|l| (1..=4).flat_map(move |s| (1..=4).map(move |i| (l, s, i)))) {
        let (up, down) = ((spine - 1) * 4 + link, (leaf - 1) * 4 + link);
        add(format_args!(
            "[[link]]\nends = [\"leaf{leaf}:e{up}\", \"spine{spine}:e{down}\"]\n"
        ));
    }
    toml
}

/// 16 flows of each host to the host of the same place two leaves on, over links by a hash.
fn hops() -> Vec<Vec<FlowPathRow>> {
    let address = |host: u8| IpAddr::from([10, 0, 0, host]);
    let mut random = 1_u32;
    let mut next = |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) % below
    };
    let mut flows = Vec::new();
    for host in 1..=16_u8 {
        let peer = (host + 7) % 16 + 1;
        for flow in 0..16 {
            let uplink = next(16);
            let (leaf, spine, to) = (host.div_ceil(4), uplink / 4 + 1, peer.div_ceil(4));
            let path = [
                (format!("gpu-node-{host}"), "eth0".to_owned()),
                (format!("leaf{leaf}"), format!("e{}", uplink + 1)),
                (
                    format!("spine{spine}"),
                    format!("e{}", u32::from(to - 1) * 4 + next(4) + 1),
                ),
                (format!("leaf{to}"), format!("h{peer}")),
            ];
            let row = |(hop, (node, egress)): (u16, (String, String))| FlowPathRow {
                time: Time(START),
                time_ns: START,
                src: address(host),
                dst: address(peer),
                protocol: 17,
                src_port: 49_152 + flow,
                dst_port: 4791,
                outcome: "complete".into(),
                hops: 4,
                hop,
                node: node.into(),
                egress: Some(egress.into()),
                ..FlowPathRow::default()
            };
            flows.push((1..).zip(path).map(row).collect());
        }
    }
    flows
}

/// A dataset `data` with paths, three windows of their flows, and the loads of links.
pub(crate) fn bench() -> Bench {
    let bench = Bench::new();
    let flows = hops();
    let windows = (0..3).map(|window| WindowRow {
        window_start: Time(START + window * SECOND),
        window_start_ns: START + window * SECOND,
        window_ns: SECOND,
        ..WindowRow::default()
    });
    let captured = |window: i64, at: usize, hop: &FlowPathRow| FlowRow {
        window_start: Time(START + window * SECOND),
        window_start_ns: START + window * SECOND,
        window_ns: SECOND,
        src: hop.src,
        dst: hop.dst,
        udp_src_port: Some(hop.src_port),
        frame_bytes: 125_000_000 * (1 + at as u64 % 5),
        frame_bps: 1e9 * (1 + at % 5) as f64,
        ..FlowRow::default()
    };
    let rows = (0..3).flat_map(|window| {
        flows
            .iter()
            .enumerate()
            .map(move |(at, hops)| captured(window, at, &hops[0]))
    });
    let rows: Vec<FlowRow> = rows.collect();
    let options = Options {
        tables: FLOW_PATH_TABLES,
        ..Options::new("job-7")
    };
    let mut writer = Writer::create(&bench.path("data"), options).unwrap();
    writer
        .append_cells(&windows.collect::<Vec<WindowRow>>(), Instant::now())
        .unwrap();
    writer.append_cells(&rows, Instant::now()).unwrap();
    writer.append_cells(&flows.concat(), Instant::now()).unwrap();
    writer.finish().unwrap();
    std::fs::write(bench.path("fabric.toml"), topology()).unwrap();
    let call = "paths fim --topology fabric.toml --paths data --windows --out data";
    printed(&bench.run(&call.split(' ').collect::<Vec<&str>>()));
    bench
}

#[test]
fn every_form_has_the_paths() {
    let bench = bench();
    let call = "paths fim --topology fabric.toml --paths data -o json";
    let fim = printed(&bench.run(&call.split(' ').collect::<Vec<&str>>()));
    let fim: serde_json::Value = serde_json::from_str(&fim).unwrap();
    let found = bench.json(&[]);
    let paths = &found["paths"];
    assert_eq!(
        (&paths["flows"], &paths["outcomes"]["complete"]),
        (&256.into(), &256.into())
    );
    assert_eq!(list(&paths["link_loads"]).len(), 160);
    // The report computes from the dataset alone what `paths fim` does from the topology.
    let figures = |of: &serde_json::Value| {
        let layers = list(&of["layers"]).clone();
        let all = [of.clone()].into_iter().chain(layers);
        // Rates are added in another order.
        let rounded = |value: &serde_json::Value| value.as_f64().map(|value| (value * 1e6).round());
        let figures = all.map(|one| [rounded(&one["fim_percent"]), rounded(&one["bytes_fim_percent"])]);
        figures.collect::<Vec<_>>()
    };
    assert_eq!(figures(paths), figures(&fim));
    assert_eq!(figures(paths).len(), 5);
    let text = bench.report(&[]);
    for part in [
        "Paths of flows\n",
        "256 flows on 80 links",
        "256 complete",
        "leaf   spine     64    256   4.00",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let page = bench.html(&[]);
    let count = |part: &str| page.matches(part).count();
    assert_eq!(count("data-kind=\"fabric\""), 1);
    // From hosts, up, down and to hosts.
    assert_eq!(count("data-kind=\"columns\""), 4);
    assert_eq!(count("data-kind=\"boxes\""), 1);
    assert!(page.contains("FIM over time"));
    // Each direction is a link to its flows, twice: wide and narrow.
    assert_eq!((count("href=\"#link-"), count("id=\"link-")), (320, 160));
    let busiest = list(&fim["link_loads"])
        .iter()
        .max_by_key(|link| link["flows"].as_u64())
        .unwrap();
    let (_, panel) = page
        .rsplit_once(&format!(
            "<h3>{}:{} → {}:{}</h3>",
            busiest["from"].as_str().unwrap(),
            busiest["from_port"].as_str().unwrap(),
            busiest["to"].as_str().unwrap(),
            busiest["to_port"].as_str().unwrap()
        ))
        .unwrap();
    let (panel, _) = panel.split_once("</div>").unwrap();
    assert_eq!(panel.matches("<li>").count() as u64, busiest["flows"].as_u64().unwrap());
}

/// The queue pair of each host belongs to a job: hosts 1 to 8 to one, with flows to hosts 9 to 16 of the other and back.
#[test]
fn jobs_have_an_imbalance_over_time() {
    let bench = bench();
    assert!(bench.json(&[])["paths"].get("jobs").is_none());
    let pairs = (1..=16_u8).map(|host| QueuePairRow {
        observer: format!("gpu-node-{host}").into(),
        time: Time(START),
        time_ns: START,
        first_ns: START,
        device: "mlx5_0".into(),
        // Of which the captured flows have the number.
        local_qpn: 0,
        pid: Some(1),
        job_id: Some(if host <= 8 { "4711" } else { "4712" }.into()),
        local_address: Some([10, 0, 0, host].into()),
        ..QueuePairRow::default()
    });
    let options = Options {
        tables: QUEUE_PAIR_TABLES,
        ..Options::new("agents")
    };
    let mut writer = Writer::create(&bench.path("data"), options).unwrap();
    writer.append_cells(&pairs.collect::<Vec<_>>(), Instant::now()).unwrap();
    writer.finish().unwrap();

    let found = bench.json(&[]);
    let jobs = list(&found["paths"]["jobs"]);
    let names: Vec<&str> = jobs.iter().map(|job| job["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["job 4711", "job 4712"]);
    for job in jobs {
        // 8 hosts receive from 8 others, 16 flows each: 16 links up from each of two leaves, and as many down to two others.
        assert_eq!((&job["flows"], &job["links"]), (&128.into(), &64.into()));
        let over_time = list(&job["over_time"]);
        assert_eq!(over_time.len(), 3);
        // The same flows in each window.
        let fim = job["fim_percent"].as_f64().unwrap();
        assert!(
            over_time.iter().all(|at| at["fim_percent"].as_f64() == Some(fim)),
            "{job}"
        );
        assert!(fim > 0.0 && job["min_fim_percent"] == 0, "{job}");
    }
    let page = bench.html(&[]);
    assert!(page.contains("FIM over time: job 4711") && page.contains("FIM over time: job 4712"));
    assert!(
        bench
            .report(&[])
            .contains("Flows of jobs on the links that they may take")
    );
}
