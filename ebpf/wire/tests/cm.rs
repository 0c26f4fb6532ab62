//! Compares decoded CM datagrams with tshark 4.0.
//!
//! `data/cm.txt` has, for a frame of three recorded captures each: its name, its bytes, and every CM
//! field of `tshark -T pdml -d udp.port==4791,infiniband` except reserved bits, private data, and flow
//! label and packet rate of the paths, which tshark 4.0 reads from the wrong bits.

#![expect(clippy::unwrap_used, clippy::panic, reason = "it is a test")]

use proptest::prelude::*;
use rocescope_wire::cm::{ip, *};
use rocescope_wire::{Class, FrameLengths, LinkType, Opcode, Packet, Psn, Qpn, ROCE_UDP_PORT, decode};
use std::net::{IpAddr, Ipv6Addr};

struct Golden {
    name: &'static str,
    frame: Vec<u8>,
    fields: Vec<(&'static str, &'static str)>,
}

fn golden() -> Vec<Golden> {
    include_str!("data/cm.txt")
        .trim_end()
        .split("\n\n")
        .map(|frame| {
            let mut lines = frame.lines();
            let name = lines.next().unwrap();
            let hex = lines.next().unwrap();
            Golden {
                name,
                frame: (0..hex.len() / 2)
                    .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
                    .collect(),
                fields: lines.map(|line| line.split_once(' ').unwrap()).collect(),
            }
        })
        .collect()
}

fn packet(frame: &[u8]) -> Packet {
    let lengths = FrameLengths::whole(frame.len() as u32);
    match decode(frame, LinkType::Ethernet, lengths, [ROCE_UDP_PORT, 0, 0, 0]) {
        Class::Roce(packet) => packet,
        other => panic!("{other:?}"),
    }
}

fn payload(frame: &[u8]) -> &[u8] {
    let packet = packet(frame);
    assert_eq!(packet.opcode(), Opcode::UD_SEND_ONLY);
    assert_eq!((packet.bth.dst_qpn(), packet.src_qpn), (Qpn::GSI, Qpn::GSI));
    &frame[packet.payload_at()..][..packet.payload_bytes as usize]
}

