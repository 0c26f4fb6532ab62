//! Opens the queue pairs that run the tests.

use crate::error::Result;
use rocescope_host::pci::near_processors;
use rocescope_probe::loopback::verbs::Verbs;
use rocescope_probe::loopback::{Backend, Plan};
use std::path::Path;

/// A backend that a thread may take along.
pub type Boxed = Box<dyn Backend + Send>;

/// Opens the RDMA devices of a plan.
pub(super) fn open(plan: &Plan) -> Result<Boxed> {
    let mut nics: Vec<&String> = plan.pairs.iter().map(|pair| &pair.nic).collect();
    nics.dedup();
    let near = |nic: &String| (nic.clone(), near_processors(Path::new("/sys"), nic));
    Ok(Box::new(Verbs::open(nics.into_iter().map(near))?))
}
