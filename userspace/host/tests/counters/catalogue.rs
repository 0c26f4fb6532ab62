use crate::tree::{DEVICES, STATISTICS, Tree, lines, read_at, row};
use rocescope_host::counters::{Reader, Rows, Wanted};
use rocescope_model::catalogue::{Driver, Metric, Place, Side};
use rocescope_model::{CounterRow, Text};
use std::collections::BTreeMap;
use std::time::Duration;

fn driver(name: &str) -> Driver {
    *Driver::ALL.iter().find(|driver| driver.name() == name).unwrap()
}

/// Each name that the catalogue has for a driver is in its made tree, and its row has the metric, the unit and the
/// value of the file.
#[test]
fn every_metric_of_a_driver_gets_from_its_file_to_its_row() {
    let tree = Tree::full();
    let rows = read_at(&mut tree.reader(), 0, Rows::All);
    let mut checked: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, device, files) in DEVICES {
        let files: BTreeMap<&str, &str> = lines(files).collect();
        for metric in Metric::all() {
            let of_driver = metric
                .sources
                .iter()
                .filter(|source| source.drivers.contains(&driver(name)));
            for source in of_driver {
                let directory = match source.place {
                    Place::Counters => "ports/1/counters",
                    Place::HwCounters => "ports/1/hw_counters",
                    _ => continue,
                };
                let path = format!("{directory}/{}", source.name);
                let written = files.get(&*path);
                let written = written.unwrap_or_else(|| panic!("{name} has no {path}"));
                let raw: u32 = written.parse().unwrap();
                let place = source.place.name();
                let row = rows
                    .iter()
                    .find(|row| &*row.device == device && &*row.source == place && &*row.name == source.name);
                let row = row.unwrap_or_else(|| panic!("{name}: no row of {path}"));
                assert_eq!(row.metric.as_deref(), Some(metric.name), "{name} {path}");
                assert_eq!(
                    row.value,
                    Some((u64::from(raw) * u64::from(source.factor)) as f64),
                    "{name} {path}"
                );
                assert_eq!(row.raw_value, Some(raw.into()));
                assert_eq!((&*row.unit, &*row.driver), (metric.unit.name(), name));
                assert_eq!(row.dimension.as_deref(), Some(metric.dimension.name()));
                assert_eq!(row.level.as_deref(), Some(metric.level.name()));
                assert_eq!(row.sign.as_deref(), Some(metric.sign.name()));
                assert_eq!(row.side.as_deref(), metric.side.map(Side::name));
                assert_eq!((row.port, row.event.as_deref()), (Some(1), Some("first")));
                checked.entry(name).or_default().push(metric.name);
            }
        }
    }
    // All metrics of tables 1 to 4 that mlx5 counts, by their place in the paper.
    let of_paper = |metric: &&Metric| metric.table.is_some() && !metric.sources.is_empty();
    for metric in Metric::all().filter(of_paper) {
        let is_counted = metric
            .sources
            .iter()
            .any(|source| source.drivers.contains(&Driver::Mlx5));
        let is_elsewhere = matches!(metric.sources[0].place, Place::Dataset | Place::Operation | Place::Port);
        assert!(is_counted != is_elsewhere, "{}", metric.name);
        assert_eq!(is_counted, checked["mlx5"].contains(&metric.name), "{}", metric.name);
    }
    assert_eq!(checked.len(), DEVICES.len());
}

/// Priorities in names, units and the names that the catalogue does not have.
#[test]
fn statistics_of_interfaces_have_metrics_and_priorities() {
    let tree = Tree::full();
    let rows = read_at(&mut tree.reader(), 0, Rows::All);
    for (name, interface, text) in STATISTICS {
        let of_driver = Metric::all().flat_map(|metric| metric.sources.iter().map(move |source| (metric, source)));
        let of_driver =
            of_driver.filter(|(_, source)| source.place == Place::Ethtool && source.drivers.contains(&driver(name)));
        for (metric, source) in of_driver {
            let priorities = if source.name.contains('#') { 0..8 } else { 0..1 };
            for priority in priorities {
                let wanted = source.name.replace('#', &priority.to_string());
                let line = text
                    .lines()
                    .find(|line| line.trim().starts_with(&format!("{wanted}: ")));
                let value: u64 = line.unwrap().rsplit_once(' ').unwrap().1.parse().unwrap();
                let row = rows.iter().find(|row| {
                    row.netdev.as_deref() == Some(interface) && &*row.source == "ethtool" && *row.name == wanted
                });
                let row = row.unwrap_or_else(|| panic!("{name}: no row of {wanted}"));
                assert_eq!(
                    (row.metric.as_deref(), row.value),
                    (Some(metric.name), Some(value as f64))
                );
                let expected = source.name.contains('#').then_some(priority);
                assert_eq!((row.priority, &*row.unit), (expected, metric.unit.name()));
            }
        }
    }
    // Rings have thousands of counters that the catalogue does not have.
    assert!(rows.iter().all(|row| &*row.name != "rx0_packets"));
}

