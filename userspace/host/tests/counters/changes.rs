use crate::tree::{DEVICES, Tree, read_at, row};
use rocescope_host::counters::{Reader, Rows};
use rocescope_model::CounterRow;
use std::fs;
use std::process::Command;
use std::time::Duration;

const HOUR: Rows = Rows::Changed(Duration::from_secs(3600));
const BYTES: &str = "ports/1/counters/port_xmit_data";
const TIMEOUTS: &str = "ports/1/hw_counters/local_ack_timeout_err";

fn one_device() -> (Tree, Reader) {
    let tree = Tree::empty();
    tree.add("mlx5_0", DEVICES[0].2);
    let reader = tree.reader();
    (tree, reader)
}

fn changed(row: &CounterRow) -> (Option<u64>, Option<f64>, Option<&str>) {
    (row.increase, row.rate, row.event.as_deref())
}

#[test]
fn increases_and_rates_are_in_the_unit_of_the_metric() {
    let (tree, mut reader) = one_device();
    tree.set("mlx5_0", BYTES, "1000");
    let first = read_at(&mut reader, 0, Rows::All);
    let read = row(&first, "mlx5_0", "port_xmit_data");
    assert_eq!(
        (read.value, changed(read)),
        (Some(4_000.0), (None, None, Some("first")))
    );
    tree.set("mlx5_0", BYTES, "1500");
    let next = read_at(&mut reader, 2, HOUR);
    let read = row(&next, "mlx5_0", "port_xmit_data");
    assert_eq!(
        (read.value, changed(read)),
        (Some(6_000.0), (Some(2_000), Some(1_000.0), None))
    );
    assert_eq!((read.raw_value, read.interval_ns), (Some(1_500), Some(2_000_000_000)));
    // Nothing else changed; that it was read is a row of its own.
    assert_eq!(next.len(), 2);
    let reads = row(&next, "host", "reads");
    assert_eq!(
        (reads.metric.as_deref(), reads.raw_value),
        (Some("counter_reads"), Some(2))
    );
}

/// Rows that did not change return after the refresh, not before.
#[test]
fn unchanged_counters_have_rows_periodically() {
    let (_tree, mut reader) = one_device();
    let rows = Rows::Changed(Duration::from_secs(10));
    let all = read_at(&mut reader, 0, rows).len();
    assert!(all > 50);
    assert_eq!(read_at(&mut reader, 9, rows).len(), 1);
    let again = read_at(&mut reader, 10, rows);
    assert_eq!(again.len(), all);
    let read = row(&again, "mlx5_0", "out_of_buffer");
    assert_eq!(
        (changed(read), read.interval_ns),
        ((Some(0), Some(0.0), None), Some(1_000_000_000))
    );
    assert_eq!(read_at(&mut reader, 11, rows).len(), 1);
}

#[test]
fn wraps_of_32_and_64_bits_are_increases() {
    let (tree, mut reader) = one_device();
    let end = u64::from(u32::MAX);
    tree.set("mlx5_0", TIMEOUTS, &(end - 4).to_string());
    tree.set("mlx5_0", BYTES, &(u64::MAX - 4).to_string());
    read_at(&mut reader, 0, Rows::All);
    tree.set("mlx5_0", TIMEOUTS, "5");
    tree.set("mlx5_0", BYTES, "5");
    let rows = read_at(&mut reader, 1, HOUR);
    let short = row(&rows, "mlx5_0", "local_ack_timeout_err");
    assert_eq!(changed(short), (Some(10), Some(10.0), Some("wrap")));
    let long = row(&rows, "mlx5_0", "port_xmit_data");
    assert_eq!(changed(long), (Some(40), Some(40.0), Some("wrap")));
    assert_eq!(reader.counts().wraps, 2);
}

#[test]
fn a_counter_that_goes_down_was_reset() {
    let (tree, mut reader) = one_device();
    tree.set("mlx5_0", TIMEOUTS, "1000");
    read_at(&mut reader, 0, Rows::All);
    tree.set("mlx5_0", TIMEOUTS, "3");
    let rows = read_at(&mut reader, 1, HOUR);
    let read = row(&rows, "mlx5_0", "local_ack_timeout_err");
    assert_eq!((read.value, changed(read)), (Some(3.0), (None, None, Some("reset"))));
    tree.set("mlx5_0", TIMEOUTS, "8");
    let rows = read_at(&mut reader, 2, HOUR);
    assert_eq!(
        changed(row(&rows, "mlx5_0", "local_ack_timeout_err")),
        (Some(5), Some(5.0), None)
    );
    assert_eq!(reader.counts().resets, 1);
}

/// The driver was loaded again: a 32-bit counter near its end was reset with the others, and did not wrap.
#[test]
fn what_looks_like_a_wrap_beside_a_reset_is_a_reset() {
    let (tree, mut reader) = one_device();
    tree.set("mlx5_0", TIMEOUTS, "4294967000");
    tree.set("mlx5_0", BYTES, "123456789");
    read_at(&mut reader, 0, Rows::All);
    tree.set("mlx5_0", TIMEOUTS, "0");
    tree.set("mlx5_0", BYTES, "12");
    let rows = read_at(&mut reader, 1, HOUR);
    assert_eq!(
        changed(row(&rows, "mlx5_0", "local_ack_timeout_err")),
        (None, None, Some("reset"))
    );
    assert_eq!(
        changed(row(&rows, "mlx5_0", "port_xmit_data")),
        (None, None, Some("reset"))
    );
}

