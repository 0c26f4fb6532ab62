//! The traffic classes that the packets of a direction had: data, acknowledgements and CNPs each have theirs.

use rocescope_model::DscpSet;
use rocescope_record::RunRecord;
use rocescope_wire::{Stream, TrafficClass};

/// No packet has this class: its bit 1 is always 0.
const NONE: TrafficClass = TrafficClass(0xff);

/// DSCPs and ECN capability of a direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrafficClasses {
    /// DSCPs of requests, responses and datagrams.
    pub(crate) data: DscpSet,
    /// DSCPs of acknowledgements, positive and negative.
    pub(crate) acknowledgements: DscpSet,
    pub(crate) notifications: DscpSet,
    /// Data packets that switches drop instead of marking them.
    pub(crate) not_ecn_capable: u64,
    /// The classes of the last runs, which the fast path expects.
    pub(crate) last_data: TrafficClass,
    pub(crate) last_acknowledgement: TrafficClass,
}

impl Default for TrafficClasses {
    fn default() -> Self {
        Self {
            data: DscpSet::default(),
            acknowledgements: DscpSet::default(),
            notifications: DscpSet::default(),
            not_ecn_capable: 0,
            last_data: NONE,
            last_acknowledgement: NONE,
        }
    }
}

impl TrafficClasses {
    pub(crate) fn add(&mut self, run: &RunRecord) {
        let class = run.traffic_class();
        match run.stream() {
            Stream::Request | Stream::Response | Stream::Datagram => {
                self.data.insert(class.dscp());
                self.last_data = class;
                self.add_data(u64::from(run.packets), class);
            }
            Stream::Acknowledge => {
                self.acknowledgements.insert(class.dscp());
                self.last_acknowledgement = class;
            }
            Stream::Cnp => self.notifications.insert(class.dscp()),
            // A switch has changed the class of a trimmed packet.
            Stream::Trimmed | Stream::Control | Stream::Unknown => {}
        }
    }

    /// Adds data packets of a class whose DSCP is already in the set.
    pub(crate) const fn add_data(&mut self, packets: u64, class: TrafficClass) {
        if !class.is_ecn_capable() {
            self.not_ecn_capable += packets;
        }
    }
}
