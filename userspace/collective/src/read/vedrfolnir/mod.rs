//! What the simulator of the authors of Vedrfolnir writes.
//!
//! | file | contents |
//! |---|---|
//! | `fct.txt` | steps and other flows when they complete |
//! | `telemetry_SWITCH.txt` | reports of a switch |
//! | `pfc.txt` | pauses |
//! | `topology.txt` | links; the ports of a node are numbered from 1 in the order of its links |

mod fct;
mod pfc;
mod telemetry;
mod topology;

use super::Imported;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr};
use rocescope_model::{Text, Time};
use topology::Topology;

/// The name of the format in rows.
pub const FORMAT: &str = "vedrfolnir";

/// The files of a folder, as far as it has them.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// `fct.txt`.
    pub fct: Option<String>,
    /// `pfc.txt`.
    pub pfc: Option<String>,
    /// `topology.txt`.
    pub topology: Option<String>,
    /// Name of each switch, and its `telemetry_SWITCH.txt`.
    pub telemetry: Vec<(String, String)>,
}

/// Reads all files of a run.
#[must_use]
pub fn read(files: &Files, collective: &str, observer: &str) -> Imported {
    let mut all = Imported::default();
    let topology = match &files.topology {
        Some(text) => Topology::read(text, &mut all.complaints),
        None => {
            let lack = "no such file: it is unknown which ports are linked, so pauses cannot be tracked";
            all.complaints.add(lack, "topology.txt");
            Topology::default()
        }
    };
    match &files.fct {
        Some(text) => fct::read(text, &mut all),
        None => all.complaints.add("no such file: there are no steps", "fct.txt"),
    }
    for (switch, text) in &files.telemetry {
        telemetry::read(text, switch, &topology, &mut all);
    }
    if files.telemetry.is_empty() {
        let lack = "no such file: the causes of slow steps are unknown";
        all.complaints.add(lack, "telemetry_SWITCH.txt");
    }
    if let Some(text) = &files.pfc {
        pfc::read(text, &topology, &mut all);
    }
    for row in &mut all.steps {
        row.observer = observer.to_owned().into();
        row.collective = collective.to_owned().into();
        row.format = Text::from_static(FORMAT);
        row.time = Time(row.time_ns);
    }
    for row in &mut all.telemetry {
        row.observer = observer.to_owned().into();
        row.format = Text::from_static(FORMAT);
        row.time = Time(row.time_ns);
    }
    all
}

/// The address of a node of the simulator.
fn address(node: u32) -> IpAddr {
    let bits = 0x0b00_0001_u32
        .wrapping_add((node / 256).wrapping_mul(0x0001_0000))
        .wrapping_add((node % 256) * 0x100);
    Ipv4Addr::from(bits).into()
}

/// An address in hexadecimal digits.
fn hex_address(text: &str) -> Option<IpAddr> {
    let bits = u32::from_str_radix(text, 16).ok()?;
    (text.len() == 8).then(|| Ipv4Addr::from(bits).into())
}

/// The node that has this address.
fn node_of(address: IpAddr) -> Option<u32> {
    let IpAddr::V4(address) = address else { return None };
    let offset = address.to_bits().checked_sub(0x0b00_0001)?;
    Some((offset >> 16) * 256 + (offset >> 8 & 0xff))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
