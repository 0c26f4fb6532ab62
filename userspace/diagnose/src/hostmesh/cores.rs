//! Runs two tasks in parallel if the caller provides threads.

/// Runs two tasks, one after the other or in parallel, and returns when both are done.
///
/// This crate has no threads (`no_std`), so the caller passes this function, for example with `std::thread::scope`. The
/// results are the same either way.
pub type Both = fn(&mut (dyn FnMut() + Send), &mut (dyn FnMut() + Send));

/// Runs one task after the other.
pub(crate) fn in_turn(one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
    one();
    other();
}

/// Returns the results of two tasks.
pub(crate) fn both<A: Default + Send, B: Default + Send>(
    run: Both,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut one, mut other) = (Some(one), Some(other));
    let (mut a, mut b) = (A::default(), B::default());
    run(&mut || a = one.take().map(|one| one()).unwrap_or_default(), &mut || {
        b = other.take().map(|other| other()).unwrap_or_default();
    });
    (a, b)
}
