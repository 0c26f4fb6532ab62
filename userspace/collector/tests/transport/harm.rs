//! Peers that the collector must refuse: each is counted with a reason, and no other agent is affected.

use crate::rig::{Rig, SOON, probes, refused, sign, start};
use bytes::Bytes;
use futures_util::stream;
use http_body_util::StreamBody;
use hyper::body::Frame;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rocescope_collector::control::Operator;
use rocescope_collector::server::{Analysis, ControlSettings, Rows};
use rocescope_collector::{Files, Server, tls};
use rocescope_model::{Cells, Table, Time, Value};
use rocescope_store::Batch;
use rocescope_testkit::{Authority, until};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

pub(crate) fn counted(server: &Server, reason: &str) {
    until(reason, || refused(&server.status(), reason) > 0);
}

/// An agent that does nothing wrong gets its rows stored.
pub(crate) fn others_are_served(rig: &Rig, server: &Server, agent: &str) {
    let spool = rig.spool(agent);
    spool.append(&probes(agent, 0..100)).unwrap();
    let sender = rig.sender(agent, server.address().port(), &spool);
    until("another agent is served", || spool.counts().parcels == 0);
    sender.finish(Duration::from_secs(5));
}

pub(crate) async fn connect(server: &Server, config: Arc<ClientConfig>) -> TlsStream<tokio::net::TcpStream> {
    let tcp = tokio::net::TcpStream::connect(server.address()).await;
    let name = ServerName::try_from("localhost").unwrap();
    let connector = TlsConnector::from(config);
    connector.connect(name, tcp.unwrap()).await.unwrap()
}

#[test]
fn garbage_is_no_handshake() {
    let rig = Rig::new();
    let server = rig.server();
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 5000], &[0xff; 5000]] {
        let mut tcp = TcpStream::connect(server.address()).unwrap();
        tcp.write_all(garbage).unwrap();
        let _ = tcp.read_to_end(&mut Vec::new());
    }
    until("each is counted", || refused(&server.status(), "no_tls") == 3);
    others_are_served(&rig, &server, "h0");
}

#[test]
fn a_peer_without_a_certificate_gets_no_further() {
    let rig = Rig::new();
    let server = rig.server();
    let authority = CertificateDer::from_pem_file(rig.path("pki/ca.pem")).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(authority).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    runtime().block_on(async {
        let mut tls = connect(&server, Arc::new(config)).await;
        assert!(tls.read(&mut [0]).await.is_err(), "an alert");
    });
    counted(&server, "no_certificate");
    assert!(server.status().agents.is_empty());
}

#[test]
fn a_certificate_of_another_authority_gets_no_further() {
    let rig = Rig::new();
    let server = rig.server();
    let other = sign(&Authority::new(&rig.path("other")), "h0", &["h0"]);
    let files = Files {
        authority: rig.path("pki/ca.pem"),
        ..other
    };
    let spool = rig.spool("h0");
    spool.append(&probes("h0", 0..10)).unwrap();
    let sender = start("h0", server.address().port(), files, &spool);
    counted(&server, "wrong_certificate");
    until("the agent learns why", || {
        let error = sender.status().last_error;
        error.is_some_and(|error| error.contains("alert"))
    });
    assert_eq!(spool.counts().rows, 10);
    others_are_served(&rig, &server, "h1");
}

#[test]
fn an_agent_does_not_send_to_a_collector_of_another_authority() {
    let rig = Rig::new();
    let server = rig.server();
    let other = sign(&Authority::new(&rig.path("other")), "h0", &["h0"]);
    let spool = rig.spool("h0");
    spool.append(&probes("h0", 0..10)).unwrap();
    let sender = start("h0", server.address().port(), other, &spool);
    until("it reports why", || {
        let error = sender.status().last_error;
        error.is_some_and(|error| error.contains("invalid peer certificate"))
    });
    assert_eq!(spool.counts().rows, 10);
}

#[test]
fn a_certificate_without_a_name_gets_no_further() {
    let rig = Rig::new();
    let server = rig.server();
    let files = rig.sign("nameless", &["10.0.0.1"]);
    let spool = rig.spool("h0");
    let _sender = start("h0", server.address().port(), files, &spool);
    counted(&server, "no_name");
}

#[test]
fn an_agent_with_the_certificate_of_another_is_refused_and_keeps_its_rows() {
    let rig = Rig::new();
    let server = rig.server();
    let spool = rig.spool("h0");
    spool.append(&probes("h0", 0..10)).unwrap();
    let files = rig.sign("h1", &["h1"]);
    let sender = start("h0", server.address().port(), files, &spool);
    counted(&server, "other_agent");
    until("the agent learns why", || {
        let error = sender.status().last_error;
        error.is_some_and(|error| error.contains("rows of \"h0\" from h1"))
    });
    assert_eq!((spool.counts().rows, server.status().counts.rows), (10, 0));
}

