//! JSON of files that may be cut: whole values one after another, whatever is between them.

use super::File;
use crate::complaints::Complaints;
use alloc::format;
use serde_json::{Deserializer, Value};

/// Calls `each` with every object of a file: the elements of arrays, or objects one after another. A part that cannot be
/// read is skipped up to the next line.
pub(super) fn objects(file: &File, complaints: &mut Complaints, mut each: impl FnMut(&Value)) {
    let mut rest = file.text.as_str();
    // The line of a place, counted from the place before.
    let (mut line, mut place) = (1, 0);
    loop {
        // Arrays are entered, so that one that is cut has elements.
        rest = rest.trim_start_matches(|sign: char| sign.is_whitespace() || matches!(sign, '[' | ']' | ','));
        if rest.is_empty() {
            return;
        }
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                if value.is_object() {
                    each(&value);
                }
                rest = rest.get(values.byte_offset()..).unwrap_or("");
            }
            _ => {
                let here = file.text.len() - rest.len();
                line += file.text.get(place..here).unwrap_or("").matches('\n').count();
                place = here;
                complaints.add("no whole JSON object; skipped", format!("{}:{line}", file.name));
                rest = rest.find('\n').and_then(|end| rest.get(end + 1..)).unwrap_or("");
            }
        }
    }
}

/// An unsigned number of an object; strings of digits and 0x too.
pub(super) fn number(value: &Value, key: &str) -> Option<u64> {
    let value = value.get(key)?;
    value.as_u64().or_else(|| match value.as_f64() {
        Some(number) if number >= 0.0 => Some(number as u64),
        _ => super::nccl_debug::integer(value.as_str()?),
    })
}

/// A time; `None` also beyond what a time can be.
pub(super) fn time(value: &Value, key: &str) -> Option<i64> {
    i64::try_from(number(value, key)?).ok()
}

/// A number up to 32 bits.
pub(super) fn small(value: &Value, key: &str) -> Option<u32> {
    u32::try_from(number(value, key)?).ok()
}

/// A text of an object.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}
