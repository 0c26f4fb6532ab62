//! SEND, WRITE and READ between RC queue pairs, and how they fail.

use crate::nics;
use rocescope_probe::rc::{Completion, Device, Error, Kind, Memory, Operation, Options, QueuePair, Region};
use rocescope_testkit::verbs::{gid, load, with};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(10);
const BYTES: usize = 4096;

fn region(device: &Device) -> Region {
    Region::register(device, Memory::new(BYTES).unwrap()).unwrap()
}

/// Two queue pairs of two NICs, with MTUs of 4096 and 1024 bytes.
fn connected() -> [(Device, QueuePair); 2] {
    let ends = [0, 2].map(|nic| {
        let (nic, interface) = &nics()[nic];
        let device = Device::of_nic(nic, *interface).unwrap();
        let options = Options {
            first_psn: 100 + interface,
            ..Options::default()
        };
        let pair = QueuePair::new(&device, &options).unwrap();
        (device, pair)
    });
    let [(first, mut one), (second, mut two)] = ends;
    one.connect(&two.address()).unwrap();
    two.connect(&one.address()).unwrap();
    [(first, one), (second, two)]
}

#[test]
fn write_and_read_move_bytes_without_the_peer() {
    let [(first, mut one), (second, _two)] = connected();
    let (source, target) = (region(&first), region(&second));
    source.write(8, b"eight bytes");
    let write = Operation::Write(target.window().skip(100));
    one.run(write, &source, 8..19, LIMIT).unwrap();
    let mut found = [0; 13];
    target.read(99, &mut found);
    assert_eq!(&found, b"\0eight bytes\0");
    let read = Operation::Read(target.window().skip(106));
    one.run(read, &source, 0..5, LIMIT).unwrap();
    let mut found = [0; 5];
    source.read(0, &mut found);
    assert_eq!(&found, b"bytes");
    // The path MTU is the smaller one: 3 is 1024 bytes.
    with(|double| {
        for qp in double.qps.values() {
            assert_eq!(qp.peer.unwrap().mtu, 3);
        }
    });
}

#[test]
fn a_send_arrives_in_the_receive_that_was_posted() {
    let [(first, mut one), (second, mut two)] = connected();
    let (source, target) = (region(&first), region(&second));
    two.post_receive(&target, 64..128, 7).unwrap();
    source.write(0, b"hello");
    let took = one.run(Operation::Send, &source, 0..5, LIMIT).unwrap();
    assert!(took < LIMIT);
    let received = Completion {
        kind: Kind::Receive,
        number: 7,
        bytes: 5,
    };
    assert_eq!(two.wait(LIMIT).unwrap(), received);
    assert_eq!(two.poll().unwrap(), None);
    let mut found = [0; 5];
    target.read(64, &mut found);
    assert_eq!(&found, b"hello");
    // No receive is left.
    let refused = one.run(Operation::Send, &source, 0..5, LIMIT).unwrap_err();
    assert!(matches!(refused, Error::Failed { status: 13, .. }), "{refused}");
}

/// Both receives and operations complete in one queue.
#[test]
fn several_operations_are_in_flight_and_keep_their_numbers() {
    let [(first, mut one), (second, mut two)] = connected();
    let (source, target) = (region(&first), region(&second));
    one.post_receive(&source, 0..64, 1).unwrap();
    two.run(Operation::Send, &target, 0..1, LIMIT).unwrap();
    for number in 1..=3 {
        let write = Operation::Write(target.window());
        one.post(write, &source, 0..BYTES, number).unwrap();
    }
    let found: Vec<(Kind, u32)> = (0..4)
        .map(|_| one.wait(LIMIT).unwrap())
        .map(|completion| (completion.kind, completion.number))
        .collect();
    let operation = |number| (Kind::Operation, number);
    assert_eq!(found, [(Kind::Receive, 1), operation(1), operation(2), operation(3)]);
}