#[test]
fn rows_of_another_agent_are_refused_and_those_around_them_stored() {
    let rig = Rig::new();
    let server = rig.server();
    let spool = rig.spool("h0");
    spool.append(&probes("h0", 0..10)).unwrap();
    spool.append(&probes("h1", 0..10)).unwrap();
    spool.append(&probes("h0", 10..20)).unwrap();
    let sender = rig.sender("h0", server.address().port(), &spool);
    until("all is judged", || spool.counts().parcels == 0);
    let counts = spool.counts();
    assert_eq!((counts.acknowledged_rows, counts.refused_rows), (20, 10));
    let why = sender.status().last_refusal.unwrap();
    assert!(why.contains("from h0"), "{why}");
    counted(&server, "other_agent");
    sender.finish(Duration::from_secs(5));
    server.stop().unwrap();
    assert_eq!(rig.stored("h0"), (0..20).collect::<Vec<u64>>());
    assert!(rig.stored("h1").is_empty());
}

#[test]
fn a_parcel_of_a_table_that_agents_do_not_write_is_refused() {
    let rig = Rig::new();
    let server = rig.server();
    let spool = rig.spool("h0");
    let row = rocescope_model::OpcodeRow {
        observer: "h0".into(),
        ..rocescope_model::OpcodeRow::default()
    };
    spool.append(&vec![row]).unwrap();
    let _sender = rig.sender("h0", server.address().port(), &spool);
    until("it is refused", || spool.counts().refused_rows == 1);
    counted(&server, "unfit_parcel");
}

/// They would wait in the collector's memory until their time comes.
#[test]
fn rows_dated_far_ahead_are_refused_with_the_reason() {
    let rig = Rig::new();
    let mut settings = rig.settings(0);
    settings.max_ahead = Duration::from_secs(300);
    let server = Server::start(settings, None).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i64;
    let dated = |time_ns: i64, sequence| {
        let mut rows = probes("h0", sequence..sequence + 10);
        for row in &mut rows {
            (row.time, row.time_ns) = (Time(time_ns), time_ns);
        }
        rows
    };
    let spool = rig.spool("h0");
    spool.append(&dated(now + 200_000_000_000, 0)).unwrap();
    spool.append(&dated(now + 3_600_000_000_000, 10)).unwrap();
    // One of the two columns is enough.
    let mut mixed = dated(now, 20);
    mixed[7].time_ns = i64::MAX;
    spool.append(&mixed).unwrap();
    let sender = rig.sender("h0", server.address().port(), &spool);
    until("all is judged", || spool.counts().parcels == 0);
    let counts = spool.counts();
    assert_eq!((counts.acknowledged_rows, counts.refused_rows), (10, 20));
    let why = sender.status().last_refusal.unwrap();
    assert!(why.contains("ahead of the collector's clock"), "{why}");
    assert_eq!(refused(&server.status(), "dated_ahead"), 2);
}

#[test]
fn names_with_control_characters_are_refused_and_stay_in_one_line_of_the_log() {
    let rig = Rig::new();
    let lines = Arc::new(Mutex::new(Vec::<String>::new()));
    let theirs = Arc::clone(&lines);
    let mut settings = rig.settings(0);
    settings.status = Arc::new(move |line| theirs.lock().unwrap().push(line.to_owned()));
    let server = Server::start(settings, None).unwrap();
    let spool = rig.spool("h0");
    let mut rows = probes("h0", 0..10);
    rows[3].src_nic = "rail0\ncollecting at [::]:4792\u{1b}[2J".to_owned().into();
    spool.append(&rows).unwrap();
    let sender = rig.sender("h0", server.address().port(), &spool);
    until("it is refused", || spool.counts().refused_rows == 10);
    let why = sender.status().last_refusal.unwrap();
    assert!(why.contains("src_nic") && why.contains("control characters"), "{why}");
    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(!lines[0].contains(char::is_control), "{lines:?}");
}

/// An analysis with a defect.
struct Panics;

impl Analysis for Panics {
    #[expect(clippy::panic, reason = "the test needs a thread that panics")]
    fn stored(&mut self, _: &Batch) {
        panic!("a defect that the test makes");
    }

    fn due(&mut self) -> Vec<Rows> {
        Vec::new()
    }

    fn finish(&mut self) -> Vec<Rows> {
        Vec::new()
    }
}

