//! The metrics of a capture equal its summary.

use crate::live::namespace::Namespace;
use crate::live::replay::replay;
use crate::live::running::Live;
use crate::live::totals::capture;
use rocescope_testkit::{json, run, until};

#[test]
fn metrics_equal_the_summary() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    namespace.ip(&["link", "set", "dev", "lo", "up"]);
    for mode in ["native", "af-packet"] {
        let more = ["--metrics", "127.0.0.1:0", "--lateness", "0s", "--window", "100ms"];
        let mut live = Live::begin(&namespace, &[&["--mode", mode], &more[..]].concat());
        let line = live.line();
        let address = line.trim().strip_prefix("metrics at ").unwrap().to_owned();
        let read = |series: &str| -> Option<u64> {
            let output = namespace.command("curl").args(["-s", &address]).output().unwrap();
            let page = String::from_utf8(output.stdout).unwrap();
            let line = page.lines().find(|line| line.starts_with(series))?;
            line.rsplit(' ').next()?.parse().ok()
        };
        // Before the first frame, and so before the first window.
        for series in ["roce_packets", "interface_dropped_frames", "socket_dropped_frames"] {
            let series = format!("rocescope_{series}_total{{");
            assert_eq!(read(&series), Some(0), "{mode}: {series}");
        }
        let path = capture("vlan100_write_bw").unwrap();
        let file = json(&run(&["capture", "-q", "-o", "json", "-r", path.to_str().unwrap()]));
        replay(&namespace, &path);
        // Windows close after their frames.
        until("every window is exported", || {
            read("rocescope_roce_packets_total{") == file["roce_packets"].as_u64()
        });
        let (packets, bytes) = (
            read("rocescope_roce_packets_total{"),
            read("rocescope_frame_bytes_total{"),
        );
        let (summary, _) = live.stop();
        assert_eq!(summary["roce_packets"].as_u64(), packets, "{mode}");
        assert_eq!(summary["frame_bytes"].as_u64(), bytes, "{mode}");
    }
}
