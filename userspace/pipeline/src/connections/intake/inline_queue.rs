//! A queue that stores its oldest element inline: most queues have one.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// Elements in order; allocates only for more than one.
#[derive(Clone, Debug)]
pub(crate) struct InlineQueue<T> {
    oldest: Option<T>,
    /// The number of others: without any, their memory is not accessed.
    more: u32,
    #[expect(clippy::box_collection, reason = "one word instead of four: most have no others")]
    others: Option<Box<VecDeque<T>>>,
}

impl<T> Default for InlineQueue<T> {
    fn default() -> Self {
        Self {
            oldest: None,
            more: 0,
            others: None,
        }
    }
}

impl<T> InlineQueue<T> {
    pub(crate) const fn len(&self) -> usize {
        self.oldest.is_some() as usize + self.more as usize
    }

    #[inline]
    pub(crate) const fn front(&self) -> Option<&T> {
        self.oldest.as_ref()
    }

    pub(crate) fn back(&self) -> Option<&T> {
        let newest = self.others().and_then(VecDeque::back);
        newest.or(self.oldest.as_ref())
    }

    fn others(&self) -> Option<&VecDeque<T>> {
        self.others.as_deref().filter(|_| self.more > 0)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let others = self.others().into_iter().flatten();
        self.oldest.iter().chain(others)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let others = self.others.as_deref_mut().filter(|_| self.more > 0);
        self.oldest.iter_mut().chain(others.into_iter().flatten())
    }

    /// Bytes that it has allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        let others = self.others.as_ref();
        others.map_or(0, |others| {
            size_of::<VecDeque<T>>() + others.capacity() * size_of::<T>()
        })
    }

    pub(crate) fn push_back(&mut self, element: T) {
        if self.oldest.is_none() {
            self.oldest = Some(element);
            return;
        }
        let others = self.others.get_or_insert_default();
        if others.len() == others.capacity() {
            // Growing by half keeps 100,000 of them lean.
            others.reserve_exact(2 + others.len() / 2);
        }
        others.push_back(element);
        self.more += 1;
    }

    /// Inserts an element before the one at `at`, or at the end.
    pub(crate) fn insert(&mut self, at: usize, element: T) {
        if at >= self.len() {
            self.push_back(element);
            return;
        }
        let others = self.others.get_or_insert_default();
        match at.checked_sub(1) {
            Some(at) => others.insert(at, element),
            None => {
                if let Some(next) = self.oldest.replace(element) {
                    others.push_front(next);
                }
            }
        }
        self.more += 1;
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        if self.more == 0 {
            return self.oldest.take();
        }
        self.more -= 1;
        let next = self.others.as_mut().and_then(|others| others.pop_front());
        core::mem::replace(&mut self.oldest, next)
    }
}

#[cfg(test)]
mod tests {
    use super::InlineQueue;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_queue(steps in proptest::collection::vec(any::<Option<(u8, bool, u8)>>(), 0..200)) {
            let (mut few, mut queue) = (InlineQueue::default(), VecDeque::new());
            for step in steps {
                match step {
                    Some((number, true, _)) => {
                        few.push_back(number);
                        queue.push_back(number);
                    }
                    Some((number, false, at)) => {
                        let at = usize::from(at) % (queue.len() + 1);
                        few.insert(at, number);
                        queue.insert(at, number);
                    }
                    None => prop_assert_eq!(few.pop_front(), queue.pop_front()),
                }
                prop_assert_eq!(few.len(), queue.len());
                prop_assert_eq!((few.front(), few.back()), (queue.front(), queue.back()));
                prop_assert!(few.iter().eq(&queue) && few.iter_mut().eq(&mut queue));
            }
        }
    }
}
