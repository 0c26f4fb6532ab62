//! `rocescope restore-vlan-offload`, started by a capture.

use crate::arguments::RestoreVlanOffloadArguments;
use anyhow::Result;
use rocescope_engine::live::vlan;
use std::io::Write;
use std::process::ExitCode;

pub(super) fn run(arguments: &RestoreVlanOffloadArguments) -> Result<ExitCode> {
    vlan::restore(arguments.interface, || {
        let mut out = std::io::stdout();
        out.write_all(b"+").and_then(|()| out.flush())
    })?;
    Ok(ExitCode::SUCCESS)
}
