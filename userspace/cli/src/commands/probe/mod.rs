//! `rocescope probe`: the prober of a host, alone. `rocescope agent` runs the same [`Prober`].
//!
//! | module | what it does |
//! |---|---|
//! | `peers` | reads the list of other hosts |
//! | `open` | opens NICs, port and privileges: everything that can be refused |
//! | `prober` | probes, and passes the rows on |
//! | `operating` | measures RDMA operations in a thread |
//! | `outputs` | writes rows to the dataset |
//! | `window` | the status line of a window |
//! | `summary` | the summary at the end |

mod open;
mod operating;
mod outputs;
mod peers;
mod prober;
mod summary;
mod window;

pub(super) use prober::{LoopHook, Opened};

use crate::arguments::ProbeArguments;
use anyhow::{Context, Result};
use rocescope_agent::relay::Relay;
use rocescope_host::privileges;
use rocescope_runtime::cost::Cost;
use rocescope_runtime::signals::Signals;
use rocescope_runtime::status;
use std::process::ExitCode;

pub(super) fn run(arguments: &ProbeArguments) -> Result<ExitCode> {
    // First, because parsing the command line needs the most memory.
    let mut cost = Cost::new()?;
    let signals = Signals::install()?;
    let opened = Opened::open(arguments, 0)?;
    // From here on the process has no privileges; everything it needs is open.
    privileges::drop_all().context("capabilities")?;
    let relay = arguments.send.relay();
    let relay = relay.map(|settings| Relay::open(settings, opened.observer(), None));
    let mut relay = relay.transpose()?;
    let mut prober = opened.start(arguments, None)?;
    cost.shrink()?;
    prober.run(&signals, relay.as_mut(), &mut cost, None)?;
    if let Some(relay) = relay {
        status!("{}", relay.finish());
    }
    prober.finish(arguments.output)?;
    Ok(ExitCode::SUCCESS)
}
