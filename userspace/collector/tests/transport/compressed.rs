//! Parcels cross the network compressed.

use crate::harm::{connect, counted, others_are_served, peak_kib, runtime};
use crate::network::Network;
use crate::rig::{Rig, probes};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rocescope_testkit::until;
use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// As an agent of eight NICs sends them: a second of probes in a parcel, with times that vary.
#[test]
fn parcels_take_less_than_half_of_their_size() {
    const PARCELS: u64 = 60;
    const PROBES: u64 = 80;
    let rig = Rig::new();
    let server = rig.server();
    let network = Network::to(server.address().port());
    let spool = rig.spool("h0");
    let mut random = fastrand::Rng::with_seed(7);
    for parcel in 0..PARCELS {
        let mut rows = probes("h0", parcel * PROBES..(parcel + 1) * PROBES);
        for (row, nic) in rows.iter_mut().zip((0..8).cycle()) {
            row.src_nic = format!("rail{nic}").into();
            row.time_ns += 12_500_000 * i64::from(nic);
            row.udp_src_port = random.u16(49_152..);
            row.network_latency_ns = Some(random.i64(4_000..9_000));
            row.processing_delay_ns = Some(random.i64(20_000..60_000));
        }
        spool.append(&rows).unwrap();
    }
    let parcels = spool.counts().bytes;
    let sender = rig.sender("h0", network.port, &spool);
    until("all is acknowledged", || spool.counts().parcels == 0);
    sender.finish(Duration::from_secs(5));
    server.stop().unwrap();
    let sent = network.sent_bytes.load(Ordering::Relaxed);
    println!("{sent} bytes crossed the network for {parcels} bytes of parcels");
    assert!(sent * 2 < parcels, "{sent} of {parcels} bytes");
    assert_eq!(rig.stored("h0").len() as u64, PARCELS * PROBES);
}

/// A small message that expands to a gigabyte.
#[test]
fn a_message_that_expands_beyond_the_limit_is_refused() {
    let rig = Rig::new();
    let server = rig.server();
    others_are_served(&rig, &server, "h1");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![0; 1 << 20];
    for _ in 0..1024 {
        encoder.write_all(&zeros).unwrap();
    }
    let packed = encoder.finish().unwrap();
    let mut message = vec![1];
    message.extend(u32::try_from(packed.len()).unwrap().to_be_bytes());
    message.extend(packed);
    let before = peak_kib();
    let config = rig.sign("h0", &["h0"]).client().unwrap();
    runtime().block_on(async {
        let tls = connect(&server, config).await;
        let builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
        let (mut requests, driven) = builder.handshake(TokioIo::new(tls)).await.unwrap();
        tokio::spawn(driven);
        let request = hyper::Request::post("https://localhost/arrow.flight.protocol.FlightService/DoPut")
            .header("content-type", "application/grpc")
            .header("grpc-encoding", "gzip")
            .header("te", "trailers")
            .body(Full::new(Bytes::from(message)))
            .unwrap();
        if let Ok(answer) = requests.send_request(request).await {
            let _ = answer.into_body().collect().await;
        }
    });
    counted(&server, "message_too_large");
    let grown = peak_kib() - before;
    assert!(grown < 64 << 10, "{grown} KiB more");
    others_are_served(&rig, &server, "h2");
}
