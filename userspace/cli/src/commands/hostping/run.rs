//! `rocescope hostping run`: loopback tests of this host.

use super::{dataset, print};
use crate::arguments::{HostpingRunArguments, Output};
use anyhow::{Result, bail};
use rocescope_agent::hostping::{HostpingSettings, Tester, source, tester};
use rocescope_model::json;
use rocescope_runtime::host_name::host_name;
use rocescope_runtime::resources::allow_locked_memory;
use rocescope_runtime::signals::Signals;
use rocescope_runtime::status;
use serde::Serialize;

/// A plan in JSON.
#[derive(Serialize)]
struct PlanJson {
    pairs: Vec<[String; 2]>,
    latency_sizes_bytes: Vec<u64>,
    bandwidth_size_bytes: u64,
    seconds: f64,
    max_bytes: u64,
}

pub(super) fn run(arguments: &HostpingRunArguments) -> Result<()> {
    if arguments.plan {
        return plan(arguments);
    }
    let signals = Signals::install()?;
    let observer = arguments.observer.clone().map_or_else(host_name, Ok)?;
    allow_locked_memory();
    let settings = HostpingSettings::from(&arguments.tests);
    let mut tester = Tester::open(&settings, &observer)?;
    if !arguments.tests.force
        && let Some(busy) = tester.busy()?
    {
        bail!(
            "{}, which the tests would disturb: run them when the host is idle, or with --force",
            busy.text()
        );
    }
    let tested = tester.test(arguments.tests.force, &|| signals.ended())?;
    status!("{}", tested.text());
    let diagnosis = tester.diagnose(&tested);
    if let Some(root) = &arguments.out {
        dataset::write(root, &tester.rows(&tested, &diagnosis), &observer)?;
    }
    print(&tester.topology, &tested.measured, &diagnosis, arguments.output)
}

fn plan(arguments: &HostpingRunArguments) -> Result<()> {
    let settings = HostpingSettings::from(&arguments.tests);
    let plan = tester::plan(&source::read(&settings.source)?, &settings, settings.force)?;
    crate::print(&match arguments.output {
        Output::Table => plan.text(),
        Output::Json => {
            let pairs = plan.pairs.iter().map(|pair| [pair.nic.clone(), pair.endpoint.clone()]);
            json::pretty(&PlanJson {
                pairs: pairs.collect(),
                latency_sizes_bytes: plan.shape.sizes.clone(),
                bandwidth_size_bytes: plan.shape.size,
                seconds: plan.time.0 as f64 / 1e9,
                max_bytes: plan.bytes,
            }) + "\n"
        }
    })
}
