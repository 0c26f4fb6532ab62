//! Directions whose sender sprays packets over many UDP source ports: they are one flow, not one a port.
//!
//! Adaptive routing and MRC change the port to choose a path, down to every packet. A direction is *sprayed* once it had
//! more than [`MANY_PORTS`] ports in a window, or once one run had several. It stops being sprayed after
//! three windows with at most [`FEW_PORTS`]: between the two numbers nothing changes.
//!
//! If most packets are sprayed, the run cache leaves the port out of its key too, because each port would end a run.

use crate::flow_table::{FlowTable, flow_hash};
use crate::port_counts::{PortCounts, PortsByDirection};
use alloc::vec::Vec;
use hashbrown::HashMap;
use rocescope_record::{Config, RunRecord};
use rocescope_wire::FlowKey;

/// Ports of a direction in a window from which it is sprayed.
pub const MANY_PORTS: usize = 16;
/// Ports up to which it may stop being sprayed.
pub const FEW_PORTS: usize = 4;
/// Windows with few ports after which it does, and windows without a packet after which it is forgotten.
const CALM_WINDOWS: u32 = 3;
const SILENT_WINDOWS: u32 = 60;

/// Whether UDP source ports separate flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FlowKeyMode {
    /// Always.
    Port,
    /// Never: a flow is a direction.
    Direction,
    /// Except in directions that are sprayed.
    #[default]
    Auto,
}

/// The direction of a flow, as a key: its port is 0.
#[must_use]
pub const fn direction_of(key: &FlowKey) -> FlowKey {
    FlowKey {
        udp_src_port: 0,
        ..*key
    }
}

/// What was seen of a sprayed direction lately.
#[derive(Clone, Copy, Debug, Default)]
struct Sprayed {
    calm_windows: u32,
    silent_windows: u32,
}

/// The sprayed directions.
#[derive(Debug)]
pub(crate) struct Spray {
    mode: FlowKeyMode,
    sprayed: HashMap<FlowKey, Sprayed>,
    is_port_in_key: bool,
    calm_windows: u32,
}

impl Spray {
    pub(crate) fn new(mode: FlowKeyMode) -> Self {
        Self {
            mode,
            sprayed: HashMap::new(),
            is_port_in_key: mode != FlowKeyMode::Direction,
            calm_windows: 0,
        }
    }

    /// Sets the mode from the next run on.
    pub(crate) fn set_mode(&mut self, mode: FlowKeyMode) {
        if self.mode != mode {
            *self = Self::new(mode);
        }
    }

    /// [`Config::key_mask`] for the run cache.
    pub(crate) const fn key_mask(&self) -> u64 {
        Config::port_mask(self.is_port_in_key)
    }

    /// The key of the flow to which a run counts.
    #[inline]
    pub(crate) fn flow_of(&mut self, run: &RunRecord) -> FlowKey {
        let is_mixed = run.flags & RunRecord::PORTS_DIFFER != 0;
        match self.mode {
            FlowKeyMode::Auto if self.sprayed.is_empty() && !is_mixed => run.flow,
            FlowKeyMode::Auto if is_mixed => {
                let direction = direction_of(&run.flow);
                self.sprayed.entry(direction).or_default();
                direction
            }
            FlowKeyMode::Auto => self.key_of(&run.flow),
            FlowKeyMode::Port => run.flow,
            FlowKeyMode::Direction => direction_of(&run.flow),
        }
    }

    /// The key of a flow as it counts now.
    pub(crate) fn key_of(&self, flow: &FlowKey) -> FlowKey {
        let direction = direction_of(flow);
        let is_sprayed = self.mode == FlowKeyMode::Auto && self.sprayed.contains_key(&direction);
        if is_sprayed || self.mode == FlowKeyMode::Direction {
            direction
        } else {
            *flow
        }
    }

    /// Looks for sprayed directions among the flows of a window. If there are new ones, their flows must be merged.
    pub(crate) fn look(&mut self, flows: &FlowTable) -> bool {
        if self.mode != FlowKeyMode::Auto || flows.flows().len() <= MANY_PORTS {
            return false;
        }
        let before = self.sprayed.len();
        for direction in with_many_ports(flows) {
            self.sprayed.entry(direction).or_default();
        }
        self.sprayed.len() > before
    }

    /// Leaves the port out of the key of runs if most packets of these merged flows are sprayed: each further one would be
    /// a run, and the window may not end soon.
    pub(crate) fn adapt_key(&mut self, flows: &FlowTable) {
        let (mut all, mut sprayed) = (0, 0);
        for flow in flows.flows() {
            all += flow.counts.packets;
            sprayed += if flow.key.udp_src_port == 0 {
                flow.counts.packets
            } else {
                0
            };
        }
        if 2 * sprayed >= all {
            (self.is_port_in_key, self.calm_windows) = (false, 0);
        }
    }

    /// A window ends, with these flows, merged, and the ports of those that are sprayed.
    pub(crate) fn end_window(&mut self, flows: &FlowTable, ports: &PortsByDirection) {
        if self.mode != FlowKeyMode::Auto || self.sprayed.is_empty() && self.is_port_in_key {
            return;
        }
        let (mut all, mut sprayed) = (0, 0);
        for flow in flows.flows() {
            all += flow.counts.packets;
            if self.sprayed.contains_key(&flow.key) {
                sprayed += flow.counts.packets;
            }
        }
        self.sprayed.retain(|direction, state| {
            match ports.count(direction) {
                None => state.silent_windows += 1,
                Some(ports) => {
                    state.silent_windows = 0;
                    state.calm_windows = if ports > FEW_PORTS { 0 } else { state.calm_windows + 1 };
                }
            }
            state.calm_windows < CALM_WINDOWS && state.silent_windows < SILENT_WINDOWS
        });
        if all == 0 {
            return;
        }
        if 2 * sprayed >= all {
            (self.is_port_in_key, self.calm_windows) = (false, 0);
        } else if 10 * sprayed < all || self.sprayed.is_empty() {
            self.calm_windows += 1;
            self.is_port_in_key |= self.calm_windows >= CALM_WINDOWS;
        }
    }
}

/// The directions that have more than [`MANY_PORTS`] ports among these flows.
///
/// A table of counters by hash excludes nearly all directions, because most have one port: a map of 100,000 directions
/// took a tenth of the time of a window.
fn with_many_ports(flows: &FlowTable) -> Vec<FlowKey> {
    let mut counters = alloc::vec![0_u8; flows.len().next_power_of_two()];
    let mask = counters.len() - 1;
    let at = |direction: &FlowKey| flow_hash(direction).0 as usize & mask;
    let with_port = || flows.flows().iter().filter(|flow| flow.key.udp_src_port != 0);
    let mut most = 0;
    for flow in with_port() {
        if let Some(counter) = counters.get_mut(at(&direction_of(&flow.key))) {
            *counter = counter.saturating_add(1);
            most = most.max(*counter);
        }
    }
    if usize::from(most) <= MANY_PORTS {
        return Vec::new();
    }
    let mut ports: HashMap<FlowKey, usize> = HashMap::new();
    for flow in with_port() {
        let direction = direction_of(&flow.key);
        if counters
            .get(at(&direction))
            .is_some_and(|count| usize::from(*count) > MANY_PORTS)
        {
            *ports.entry(direction).or_default() += 1;
        }
    }
    ports.retain(|_, ports| *ports > MANY_PORTS);
    ports.into_keys().collect()
}

/// The ports that flows lose when they are merged into their directions.
pub(crate) type LostPorts = Vec<(FlowKey, u16, PortCounts)>;
