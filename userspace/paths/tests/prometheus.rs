//! Scrapes of a Prometheus server become rows of ports, queues and priorities.

use percent_encoding::percent_decode_str;
use rocescope_model::SwitchPortRow;
use rocescope_paths::prometheus::{Error, Mapping, PRESETS, Prometheus};
use rocescope_paths::switch::{Growth, Names, Source as _};
use serde_json::{Value, json};
use std::collections::HashMap;

const SECOND: i64 = 1_000_000_000;

/// What the server has of each metric: labels, and samples in seconds.
type Stored = HashMap<&'static str, Vec<(Value, Vec<(f64, &'static str)>)>>;

/// A server that answers ranges as Prometheus 2 does: both ends belong to them.
fn serve(stored: &Stored, path: &str) -> Result<Vec<u8>, String> {
    let path = percent_decode_str(path).decode_utf8_lossy().into_owned();
    let (query, time) = path
        .strip_prefix("/api/v1/query?query=")
        .unwrap()
        .rsplit_once("&time=")
        .unwrap();
    let (metric, range) = query.split_once('{').unwrap();
    let (_, range) = range.split_once("}[").unwrap();
    let to: f64 = time.parse().unwrap();
    let range: f64 = range.strip_suffix("ms]").unwrap().parse().unwrap();
    let from = to - range / 1e3;
    let series = stored.get(metric).into_iter().flatten().map(|(labels, values)| {
        let values: Vec<_> = values
            .iter()
            .filter(|value| value.0 >= from - 1e-6 && value.0 <= to)
            .collect();
        json!({"metric": labels, "values": values})
    });
    let result: Vec<Value> = series.collect();
    Ok(
        json!({"status": "success", "data": {"resultType": "matrix", "result": result}})
            .to_string()
            .into_bytes(),
    )
}

fn preset(name: &str) -> Mapping {
    let found = PRESETS.iter().find(|preset| preset.0 == name).unwrap();
    Mapping::parse(found.1).unwrap()
}

fn rows(source: &mut Prometheus, growth: &mut Growth) -> Vec<SwitchPortRow> {
    let mut rows = Vec::new();
    source.readings(0, &mut |reading| {
        rows.push(growth.row(&"box".into(), Prometheus::NAME, &reading).unwrap());
    });
    rows
}

