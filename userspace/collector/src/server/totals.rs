//! What both threads count.

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
    /// Connections that were let in: each has shown a certificate and has a seat.
    connections;
    /// Rows stored.
    rows;
    /// Parcels stored.
    parcels;
    /// Bytes of the parcels stored.
    bytes;
    /// Rows that were there already: they were acknowledged again and not stored twice.
    known_rows;
    /// Parcels that were there already and were acknowledged again.
    known_parcels;
    /// Parcels whose storing failed; their agents send them again.
    failed_parcels;
    /// Times that parcels were written.
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
