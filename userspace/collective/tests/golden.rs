//! The authors' data and what their own program prints: the same text, to the digit.
//!
//! The data are not part of the project. Where they lie beside it, in `../shared/vedrfolnir`, the test runs over them;
//! elsewhere it states that it does not.
#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

use rocescope_collective::analysis::{Analysis, Mode, analyze};
use rocescope_collective::causes::Kind;
use rocescope_collective::document::Document;
use rocescope_collective::natural;
use rocescope_collective::provenance::PortWeights;
use rocescope_collective::read::vedrfolnir::{self, Files};
use rocescope_collective::readings::Readings;
use rocescope_collective::steps::{Builder, FlowKey};
use rocescope_collective::telemetry::{Source, Trigger};
use std::fmt::Write as _;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// The folder of the data, if it is there.
fn data() -> Option<PathBuf> {
    rocescope_testkit::shared("vedrfolnir")
}

fn switches(folder: &Path) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = fs::read_dir(folder.join("data"))
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name()?.to_str()?.to_owned();
            let switch = name.strip_prefix("telemetry_")?.strip_suffix(".txt")?;
            Some((switch.to_owned(), fs::read_to_string(&path).unwrap()))
        })
        .collect();
    found.sort_by(|a, b| natural::compare(&a.0, &b.0));
    found
}

fn analysis(folder: &Path, mode: Mode) -> Analysis {
    let text = |name: &str| {
        let places = [folder.join(name), folder.join("out").join(name)];
        places.iter().find_map(|path| fs::read_to_string(path).ok())
    };
    let files = Files {
        fct: text("fct.txt"),
        pfc: text("pfc.txt"),
        topology: text("topology.txt"),
        telemetry: switches(folder),
    };
    let imported = vedrfolnir::read(&files, "golden", "test");
    assert_eq!(imported.complaints.lines(), [] as [&str; 0]);
    let mut steps = Builder::default();
    for row in &imported.steps {
        steps.add(row);
    }
    analyze(steps.finish(), &imported.telemetry.as_slice().telemetry(), mode)
}

fn hex(address: IpAddr) -> String {
    let IpAddr::V4(address) = address else {
        panic!("{address}")
    };
    format!("{:08x}", address.to_bits())
}

fn flow(flow: &FlowKey) -> String {
    format!("{}->{}\\n{}", hex(flow.src), hex(flow.dst), flow.src_port.unwrap())
}

fn critical_path(analysis: &Analysis) -> String {
    let document = Document::of(analysis);
    let mut names = vec!["All End".to_owned()];
    names.extend(
        document
            .critical_path
            .vertices
            .iter()
            .map(|vertex| format!("F{}S{}_{}", vertex.host, vertex.step, vertex.event)),
    );
    names.push("All Begin".to_owned());
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let mut out = format!("Critical Path: [{}]\n", quoted.join(", "));
    // An edge to the end of another host's step, from a start, has no weight; all others are steps, in this order.
    let mut weights = document
        .critical_path
        .parts
        .iter()
        .map(|part| part.weight_ns / 1_000_000);
    for two in names.windows(2) {
        let weight = if two[0].ends_with("_begin") {
            0
        } else {
            weights.next().unwrap()
        };
        writeln!(out, "{} -> {} : {weight}", two[0], two[1]).unwrap();
    }
    assert_eq!(weights.next(), None);
    writeln!(out, "{}", document.critical_path.total_ns / 1_000_000).unwrap();
    assert_eq!(document.critical_path.total_ns % 1_000_000, 0);
    out
}

fn rating_windows(analysis: &Analysis) -> String {
    let mut out = String::new();
    for window in &analysis.windows {
        let delays = window.delays.iter().map(|delay| {
            let ratings = delay.contributors.iter();
            let ratings: Vec<String> = ratings
                .map(|(other, rating)| format!("\n            \"F_{}\": {rating:?}", flow(other)))
                .collect();
            let ratings = match ratings.is_empty() {
                true => "{}".to_owned(),
                false => format!("{{{}\n        }}", ratings.join(",")),
            };
            let name = flow(&delay.flow);
            format!(
                "\n    \"F_{name}\": [\n        {},\n        {ratings}\n    ]",
                delay.time_ns
            )
        });
        let delays: Vec<String> = delays.collect();
        writeln!(out, "Graph window_{}:\n{{{}\n}}\n", window.start_ns, delays.join(",")).unwrap();
    }
    let ratings = analysis.contributors.iter();
    let ratings: Vec<String> = ratings
        .map(|(other, rating)| format!("\n    \"F_{}\": {rating:?}", flow(other)))
        .collect();
    match ratings.is_empty() {
        true => out.push_str("Rating:\n{}\n"),
        false => writeln!(out, "Rating:\n{{{}\n}}", ratings.join(",")).unwrap(),
    }
    out
}