#[test]
fn scrapes_become_rows_with_growth_resets_and_restarts() {
    let leaf = |port| json!({"job": "snmp", "instance": "10.0.0.1", "ifName": port, "ifIndex": "7"});
    let stored: Stored = [
        (
            "ifHCInOctets",
            vec![
                (
                    leaf("Eth1"),
                    vec![
                        (10.0, "1000"),
                        (20.0, "1.1e+04"),
                        (30.0, "100"),
                        (40.0, "200"),
                        (70.0, "900"),
                    ],
                ),
                (leaf("Eth2"), vec![(10.0, "5"), (20.0, "5")]),
            ],
        ),
        (
            "ifOutDiscards",
            vec![(
                leaf("Eth1"),
                vec![(10.0, "4294967290"), (20.0, "4"), (30.0, "5"), (40.0, "6"), (70.0, "7")],
            )],
        ),
        ("ifOperStatus", vec![(leaf("Eth2"), vec![(10.0, "1"), (20.0, "2")])]),
        ("ifHighSpeed", vec![(leaf("Eth1"), vec![(10.0, "400000")])]),
        (
            "sysUpTime",
            vec![(
                json!({"instance": "10.0.0.1"}),
                vec![(10.0, "900"), (40.0, "3900"), (70.0, "10")],
            )],
        ),
    ]
    .into();
    let mut source = Prometheus::new(vec![preset("snmp")], None, Names::default(), 0);
    let mut growth = Growth::default();
    let mut found = Vec::new();
    // Eight steps of 10 s: samples at the edge of a step are in one of them.
    let mut polls = 0;
    while !source.poll(80 * SECOND, &mut |path| serve(&stored, path)).unwrap() {
        polls += 1;
        found.extend(rows(&mut source, &mut growth));
    }
    found.extend(rows(&mut source, &mut growth));
    assert_eq!(polls, 7);
    let shown: Vec<_> = found
        .iter()
        .map(|row| {
            let event = row.event.as_deref().unwrap_or("");
            (
                row.time_ns / SECOND,
                &*row.port_name,
                event,
                row.in_bytes,
                row.out_dropped_frames,
                row.up,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (10, "Eth1", "first", None, None, None),
            (10, "Eth2", "first", None, None, Some(true)),
            (20, "Eth1", "", Some(10_000), Some(10), None),
            (20, "Eth2", "", Some(0), None, Some(false)),
            (30, "Eth1", "reset", None, None, None),
            (40, "Eth1", "", Some(100), Some(1), None),
            (70, "Eth1", "restart", None, None, None),
        ]
    );
    assert_eq!(found[2].in_bps, Some(8_000.0));
    assert_eq!((found[0].speed_bps, found[0].port_index), (Some(4e11), Some(7)));
    assert_eq!(&*found[0].switch, "10.0.0.1");
    assert_eq!(source.samples().used["ifHCInOctets"], 7);
    assert!(source.samples().unused.is_empty());
}

#[test]
fn queues_priorities_and_scrapes_are_kept_apart() {
    let mapping = Mapping::parse(
        "switch = [\"source\"]\nport = [\"port\"]\nmetrics = [
            { metric = \"bytes\", column = \"out_bytes\" },
            { metric = \"drops\", column = \"out_dropped_frames\", queue = \"queue\" },
            { metric = \"pfc\", column = \"sent_pause_frames\", priority = \"class\", labels = { way = \"tx\" } },
            { metric = \"light\", column = \"rx_power_dbm\" },
        ]",
    )
    .unwrap();
    let of = |extra: Value| {
        let mut labels = json!({"source": "leaf1:57400", "port": "e1", "job": "a"});
        labels
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        labels
    };
    let stored: Stored = [
        (
            "bytes",
            vec![
                (of(json!({})), vec![(10.0, "10"), (20.0, "30")]),
                (of(json!({"job": "b"})), vec![(15.0, "1000"), (25.0, "1001")]),
                (json!({"port": "e1"}), vec![(10.0, "10")]),
                (json!({"source": "leaf1"}), vec![(10.0, "10")]),
                (of(json!({"x": "twice"})), vec![(10.0, "10")]),
            ],
        ),
        (
            "drops",
            vec![
                (of(json!({"queue": "UC3"})), vec![(10.0, "1"), (20.0, "4")]),
                (of(json!({"queue": "all"})), vec![(10.0, "1")]),
            ],
        ),
        (
            "pfc",
            vec![(of(json!({"class": "3"})), vec![(10.0, "-1"), (20.0, "NaN")])],
        ),
        (
            "light",
            vec![
                (of(json!({"lane": "0"})), vec![(10.0, "-2.5"), (20.0, "-2.5")]),
                (of(json!({"lane": "1"})), vec![(10.0, "-6.25"), (20.0, "-2")]),
            ],
        ),
    ]
    .into();
    let mut source = Prometheus::new(vec![mapping], Some("dc=\"1\"".into()), Names::default(), 0);
    let mut asked = Vec::new();
    let mut get = |path: &str| {
        asked.push(percent_decode_str(path).decode_utf8_lossy().into_owned());
        serve(&stored, path)
    };
    while !source.poll(30 * SECOND, &mut get).unwrap() {}
    let selected = "pfc{way=\"tx\",dc=\"1\"}[10000ms]";
    assert!(asked.iter().any(|path| path.contains(selected)), "{asked:?}");
    let found = rows(&mut source, &mut Growth::default());
    let shown: Vec<_> = found
        .iter()
        .map(|row| {
            (
                row.time_ns / SECOND,
                row.queue,
                row.out_bytes,
                row.out_dropped_frames,
                row.rx_power_dbm,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (10, None, None, None, Some(-6.25)),
            (10, Some(3), None, None, None),
            (15, None, None, None, None),
            (20, None, Some(20), None, Some(-2.5)),
            (20, Some(3), None, Some(3), None),
            (25, None, Some(1), None, None),
        ]
    );
    assert!(found.iter().all(|row| &*row.switch == "leaf1"));
    let unused: Vec<_> = source
        .samples()
        .unused
        .iter()
        .map(|(why, count)| (*why, *count))
        .collect();
    assert_eq!(
        unused,
        [
            ("another series has the same port and column", 1),
            ("no label has the number of the queue", 1),
            ("no label has the port", 1),
            ("no label has the switch", 1),
            ("the value is no number", 1),
            ("the value of a counter is negative", 1),
        ]
    );
}

#[test]
fn a_poll_that_fails_is_repeated_whole() {
    let leaf = json!({"job": "snmp", "instance": "leaf1:9116", "ifName": "Eth1"});
    let stored: Stored = [
        (
            "ifHCInOctets",
            vec![(leaf.clone(), vec![(10.0, "1000"), (20.0, "1100")])],
        ),
        ("ifHCOutOctets", vec![(leaf, vec![(10.0, "1"), (20.0, "2")])]),
    ]
    .into();
    let mut source = Prometheus::new(vec![preset("snmp")], None, Names::default(), 0);
    let mut growth = Growth::default();
    let mut cut = |path: &str| match path.contains("ifHCOutOctets") {
        true => Ok(b"{\"status\":\"succ".to_vec()),
        false => serve(&stored, path),
    };
    let error = source.poll(30 * SECOND, &mut cut).unwrap_err();
    assert!(
        matches!(&error, Error::Answer { metric, .. } if metric == "ifHCOutOctets"),
        "{error}"
    );
    assert_eq!((rows(&mut source, &mut growth).len(), source.until_ns()), (0, 0));
    assert_eq!(source.samples().used["ifHCInOctets"], 0);
    while !source.poll(30 * SECOND, &mut |path| serve(&stored, path)).unwrap() {}
    let found = rows(&mut source, &mut growth);
    let shown: Vec<_> = found.iter().map(|row| (row.in_bytes, row.out_bytes)).collect();
    assert_eq!(shown, [(None, None), (Some(100), Some(1))]);
    // The address of the server that answers is no name of the switch's port.
    assert_eq!(&*found[0].switch, "leaf1");
}
