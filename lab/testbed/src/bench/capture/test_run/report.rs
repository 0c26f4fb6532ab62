//! The table, the bars, and the page in `docs/bench`.

use super::cases::Row;
use anyhow::{Context, Result};
use rocescope_capture::xdp::measure::Sample;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use xtask::process::root;

/// The command that repeats it.
const COMMAND: &str = "cargo xtask bench capture --part a";

/// One row, measured.
struct Line {
    name: String,
    /// Median in nanoseconds with the three capabilities, and with `CAP_PERFMON` in addition.
    ns: [f64; 2],
    /// Minimum and maximum of the same.
    range: [(f64, f64); 2],
    /// The median, less the wrapper over the same traffic.
    above: [f64; 2],
    records_a_packet: f64,
    lost_share: f64,
}

pub(super) struct Report {
    lines: Vec<Line>,
}

impl Report {
    pub(super) fn new(rows: &[Row], plain: &[Vec<Sample>], trusted: &[Vec<Sample>]) -> Self {
        let mut lines = Vec::new();
        let mut wrapper = [0.0; 2];
        for ((row, plain), trusted) in rows.iter().zip(plain).zip(trusted) {
            let ns = [median(plain), median(trusted)];
            if row.name.contains("wrapper") {
                wrapper = ns;
            }
            let records: u64 = plain.iter().map(|sample| sample.records).sum();
            let lost: u64 = plain.iter().map(|sample| sample.lost_records).sum();
            let packets: u64 = plain.iter().map(|sample| sample.packets).sum();
            lines.push(Line {
                name: row.name.clone(),
                ns,
                range: [range(plain), range(trusted)],
                above: [ns[0] - wrapper[0], ns[1] - wrapper[1]],
                records_a_packet: records as f64 / packets.max(1) as f64,
                lost_share: lost as f64 / (records.max(1)) as f64,
            });
        }
        Self { lines }
    }

    /// Nanoseconds above the wrapper: with the three capabilities (0), or with `CAP_PERFMON` in addition (1).
    pub(super) fn above(&self, name: &str, with: usize) -> f64 {
        let line = self.lines.iter().find(|line| line.name == name);
        line.and_then(|line| line.above.get(with).copied()).unwrap_or(f64::NAN)
    }

    fn table(&self) -> String {
        let mut text = String::from(
            "| program | ns/packet | min–max | above the wrapper | with CAP_PERFMON | min–max | above | records per packet | lost of them |\n|---|---|---|---|---|---|---|---|---|\n",
        );
        for line in &self.lines {
            let _ = writeln!(
                text,
                "| {} | {:.1} | {:.1}–{:.1} | {:.1} | {:.1} | {:.1}–{:.1} | {:.1} | {:.4} | {:.0} % |",
                line.name,
                line.ns[0],
                line.range[0].0,
                line.range[0].1,
                line.above[0],
                line.ns[1],
                line.range[1].0,
                line.range[1].1,
                line.above[1],
                line.records_a_packet,
                line.lost_share * 100.0
            );
        }
        text
    }

    fn bars(&self) -> String {
        let mut text = String::from("| bar, by IP version and capabilities | measured | wanted |\n|---|---|---|\n");
        for version in [4, 6] {
            for (with, capabilities) in ["three capabilities", "and CAP_PERFMON"].iter().enumerate() {
                let of = |name: &str| self.above(&format!("IPv{version} {name}"), with);
                let (run, worst) = (of("ours, 32 flows"), of("ours, every packet starts a run"));
                let each = of("one ring record per packet");
                for (name, ratio, wanted) in [
                    ("a run continues / one record per packet", run / each, "1/3"),
                    (
                        "a run of 1,024 flows continues / one record per packet",
                        of("ours, 1,024 flows") / each,
                        "1/3",
                    ),
                    ("a run continues / parse as ours", run / of("parse as ours"), "2"),
                    (
                        "a run continues / parse by hand",
                        run / of("parse by hand to the BTH"),
                        "–",
                    ),
                    ("every packet starts a run / one record per packet", worst / each, "1"),
                ] {
                    // `--only` excluded the row.
                    if ratio.is_nan() {
                        continue;
                    }
                    let _ = writeln!(text, "| IPv{version}, {capabilities}: {name} | {ratio:.2} | {wanted} |");
                }
            }
        }
        text
    }

    pub(super) fn print(&self) {
        println!("{}\n{}\n{COMMAND}", self.table(), self.bars());
    }

    pub(super) fn write_json(&self, path: &Path) -> Result<()> {
        let lines: Vec<String> = self
            .lines
            .iter()
            .map(|line| {
                format!(
                    "  {{\"case\": \"{}\", \"ns\": {:.2}, \"above_wrapper_ns\": {:.2}, \"perfmon_ns\": {:.2}, \"perfmon_above_wrapper_ns\": {:.2}, \"records_a_packet\": {:.5}, \"lost_share\": {:.4}}}",
                    line.name,
                    line.ns[0],
                    line.above[0],
                    line.ns[1],
                    line.above[1],
                    line.records_a_packet,
                    line.lost_share
                )
            })
            .collect();
        fs::write(path, format!("[\n{}\n]\n", lines.join(",\n"))).with_context(|| path.display().to_string())
    }

    /// Writes the page.
    pub(super) fn save(&self) -> Result<()> {
        let path = root().join("docs/bench/capture.md");
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
        }
        let page = format!(
            "# What a packet costs in the kernel\n\nWritten by `{COMMAND} --save`, on {}.\n\n\
             The bench runs each program with `BPF_PROG_TEST_RUN` over one frame with 1,024 bytes of payload (a MIDDLE of \
             an RDMA WRITE). The same wrapper calls every program by a tail call, after it rewrites QPN and PSN in the \
             frame. Each figure is the median of nine samples of half a million packets. The samples of all programs \
             alternate, while another thread empties the rings. Rows below a wrapper with many flows are compared with \
             that wrapper.\n\n\
             Loaded with CAP_BPF, CAP_NET_ADMIN and CAP_NET_RAW alone, as a capture does, programs contain barriers \
             against speculation. With CAP_PERFMON they do not.\n\n{}\n{}",
            machine(),
            self.table(),
            self.bars()
        );
        fs::write(&path, page).with_context(|| path.display().to_string())
    }
}

fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("a processor without a name", |name| {
            name.trim_start_matches([' ', '\t', ':'])
        });
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cpus = cpu.matches("processor\t").count();
    format!("{cpus} CPUs of {model}, Linux {}", kernel.trim())
}

/// The smallest and the largest sample.
fn range(samples: &[Sample]) -> (f64, f64) {
    let ns = samples.iter().map(|sample| sample.ns);
    (ns.clone().fold(f64::INFINITY, f64::min), ns.fold(0.0, f64::max))
}

fn median(samples: &[Sample]) -> f64 {
    let mut ns: Vec<f64> = samples.iter().map(|sample| sample.ns).collect();
    ns.sort_by(f64::total_cmp);
    ns.get(ns.len() / 2).copied().unwrap_or(f64::NAN)
}
