//! Detections that an agent passes on to another one, as a line of text.

use alloc::string::{String, ToString};
use core::fmt;

/// The first word of the text, which distinguishes it from other messages of agents.
const WORD: &str = "detections";

/// Detections for a step of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepNotice {
    /// The rank that they are for.
    pub rank: u32,
    /// The rank that passed them on first. They end when they come back to it.
    pub origin: u32,
    /// Its channel.
    pub channel: u16,
    /// The step.
    pub step: u32,
    /// How many.
    pub detections: u32,
    /// The collective.
    pub collective: String,
}

impl fmt::Display for StepNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rank,
            origin,
            channel,
            step,
            detections,
            collective,
        } = self;
        write!(f, "{WORD} {rank} {origin} {channel} {step} {detections} {collective}")
    }
}

impl StepNotice {
    /// Whether a text may be one.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        text.strip_prefix(WORD).is_some_and(|rest| rest.starts_with(' '))
    }

    /// Reads a text; `None` if it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.strip_prefix(WORD)?.strip_prefix(' ')?.splitn(6, ' ');
        Some(Self {
            rank: words.next()?.parse().ok()?,
            origin: words.next()?.parse().ok()?,
            channel: words.next()?.parse().ok()?,
            step: words.next()?.parse().ok()?,
            detections: words.next()?.parse().ok()?,
            collective: words.next()?.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::StepNotice;
    use alloc::string::ToString;

    #[test]
    fn a_notice_is_read_as_it_was_written_and_other_texts_are_none() {
        let notice = StepNotice {
            rank: 3,
            origin: 0,
            channel: 1,
            step: 7,
            detections: 2,
            collective: "0xab:all reduce:9".into(),
        };
        let text = notice.to_string();
        assert_eq!(StepNotice::parse(&text), Some(notice));
        assert!(StepNotice::is_one(&text));
        for other in [
            "offer 1 2 3",
            "detections",
            "detections 1 2 3 4",
            "detections 1 2 3 4 -1 a",
        ] {
            assert_eq!(StepNotice::parse(other), None, "{other}");
        }
    }
}
