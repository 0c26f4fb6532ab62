//! The time zone of this host: `TZ`, or `/etc/localtime`.

/// How far local time is ahead of UTC at an instant, in seconds; the instant counts seconds since 1970. 0 if the zone is
/// unknown.
#[must_use]
pub fn ahead_s(instant_s: libc::time_t) -> i64 {
    // SAFETY: a structure of numbers and a pointer that is only written here, for which all zero is a value.
    let mut local: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid for the call, which keeps neither.
    let is_unknown = unsafe { libc::localtime_r(&raw const instant_s, &raw mut local) }.is_null();
    if is_unknown { 0 } else { local.tm_gmtoff }
}
