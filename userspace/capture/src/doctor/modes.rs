//! Tests whether an interface supports XDP programs.

use crate::bpf::{self, Instruction, ProgramKind, op};
use crate::xdp::{Error, Mode, link};
use rocescope_host::doctor::Finding;
use rocescope_host::interface::Interface;
use std::os::fd::AsFd;

/// Tests native and generic XDP.
pub(super) fn modes(interface: &Interface, attempt: bool) -> Vec<Finding> {
    if !attempt {
        let message = "Not tried: `--try` attaches a program to test native and generic XDP.";
        let command = format!("rocescope doctor --try -i {}", interface.name);
        return vec![Finding::ok("xdp", message).remedy(command)];
    }
    let pass = [op::set(0, 2), op::exit()];
    let mut found = Vec::new();
    for (topic, mode) in [("xdp native", Mode::Native), ("xdp generic", Mode::Generic)] {
        found.push(match attach(interface, mode, &pass) {
            Ok(()) => Finding::ok(
                topic,
                "Supported: a program for frames of any length was attached and detached.",
            ),
            Err(Error::Occupied { .. }) => Finding::fail(topic, "Another XDP program is attached.")
                .remedy(format!("ip link set dev {} xdp off", interface.name)),
            Err(error) => Finding::warn(topic, format!("{error}.")),
        });
    }
    found
}

fn attach(interface: &Interface, mode: Mode, program: &[Instruction]) -> Result<(), Error> {
    let program = bpf::load(ProgramKind::Xdp, "rocescope_try", program).map_err(Error::Call)?;
    link::attach(program.as_fd(), interface.index, mode).map(|_| ())
}
