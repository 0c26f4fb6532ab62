//! The two cores that an analysis uses.

use std::thread::{self, Builder};

/// Runs one closure on its own thread and the other on this one.
pub fn at_once(one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
    let is_alone = thread::scope(|scope| {
        let thread = Builder::new().spawn_scoped(scope, &mut *one);
        other();
        thread.is_err()
    });
    if is_alone {
        one();
    }
}
