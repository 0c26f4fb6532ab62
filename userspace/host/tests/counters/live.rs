use crate::tree::{read_at, row};
use rocescope_host::counters::{Reader, Rows, Sources, Wanted};
use std::process::Command;

/// Runs a command; whether it succeeded.
fn ip(arguments: &str) -> bool {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    output.is_ok_and(|output| output.status.success())
}

/// A virtual pair, which ends with the test.
struct Pair(String);

impl Drop for Pair {
    fn drop(&mut self) {
        ip(&format!("link del {}", self.0));
    }
}

/// The statistics of a real driver, asked of the kernel: `veth` counts the packets of its queues.
#[test]
fn statistics_of_a_virtual_interface_are_read_and_it_may_vanish_and_return() {
    let name = format!("cv{}", std::process::id());
    let make = || ip(&format!("link add {name} type veth peer name {name}p"));
    if !make() {
        // Without CAP_NET_ADMIN.
        return println!("skipped: a pair of virtual interfaces requires root");
    }
    let pair = Pair(name.clone());
    let wanted = Wanted {
        devices: vec!["host".into()],
        metrics: Vec::new(),
        interfaces: vec![name.clone()],
        owners: None,
    };
    let mut reader = Reader::new(Sources::this_host(), wanted, "h");
    let rows = read_at(&mut reader, 0, Rows::All);
    let peer = row(&rows, &name, "peer_ifindex");
    let index = std::fs::read_to_string(format!("/sys/class/net/{name}p/ifindex"));
    if let Ok(index) = index {
        assert_eq!(peer.value, Some(index.trim().parse::<f64>().unwrap()));
    }
    assert_eq!((&*peer.driver, &*peer.source), ("veth", "ethtool"));
    assert_eq!(peer.netdev.as_deref(), Some(&*name));
    drop(pair);
    let rows = read_at(&mut reader, 1, Rows::All);
    assert_eq!(row(&rows, &name, "present").event.as_deref(), Some("vanished"));
    assert!(make());
    let _pair = Pair(name.clone());
    let rows = read_at(&mut reader, 2, Rows::All);
    assert_eq!(row(&rows, &name, "present").event.as_deref(), Some("returned"));
    assert_eq!(row(&rows, &name, "peer_ifindex").event.as_deref(), Some("first"));
}

#[test]
fn processors_and_memory_of_this_host_are_read() {
    let mut reader = Reader::new(Sources::this_host(), Wanted::default(), "h");
    let rows = read_at(&mut reader, 0, Rows::All);
    let total = row(&rows, "host", "MemTotal");
    assert_eq!((total.metric.as_deref(), &*total.unit), (Some("memory_total"), "bytes"));
    assert!(total.value.unwrap() > row(&rows, "host", "MemAvailable").value.unwrap());
    let until = std::time::Instant::now() + std::time::Duration::from_millis(60);
    while std::time::Instant::now() < until {}
    let rows = read_at(&mut reader, 1, Rows::All);
    let busy = row(&rows, "host", "cpu_busy");
    assert!(busy.increase.unwrap() >= 10_000_000, "{busy:?}");
    assert_eq!((&*busy.unit, &*busy.source), ("ns", "proc"));
}

/// The kernel keeps no answer for an open file: each read from the start asks again.
#[test]
fn an_open_file_of_sysfs_shows_the_current_value() {
    use std::os::unix::fs::FileExt;
    let Ok(file) = std::fs::File::open("/sys/class/net/lo/statistics/rx_packets") else {
        return println!("skipped: /sys shows no loopback");
    };
    let read = || {
        let mut buffer = [0; 32];
        let length = file.read_at(&mut buffer, 0).unwrap();
        std::str::from_utf8(&buffer[..length])
            .unwrap()
            .trim()
            .parse::<u64>()
            .unwrap()
    };
    let before = read();
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(b"one", socket.local_addr().unwrap()).unwrap();
    // The test may run in another network namespace than /sys shows.
    let is_ours = std::fs::read_to_string("/proc/self/net/dev").is_ok_and(|table| table.contains("lo:"));
    assert!(read() > before || !is_ours);
}
