//! Lines for the user while something runs: on standard error, unless a screen is drawn there.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Takes lines.
type Ear = Box<dyn Fn(String) + Send>;

static EAR: Mutex<Option<Ear>> = Mutex::new(None);

/// Says a line on standard error, or to whoever listens instead.
#[macro_export]
macro_rules! say {
    ($($line:tt)+) => {
        $crate::say::line(format!($($line)+))
    };
}

pub use say;

/// Says a line.
pub fn line(line: String) {
    match &*EAR.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(ear) => ear(line),
        None => {
            // Where it is closed there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }
}

/// Until the next call, lines go there; with nothing, to standard error.
pub fn listen(ear: Option<Ear>) {
    *EAR.lock().unwrap_or_else(PoisonError::into_inner) = ear;
}