/// Such a collector refused everything, and ended with success.
#[test]
fn a_collector_whose_writing_thread_fails_says_so_and_its_successor_has_the_rows() {
    let rig = Rig::new();
    let server = Server::start(rig.settings(0), Some(Box::new(Panics))).unwrap();
    let port = server.address().port();
    assert!(!server.has_failed());
    let spool = rig.spool("h0");
    spool.append(&probes("h0", 0..10)).unwrap();
    let sender = rig.sender("h0", port, &spool);
    until("it fails", || server.has_failed());
    let error = server.stop().unwrap_err().to_string();
    assert!(error.contains("`commit` failed"), "{error}");
    let again = Server::start(rig.settings(port), None).unwrap();
    until("the successor has them", || spool.counts().parcels == 0);
    sender.finish(Duration::from_secs(5));
    again.stop().unwrap();
    assert_eq!(rig.stored("h0"), (0..10).collect::<Vec<u64>>());
}

/// 32 half-open handshakes from each of 16 addresses, more than there may be in total.
#[test]
fn half_open_handshakes_from_many_addresses_do_not_lock_out_new_agents() {
    let rig = Rig::new();
    let mut settings = rig.settings(0);
    // Nothing ends within the test by itself.
    settings.patience = Duration::from_secs(600);
    let server = Server::start(settings, None).unwrap();
    let runtime = runtime();
    let held = runtime.block_on(async {
        let mut held = Vec::new();
        for at in 0..512_u16 {
            let socket = TcpSocket::new_v4().unwrap();
            let from = SocketAddr::from(([127, 0, 1, (at / 32) as u8 + 1], 0));
            socket.bind(from).unwrap();
            held.push(socket.connect(server.address()).await.unwrap());
        }
        held
    });
    counted(&server, "too_many_handshakes");
    for agent in ["h0", "h1", "h2"] {
        others_are_served(&rig, &server, agent);
    }
    let refused = refused(&server.status(), "too_many_handshakes");
    assert!((256..=259).contains(&refused), "{refused}");
    drop(held);
}

/// Probes whose source port is no port.
struct NoPorts(Vec<rocescope_model::ProbeRow>);

impl Cells for NoPorts {
    fn table(&self) -> &'static Table {
        self.0.table()
    }

    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        match self.table().position("udp_src_port") {
            Some(port) if port == column => Value::I64(-1),
            _ => self.0.value(row, column),
        }
    }
}

#[test]
fn a_value_that_fits_its_column_and_no_row_is_refused() {
    let rig = Rig::new();
    let server = rig.server();
    let spool = rig.spool("h0");
    spool.append(&NoPorts(probes("h0", 0..10))).unwrap();
    let sender = rig.sender("h0", server.address().port(), &spool);
    until("it is refused", || spool.counts().refused_rows == 10);
    let why = sender.status().last_refusal.unwrap();
    assert!(why.contains("udp_src_port"), "{why}");
}

#[test]
fn garbage_behind_a_good_handshake_ends_the_connection() {
    let rig = Rig::new();
    let server = rig.server();
    let config = rig.sign("h0", &["h0"]).client().unwrap();
    runtime().block_on(async {
        let mut tls = connect(&server, config).await;
        tls.write_all(&[0x55; 4096]).await.unwrap();
        let _ = tls.read_to_end(&mut Vec::new()).await;
    });
    counted(&server, "protocol");
    others_are_served(&rig, &server, "h1");
}

#[test]
fn a_silent_peer_is_disconnected_after_a_good_handshake() {
    let rig = Rig::new();
    let mut settings = rig.settings(0);
    (settings.patience, settings.keep_alive) = (SOON, SOON);
    let server = Server::start(settings, None).unwrap();
    let config = rig.sign("h0", &["h0"]).client().unwrap();
    runtime().block_on(async {
        let mut tls = connect(&server, config).await;
        let _ = tls.read_to_end(&mut Vec::new()).await;
    });
    until("it is counted", || {
        refused(&server.status(), "idle") + refused(&server.status(), "protocol") > 0
    });
    until("its seat is free", || server.status().agents.is_empty());
}

/// Most memory that the process ever had, in KiB.
pub(crate) fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.unwrap().split_whitespace().nth(1);
    kib.unwrap().parse().unwrap()
}

