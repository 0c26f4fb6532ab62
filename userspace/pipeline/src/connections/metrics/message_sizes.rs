//! Sizes of messages by powers of two.

use alloc::boxed::Box;

/// 0, 1, 2-3, 4-7, … up to 2^31 bytes and more.
pub(crate) const SIZES: usize = 33;

/// The number of messages of each size. Most queue pairs send one or two sizes and need no array.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageSizes {
    /// The size counted last, and its count since then.
    recent: u32,
    at: u8,
    all: Option<Box<[u32; SIZES]>>,
}

/// The class of a message of this many bytes.
#[inline]
pub(crate) const fn class(bytes: u64) -> u8 {
    let bits = (u64::BITS - bytes.leading_zeros()) as usize;
    if bits < SIZES { bits as u8 } else { SIZES as u8 - 1 }
}

impl MessageSizes {
    /// Counts messages of this many bytes.
    pub(crate) fn add(&mut self, bytes: u64, messages: u64) {
        self.add_class(class(bytes), u32::try_from(messages).unwrap_or(u32::MAX));
    }

    /// Bytes that it has allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.all.as_ref().map_or(0, |_| SIZES * size_of::<u32>())
    }

    /// Counts messages of a class.
    pub(crate) fn add_class(&mut self, class: u8, messages: u32) {
        if messages == 0 {
            return;
        }
        if class != self.at {
            self.pour();
            self.at = class;
        }
        self.recent = self.recent.saturating_add(messages);
    }

    /// The class counted last.
    pub(crate) const fn class(&self) -> u8 {
        self.at
    }

    fn pour(&mut self) {
        let recent = core::mem::take(&mut self.recent);
        if recent == 0 {
            return;
        }
        let all = self.all.get_or_insert_with(|| Box::new([0; SIZES]));
        if let Some(count) = all.get_mut(self.at as usize) {
            *count = count.saturating_add(recent);
        }
    }

    /// The count of every size.
    pub(crate) fn counts(&self) -> [u32; SIZES] {
        let mut counts = self.all.as_deref().copied().unwrap_or([0; SIZES]);
        if let Some(count) = counts.get_mut(self.at as usize) {
            *count = count.saturating_add(self.recent);
        }
        counts
    }
}