/// Our value in tshark's notation: a number or an address.
fn ours(mad: &Mad<'_>, key: &str) -> Result<u64, IpAddr> {
    let address = |bytes: [u8; 16]| Err(IpAddr::from(bytes).to_canonical());
    let key = key.strip_prefix("infiniband.").unwrap();
    let common = match key {
        "mad.baseversion" => 1,
        "mad.mgmtclass" => 7,
        "mad.classversion" => 2,
        "mad.method" => mad.method.into(),
        "mad.status" => mad.status.into(),
        "mad.classspecific" => 0,
        "mad.transactionid" => mad.transaction_id,
        "mad.attributeid" => mad.message.attribute().0.into(),
        "mad.attributemodifier" => mad.modifier.into(),
        _ => u64::MAX,
    };
    if common != u64::MAX {
        return Ok(common);
    }
    Ok(match mad.message {
        Message::Request(m) => {
            if let Some(key) = key.strip_prefix("cm.req.ip_cm.") {
                let addresses = ip::Addresses::read(m.private_data).unwrap();
                assert_eq!(addresses.write(), m.private_data[..36]);
                return match key {
                    "majv" | "minv" => Ok(0),
                    "ipv" => Ok(addresses.ip_version.into()),
                    "sport" => Ok(addresses.src_port.into()),
                    "sip4" | "sip6" => address(addresses.src),
                    "dip4" | "dip6" => address(addresses.dst),
                    _ => panic!("{key}"),
                };
            }
            let path = if key.contains("alt_") { m.alternate } else { m.primary };
            let service = ip::Service::read(m.service_id).unwrap();
            assert_eq!(service.write(), m.service_id);
            assert_eq!(m.transport_service, TransportService::Rc);
            let key = key.strip_prefix("cm.req").unwrap();
            match key
                .trim_start_matches('.')
                .trim_start_matches("prim_")
                .trim_start_matches("alt_")
            {
                "" => m.local_id.0.into(),
                "serviceid" => m.service_id,
                "serviceid.prefix" => 1,
                "serviceid.protocol" => service.protocol.into(),
                "serviceid.dport" => service.port.into(),
                "localcaguid" => m.local_ca_guid,
                "localqkey" => m.queue_key.into(),
                "localqpn" => m.local_qpn.get().into(),
                "responderres" => m.responder_resources.into(),
                "localeecn" => m.local_eecn.into(),
                "initdepth" => m.initiator_depth.into(),
                "remoteeecn" => m.remote_eecn.into(),
                "remoteresptout" => m.remote_response_timeout.into(),
                "transpsvctype" | "ext_transport" => 0,
                "e2eflowctrl" => m.flow_control.into(),
                "startpsn" => m.starting_psn.get().into(),
                "localresptout" => m.local_response_timeout.into(),
                "retrcount" => m.retry_count.into(),
                "pkey" => m.partition_key.into(),
                "pppmtu" => m.path_mtu.into(),
                "rdcexist" => m.rdc_exists.into(),
                "rnrretrcount" => m.rnr_retry_count.into(),
                "maxcmretr" => m.max_cm_retries.into(),
                "srq" => m.shared_receive_queue.into(),
                "locallid" => path.local_lid.into(),
                "remotelid" => path.remote_lid.into(),
                "localgid" | "localgid_ipv4" => return address(path.local_gid),
                "remotegid" | "remotegid_ipv4" => return address(path.remote_gid),
                "tfcclass" => path.traffic_class.into(),
                "hoplim" => path.hop_limit.into(),
                "sl" => path.service_level.into(),
                "subnetlocal" => path.subnet_local.into(),
                "localacktout" => path.ack_timeout.into(),
                key => panic!("{key}"),
            }
        }
        Message::Reply(m) => match key {
            "cm.rep" => m.local_id.0.into(),
            "cm.rep.remotecommid" => m.remote_id.0.into(),
            "cm.rep.localqkey" => m.queue_key.into(),
            "cm.rep.localqpn" => m.local_qpn.get().into(),
            "cm.rep.localeecn" => m.local_eecn.into(),
            "cm.rep.startpsn" => m.starting_psn.get().into(),
            "cm.rep.respres" => m.responder_resources.into(),
            "cm.rep.initdepth" => m.initiator_depth.into(),
            "cm.rep.tgtackdelay" => m.target_ack_delay.into(),
            "cm.rep.failoveracc" => m.failover_accepted.into(),
            "cm.rep.e2eflowctrl" => m.flow_control.into(),
            "cm.rep.rnrretrcount" => m.rnr_retry_count.into(),
            "cm.rep.srq" => m.shared_receive_queue.into(),
            "cm.rep.localcaguid" => m.local_ca_guid,
            _ => panic!("{key}"),
        },
        Message::ReadyToUse(m) => match key {
            "cm.rtu.localcommid" => m.local_id.0.into(),
            "cm.rtu.remotecommid" => m.remote_id.0.into(),
            _ => panic!("{key}"),
        },
        Message::DisconnectRequest(m) => match key {
            "cm.dreq.localcommid" => m.local_id.0.into(),
            "cm.dreq.remotecommid" => m.remote_id.0.into(),
            "cm.req.remoteqpneecn" => m.remote_qpn.get().into(),
            _ => panic!("{key}"),
        },
        Message::DisconnectReply(m) => match key {
            "cm.drsp.localcommid" => m.local_id.0.into(),
            "cm.drsp.remotecommid" => m.remote_id.0.into(),
            _ => panic!("{key}"),
        },
        other => panic!("{other:?}"),
    })
}

/// tshark's number or address; an address of all zeros has a colon after every byte.
fn theirs(value: &str) -> Result<u64, IpAddr> {
    if let Some(hex) = value.strip_prefix("0x") {
        return Ok(u64::from_str_radix(hex, 16).unwrap());
    }
    if let Ok(address) = value.parse() {
        return Err(address);
    }
    let hex: String = value.split(':').collect();
    match hex.len() {
        32 => Err(Ipv6Addr::from(u128::from_str_radix(&hex, 16).unwrap()).into()),
        10 => Ok(u64::from_str_radix(&hex, 16).unwrap()),
        _ => Ok(value.parse().unwrap()),
    }
}

