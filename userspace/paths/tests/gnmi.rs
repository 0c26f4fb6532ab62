//! What gNMI servers send becomes rows of ports, queues and priorities.

use prost::Message as _;
use rocescope_model::{Row, SwitchPortRow, Value as Cell};
use rocescope_paths::gnmi::{Gnmi, Mapping, PRESETS, Requests, capabilities};
use rocescope_paths::switch::{Growth, Samples, Source as _};
use rocescope_testkit::gnmi::message::{
    CapabilityRequest, CapabilityResponse, Decimal64, Encoding, ListMode, Notification, Path, Request, ScalarArray,
    SubscribeRequest, SubscribeResponse, SubscriptionMode, Update, Value,
};
use rocescope_testkit::gnmi::path;
use serde_json::{Value as Json, json};
use std::time::Duration;

const SECOND: i64 = 1_000_000_000;
const INTERVAL: Option<Duration> = Some(Duration::from_secs(10));

fn preset(name: &str) -> Mapping {
    let found = PRESETS.iter().find(|preset| preset.0 == name).unwrap();
    Mapping::parse(found.1).unwrap()
}

/// A switch, and the rows that its messages become.
struct Read {
    source: Gnmi,
    growth: Growth,
    requests: usize,
}

impl Read {
    fn new(mappings: Vec<Mapping>) -> Self {
        let requests = Requests::new(mappings, INTERVAL);
        Self {
            source: Gnmi::new(&["leaf1".into()], &requests),
            growth: Growth::default(),
            requests: requests.paths().count(),
        }
    }

    fn send(&mut self, request: usize, message: &SubscribeResponse) {
        self.source.message(0, request, &message.encode_to_vec(), 77 * SECOND);
    }

    /// Values at a time in seconds, all in one notification.
    fn values(&mut self, second: i64, values: &[(&str, Value)]) {
        let update = values.iter().map(|(leaf, value)| update(path(leaf), value.clone()));
        let update = update.collect();
        self.send(0, &notification(second, update));
    }

    /// Everything was sent once.
    fn synchronized(&mut self) {
        for request in 0..self.requests {
            self.send(request, &SubscribeResponse::synchronized());
        }
    }

    fn rows(&mut self) -> Vec<SwitchPortRow> {
        let mut rows = Vec::new();
        self.source.readings(0, &mut |reading| {
            rows.push(self.growth.row(&"box".into(), Gnmi::NAME, &reading).unwrap());
        });
        rows.sort_by_key(|row: &SwitchPortRow| (row.time_ns, row.port_name.to_string(), row.queue, row.priority));
        rows
    }

    fn unused(&self) -> Vec<(&'static str, u64)> {
        let Samples { unused, .. } = self.source.samples();
        unused.into_iter().collect()
    }
}

fn update(path: Path, value: Value) -> Update {
    Update {
        path: Some(path),
        val: Some(value.into()),
        duplicates: 0,
    }
}

fn notification(second: i64, update: Vec<Update>) -> SubscribeResponse {
    Notification {
        timestamp: second * SECOND,
        update,
        ..Notification::default()
    }
    .into()
}

fn json_ietf(value: &Json) -> Value {
    Value::JsonIetfVal(value.to_string().into_bytes())
}

/// A counter of a port.
fn counter(port: u32, name: &str) -> String {
    format!("/interfaces/interface[name=Ethernet{port}]/state/counters/{name}")
}

