//! Records that describe what a switch did with a packet.

use super::words::{Unreadable, Words};
use rocescope_model::Text;

/// What the records of a sample say of the way of its packet through the switch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Extended {
    /// The egress queue.
    pub(super) queue: Option<u32>,
    /// The bytes that it found in that queue.
    pub(super) depth_bytes: Option<u32>,
    /// How long it was in the switch: at least that long, if it is the largest number.
    pub(super) transit_ns: Option<u32>,
    /// What the driver or the kernel calls the reason of a drop.
    pub(super) detail: Option<Text>,
}

/// The longest text that is kept.
const MAX_TEXT: usize = 64;

impl Extended {
    /// Reads a record of this format; `false` if it is of another kind.
    pub(super) fn read(&mut self, format: u32, mut record: Words<'_>) -> Result<bool, Unreadable> {
        match format {
            1036 => self.queue = Some(record.word()?),
            1039 => self.transit_ns = Some(record.word()?),
            1040 => self.depth_bytes = Some(record.word()?),
            // The kernel's function, its reason.
            1038 | 1042 => {
                let text = clean(record.text()?);
                self.detail.get_or_insert(text);
            }
            // The group and the trap of the driver.
            1041 => {
                let (group, trap) = (clean(record.text()?), clean(record.text()?));
                self.detail = Some(format!("{group}/{trap}").into());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Text of a switch: at most [`MAX_TEXT`] characters that can be printed.
pub(super) fn clean(bytes: &[u8]) -> Text {
    let text = String::from_utf8_lossy(bytes);
    let text: String = text.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect();
    text.into()
}