#[test]
fn ports_have_states_rates_and_pcie_links() {
    let tree = Tree::full();
    tree.set("mlx5_0", "device/current_link_width", "4");
    let rows = read_at(&mut tree.reader(), 0, Rows::All);
    let values = |name| {
        let row = row(&rows, "mlx5_0", name);
        (row.metric.as_deref(), row.value, &*row.unit, row.text.as_deref())
    };
    assert_eq!(values("state"), (Some("state"), Some(4.0), "state", Some("4: ACTIVE")));
    let up = Some("5: LinkUp");
    assert_eq!(values("phys_state"), (Some("phys_state"), Some(5.0), "state", up));
    assert_eq!(
        values("link_layer"),
        (Some("link_layer"), None, "state", Some("Ethernet"))
    );
    let rate = Some("100 Gb/sec (4X EDR)");
    assert_eq!(values("rate"), (Some("rate"), Some(100e9), "bit/s", rate));
    let speed = Some("16.0 GT/s PCIe");
    let width = |metric, value| (Some(metric), Some(value), "lanes", None);
    assert_eq!(
        values("current_link_speed"),
        (Some("pcie_link_speed"), Some(16_000.0), "MT/s", speed)
    );
    assert_eq!(values("current_link_width"), width("pcie_link_width", 4.0));
    assert_eq!(values("max_link_width"), width("pcie_max_link_width", 16.0));
    let present = row(&rows, "rxe0", "present");
    assert_eq!(
        (present.value, present.port, &*present.driver),
        (Some(1.0), None, "rxe")
    );
}

/// By its addresses, what a capture sees finds its port.
#[test]
fn a_port_has_the_addresses_of_its_gids_each_once_and_they_are_read_again() {
    let tree = Tree::full();
    let mut reader = tree.reader();
    let rows = read_at(&mut reader, 0, Rows::All);
    let addresses = |rows: &[CounterRow]| {
        let row = row(rows, "mlx5_0", "gids");
        assert_eq!((row.metric.as_deref(), row.port), (Some("addresses"), Some(1)));
        (row.value.unwrap(), row.text.as_deref().unwrap().to_owned())
    };
    assert_eq!(addresses(&rows), (3.0, "fe80::a00:ff:fe00:1 10.0.0.1 fd00::1".into()));
    assert!(rows.iter().all(|row| &*row.device == "mlx5_0" || &*row.name != "gids"));
    tree.set("mlx5_0", "ports/1/gids/4", "0000:0000:0000:0000:0000:ffff:0a00:0002");
    let changed: Vec<_> = (1..=60)
        .flat_map(|second| read_at(&mut reader, second, Rows::Changed(Duration::from_secs(300))))
        .filter(|row| &*row.name == "gids")
        .collect();
    assert_eq!(changed.len(), 1);
    assert_eq!(addresses(&changed).1, "fe80::a00:ff:fe00:1 10.0.0.1 10.0.0.2 fd00::1");
}

/// Names that the catalogue does not have are kept, without a unit.
#[test]
fn unknown_names_are_rows_without_a_metric() {
    let tree = Tree::full();
    let rows = read_at(&mut tree.reader(), 0, Rows::All);
    let unknown = row(&rows, "bnxt_re0", "mem_mgmt_op_err");
    assert_eq!((unknown.metric.as_ref(), &*unknown.unit), (None, "unknown"));
    assert_eq!(&*unknown.kind, "counter");
    assert_eq!(&*row(&rows, "bnxt_re0", "active_qps").kind, "gauge");
    // A setting, not a counter.
    assert!(rows.iter().all(|row| &*row.name != "lifespan"));
}

#[test]
fn filters_select_devices_metrics_and_names() {
    let tree = Tree::full();
    let read = |devices: &[&str], metrics: &[&str]| {
        let patterns = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        let wanted = Wanted {
            devices: patterns(devices),
            metrics: patterns(metrics),
            interfaces: Vec::new(),
            owners: None,
        };
        let mut reader = Reader::new(tree.sources(), wanted, "h");
        let rows = read_at(&mut reader, 0, Rows::All);
        let name = |row: &CounterRow| (row.device.clone(), row.name.clone());
        rows.iter().map(name).collect::<Vec<(Text, Text)>>()
    };
    let pair = |device: &'static str, name: &'static str| (Text::from(device), Text::from(name));
    assert_eq!(read(&["rxe0"], &["state"]), [pair("rxe0", "state")]);
    // By the metric, whatever the driver calls it.
    let cnps = read(&[], &["np_cnp_sent"]);
    let expected = [
        pair("bnxt_re0", "tx_cnp_pkts"),
        pair("hns_0", "tx_cnp_pkt"),
        pair("ionic_0", "tx_rdma_cnp_pkts"),
        pair("mana_0", "sent_cnps"),
        pair("mlx5_0", "np_cnp_sent"),
        pair("rocep177s0", "cnpSent"),
    ];
    assert_eq!(cnps, expected);
    assert_eq!(read(&["mlx5*"], &["*_cnp_*"]).len(), 3);
    // What was asked for and never was there has a row that states so.
    assert_eq!(read(&["nothing"], &[]), [pair("nothing", "present")]);
}

/// An RDMA device whose name and driver are unknown has the metrics of its counters all the same.
#[test]
fn a_renamed_device_without_a_driver_is_read() {
    let tree = Tree::empty();
    let files = DEVICES[0].2.replace("device/uevent DRIVER=mlx5_core\n", "");
    tree.add("rail3", &files);
    let rows = read_at(&mut tree.reader(), 0, Rows::All);
    let read = row(&rows, "rail3", "np_cnp_sent");
    assert_eq!((read.metric.as_deref(), &*read.driver), (Some("np_cnp_sent"), ""));
}