#[test]
fn requests_are_what_the_specification_states() {
    assert_eq!(
        CapabilityRequest::decode(&*capabilities()).unwrap(),
        CapabilityRequest {}
    );
    let requests = Requests::new(vec![preset("openconfig"), preset("sonic")], INTERVAL);
    let answer = CapabilityResponse {
        supported_encodings: vec![Encoding::Proto as i32, Encoding::JsonIetf as i32],
        gnmi_version: "0.10.0".into(),
        ..CapabilityResponse::default()
    };
    let messages = requests.messages(Some(&answer.encode_to_vec())).unwrap();
    let lists: Vec<_> = messages
        .iter()
        .map(|message| match SubscribeRequest::decode(&**message).unwrap().request {
            Some(Request::Subscribe(list)) => list,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(lists.len(), requests.paths().count());
    for list in &lists {
        assert_eq!((list.mode, list.subscription.len()), (ListMode::Stream as i32, 1));
        let subscription = &list.subscription[0];
        assert_eq!(
            (subscription.mode, subscription.sample_interval),
            (SubscriptionMode::Sample as i32, 10_000_000_000)
        );
        assert!(!subscription.suppress_redundant);
    }
    let paths: Vec<_> = lists
        .iter()
        .map(|list| list.subscription[0].path.clone().unwrap())
        .collect();
    assert_eq!(paths[0], path("/interfaces/interface[name=*]/state"));
    assert_eq!(
        paths[2],
        path("/qos/interfaces/interface[interface-id=*]/output/queues/queue[name=*]/state")
    );
    assert_eq!((&lists[0].prefix, lists[0].encoding), (&None, Encoding::Proto as i32));
    // SONiC has a database in the prefix, and answers as JSON.
    let last = lists.last().unwrap();
    assert_eq!(last.prefix.as_ref().unwrap().target, "COUNTERS_DB");
    assert_eq!(last.encoding, Encoding::JsonIetf as i32);
    assert_eq!(paths.last().unwrap(), &path("/COUNTERS/Ethernet*/Pfcwd"));

    let once = Requests::new(vec![preset("openconfig")], None).messages(None).unwrap();
    let Some(Request::Subscribe(list)) = SubscribeRequest::decode(&*once[0]).unwrap().request else {
        panic!("no list");
    };
    assert_eq!(
        (list.mode, list.encoding),
        (ListMode::Once as i32, Encoding::JsonIetf as i32)
    );
    let error = requests.messages(Some(b"\xff")).unwrap_err();
    assert!(error.contains("no answer about capabilities"), "{error}");
}

#[test]
fn all_kinds_of_values_become_rows_to_the_digit() {
    let mut read = Read::new(vec![preset("openconfig")]);
    let interface = "/interfaces/interface[name=Ethernet1]";
    let queue = "/qos/interfaces/interface[interface-id=Ethernet1]/output/queues/queue[name=UC3]/state";
    let channel = |lane: u32, leaf: &str| {
        format!(
            "/components/component[name=Optic1]/transceiver/physical-channels/channel[index={lane}]/state/{leaf}/instant"
        )
    };
    let decimal = |digits, precision| Value::DecimalVal(Decimal64 { digits, precision });
    let all = |grown: u64| {
        vec![
            (channel(0, "input-power"), decimal(-250, 2)),
            (channel(1, "input-power"), Value::DoubleVal(-6.25)),
            (channel(0, "output-power"), Value::FloatVal(-1.1)),
            (format!("{interface}/state/oper-status"), "UP".into()),
            (format!("{interface}/state/ifindex"), Value::UintVal(7)),
            (format!("{interface}/state/transceiver"), "Optic1".into()),
            (counter(1, "in-octets"), (u64::MAX - 1_000 + grown).into()),
            (counter(1, "in-pkts"), Value::IntVal(5 + i64::try_from(grown).unwrap())),
            (counter(1, "in-errors"), Value::StringVal(grown.to_string())),
            (counter(1, "in-fcs-errors"), json_ietf(&json!(grown.to_string()))),
            (counter(1, "out-errors"), Value::JsonVal(grown.to_string().into_bytes())),
            (counter(1, "out-discards"), Value::AsciiVal(grown.to_string())),
            (
                format!("{interface}/ethernet/state/port-speed"),
                "openconfig-if-ethernet:SPEED_400GB".into(),
            ),
            (
                format!("{interface}/ethernet/state/pre-fec-ber/instant"),
                Value::StringVal("2.5e-7".into()),
            ),
            (
                format!("{interface}/ethernet/state/counters/fec-uncorrectable-blocks"),
                (9 * grown).into(),
            ),
            (format!("{queue}/ecn-marked-pkts"), (3 * grown).into()),
            (format!("{queue}/max-queue-len"), (4096 + grown).into()),
            (
                "/components/component[name=Optic1]/state/temperature/instant".into(),
                decimal(415, 1),
            ),
            // Not of a port, and not in the mapping.
            (
                "/components/component[name=CPU]/state/temperature/instant".into(),
                decimal(700, 1),
            ),
            (format!("{interface}/state/mtu"), Value::UintVal(9_000)),
            (
                "/system/state/boot-time".into(),
                Value::UintVal(1_700_000_000_000_000_000),
            ),
        ]
    };
    for (second, grown) in [(10, 0), (20, 500)] {
        let values = all(grown);
        let values: Vec<_> = values
            .iter()
            .map(|(leaf, value)| (leaf.as_str(), value.clone()))
            .collect();
        read.values(second, &values);
        read.synchronized();
    }
    let rows = read.rows();
    let shown: Vec<_> = rows
        .iter()
        .map(|row| (row.time_ns / SECOND, row.queue, row.event.as_deref()))
        .collect();
    assert_eq!(
        shown,
        [
            (10, None, Some("first")),
            (10, Some(3), Some("first")),
            (20, None, None),
            (20, Some(3), None)
        ]
    );
    let port = &rows[2];
    assert_eq!(
        (&*port.switch, &*port.port_name, port.port_index),
        ("leaf1", "Ethernet1", Some(7))
    );
    assert_eq!(
        (port.up, port.speed_bps, port.interval_ns),
        (Some(true), Some(4e11), Some(10 * SECOND))
    );
    assert_eq!((port.in_bytes, port.in_bps), (Some(500), Some(400.0)));
    assert_eq!(
        (port.in_frames, port.in_errors, port.fcs_errors),
        (Some(500), Some(500), Some(500))
    );
    assert_eq!((port.out_errors, port.out_dropped_frames), (Some(500), Some(500)));
    assert_eq!(
        (port.bit_error_ratio, port.fec_uncorrected),
        (Some(2.5e-7), Some(4_500))
    );
    // The weakest lane; what is a float of 32 bits is read as it is written.
    assert_eq!((port.rx_power_dbm, port.tx_power_dbm), (Some(-6.25), Some(-1.1)));
    assert_eq!(port.module_celsius, Some(41.5));
    let queue = &rows[3];
    assert_eq!(
        (queue.ecn_marked_frames, queue.queue_max_bytes),
        (Some(1_500), Some(4_596))
    );
    assert_eq!(read.unused(), [("no port has the component as its module", 2)]);
    let used = read.source.samples().used;
    assert_eq!(used["/interfaces/interface[name={port}]/state/counters/in-octets"], 2);
    // What the source states not to have, no row has.
    for (column, reason) in Gnmi::LACKS {
        let at = SwitchPortRow::TABLE.position(column).unwrap();
        assert!(rows.iter().all(|row| row.value(at) == Cell::Null), "{column}: {reason}");
    }
}

#[test]
fn documents_have_many_leaves() {
    let mut read = Read::new(vec![preset("openconfig")]);
    let document = |bytes: u64| {
        json!({"openconfig-interfaces:interface": [
            {"name": "e1", "state": {"name": "e1", "oper-status": "DOWN", "ifindex": 3, "mtu": 9000,
                "counters": {"in-octets": bytes.to_string(), "out-octets": bytes, "last-clear": null}}},
            {"name": "e2", "openconfig-if-ethernet:ethernet": {"state": {"port-speed": "SPEED_100GB"}}},
            {"config": {"mtu": 1}},
        ]})
    };
    for (second, bytes) in [(10, 100), (20, 130)] {
        let one = update(path("/openconfig-interfaces:interfaces"), json_ietf(&document(bytes)));
        read.send(0, &notification(second, vec![one]));
        read.synchronized();
    }
    let rows = read.rows();
    let shown: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                &*row.port_name,
                row.up,
                row.port_index,
                row.in_bytes,
                row.out_bytes,
                row.speed_bps,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("e1", Some(false), Some(3), None, None, None),
            ("e2", None, None, None, None, Some(1e11)),
            ("e1", Some(false), Some(3), Some(30), Some(30), None),
            ("e2", None, None, None, None, Some(1e11)),
        ]
    );
    assert_eq!(read.unused(), []);
}

