//! Problems of a mesh, from the verdicts on its windows.

use rocescope_diagnose::hostmesh::Problem;
use rocescope_diagnose::hostmesh::document::Finding;
use rocescope_diagnose::incidents::Incident;
use rocescope_diagnose::incidents::convert::{self, Addresses};
use rocescope_model::VerdictRow;

/// Problems that last a window or several.
#[derive(Debug)]
pub(crate) struct Findings {
    found: Vec<Finding>,
    /// Start of the last window.
    last_ns: i64,
}

impl Default for Findings {
    fn default() -> Self {
        Self {
            found: Vec::new(),
            last_ns: i64::MIN,
        }
    }
}

impl Findings {
    /// Takes a verdict on a window.
    pub(crate) fn add(&mut self, row: &VerdictRow) {
        match self
            .found
            .iter_mut()
            .rev()
            .find(|known| known.problem.continues_in(row))
        {
            Some(known) => known.problem.add(row),
            None => self.found.push(Finding::from(Problem::new(row))),
        }
    }

    /// Notes that a window was analyzed, whether it has verdicts or not.
    pub(crate) fn window(&mut self, start_ns: i64) {
        self.last_ns = self.last_ns.max(start_ns);
    }

    /// Forgets problems that ended before this time, in nanoseconds since 1970.
    pub(crate) fn forget(&mut self, before_ns: i64) {
        self.found.retain(|finding| finding.problem.until_ns >= before_ns);
    }

    /// As incidents; those of the last window go on.
    pub(crate) fn incidents(&self, addresses: &Addresses) -> Vec<Incident> {
        let found = self.found.iter();
        found
            .map(|finding| convert::mesh(finding, addresses, self.last_ns))
            .collect()
    }
}
