//! What a query opened, and what it left out and why.

/// Figures of one [`Query`](super::Query). Segments that do not read are counted by
/// [`Scan::unreadable`](crate::Scan).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Sealed segments under the root.
    pub segments: u64,
    /// Not opened: of tables that were not asked for.
    pub other_tables: u64,
    /// Not opened: their hour lies outside the time asked for.
    pub other_hours: u64,
    /// Opened, but all their rows lie outside the time asked for.
    pub other_times: u64,
    /// Opened, but they have no row of an observer asked for.
    pub other_observers: u64,
    /// Rows of the segments that remain.
    pub rows: u64,
    /// Bytes of those segments.
    pub bytes: u64,
}

impl Statistics {
    /// Segments whose footer was read.
    #[must_use]
    pub const fn opened(&self) -> u64 {
        self.segments - self.other_tables - self.other_hours
    }
}
