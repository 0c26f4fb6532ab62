//! The list of interfaces.

use rocescope_host::port::{NativeXdp, Port};
use rocescope_host::xdp_program::XdpProgram;
use rocescope_model::json;
use serde::Serialize;
use std::fmt::Write;

/// One line for each interface.
#[must_use]
pub fn text(ports: &[Port]) -> String {
    let heading = ["name", "state", "speed", "driver", "xdp", "rdma", "addresses"].map(String::from);
    let rows: Vec<[String; 7]> = std::iter::once(heading).chain(ports.iter().map(cells)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 7] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            // Writing to a string cannot fail.
            let _ = write!(line, "{cell:<width$}  ");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn cells(port: &Port) -> [String; 7] {
    let joined = |names: &[String]| match names {
        [] => "-".to_owned(),
        names => names.join(","),
    };
    let addresses: Vec<String> = port.addresses.iter().map(ToString::to_string).collect();
    [
        port.name.clone(),
        port.state().to_owned(),
        port.speed_mbps.map_or("unknown".to_owned(), speed),
        port.driver.clone().unwrap_or_else(|| "unknown".to_owned()),
        used(port),
        joined(&port.rdma_devices),
        joined(&addresses),
    ]
}

/// Megabits per second, readable.
fn speed(mbps: u64) -> String {
    match mbps {
        1_000.. if mbps.is_multiple_of(1_000) => format!("{} Gbit/s", mbps / 1_000),
        1_000.. => format!("{:.1} Gbit/s", mbps as f64 / 1_000.0),
        _ => format!("{mbps} Mbit/s"),
    }
}

/// The fastest mode that is possible: every Ethernet interface supports generic XDP.
const fn xdp(native: NativeXdp) -> &'static str {
    match native {
        NativeXdp::Supported => "native",
        NativeXdp::Unsupported => "generic",
        NativeXdp::Unknown => "unknown",
        NativeXdp::NotEthernet => "none",
    }
}

/// The mode, and who has a program there already.
fn used(port: &Port) -> String {
    let mode = xdp(port.native_xdp);
    match &port.xdp_program {
        None => mode.to_owned(),
        Some(XdpProgram { process: None }) => format!("{mode}, in use"),
        Some(XdpProgram { process: Some(process) }) => format!("{mode}, in use: {process}"),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    interfaces: Vec<PortDocument<'a>>,
}

#[derive(Serialize)]
struct PortDocument<'a> {
    name: &'a str,
    index: u32,
    state: &'a str,
    speed_mbps: Option<u64>,
    mtu_bytes: Option<u32>,
    driver: Option<&'a str>,
    xdp: &'a str,
    xdp_in_use: bool,
    xdp_process: Option<u32>,
    rdma_devices: &'a [String],
    mac: Option<String>,
    addresses: Vec<String>,
}

/// One JSON object.
#[must_use]
pub fn json(ports: &[Port]) -> String {
    let interfaces = ports.iter().map(|port| PortDocument {
        name: &port.name,
        index: port.index,
        state: port.state(),
        speed_mbps: port.speed_mbps,
        mtu_bytes: port.mtu_bytes,
        driver: port.driver.as_deref(),
        xdp: xdp(port.native_xdp),
        xdp_in_use: port.xdp_program.is_some(),
        xdp_process: port
            .xdp_program
            .as_ref()
            .and_then(|program| Some(program.process.as_ref()?.number)),
        rdma_devices: &port.rdma_devices,
        mac: port.mac.map(|mac| mac.map(|byte| format!("{byte:02x}")).join(":")),
        addresses: port.addresses.iter().map(ToString::to_string).collect(),
    });
    let interfaces = interfaces.collect();
    json::pretty(&Document { interfaces }) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_unknown_values_say_so() {
        let port = |name: &str, speed_mbps: Option<u64>, native_xdp| Port {
            index: 1,
            name: name.into(),
            is_up: true,
            is_running: speed_mbps.is_some(),
            speed_mbps,
            mtu_bytes: None,
            driver: None,
            native_xdp,
            xdp_program: None,
            rdma_devices: vec!["mlx5_0".into()],
            mac: Some([2, 0, 0, 0, 0, 10]),
            addresses: vec!["10.0.0.1".parse().unwrap()],
        };
        let ports = [
            port("eth0", Some(400_000), NativeXdp::Supported),
            port("longer", None, NativeXdp::Unknown),
        ];
        let lines = text(&ports);
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(
            lines[0],
            "name    state       speed       driver   xdp      rdma    addresses"
        );
        assert_eq!(
            lines[1],
            "eth0    up          400 Gbit/s  unknown  native   mlx5_0  10.0.0.1"
        );
        assert_eq!(
            lines[2],
            "longer  no carrier  unknown     unknown  unknown  mlx5_0  10.0.0.1"
        );
        assert!(json(&ports).contains("\"mac\": \"02:00:00:00:00:0a\""));
    }
}
