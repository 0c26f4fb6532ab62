//! A capture of an RDMA device, on a test double of libibverbs.
#![expect(clippy::unwrap_used, reason = "it is a test")]

use rocescope_capture::af_packet::Direction;
use rocescope_capture::file::{FrameReader, open};
use rocescope_engine::live::LiveCapture;
use rocescope_engine::request::{CaptureRequest, FileSet, IntakeRequest, Mode, VerdictPolicy};
use rocescope_engine::{EngineError, Notices};
use rocescope_host::interface::Interface;
use rocescope_pipeline::Settings;
use rocescope_pipeline::connections::ConnectionSettings;
use rocescope_runtime::Signals;
use rocescope_testkit::verbs::{load, now, with};
use std::path::Path;

fn request(interfaces: &[&str], count: u64) -> CaptureRequest {
    CaptureRequest {
        interfaces: interfaces.iter().map(ToString::to_string).collect(),
        mode: Mode::Auto,
        direction: Direction::In,
        verdict: VerdictPolicy::Auto,
        keeps_vlan_tags: false,
        duration: None,
        ring_bytes: 0,
        metrics: None,
        command: Vec::new(),
        intake: IntakeRequest {
            settings: Settings {
                connections: Some(ConnectionSettings::default()),
                ..Settings::default()
            },
            udp_ports: [4791, 0, 0, 0],
            dataset: None,
            recorder: None,
            count: Some(count),
            write: None,
            write_set: FileSet::default(),
            keeps_connections: false,
        },
    }
}

fn capture(request: CaptureRequest) -> Result<LiveCapture, EngineError> {
    let signals = Signals::install().unwrap();
    let reload = Box::new(|| Err("nothing to read again".into()));
    LiveCapture::open(request, signals, reload, Notices::to(|_| {}))
}

/// Gives the ports of the double an interface of this host.
fn interface() -> Interface {
    load();
    let interface = Interface::all().unwrap().into_iter().next().unwrap();
    with(|double| double.interface = Some(interface.index));
    interface
}

#[test]
fn frames_of_the_device_in_both_directions_are_counted() {
    let interface = interface();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/assets/rnr_nak.pcap");
    let mut reader = FrameReader::new(open(&path).unwrap()).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        frames.push(frame.bytes.to_vec());
    }

    let opened = capture(request(&["mlx5_0"], frames.len() as u64)).unwrap();
    for frame in &frames {
        assert_eq!(with(|double| double.pass(0, frame, now())), 1);
    }
    let (report, outcome) = opened.run(None, None).unwrap();
    assert_eq!(outcome.counters.frames, frames.len() as u64);
    assert_eq!(outcome.counters.roce_packets, 238);
    assert_eq!(report.interfaces, [(interface.name, "rdma sniffer")]);
    assert_eq!(report.direction, Direction::Both);
    assert_eq!(report.clock_source, "nic hardware");
    assert_eq!(report.socket_dropped, 0);
}

#[test]
fn what_a_device_cannot_do_is_refused() {
    interface();
    let refusal = |request| capture(request).unwrap_err().to_string();
    let twice = refusal(request(&["mlx5_0", "mlx5_1"], 1));
    assert_eq!(twice, "mlx5_1 is given more than once");
    let mode = CaptureRequest {
        mode: Mode::Native,
        ..request(&["mlx5_0"], 1)
    };
    assert_eq!(refusal(mode), "an RDMA device has a way of its own: omit --mode");
    let unknown = refusal(request(&["mlx5_9"], 1));
    assert_eq!(unknown, "mlx5_9: no such interface (`ip link` lists them)");
    with(|double| double.no_sniffer = true);
    let none = refusal(request(&["mlx5_0"], 1));
    assert!(none.starts_with("mlx5_0 has no sniffer flow"), "{none}");
}
