//! What a query opened, and what it skipped and why.

/// Statistics of one [`Query`](super::Query). [`Scan::unreadable`](crate::Scan) lists unreadable segments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Sealed segments of the requested tables, in days that can have rows of the requested time.
    pub segments: u64,
    /// Segments not opened: their hour is outside the requested time.
    pub other_hours: u64,
    /// Segments opened, but all their rows are outside the requested time.
    pub other_times: u64,
    /// Segments opened, but without a row of a requested observer.
    pub other_observers: u64,
    /// Rows of the remaining segments.
    pub rows: u64,
    /// Bytes of the remaining segments.
    pub bytes: u64,
}

impl Statistics {
    /// Adds those of another list.
    pub(crate) const fn add(&mut self, other: &Self) {
        self.segments += other.segments;
        self.other_hours += other.other_hours;
        self.other_times += other.other_times;
        self.other_observers += other.other_observers;
        self.rows += other.rows;
        self.bytes += other.bytes;
    }

    /// Returns the number of segments whose footer was read.
    #[must_use]
    pub const fn opened(&self) -> u64 {
        self.segments - self.other_hours
    }
}
