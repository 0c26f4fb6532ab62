//! Numbers of segments that begin in the same second.

/// A free number that follows a taken one, or 0. Numbers are taken in their order, so it need not ask for each of them:
/// rows that go back and forth between two hours make a segment each time.
///
/// # Errors
/// That of `is_taken`.
pub(super) fn free_number<E>(is_taken: impl Fn(u32) -> Result<bool, E>) -> Result<u32, E> {
    // All below `from` may be taken; `free` is not.
    let (mut from, mut free) = (0, 0);
    while free < u32::MAX && is_taken(free)? {
        from = free + 1;
        free = free.saturating_mul(2).saturating_add(1);
    }
    while from < free {
        let middle = from + (free - from) / 2;
        match is_taken(middle)? {
            true => from = middle + 1,
            false => free = middle,
        }
    }
    Ok(free)
}

#[cfg(test)]
mod tests {
    use super::free_number;
    use std::cell::Cell;

    /// Each of 6,000 segments of one start asked for all earlier ones.
    #[test]
    fn a_free_number_is_found_in_few_steps() {
        for taken in [0, 1, 2, 3, 7, 8, 100, 6_000, 1 << 20] {
            let asked = Cell::new(0);
            let found = free_number(|number| {
                asked.set(asked.get() + 1);
                Ok::<_, ()>(number < taken)
            });
            assert_eq!(found, Ok(taken));
            assert!(asked.get() <= 48, "{} for {taken}", asked.get());
        }
        // Retention deleted some: any other is free, but never one that is taken.
        let found = free_number(|number| Ok::<_, ()>(number != 5 && number < 9)).unwrap();
        assert!(found == 5 || found == 9, "{found}");
        assert_eq!(free_number(|_| Err("unknown")), Err("unknown"));
    }
}
