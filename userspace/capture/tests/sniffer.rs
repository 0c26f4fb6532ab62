//! The frames of an RDMA device, on a test double of libibverbs.
#![expect(clippy::unwrap_used, reason = "it is a test")]

use rocescope_capture::file::Frame;
use rocescope_capture::sniffer::{Sniffer, SnifferError, SnifferPort};
use rocescope_testkit::verbs::{Stamps, load, now, with};

type Seen = Vec<(Vec<u8>, u64, u32)>;

fn open(name: &str) -> Sniffer {
    Sniffer::open(SnifferPort::find(name).unwrap().unwrap()).unwrap()
}

/// All frames that wait.
fn all(sniffer: &mut Sniffer) -> Seen {
    let mut seen = Vec::new();
    let take = |seen: &mut Seen, frame: &Frame<'_>| {
        assert_eq!(frame.lengths.captured, frame.lengths.original);
        seen.push((frame.bytes.to_vec(), frame.time_ns, frame.interface));
        Ok::<(), SnifferError>(())
    };
    while sniffer.next_frames(|frame| take(&mut seen, frame)).unwrap() {}
    seen
}

#[test]
fn every_frame_of_the_port_is_read_with_the_time_of_the_device() {
    load();
    let mut sniffer = open("mlx5_0/2");
    assert!(sniffer.is_stamped());
    let start = now();
    let sent: Vec<Vec<u8>> = (0..20_000usize)
        .map(|at| at.to_be_bytes().repeat(1 + at % 64))
        .collect();
    let mut seen = Vec::new();
    // The device has receives for some eight thousand frames at once.
    for part in sent.chunks(5_000) {
        for (at, frame) in part.iter().enumerate() {
            assert_eq!(with(|double| double.pass(1, frame, start + at as i64)), 1);
            // Of another port.
            assert_eq!(with(|double| double.pass(0, frame, start)), 0);
        }
        sniffer.take_event().unwrap();
        seen.extend(all(&mut sniffer));
    }
    assert_eq!(seen.len(), sent.len());
    for (at, ((bytes, time, interface), sent)) in seen.iter().zip(&sent).enumerate() {
        assert_eq!((bytes, *time), (sent, start as u64 + at as u64 % 5_000));
        assert_eq!(*interface, 12);
    }
}

#[test]
fn a_device_without_a_clock_of_its_own_uses_that_of_the_system() {
    load();
    for stamps in [Stamps::Unsupported, Stamps::Ticks] {
        with(|double| double.stamps = [stamps; 2]);
        let mut sniffer = open("mlx5_1");
        assert!(!sniffer.is_stamped());
        let before = now() as u64;
        with(|double| double.pass(2, &[7; 60], 5));
        let seen = all(&mut sniffer);
        assert_eq!(seen.len(), 1);
        assert!((before..=now() as u64).contains(&seen[0].1));
    }
}

#[test]
fn a_full_buffer_shows_and_what_arrives_beyond_is_not_read_twice() {
    load();
    let mut sniffer = open("mlx5_0");
    let copied: usize = (0..10_000)
        .map(|_| with(|double| double.pass(0, &[1; 64], now())))
        .sum();
    assert_eq!(copied, 8_192);
    let mut fullest = 0f64;
    let mut seen = 0;
    let mut count = |_: &Frame<'_>| {
        seen += 1;
        Ok::<(), SnifferError>(())
    };
    while sniffer.next_frames(&mut count).unwrap() {
        fullest = fullest.max(sniffer.filled());
    }
    assert_eq!((seen, fullest, sniffer.filled()), (8_192, 1.0, 0.0));
}

#[test]
fn it_ends_without_a_trace_and_stops_once() {
    load();
    let mut sniffer = open("mlx5_0");
    with(|double| double.pass(0, &[1; 64], now()));
    sniffer.stop().unwrap();
    sniffer.stop().unwrap();
    assert_eq!(with(|double| double.pass(0, &[2; 64], now())), 0);
    assert_eq!(all(&mut sniffer).len(), 1);
    drop(sniffer);
    with(|double| {
        let left = (
            double.qps.len(),
            double.cqs.len(),
            double.mrs.len(),
            double.flows.len(),
            double.open,
        );
        assert_eq!(left, (0, 0, 0, 0, 0));
    });
}

#[test]
fn what_is_missing_is_named() {
    load();
    for other in ["eth0", "mlx5_7", "mlx5_0/x"] {
        assert!(SnifferPort::find(other).unwrap().is_none(), "{other}");
    }
    let refused = SnifferPort::find("mlx5_1/2").unwrap_err().to_string();
    assert_eq!(
        refused,
        "port 2 of mlx5_1 has no network interface: it does not carry RoCE"
    );
    with(|double| double.no_sniffer = true);
    let port = SnifferPort::find("mlx5_0").unwrap().unwrap();
    let refused = Sniffer::open(port).unwrap_err().to_string();
    assert!(refused.starts_with("mlx5_0 has no sniffer flow"), "{refused}");
    with(|double| assert_eq!((double.qps.len(), double.mrs.len(), double.open), (0, 0, 0)));
    with(|double| double.closed = Some(1));
    let refused = SnifferPort::find("mlx5_1").unwrap_err().to_string();
    assert!(refused.contains("mlx5_1: Permission denied"), "{refused}");
}
