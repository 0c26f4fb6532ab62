//! Reads the list of other hosts whose NICs are probed.

use super::settings::ProbeSettings;
use crate::error::{AgentError, Result, ensure};
use rocescope_probe::peers::list::{ListError, PeerList, Plan};
use rocescope_probe::{Nanos, Nic, PeerSettings};
use rocescope_runtime::status;

/// 5-tuples to other hosts that a NIC may have at a time: with as many ways back, the traces of a NIC are nearly used up.
const MAX_TUPLES: u16 = 24;

/// How other hosts are probed from these NICs, if they are.
pub(super) fn settings(wanted: &ProbeSettings, nics: &[Nic]) -> Result<Option<PeerSettings>> {
    let Some(peers) = &wanted.peers else {
        return Ok(None);
    };
    let (at_once, ports) = (peers.at_once, peers.ports);
    ensure!(
        at_once.saturating_mul(ports) <= MAX_TUPLES,
        "a NIC probes at most {MAX_TUPLES} 5-tuples to other hosts at a time, and {at_once} with {ports} source ports each are \
        {}: lower --peers-at-once or --peer-ports",
        at_once.saturating_mul(ports)
    );
    let unreadable = |error| AgentError::Input(peers.file.clone(), error);
    let invalid = |error: ListError| AgentError::List(peers.file.clone(), error);
    let text = rocescope_input::text(&peers.file).map_err(unreadable)?;
    let list = PeerList::parse(&text).map_err(invalid)?;
    let plan = Plan::new(list, nics, peers.rails).map_err(invalid)?;
    let period = Nanos::from(peers.period);
    let at_once = u16::try_from(plan.candidates()).map_or(at_once, |all| all.min(at_once));
    let all = i64::from(plan.candidates()) * (period.0 / i64::from(at_once.max(1)));
    status!(
        "probing NICs of other hosts too: each NIC {at_once} of {} at a time, all of them within {:.0?}",
        plan.candidates(),
        std::time::Duration::from_nanos(all.unsigned_abs())
    );
    Ok(Some(PeerSettings {
        plan,
        at_once,
        ports,
        period,
    }))
}