/// `link_downed` has 8 bits and stops: after that, it is unknown how often the link went down.
#[test]
fn a_counter_that_stops_at_its_largest_value_has_no_increase() {
    let (tree, mut reader) = one_device();
    let path = "ports/1/counters/link_downed";
    tree.set("mlx5_0", path, "254");
    read_at(&mut reader, 0, Rows::All);
    tree.set("mlx5_0", path, "255");
    let rows = read_at(&mut reader, 1, Rows::All);
    assert_eq!(changed(row(&rows, "mlx5_0", "link_downed")), (Some(1), Some(1.0), None));
    let rows = read_at(&mut reader, 2, Rows::All);
    assert_eq!(
        changed(row(&rows, "mlx5_0", "link_downed")),
        (None, None, Some("stopped"))
    );
}

#[test]
fn a_device_that_vanishes_and_returns_starts_again() {
    let (tree, mut reader) = one_device();
    tree.add("rxe0", DEVICES[4].2);
    read_at(&mut reader, 0, Rows::All);
    tree.remove("mlx5_0");
    let rows = read_at(&mut reader, 1, HOUR);
    let present = row(&rows, "mlx5_0", "present");
    assert_eq!((present.value, present.event.as_deref()), (Some(0.0), Some("vanished")));
    assert_eq!(rows.len(), 2, "the other device has not changed");
    // It is still gone: only that is known.
    let rows = read_at(&mut reader, 2, Rows::All);
    let of_device: Vec<&CounterRow> = rows.iter().filter(|row| &*row.device == "mlx5_0").collect();
    assert_eq!((of_device.len(), of_device[0].value), (1, Some(0.0)));
    assert_eq!(reader.devices().collect::<Vec<_>>(), ["rxe0"]);
    tree.add("mlx5_0", DEVICES[0].2);
    let rows = read_at(&mut reader, 3, HOUR);
    let present = row(&rows, "mlx5_0", "present");
    assert_eq!((present.value, present.event.as_deref()), (Some(1.0), Some("returned")));
    // The values are those of the same files, and yet nothing is known about the time between.
    assert_eq!(
        changed(row(&rows, "mlx5_0", "port_xmit_data")),
        (None, None, Some("first"))
    );
    assert_eq!((reader.counts().vanished, reader.counts().returned), (1, 1));
}

/// Between two reads, the device was removed and made again.
#[test]
fn a_replaced_device_is_opened_again() {
    let (tree, mut reader) = one_device();
    read_at(&mut reader, 0, Rows::All);
    fs::rename(tree.device("mlx5_0"), tree.path().join("old")).unwrap();
    tree.add("mlx5_0", DEVICES[0].2);
    let rows = read_at(&mut reader, 1, HOUR);
    assert_eq!(row(&rows, "mlx5_0", "present").event.as_deref(), Some("returned"));
    assert_eq!(row(&rows, "mlx5_0", "out_of_buffer").event.as_deref(), Some("first"));
}

/// Files stay open, so a file that another replaces must be opened again.
#[test]
fn files_that_are_replaced_added_and_removed_are_seen() {
    let (tree, mut reader) = one_device();
    tree.set("mlx5_0", TIMEOUTS, "10");
    read_at(&mut reader, 0, Rows::All);
    let directory = tree.device("mlx5_0").join("ports/1/hw_counters");
    fs::write(directory.join("new"), "15\n").unwrap();
    fs::rename(directory.join("new"), directory.join("local_ack_timeout_err")).unwrap();
    let rows = read_at(&mut reader, 1, HOUR);
    assert_eq!(
        changed(row(&rows, "mlx5_0", "local_ack_timeout_err")),
        (Some(5), Some(5.0), None)
    );
    fs::remove_file(directory.join("local_ack_timeout_err")).unwrap();
    fs::write(directory.join("another"), "1\n").unwrap();
    let rows = read_at(&mut reader, 2, HOUR);
    assert_eq!(row(&rows, "mlx5_0", "another").event.as_deref(), Some("first"));
    assert_eq!(rows.len(), 2);
}

