//! Counters that both threads increment.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! totals {
    ($($(#[doc = $help:literal])+ $name:ident;)+) => {
        /// Totals since the start.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Counts {$($(#[doc = $help])+ pub $name: u64,)+}

        impl Counts {
            /// Each with its name and what it counts.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
                [$((stringify!($name), concat!($($help),+).trim_ascii(), self.$name)),+].into_iter()
            }
        }

        #[derive(Debug, Default)]
        pub(super) struct Totals {$(pub(super) $name: Total,)+}

        impl Totals {
            pub(super) fn counts(&self) -> Counts {
                Counts {$($name: self.$name.0.load(Ordering::Relaxed),)+}
            }
        }
    };
}

totals! {
    /// Connections admitted: the agent showed a valid certificate and got a slot.
    connections;
    /// Rows stored.
    rows;
    /// Parcels stored.
    parcels;
    /// Bytes of the parcels stored.
    bytes;
    /// Rows that were stored before: acknowledged again, not stored again.
    known_rows;
    /// Parcels that were stored before and were acknowledged again.
    known_parcels;
    /// Parcels that could not be stored; their agents send them later.
    failed_parcels;
    /// Writes of one or more parcels.
    commits;
    /// Rows of the analysis that could not be stored.
    lost_analysis_rows;
}

/// One of them.
#[derive(Debug, Default)]
pub(super) struct Total(AtomicU64);

impl Total {
    pub(super) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }
}