#[test]
fn databases_of_sonic_have_ports_priorities_and_queues() {
    let mut read = Read::new(vec![preset("sonic")]);
    let prefix = Path {
        target: "COUNTERS_DB".into(),
        ..Path::default()
    };
    let mut send = |second: i64, request: usize, at: &str, json: Json| {
        let mut message = Notification {
            timestamp: second * SECOND,
            update: vec![update(path(at), json_ietf(&json))],
            ..Notification::default()
        };
        message.prefix = Some(prefix.clone());
        read.send(request, &message.into());
    };
    for (second, grown) in [(10, 0_u64), (20, 40)] {
        let text = |number: u64| (number + grown).to_string();
        let port = json!({"Ethernet0": {}, "Ethernet4": {
            "SAI_PORT_STAT_IF_IN_OCTETS": text(7), "SAI_PORT_STAT_ETHER_STATS_PKTS": "1",
            "SAI_PORT_STAT_PFC_3_TX_PKTS": text(1), "SAI_PORT_STAT_PFC_4_RX_PKTS": text(2),
            "SAI_PORT_STAT_PFC_3_ON2OFF_RX_PKTS": "9", "SAI_PORT_STAT_PFC_4_RX_PAUSE_DURATION_US": text(5)}});
        send(second, 0, "/COUNTERS/Ethernet*", port);
        let queues = json!({"Ethernet4:3": {"SAI_QUEUE_STAT_DROPPED_PACKETS": text(0)}, "Ethernet4/1:3": {}});
        send(second, 1, "/COUNTERS/Ethernet*/Queues", queues);
        let watched =
            json!({"Ethernet4:3": {"PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": text(0), "PFC_WD_ACTION": "drop"}});
        send(second, 2, "/COUNTERS/Ethernet*/Pfcwd", watched);
    }
    read.synchronized();
    let rows = read.rows();
    let growing: Vec<_> = rows
        .iter()
        .filter(|row| row.time_ns == 20 * SECOND)
        .map(|row| {
            assert_eq!(&*row.port_name, "Ethernet4");
            let pauses = (row.sent_pause_frames, row.received_pause_frames, row.paused_ns);
            (
                row.queue,
                row.priority,
                row.in_bytes,
                pauses,
                row.out_dropped_frames,
                row.watchdog_storms,
            )
        })
        .collect();
    let none = (None, None, None);
    assert_eq!(
        growing,
        [
            (None, None, Some(40), none, None, None),
            (None, Some(3), None, (Some(40), None, None), None, None),
            (None, Some(4), None, (None, Some(40), Some(40_000)), None, None),
            (Some(3), None, None, none, Some(40), Some(40)),
        ]
    );
    assert_eq!(read.unused(), []);
}

