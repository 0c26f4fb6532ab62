//! Judges the rows of a capture on their way to a tap.

use rocescope_analysis::incidents::{Judging, Reports};
use rocescope_engine::intake::Tap;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Judges rows before a tap passes them on.
pub(super) fn judging(reports: Reports, mut next: Option<Tap>) -> (Tap, Rc<RefCell<Judging>>) {
    let judging = Rc::new(RefCell::new(Judging::new(reports)));
    let judge = Rc::clone(&judging);
    let tap: Tap = Box::new(move |rows| {
        judge.borrow_mut().rows(rows);
        next.as_mut().map_or(ControlFlow::Continue(()), |next| next(rows))
    });
    (tap, judging)
}