/// Announced in the five bytes before it, and really sent for as long as the collector reads.
#[test]
fn a_message_of_a_gigabyte_is_refused_before_it_is_read() {
    const GIGABYTE: u32 = 1 << 30;
    let rig = Rig::new();
    let server = rig.server();
    others_are_served(&rig, &server, "h1");
    let before = peak_kib();
    let config = rig.sign("h0", &["h0"]).client().unwrap();
    let sent = runtime().block_on(async {
        let tls = connect(&server, config).await;
        let builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
        let (mut requests, driven) = builder.handshake(TokioIo::new(tls)).await.unwrap();
        tokio::spawn(driven);
        let sent = Arc::new(std::sync::atomic::AtomicU64::new(0));
        let counter = Arc::clone(&sent);
        let chunk = Bytes::from(vec![0; 64 << 10]);
        let frames = stream::unfold(0_u32, move |at| {
            let mut prefix = vec![0];
            prefix.extend(GIGABYTE.to_be_bytes());
            let chunk = if at == 0 { prefix.into() } else { chunk.clone() };
            counter.fetch_add(chunk.len() as u64, std::sync::atomic::Ordering::Relaxed);
            async move { (at < GIGABYTE >> 16).then(|| (Ok::<_, Infallible>(Frame::data(chunk)), at + 1)) }
        });
        let request = hyper::Request::post("https://localhost/arrow.flight.protocol.FlightService/DoPut")
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(StreamBody::new(Box::pin(frames)))
            .unwrap();
        let answer = requests.send_request(request).await;
        // The status comes behind the body, which has no answers in it.
        if let Ok(answer) = answer {
            let _ = http_body_util::BodyExt::collect(answer.into_body()).await;
        }
        sent.load(std::sync::atomic::Ordering::Relaxed)
    });
    counted(&server, "message_too_large");
    let grown = peak_kib() - before;
    assert!(sent < 4 << 20, "{sent} bytes were taken");
    assert!(grown < 32 << 10, "{grown} KiB more");
    others_are_served(&rig, &server, "h2");
}

/// Connections that trickle: some in the handshake, more than there may be.
#[test]
fn a_slow_loris_waits_alone() {
    let rig = Rig::new();
    let mut settings = rig.settings(0);
    settings.patience = SOON;
    let server = Server::start(settings, None).unwrap();
    let from: SocketAddr = "127.0.0.2:0".parse().unwrap();
    let runtime = runtime();
    let loris = runtime.block_on(async {
        let mut held = Vec::new();
        for _ in 0..100 {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind(from).unwrap();
            let mut tcp = socket.connect(server.address()).await.unwrap();
            // The beginning of a handshake; those over the bound are closed already.
            let _ = tcp.write_all(&[0x16, 3, 1]).await;
            held.push(tcp);
        }
        held
    });
    counted(&server, "too_many_handshakes");
    others_are_served(&rig, &server, "h0");
    // 32 at a time; on a busy machine some come when the first are let go.
    let counts = || ["slow_handshake", "too_many_handshakes"].map(|reason| refused(&server.status(), reason));
    until("those let in are let go", || counts().iter().sum::<u64>() >= 100);
    drop(loris);
    let [slow, too_many] = counts();
    assert!(slow >= 32 && too_many > 0, "{slow} {too_many}");
}

#[test]
fn a_newer_connection_of_an_agent_takes_the_place_of_the_older() {
    let rig = Rig::new();
    let server = rig.server();
    let files = rig.sign("h0", &["h0"]);
    let config = files.client().unwrap();
    runtime().block_on(async {
        let mut older = connect(&server, config).await;
        until("it has a seat", || server.status().agents.len() == 1);
        others_are_served(&rig, &server, "h0");
        let _ = older.read_to_end(&mut Vec::new()).await;
    });
    counted(&server, "replaced");
}

#[test]
fn bad_files_are_one_clear_line() {
    let rig = Rig::new();
    let good = rig.sign("h0", &["h0"]);
    let other = rig.sign("h1", &["h1"]);
    let wrong = |files: Files| files.server().unwrap_err().to_string();
    let error = wrong(Files {
        certificate: rig.path("missing.pem"),
        ..good.clone()
    });
    assert!(error.contains("missing.pem"), "{error}");
    let error = wrong(Files {
        certificate: good.key.clone(),
        ..good.clone()
    });
    assert!(error.contains("no certificate in this file"), "{error}");
    let error = wrong(Files {
        key: other.key,
        ..good.clone()
    });
    assert!(error.contains("h1.key"), "{error}");
    let certificate = CertificateDer::from_pem_file(good.certificate).unwrap();
    assert_eq!(tls::first_name(&certificate).as_deref(), Some("h0"));
}

/// An agent's certificate held all connections of operators: they could neither ask nor change anything.
#[test]
fn a_certificate_that_is_no_operators_takes_few_connections_and_none_of_theirs() {
    let rig = Rig::new();
    let mut settings = rig.settings(0);
    settings.control = Some(ControlSettings {
        directory: rig.path("control"),
        first: Some("operators = [\"ops\"]\n".into()),
    });
    let server = Server::start(settings, None).unwrap();
    let agent = rig.sign("h0", &["h0"]).operator().unwrap();
    let url = format!("https://localhost:{}", server.address().port());
    let operator = Operator::new(&url, rig.sign("ops", &["ops"])).unwrap();
    let runtime = runtime();
    let held: Vec<_> = (0..20)
        .map(|_| runtime.block_on(connect(&server, Arc::clone(&agent))))
        .collect();
    until("all others are refused", || {
        refused(&server.status(), "too_many_operators") == 18
    });
    assert_eq!(operator.status().unwrap().operators, ["ops"]);
    drop(held);
}
