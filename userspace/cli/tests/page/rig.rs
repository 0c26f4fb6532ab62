//! A dataset that a test writes, window by window, and the page of it.

use rocescope_generate::{self as generate, Scenario};
use rocescope_model::{EventRow, FlowRow, INCIDENT_TABLES, IncidentRow, OpcodeRow, Time, WindowRow, WindowRows};
use rocescope_runtime::clock::now;
use rocescope_store::{Options, Writer};
use rocescope_testkit::{Running, command, run_in};
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Instant;

pub(crate) const SECOND_NS: i64 = 1_000_000_000;

/// A dataset and its page.
pub(crate) struct Rig {
    folder: tempfile::TempDir,
    writer: Option<Writer>,
    page: Option<Running>,
    pub(crate) address: SocketAddr,
    /// The start of the next window.
    pub(crate) next_ns: i64,
}

impl Rig {
    /// With a window of two flows that ended now.
    pub(crate) fn new() -> Self {
        Self::of("rail3", &["127.0.0.1:0"])
    }

    /// Rows of this observer; `listen` is the address, and options after it.
    pub(crate) fn of(observer: &str, listen: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::create(&folder.path().join("data"), Options::new(observer)).unwrap();
        let now_ns = now().0;
        let mut rig = Self {
            folder,
            writer: Some(writer),
            page: None,
            address: ([127, 0, 0, 1], 0).into(),
            next_ns: now_ns - now_ns.rem_euclid(SECOND_NS) - 10 * SECOND_NS,
        };
        rig.add(&[flow(1, 5_000), flow(2, 3_000)]);
        rig.start(listen);
        rig
    }

    /// A page of the dataset of a scenario, which has ended long ago.
    pub(crate) fn of_scenario(scenario: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut capture = Vec::new();
        generate::write(&Scenario::parse(scenario).unwrap(), 7, &mut capture).unwrap();
        fs::write(folder.path().join("a.pcap"), capture).unwrap();
        let captured = run_in(
            &["capture", "-q", "-r", "a.pcap", "--no-sketches", "--out", "data"],
            folder.path(),
        );
        assert!(captured.status.success());
        let mut rig = Self {
            folder,
            writer: None,
            page: None,
            address: ([127, 0, 0, 1], 0).into(),
            next_ns: 0,
        };
        rig.start(&["127.0.0.1:0"]);
        rig
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&mut self, listen: &[&str]) {
        let arguments = [&["serve", "data", "--listen"], listen].concat();
        let mut page = Running::spawn(command(arguments).current_dir(self.folder.path()));
        let line = page.line();
        let (_, at) = line.split_once("://").unwrap_or_else(|| panic!("{line}"));
        self.address = at.trim().trim_end_matches('/').parse().unwrap();
        self.page = Some(page);
    }

    /// Starts the page again at the same address.
    pub(crate) fn resume(&mut self) {
        let address = self.address.to_string();
        self.start(&[&address]);
    }

    /// Ends the page.
    pub(crate) fn stop(&mut self) {
        let ended = self.page.take().unwrap().stop("-INT");
        assert!(ended.status.success(), "{}", ended.stderr);
    }

    /// The number of the process that serves the page.
    pub(crate) fn id(&self) -> u32 {
        self.page.as_ref().unwrap().id()
    }

    /// Writes a window with these flows, a second after the last one.
    pub(crate) fn add(&mut self, flows: &[FlowRow]) {
        let start_ns = self.next_ns;
        self.next_ns += SECOND_NS;
        let writer = self.writer.as_mut().unwrap();
        let observer = writer_name(flows);
        let rows = window(&observer, start_ns, flows);
        writer.append(&rows, Instant::now()).unwrap();
    }

    /// Writes the row of an incident, as a collector does.
    pub(crate) fn report(&self, row: IncidentRow) {
        let options = Options {
            tables: INCIDENT_TABLES,
            ..Options::new("collector")
        };
        let mut collector = Writer::create(&self.path("data"), options).unwrap();
        collector.append_cells(&vec![row], Instant::now()).unwrap();
        collector.finish().unwrap();
    }

    pub(crate) fn url(&self, address: &str) -> String {
        format!("http://{}/{address}", self.address)
    }

    /// The answer to a request.
    pub(crate) fn get(&self, address: &str) -> Answer {
        self.ask(&format!(
            "GET /{address} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        ))
    }

    pub(crate) fn ask(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        Answer::of(&answer)
    }
}

fn writer_name(flows: &[FlowRow]) -> String {
    flows
        .first()
        .map_or_else(|| "rail3".into(), |flow| flow.observer.to_string())
}

/// An answer of the server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = bytes[end + 4..].to_vec();
        Self { status, head, body }
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.status, 200, "{}", self.text());
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// A flow from 10.0.0.NUMBER.
pub(crate) fn flow(number: u8, frame_bytes: u64) -> FlowRow {
    FlowRow {
        observer: "rail3".into(),
        rank: number.into(),
        flow_hash: number.into(),
        src: [10, 0, 0, number].into(),
        dst: [10, 0, 1, number].into(),
        dst_qpn: 100 + u32::from(number),
        udp_src_port: Some(49_152),
        service: "RC".into(),
        packets: frame_bytes / 1_000,
        frame_bytes,
        payload_bytes: frame_bytes,
        frame_bps: frame_bytes as f64 * 8.0,
        payload_bps: frame_bytes as f64 * 8.0,
        ..FlowRow::default()
    }
}

/// A window of a second.
pub(crate) fn window(observer: &str, start_ns: i64, flows: &[FlowRow]) -> WindowRows {
    let observer: rocescope_model::Text = String::from(observer).into();
    let start = Time(start_ns);
    let of_window = flows.iter().map(|flow| FlowRow {
        observer: observer.clone(),
        window_start: start,
        window_start_ns: start_ns,
        window_ns: SECOND_NS,
        first_ns: start_ns,
        last_ns: start_ns + SECOND_NS - 1,
        ..flow.clone()
    });
    let flows: Vec<FlowRow> = of_window.collect();
    let packets = flows.iter().map(|flow| flow.packets).sum();
    let frame_bytes = flows.iter().map(|flow| flow.frame_bytes).sum();
    WindowRows {
        windows: vec![WindowRow {
            observer: observer.clone(),
            window_start: start,
            window_start_ns: start_ns,
            window_ns: SECOND_NS,
            frames: packets,
            roce_packets: packets,
            frame_bytes,
            payload_bytes: frame_bytes,
            flows: flows.len() as u64,
            flows_exact: true,
            ..WindowRow::default()
        }],
        opcodes: vec![OpcodeRow {
            observer: observer.clone(),
            window_start: start,
            window_start_ns: start_ns,
            window_ns: SECOND_NS,
            opcode: "RC_SEND_ONLY".into(),
            opcode_number: 4,
            packets,
            frame_bytes,
            payload_bytes: frame_bytes,
            messages: packets,
            frame_bps: frame_bytes as f64 * 8.0,
            rate_pps: packets as f64,
        }],
        events: vec![EventRow {
            observer,
            time: start,
            time_ns: start_ns,
            kind: "elephant".into(),
            count: 1,
            ..EventRow::default()
        }],
        flows,
        ..WindowRows::default()
    }
}
