//! What a page costs: `load [VIEWERS [FLOWS [SECONDS [FILTERS]]]]` writes a dataset with that many flows a window, serves it in
//! a process of its own, and prints processor time, memory, and how long after a window was written viewers had it.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "it measures and prints")]

use rocescope_model::{FlowRow, OpcodeRow, Time, WindowRow, WindowRows};
use rocescope_page::{Access, Page, Settings};
use rocescope_store::{Options, Writer};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const SECOND_NS: i64 = 1_000_000_000;

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|first| first == "serve").is_some() {
        return serve(arguments.next().unwrap().into());
    }
    let mut number = |default: u64| arguments.next().map_or(default, |text| text.parse().unwrap());
    let (viewers, flows, seconds, filters) = (number(100), number(1_000), number(60), number(1));
    let root = std::env::temp_dir().join(format!("page-load-{}", std::process::id()));
    let mut writer = Writer::create(&root, Options::new("load")).unwrap();
    // Windows start at whole seconds.
    let begun_ns = now_ns() / SECOND_NS * SECOND_NS - 120 * SECOND_NS;
    for second in 0..120 {
        writer
            .append(&window(begun_ns + second * SECOND_NS, flows), Instant::now())
            .unwrap();
    }
    let mut page = Command::new(std::env::current_exe().unwrap())
        .args(["serve", root.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut messages = BufReader::new(page.stdout.take().unwrap());
    messages.read_line(&mut line).unwrap();
    let address = line.trim().rsplit('/').nth(1).unwrap().to_owned();
    let (sender, delays) = channel();
    for viewer in 0..viewers {
        let (address, sender) = (address.clone(), sender.clone());
        let filter = match viewer % filters {
            0 => String::new(),
            one => format!("&q=qp+{one}"),
        };
        thread::spawn(move || watch(&address, &filter, &sender));
    }
    drop(sender);
    // The first view of each viewer is not part of what updates cost.
    let (mut before, mut begun) = (processor(page.id()), Instant::now());
    for second in 120..120 + 10 + seconds as i64 {
        if second == 130 {
            (before, begun) = (processor(page.id()), Instant::now());
            while delays.try_recv().is_ok() {}
        }
        let start_ns = begun_ns + second * SECOND_NS;
        let due_ns = start_ns + SECOND_NS;
        thread::sleep(Duration::from_nanos(u64::try_from(due_ns - now_ns()).unwrap_or(0)));
        writer.append(&window(start_ns, flows), Instant::now()).unwrap();
    }
    let share = (processor(page.id()) - before) / begun.elapsed().as_secs_f64();
    let mut delays: Vec<f64> = delays.try_iter().collect();
    delays.sort_by(f64::total_cmp);
    let at = |share: f64| {
        delays
            .get((delays.len() as f64 * share) as usize)
            .copied()
            .unwrap_or(f64::NAN)
    };
    println!("{viewers} viewers of {filters} views, {flows} flows a window, {seconds} s");
    println!("{:.1} % of a core, {} KiB resident", share * 100.0, resident(page.id()));
    println!(
        "{} windows fetched, after {:.2} s (median), {:.2} s (p99), {:.2} s (max)",
        delays.len(),
        at(0.5),
        at(0.99),
        at(0.999_999)
    );
    page.kill().unwrap();
    page.wait().unwrap();
    fs::remove_dir_all(root).unwrap();
}

/// Serves a dataset, and prints where, until it is killed.
fn serve(dataset: PathBuf) {
    let page = Page::start(&Settings {
        address: ([127, 0, 0, 1], 0).into(),
        access: Access::default(),
        title: "load".into(),
        dataset: Some(dataset),
        is_fed: false,
        names: Arc::default(),
        mirror_sampling: None,
        clock: Arc::new(rocescope_runtime::clock::now),
    });
    println!("{}", page.unwrap().url());
    loop {
        thread::park();
    }
}

/// Takes events, and fetches each window; sends how long after its end it has it.
fn watch(address: &str, filter: &str, delays: &Sender<f64>) {
    let mut events = TcpStream::connect(address).unwrap();
    write!(
        events,
        "GET /events?last=1m{filter} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    )
    .unwrap();
    let mut fetch = TcpStream::connect(address).unwrap();
    let mut body = Vec::new();
    for line in BufReader::new(events).lines() {
        let Ok(line) = line else { return };
        let Some(data) = line.strip_prefix("data: ") else {
            continue;
        };
        let asked = write!(
            fetch,
            "GET /sections?last=1m{filter} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"
        );
        if asked.is_err() || answer(&mut fetch, &mut body).is_none() {
            return;
        }
        let until: Option<Time> = data
            .split(' ')
            .nth(1)
            .and_then(|until| rocescope_runtime::clock::instant(until).ok());
        if let Some(until) = until {
            // The event states whole seconds.
            let _ = delays.send((now_ns() - until.0) as f64 / 1e9);
        }
    }
}

/// Reads an answer to its end.
fn answer(stream: &mut TcpStream, body: &mut Vec<u8>) -> Option<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    body.resize(length.trim().parse().ok()?, 0);
    stream.read_exact(body).ok()
}

fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_nanos()).unwrap()
}

/// Processor time of a process in seconds.
fn processor(id: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    ticks as f64 / 100.0
}

/// Memory of a process in KiB.
fn resident(id: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.unwrap().trim().trim_end_matches(" kB").to_owned()
}

fn window(start_ns: i64, flows: u64) -> WindowRows {
    let start_ns = start_ns - start_ns.rem_euclid(SECOND_NS);
    let start = Time(start_ns);
    let flow = |number: u64| FlowRow {
        observer: "load".into(),
        window_start: start,
        window_start_ns: start_ns,
        window_ns: SECOND_NS,
        rank: number as u32 + 1,
        flow_hash: number as i64,
        src: [10, 0, (number >> 8) as u8, number as u8].into(),
        dst: [10, 1, (number >> 8) as u8, number as u8].into(),
        dst_qpn: number as u32,
        service: "RC".into(),
        packets: 1_000 + number,
        frame_bytes: 1_000_000 + 1_000 * number,
        frame_bps: 8e6 + 8e3 * number as f64,
        first_ns: start_ns,
        last_ns: start_ns + SECOND_NS - 1,
        ..FlowRow::default()
    };
    let flows: Vec<FlowRow> = (0..flows).map(flow).collect();
    let packets = flows.iter().map(|flow| flow.packets).sum();
    let frame_bytes = flows.iter().map(|flow| flow.frame_bytes).sum();
    WindowRows {
        windows: vec![WindowRow {
            observer: "load".into(),
            window_start: start,
            window_start_ns: start_ns,
            window_ns: SECOND_NS,
            frames: packets,
            roce_packets: packets,
            frame_bytes,
            flows: flows.len() as u64,
            flows_exact: true,
            ..WindowRow::default()
        }],
        opcodes: vec![OpcodeRow {
            observer: "load".into(),
            window_start: start,
            window_start_ns: start_ns,
            window_ns: SECOND_NS,
            opcode: "RC_SEND_ONLY".into(),
            opcode_number: 4,
            packets,
            frame_bytes,
            ..OpcodeRow::default()
        }],
        flows,
        ..WindowRows::default()
    }
}
