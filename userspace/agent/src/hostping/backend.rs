//! Opens the queue pairs that run the tests.

use crate::error::Result;
use rocescope_probe::loopback::{Backend, Plan};

/// A backend that a thread may take along.
pub type Boxed = Box<dyn Backend + Send>;

/// Opens the RDMA devices of a plan.
#[cfg(feature = "verbs")]
pub(super) fn open(plan: &Plan) -> Result<Boxed> {
    use rocescope_host::pci::near_processors;
    use rocescope_probe::loopback::verbs::Verbs;
    use std::path::Path;

    let mut nics: Vec<&String> = plan.pairs.iter().map(|pair| &pair.nic).collect();
    nics.dedup();
    let near = |nic: &String| (nic.clone(), near_processors(Path::new("/sys"), nic));
    Ok(Box::new(Verbs::open(nics.into_iter().map(near))?))
}

#[cfg(not(feature = "verbs"))]
pub(super) fn open(_: &Plan) -> Result<Boxed> {
    Err(crate::error::AgentError::Refused(
        "this rocescope was built without verbs (`cargo build --release --features verbs`, which requires cmake and libclang); \
         `hostping diagnose --matrix` takes what perftest measured"
            .to_owned(),
    ))
}