#[test]
fn a_device_may_be_connected_to_itself() {
    load();
    let device = Device::open("mlx5_0", 2).unwrap();
    assert_eq!(
        (device.name(), device.port(), device.gid(), device.mtu()),
        ("mlx5_0", 2, gid(1), 4096)
    );
    let (source, target) = (region(&device), region(&device));
    let (mut requester, _responder) = QueuePair::loopback(&device, &Options::default()).unwrap();
    source.write(0, b"around");
    let write = Operation::Write(target.window());
    requester.run(write, &source, 0..BYTES, LIMIT).unwrap();
    let mut found = [0; 6];
    target.read(0, &mut found);
    assert_eq!(&found, b"around");
}

#[test]
fn what_the_peer_did_not_allow_fails_the_queue_pair() {
    let [(first, mut one), (second, two)] = connected();
    let (source, target) = (region(&first), region(&second));
    let past = Operation::Write(target.window().skip(1));
    let refused = one.run(past, &source, 0..BYTES, LIMIT).unwrap_err();
    assert!(matches!(refused, Error::Failed { status: 10, .. }), "{refused}");
    // In error it takes nothing.
    let refused = one.post(Operation::Send, &source, 0..1, 0).unwrap_err();
    assert!(refused.to_string().starts_with("an operation: "), "{refused}");
    drop(two);
}

#[test]
fn a_peer_that_is_gone_is_named_as_such() {
    let [(first, mut one), (_second, two)] = connected();
    let source = region(&first);
    drop(two);
    let refused = one.run(Operation::Send, &source, 0..1, LIMIT).unwrap_err();
    let expected = "the operation failed: transport retry counter exceeded (status 12)";
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn what_does_not_complete_ends_at_the_time_limit() {
    let [(first, mut one), (second, _two)] = connected();
    let (source, target) = (region(&first), region(&second));
    with(|double| double.lose_completions = 1);
    let limit = Duration::from_millis(20);
    let start = std::time::Instant::now();
    let late = one.run(Operation::Write(target.window()), &source, 0..1, limit);
    assert_eq!(late.unwrap_err().to_string(), "nothing completed within 20ms");
    assert!(start.elapsed() >= limit);
}

/// A completion that comes while the processor sleeps wakes it: the peer sends after the time in which it spins.
#[test]
fn a_completion_ends_the_sleep() {
    let [(first, mut one), (second, mut two)] = connected();
    let (source, target) = (region(&first), region(&second));
    two.post_receive(&target, 0..64, 0).unwrap();
    assert!(matches!(two.wait(Duration::from_millis(2)), Err(Error::Timeout { .. })));
    // The request for an event is still there: the event waits in the channel, and the next sleep takes it.
    one.run(Operation::Send, &source, 0..1, LIMIT).unwrap();
    assert_eq!(two.wait(LIMIT).unwrap().bytes, 1);
    assert!(matches!(two.wait(Duration::from_millis(2)), Err(Error::Timeout { .. })));
}

#[test]
fn ranges_outside_of_a_region_are_refused() {
    let [(first, mut one), _second] = connected();
    let source = region(&first);
    let refused = one.post(Operation::Send, &source, 4000..4097, 0).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "bytes 4000 to 4097 are outside of a region of 4096 bytes"
    );
    assert!(one.post_receive(&source, 5000..5001, 0).is_err());
}

#[test]
fn everything_closes_in_any_order() {
    let [(first, one), (second, two)] = connected();
    let (source, target) = (region(&first), region(&second));
    drop((first, second));
    assert_ne!(with(|double| double.open), 0);
    drop(source);
    drop(one);
    drop(target);
    drop(two);
    with(|double| {
        assert_eq!(
            (double.open, double.qps.len(), double.cqs.len(), double.mrs.len()),
            (0, 0, 0, 0)
        );
    });
}

#[test]
fn a_device_that_does_not_exist_is_named() {
    load();
    let refused = Device::open("mlx5_7", 1).unwrap_err().to_string();
    assert_eq!(refused, "mlx5_7: no RDMA device of this name opens");
    let refused = Device::open("mlx5_0", 3).unwrap_err().to_string();
    assert_eq!(refused, "mlx5_0: port 3 has no RoCEv2 GID");
    with(|double| double.closed = Some(1));
    let refused = Device::open("mlx5_1", 1).unwrap_err().to_string();
    assert!(refused.contains("mlx5_1: Permission denied"), "{refused}");
    assert_eq!(Device::names().unwrap(), ["mlx5_0"]);
    assert_eq!(with(|double| double.open), 0);
}