#[test]
fn files_that_cannot_be_read_are_counted_and_end_nothing() {
    let (tree, mut reader) = one_device();
    let path = "ports/1/counters/VL15_dropped";
    tree.set("mlx5_0", path, "N/A (no PMA)");
    // A name that points nowhere, as a file that may not be opened.
    let symbol = tree.device("mlx5_0").join("ports/1/counters/symbol_error");
    fs::remove_file(&symbol).unwrap();
    std::os::unix::fs::symlink("nowhere", &symbol).unwrap();
    let all = read_at(&mut reader, 0, Rows::All);
    let read = row(&all, "mlx5_0", "VL15_dropped");
    assert_eq!((read.value, changed(read)), (None, (None, None, Some("unreadable"))));
    assert_eq!(row(&all, "mlx5_0", "symbol_error").event.as_deref(), Some("unreadable"));
    assert_eq!(reader.counts().unreadable, 2);
    let last = reader.counts().last_unreadable.clone().unwrap();
    assert!(last.ends_with("VL15_dropped: no value in `N/A (no PMA)`"), "{last}");
    // It stays unreadable: no row, but it is counted.
    assert_eq!(read_at(&mut reader, 1, HOUR).len(), 1);
    assert_eq!(reader.counts().unreadable, 4);
    tree.set("mlx5_0", path, "7");
    let rows = read_at(&mut reader, 2, HOUR);
    assert_eq!(
        changed(row(&rows, "mlx5_0", "VL15_dropped")),
        (None, None, Some("first"))
    );
    // And unreadable again: the increase spans the time without values.
    tree.set("mlx5_0", path, "");
    let rows = read_at(&mut reader, 3, HOUR);
    assert_eq!(
        row(&rows, "mlx5_0", "VL15_dropped").event.as_deref(),
        Some("unreadable")
    );
    tree.set("mlx5_0", path, "13");
    let rows = read_at(&mut reader, 5, HOUR);
    assert_eq!(
        changed(row(&rows, "mlx5_0", "VL15_dropped")),
        (Some(6), Some(2.0), None)
    );
}

/// More counters than this process may open files: the others are opened at every read.
#[test]
fn without_open_files_every_read_opens_them() {
    // The limit is one of the process, and the other tests are in this process: a process of its own runs this one.
    const ALONE: &str = "ROCESCOPE_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let mut alone = Command::new(std::env::current_exe().unwrap());
        let name = "changes::without_open_files_every_read_opens_them";
        let output = alone.args(["--exact", name]).env(ALONE, "").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let (tree, mut reader) = one_device();
    let before = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let few = rustix::process::Rlimit {
        current: Some(60),
        ..before
    };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, few).unwrap();
    let rows = read_at(&mut reader, 0, Rows::All);
    tree.set("mlx5_0", TIMEOUTS, "99999");
    let next = read_at(&mut reader, 1, HOUR);
    rustix::process::setrlimit(rustix::process::Resource::Nofile, before).unwrap();
    assert!(
        rows.len() > 50 && reader.counts().unreadable == 0,
        "{:?}",
        reader.counts()
    );
    assert_eq!(row(&next, "mlx5_0", "local_ack_timeout_err").value, Some(99_999.0));
}

/// The columns are signed: what has 64 bits without a sign is exact in `text`.
#[test]
fn numbers_are_exact_over_the_whole_range_of_64_bits() {
    let (tree, mut reader) = one_device();
    tree.set("mlx5_0", "ports/1/hw_counters/odd", "18446744073709551000");
    tree.set("mlx5_0", "ports/1/hw_counters/signed", "-5");
    tree.set("mlx5_0", TIMEOUTS, "-2");
    let first = read_at(&mut reader, 0, Rows::All);
    let odd = row(&first, "mlx5_0", "odd");
    assert_eq!(
        (odd.raw_value, odd.text.as_deref()),
        (None, Some("18446744073709551000"))
    );
    let signed = row(&first, "mlx5_0", "signed");
    assert_eq!(
        (signed.raw_value, signed.value, signed.text.as_deref()),
        (Some(-5), Some(-5.0), None)
    );
    // The catalogue knows that it has 32 bits: a driver that prints them with a sign.
    assert_eq!(
        row(&first, "mlx5_0", "local_ack_timeout_err").raw_value,
        Some(4_294_967_294)
    );
    tree.set("mlx5_0", "ports/1/hw_counters/odd", "18446744073709551615");
    tree.set("mlx5_0", "ports/1/hw_counters/signed", "3");
    tree.set("mlx5_0", TIMEOUTS, "1");
    let next = read_at(&mut reader, 1, HOUR);
    assert_eq!(changed(row(&next, "mlx5_0", "odd")).0, Some(615));
    assert_eq!(changed(row(&next, "mlx5_0", "signed")).0, Some(8));
    assert_eq!(
        changed(row(&next, "mlx5_0", "local_ack_timeout_err")),
        (Some(3), Some(3.0), Some("wrap"))
    );
}

/// A FIFO makes an ordinary `open` wait for a writer.
#[test]
fn only_regular_files_are_read() {
    let (tree, mut reader) = one_device();
    for path in ["ports/1/hw_counters/pipe", "ports/1/gids/7", "ports/1/rate"] {
        let path = tree.device("mlx5_0").join(path);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    }
    let rows = read_at(&mut reader, 0, Rows::All);
    assert_eq!(row(&rows, "mlx5_0", "pipe").event.as_deref(), Some("unreadable"));
    assert!(rows.len() > 50);
    let counts = reader.counts();
    assert_eq!(counts.unreadable, 3);
    let why = counts.last_unreadable.as_deref().unwrap();
    assert!(why.ends_with(": not a regular file"), "{why}");
}
