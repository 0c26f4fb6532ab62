use super::*;
use crate::queue_pairs::layout::AttributeLayout;
use bytemuck::{Zeroable, bytes_of};
use rocescope_record::queue_pair::VerbsLayout;
use std::time::Duration;

/// As in Linux 6.1.
fn layout() -> Layout {
    let field = |offset, bytes| Field { offset, bytes };
    Layout {
        program: VerbsLayout::default(),
        attributes: AttributeLayout {
            state: field(0, 4),
            path_mtu: field(8, 4),
            receive_psn: field(20, 4),
            send_psn: field(24, 4),
            remote_qpn: field(28, 4),
            remote_gid: field(72, 16),
            flow_label: field(88, 4),
            traffic_class: field(94, 1),
            port: field(188, 4),
            timeout: field(192, 1),
            retries: field(193, 1),
            rnr_retries: field(194, 1),
        },
        has_cm: true,
        roce_v2: 2,
        port_drivers: vec![1, 14],
    }
}

fn text_of<const BYTES: usize>(text: &str) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes
}

fn record(what: u32) -> QueuePairEvent {
    QueuePairEvent {
        time_ns: 5_000_000_000,
        identity: 0xffff_8880_0000_1000,
        what,
        number: 17,
        kind: 2,
        pid: 4242,
        driver: 14,
        owner: text_of("ib_write_bw"),
        device: text_of("rxe0"),
        ..QueuePairEvent::zeroed()
    }
}

/// 10.0.0.LAST as an IPv6 address.
fn gid(last: u8) -> [u8; 16] {
    let mut gid = [0; 16];
    gid[10..].copy_from_slice(&[0xff, 0xff, 10, 0, 0, last]);
    gid
}

/// To RTR: `ibv_modify_qp` with what a connection needs there.
fn connects() -> QueuePairChange {
    let mut attributes = [0; 256];
    let mut set = |offset: usize, value: u32| attributes[offset..offset + 4].copy_from_slice(&value.to_ne_bytes());
    for (offset, value) in [
        (0, 2),
        (8, 3),
        (20, 0x0100_0007),
        (24, 99),
        (28, 18),
        (88, 0x4001),
        (188, 1),
    ] {
        set(offset, value);
    }
    attributes[72..88].copy_from_slice(&gid(2));
    (attributes[94], attributes[192], attributes[193], attributes[194]) = (104, 14, 7, 6);
    QueuePairChange {
        event: record(MODIFIED),
        local_gid: gid(1),
        gid_type: 2,
        mask: 1 << 0 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 20,
        attributes,
    }
}

fn read(record: &[u8]) -> Option<Event> {
    let now = Moment {
        clock: Duration::from_secs(8),
        time: Default::default(),
    };
    event(record, &layout(), now)
}

fn attributes_of(change: &QueuePairChange) -> Attributes {
    match read(bytes_of(change)).unwrap().what {
        What::Modified(_, _, attributes) => attributes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn events_are_read() {
    let created = read(bytes_of(&record(CREATED))).unwrap();
    let owner = Owner {
        kind: "RC",
        pid: Some(4242),
        process: "ib_write_bw".into(),
    };
    let identity = Identity(0xffff_8880_0000_1000);
    assert_eq!((&*created.device, created.number), ("rxe0", 17));
    assert_eq!(created.what, What::Created(identity, owner));
    // It is three seconds ago.
    assert_eq!(created.moment.clock, Duration::from_secs(5));
    assert_eq!(created.moment.time.0, -3_000_000_000);
    assert_eq!(read(bytes_of(&record(ENDED))).unwrap().what, What::Ended(identity));
    assert_eq!(read(bytes_of(&record(BY_CM))).unwrap().what, What::ByCm);
    let kernel = QueuePairEvent {
        pid: 0,
        owner: text_of("nvme_rdma"),
        ..record(CREATED)
    };
    let What::Created(_, owner) = read(bytes_of(&kernel)).unwrap().what else {
        panic!("not created");
    };
    assert_eq!((owner.pid, &*owner.process), (None, "nvme_rdma"));
}

#[test]
fn attributes_are_those_of_the_mask() {
    let expected = Attributes {
        state: Some("RTR"),
        remote_qpn: Some(18),
        local_address: Some([10, 0, 0, 1].into()),
        remote_address: Some([10, 0, 0, 2].into()),
        flow: Some(Flow::Label(0x4001)),
        traffic_class: Some(104),
        path_mtu_bytes: Some(1024),
        receive_psn: Some(7),
        ..Attributes::default()
    };
    assert_eq!(attributes_of(&connects()), expected);
    let ready = QueuePairChange {
        mask: 1 << 0 | 1 << 5 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 16,
        ..connects()
    };
    let expected = Attributes {
        state: Some("RTR"),
        port: Some(1),
        timeout: Some(14),
        retries: Some(7),
        rnr_retries: Some(6),
        send_psn: Some(99),
        ..Attributes::default()
    };
    assert_eq!(attributes_of(&ready), expected);
}

#[test]
fn what_is_not_known_of_a_flow_is_not_guessed() {
    // A driver that leaves the port to its device.
    let mut change = connects();
    change.event.driver = 2;
    assert_eq!(attributes_of(&change).flow, Some(Flow::Device));
    // InfiniBand and RoCEv1 have no addresses of IP.
    for (gid_type, local_gid) in [(0, gid(1)), (1, gid(1)), (2, [0; 16])] {
        let change = QueuePairChange {
            gid_type,
            local_gid,
            ..connects()
        };
        let found = attributes_of(&change);
        assert_eq!((found.local_address, found.remote_address), (None, None));
        assert_eq!((found.flow, found.traffic_class), (Some(Flow::Device), None));
    }
    // IPv6.
    let v6 = QueuePairChange {
        local_gid: [0xfd, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        ..connects()
    };
    assert_eq!(attributes_of(&v6).local_address, Some("fd77::1".parse().unwrap()));
}

#[test]
fn other_bytes_are_no_event() {
    for bytes in [
        &[][..],
        &[0; 119],
        bytes_of(&record(0)),
        bytes_of(&record(MODIFIED)),
        bytes_of(&record(9)),
    ] {
        assert_eq!(read(bytes), None);
    }
    let created = QueuePairChange {
        event: record(CREATED),
        ..connects()
    };
    assert_eq!(read(bytes_of(&created)), None);
    // A layout that points behind the attributes.
    let mut layout = layout();
    layout.attributes.remote_gid.offset = 250;
    let now = Moment {
        clock: Duration::from_secs(8),
        time: Default::default(),
    };
    let change = connects();
    let Some(Event {
        what: What::Modified(_, _, found),
        ..
    }) = event(bytes_of(&change), &layout, now)
    else {
        panic!("no event");
    };
    assert_eq!(found.remote_address, None);
}