#[test]
fn every_field_matches_tshark() {
    let mut compared = 0;
    for golden in golden() {
        let mad = Mad::read(payload(&golden.frame)).unwrap();
        for (key, value) in &golden.fields {
            assert_eq!(ours(&mad, key), theirs(value), "{} {key}", golden.name);
            compared += 1;
        }
    }
    assert!(compared > 350, "{compared}");
}

#[test]
fn a_recorded_datagram_round_trips() {
    for golden in golden() {
        let payload = payload(&golden.frame);
        assert_eq!(Mad::read(payload).unwrap().write()[..], payload[..], "{}", golden.name);
    }
}

#[test]
fn a_path_is_read_to_the_last_bit() {
    let golden = golden();
    let Message::Request(request) = Mad::read(payload(&golden[0].frame)).unwrap().message else {
        panic!("a REQ");
    };
    // 90 c1 60 00 in the frame: twenty bits of label, six reserved, six of rate.
    assert_eq!(request.primary.flow_label, 0x90c16);
    assert_eq!(request.primary.packet_rate, 0);
    assert_eq!(request.alternate, Path::NONE);
}

#[test]
fn a_datagram_that_is_too_short_or_of_another_class_is_refused() {
    let golden = golden();
    let payload = payload(&golden[0].frame);
    for bytes in 0..MAD_BYTES {
        assert_eq!(Mad::read(&payload[..bytes]), Err(MadError::Short { found: bytes }));
    }
    let mut other = payload.to_vec();
    other[1] = 0x04;
    assert_eq!(Mad::read(&other), Err(MadError::Class(4)));
    other[1] = CLASS;
    other[2] = 1;
    assert_eq!(Mad::read(&other), Err(MadError::Version { base: 1, class: 1 }));
}

#[test]
fn a_reject_names_its_reason() {
    let reject = Reject {
        local_id: CommunicationId(0),
        remote_id: CommunicationId(7),
        message: 0,
        information_bytes: 0,
        reason: RejectReason::CONSUMER,
        information: &[],
        private_data: b"no",
    };
    let bytes = Mad::send(9, Message::Reject(reject)).write();
    let Message::Reject(read) = Mad::read(&bytes).unwrap().message else {
        panic!("a REJ");
    };
    assert_eq!(read.reason.name(), "consumer reject");
    assert_eq!(
        (read.remote_id, read.information.len(), read.private_data.len()),
        (CommunicationId(7), 72, 148)
    );
    assert_eq!(&read.private_data[..3], b"no\0");
}

#[test]
fn a_request_has_defaults() {
    let service = ip::Service {
        protocol: 6,
        port: 18_515,
    };
    let request = Request::new(CommunicationId(1), service.write(), Qpn::new(0x12), Psn::new(0xfff_fff));
    assert_eq!(request.path_mtu_bytes(), Some(1024));
    let bytes = Mad::send(2, Message::Request(request)).write();
    let Message::Request(read) = Mad::read(&bytes).unwrap().message else {
        panic!("a REQ");
    };
    assert_eq!(ip::Service::read(read.service_id), Some(service));
    assert_eq!(read.starting_psn, Psn::new(0xfff_fff));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The first read drops reserved bits; everything else round-trips.
    #[test]
    fn whatever_is_read_is_written_back(
        attribute in 0x0010u16..=0x001a,
        body in proptest::collection::vec(any::<u8>(), MAD_BYTES),
    ) {
        let mut bytes = body;
        bytes[..3].copy_from_slice(&[1, CLASS, 2]);
        bytes[16..18].copy_from_slice(&attribute.to_be_bytes());
        let mad = Mad::read(&bytes).unwrap();
        let written = mad.write();
        prop_assert_eq!(Mad::read(&written).unwrap(), mad);
        prop_assert_eq!(Mad::read(&written).unwrap().write(), written);
    }

    #[test]
    fn no_payload_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Mad::read(&bytes);
        let _ = ip::Addresses::read(&bytes);
    }
}