fn port_weights(port: &PortWeights) -> String {
    let list = |values: Vec<String>| format!("{{{}}}", values.join(", "));
    let from_port = port
        .flows
        .iter()
        .map(|edge| format!("\"{}\": {:?}", flow(&edge.flow), edge.port_waits));
    let mut out = format!(
        "\"{}\": {{\"paused_pkt\": {}, \"p2f_weight\": {}",
        port.port,
        port.paused,
        list(from_port.collect())
    );
    if !port.flows.is_empty() {
        let to_port = port
            .flows
            .iter()
            .map(|edge| format!("\"{}\": {}", flow(&edge.flow), edge.flow_waits));
        write!(out, ", \"f2p_weight\": {}", list(to_port.collect())).unwrap();
    }
    out.push('}');
    out
}

fn telemetry_weights(analysis: &Analysis, folder: &Path, inports: impl Fn(&str, i64) -> String) -> String {
    let switches = switches(folder);
    let switches = switches.iter().map(|(switch, _)| {
        let reports = analysis.reports.iter().filter(|report| *report.switch == **switch);
        let reports = reports.map(|report| {
            let epoch = |ports: &[PortWeights]| {
                let mut parts: Vec<String> = ports.iter().map(port_weights).collect();
                if report.trigger == Trigger::Pause {
                    let shares = report
                        .shares
                        .iter()
                        .map(|(port, share, _)| format!("\"{port}\": {share:?}"));
                    parts.push(format!("\"p2p_weight\": {{{}}}", shares.collect::<Vec<_>>().join(", ")));
                }
                format!("{{{}}}", parts.join(", "))
            };
            let end = match report.trigger {
                Trigger::Flow => "\"type\": \"flow_trace\"".to_owned(),
                Trigger::Pause => format!(
                    "\"type\": \"pfc_trace\", \"inport\": \"{}\"",
                    inports(switch, report.time_ns)
                ),
            };
            let (now, last) = (epoch(&report.now), epoch(&report.last));
            format!(
                "\"{}\": {{\"epoch_now\": {now}, \"epoch_last\": {last}, {end}}}",
                report.time_ns
            )
        });
        format!("\"{switch}\": {{{}}}", reports.collect::<Vec<_>>().join(", "))
    });
    format!("{{{}}}", switches.collect::<Vec<_>>().join(", "))
}

/// The port of the link to the switch whose traffic was metered, as the file has it.
fn inport(folder: &Path, switch: &str, time_ns: i64) -> String {
    let text = fs::read_to_string(folder.join(format!("data/telemetry_{switch}.txt"))).unwrap();
    let after = text.split(&format!("time {time_ns}\n")).nth(1).unwrap();
    let line = after.lines().find(|line| line.starts_with("traffic meter")).unwrap();
    line.split_whitespace().nth(4).unwrap().to_owned()
}

fn same(what: &str, name: &str, ours: &str, theirs: &str) {
    let (ours, theirs) = (ours.trim_end(), theirs.trim_end());
    if ours != theirs {
        let differs = ours.bytes().zip(theirs.bytes()).position(|(a, b)| a != b);
        let at = differs.unwrap_or(ours.len().min(theirs.len())).saturating_sub(60);
        let part = |text: &str| text.chars().skip(at).take(200).collect::<String>();
        panic!("{name}, {what}: ours\n{}\ntheirs\n{}", part(ours), part(theirs));
    }
    println!("{name}: {what}, {} bytes, the same", ours.len());
}