#[test]
fn a_restart_a_reset_and_a_cut_lose_no_growth() {
    let mut read = Read::new(vec![preset("openconfig")]);
    let sample = |read: &mut Read, second: i64, boot: u64, bytes: u64, drops: u64| {
        read.values(second, &[("/system/state/boot-time", boot.into())]);
        read.values(second, &[(&counter(1, "in-octets"), bytes.into())]);
        read.values(second, &[(&counter(1, "in-discards"), drops.into())]);
    };
    sample(&mut read, 10, 1_700_000_000, 1_000, 1);
    read.synchronized();
    // The switch computes the time of its start from its uptime: a second is no restart.
    sample(&mut read, 20, 1_700_000_001, 1_500, 2);
    // Cut within a sample: its values are in no row.
    read.values(30, &[(&counter(1, "in-octets"), Value::UintVal(1_800))]);
    read.source.ended(0);
    // It comes back: all is sent once more, in another order, and the growth is that since the last whole reading.
    sample(&mut read, 40, 1_700_000_001, 2_000, 5);
    assert_eq!(read.rows().len(), 2);
    read.synchronized();
    // Counters were cleared by hand.
    sample(&mut read, 50, 1_700_000_001, 10, 0);
    // A restart, after which it counts beyond its old values already.
    read.source.ended(0);
    read.values(90, &[(&counter(1, "in-octets"), Value::UintVal(4_000))]);
    read.values(90, &[(&counter(1, "in-discards"), Value::UintVal(0))]);
    read.values(90, &[("/system/state/boot-time", Value::UintVal(1_700_000_080))]);
    read.synchronized();
    sample(&mut read, 100, 1_700_000_080, 4_001, 0);
    let rows = read.rows();
    let shown: Vec<_> = rows
        .iter()
        .map(|row| {
            let event = row.event.as_deref().unwrap_or("");
            (
                row.time_ns / SECOND,
                event,
                row.interval_ns.map(|ns| ns / SECOND),
                row.in_bytes,
                row.in_dropped_frames,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (40, "", Some(20), Some(500), Some(3)),
            (50, "reset", None, None, None),
            (90, "restart", None, None, None),
            (100, "", Some(10), Some(1), Some(0)),
        ]
    );
    assert_eq!(
        read.unused(),
        [("the connection ended before the reading was whole", 1)]
    );
}

#[test]
fn values_that_are_in_no_row_have_a_reason() {
    let mapping = Mapping::parse(
        "[[subscriptions]]\npath = \"/a[name={port}]\"\n[subscriptions.leaves]\nbytes = \"in_bytes\"\n\
         octets = \"in_bytes\"\nlight = \"rx_power_dbm\"\n\"queue[id={queue}]/drops\" = \"out_dropped_frames\"\n\
         \"class[id={priority}]/pauses\" = { column = \"sent_pause_frames\", bits = 32 }\n",
    )
    .unwrap();
    let mut read = Read::new(vec![mapping]);
    let lanes = ScalarArray {
        element: [-2.5, -4.5].map(|light| Value::DoubleVal(light).into()).to_vec(),
    };
    read.values(
        10,
        &[
            ("/a[name=e1]/bytes", Value::UintVal(5)),
            ("/a[name=e1]/octets", Value::UintVal(6)),
            ("/a[name=e1]/light", Value::LeaflistVal(lanes)),
            ("/a[name=e1]/queue[id=all]/drops", Value::UintVal(1)),
            ("/a[name=e1]/queue[id=2]/drops", Value::IntVal(-1)),
            ("/a[name=e1]/queue[id=2]/drops", "many".into()),
            ("/a[name=e1]/class[id=300]/pauses", Value::UintVal(1)),
            ("/a[name=e1]/class[id=3]/pauses", u64::from(u32::MAX).into()),
            ("/a[name=e2]/bytes", Value::ProtoBytes(vec![1])),
            ("/a[name=e2]/bytes", Value::JsonVal(b"{".to_vec())),
            ("/a[other=e2]/bytes", Value::UintVal(7)),
        ],
    );
    let mut late = update(path("/a[name=e2]/bytes"), Value::UintVal(9));
    late.duplicates = 4;
    let mut empty = update(path("/a[name=e2]/bytes"), Value::UintVal(9));
    empty.val = None;
    read.send(0, &notification(10, vec![late, empty]));
    read.source.message(0, 0, b"\xff", 0);
    read.synchronized();
    read.values(20, &[("/a[name=e1]/class[id=3]/pauses", Value::UintVal(4))]);
    let rows = read.rows();
    let shown: Vec<_> = rows
        .iter()
        .map(|row| (&*row.port_name, row.priority, row.rx_power_dbm, row.sent_pause_frames))
        .collect();
    assert_eq!(
        shown,
        [
            ("e1", None, Some(-4.5), None),
            ("e1", Some(3), None, None),
            ("e2", None, None, None),
            // Across the end of 32 bits.
            ("e1", Some(3), None, Some(5)),
        ]
    );
    assert_eq!(
        read.unused(),
        [
            ("another path has the same port and column", 1),
            ("the message is not readable", 1),
            ("the path has no number of the priority", 1),
            ("the path has no number of the queue", 1),
            ("the switch sent a later value in its place", 4),
            ("the update has no value", 1),
            ("the value has an encoding that was not asked for", 1),
            ("the value is no JSON", 1),
            ("the value is no number", 1),
            ("the value of a counter is negative", 1),
        ]
    );
}
