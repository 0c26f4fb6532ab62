//! Contains the panics of decoders that read bytes without checksums.
//!
//! Arrow and Parquet do not check everything that they read: a flipped bit can make them index out of bounds. Bytes
//! with checksums never reach them damaged, but old files and bytes from the network have none.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread is in a decoder.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Calls a decoder; `None` if it panicked, which is not reported: the caller names the file.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> T) -> Option<T> {
    HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                report(info);
            }
        }));
    });
    let before = GUARDED.replace(true);
    let decoded = panic::catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(before);
    decoded.ok()
}