#[test]
fn critical_paths_weights_and_ratings_are_those_of_the_authors_to_the_digit() {
    let Some(root) = data() else { return };
    for name in [
        "ring_e1_two_bg_dc71403",
        "ring_e1_first_af0e9ea",
        "hd_allreduce_dc71403",
    ] {
        let folder = root.join(name);
        let analysis = analysis(&folder, Mode::Authors);
        let golden = |what: &str| fs::read_to_string(root.join(format!("golden/{name}.{what}"))).unwrap();
        same(
            "critical path",
            name,
            &critical_path(&analysis),
            &golden("critical_path.txt"),
        );
        let weights = telemetry_weights(&analysis, &folder, |switch, time_ns| inport(&folder, switch, time_ns));
        same("provenance weights", name, &weights, &golden("telemetry_weights.json"));
        same(
            "ratings",
            name,
            &rating_windows(&analysis),
            &golden("rating_windows.txt"),
        );
    }
}

#[test]
fn the_deadlock_is_one_circle_over_four_switches() {
    let Some(root) = data() else { return };
    for mode in [Mode::Authors, Mode::Paper(Readings::default())] {
        let analysis = analysis(&root.join("mix_deadlock_af0e9ea"), mode);
        let deadlocks: Vec<_> = analysis
            .causes
            .iter()
            .filter(|cause| cause.kind == Kind::Deadlock)
            .collect();
        assert_eq!(deadlocks.len(), 1, "{:#?}", analysis.causes);
        let mut switches: Vec<&str> = deadlocks[0].path.iter().map(|port| &*port.switch).collect();
        println!("circle: {switches:?}");
        switches.sort_unstable();
        assert_eq!(switches, ["0", "1", "2", "3"]);
        assert!(
            analysis
                .causes
                .iter()
                .all(|cause| !matches!(cause.kind, Kind::RoutingLoop | Kind::PfcStorm))
        );
    }
}

#[test]
fn the_incast_is_found_with_its_victim() {
    let Some(root) = data() else { return };
    let analysis = analysis(&root.join("mix_af0e9ea"), Mode::Authors);
    let incasts: Vec<_> = analysis
        .causes
        .iter()
        .filter(|cause| cause.kind == Kind::Incast)
        .collect();
    assert_eq!(incasts.len(), 1, "{:#?}", analysis.causes);
    let incast = incasts[0];
    let ports: Vec<String> = incast
        .path
        .iter()
        .map(|port| format!("{}:{}", port.switch, port.port))
        .collect();
    assert_eq!(ports, ["9:1", "10:3", "12:2"]);
    let nodes = |flows: &[FlowKey]| {
        let node = |address: IpAddr| u32::from_str_radix(&hex(address)[4..6], 16).unwrap();
        flows
            .iter()
            .map(|flow| (node(flow.src), node(flow.dst)))
            .collect::<Vec<_>>()
    };
    assert_eq!(nodes(&incast.flows), [(5, 3), (6, 3), (1, 3), (8, 3), (7, 3)]);
    assert_eq!(nodes(&incast.victims), [(2, 4)]);
}

/// What the rules of the paper make of the same data: the same critical flow and the same contributor, other figures.
/// `docs/collectives.md` has them, with the reasons.
#[test]
fn the_paper_names_the_same_contributors_with_other_figures() {
    let Some(root) = data() else { return };
    for (name, other) in [
        ("ring_e1_two_bg_dc71403", Some("0b000c01->0b000f01\\n10001")),
        ("ring_e1_first_af0e9ea", Some("0b000e01->0b001201\\n10001")),
        ("hd_allreduce_dc71403", None),
    ] {
        let folder = root.join(name);
        let (paper, authors) = (
            analysis(&folder, Mode::Paper(Readings::default())),
            analysis(&folder, Mode::Authors),
        );
        let first = paper.contributors.first();
        println!(
            "{name}: paper {} ns, {} windows, {first:?}; authors {} ns, {} windows, {:?}",
            paper.path.total_ns,
            paper.windows.len(),
            authors.path.total_ns,
            authors.windows.len(),
            authors.contributors.first()
        );
        assert_eq!(first.map(|(one, _)| flow(one)).as_deref(), other, "{name}");
        // Cut to milliseconds, each step of the path loses less than one.
        let lost_ns = paper.path.total_ns - authors.path.total_ns;
        assert!(
            (0..1_000_000 * paper.path.parts.len() as i64).contains(&lost_ns),
            "{name}: {lost_ns}"
        );
    }
}
