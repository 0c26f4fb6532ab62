//! Two pieces of work at once, for those who have two cores.

/// Runs two pieces of work, one after the other or at the same time, and returns when both are done.
///
/// There are no threads here (`no_std`): who has them passes this, for example with `std::thread::scope`.
/// The results are the same either way.
pub type Both = fn(&mut (dyn FnMut() + Send), &mut (dyn FnMut() + Send));

/// One after the other.
pub(crate) fn in_turn(one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
    one();
    other();
}

/// What two pieces of work come to.
pub(crate) fn both<A: Default + Send, B: Default + Send>(
    run: Both,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut one, mut other) = (Some(one), Some(other));
    let (mut a, mut b) = (A::default(), B::default());
    run(
        &mut || a = one.take().map(|one| one()).unwrap_or_default(),
        &mut || b = other.take().map(|other| other()).unwrap_or_default(),
    );
    (a, b)
}
