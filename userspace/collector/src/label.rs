//! The text beside each parcel (`app_metadata` of a `FlightData`) and each answer (of a `PutResult`).
//!
//! ```text
//! h0 1795228209000000000 17            agent, epoch, sequence
//! 1795228209000000000 17 stored        epoch, sequence, outcome
//! 1795228209000000000 17 refused why   ... and the reason
//! ```

use std::fmt;

/// Number of a parcel. Numbers are ordered as the agent made them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number {
    /// Start of the agent's process, in nanoseconds since 1970.
    pub epoch: i64,
    /// Counted in the epoch, from 1.
    pub sequence: i64,
}

/// The text beside a parcel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Name of the agent: the observer of its rows.
    pub agent: String,
    /// Number of the parcel.
    pub number: Number,
}

/// What the collector did with a parcel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Its rows are on the collector's disk.
    Stored,
    /// The rows were there already.
    Known,
    /// The collector refused the parcel for this reason, and would refuse it again.
    Refused(String),
}

/// The collector's answer to a parcel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The parcel.
    pub number: Number,
    /// What the collector did with it.
    pub outcome: Outcome,
}

impl Label {
    /// Parses a label; `None` if it is not one.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut words = std::str::from_utf8(bytes).ok()?.split(' ');
        let label = Self {
            agent: words.next().filter(|agent| !agent.is_empty())?.to_owned(),
            number: number(&mut words)?,
        };
        words.next().is_none().then_some(label)
    }
}

impl Answer {
    /// Parses an answer; `None` if it is not one.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut words = std::str::from_utf8(bytes).ok()?.splitn(4, ' ');
        let number = number(&mut words)?;
        let outcome = match (words.next()?, words.next()) {
            ("stored", None) => Outcome::Stored,
            ("known", None) => Outcome::Known,
            ("refused", reason) => Outcome::Refused(reason.unwrap_or_default().to_owned()),
            _ => return None,
        };
        Some(Self { number, outcome })
    }
}

fn number<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Number> {
    let mut word = || words.next()?.parse().ok();
    Some(Number {
        epoch: word()?,
        sequence: word()?,
    })
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.epoch, self.sequence)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.agent, self.number)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.number)?;
        match &self.outcome {
            Outcome::Stored => f.write_str("stored"),
            Outcome::Known => f.write_str("known"),
            Outcome::Refused(reason) => write!(f, "refused {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Label, Number, Outcome};

    const NUMBER: Number = Number { epoch: 7, sequence: -1 };

    #[test]
    fn labels_and_answers_come_back_from_their_text() {
        let label = Label {
            agent: "h0".into(),
            number: NUMBER,
        };
        assert_eq!(Label::parse(label.to_string().as_bytes()), Some(label));
        let refused = Outcome::Refused("the batch is damaged".into());
        for outcome in [Outcome::Stored, Outcome::Known, refused] {
            let answer = Answer {
                number: NUMBER,
                outcome,
            };
            assert_eq!(Answer::parse(answer.to_string().as_bytes()), Some(answer));
        }
    }

    #[test]
    fn anything_else_is_none() {
        for text in ["", "h0", "h0 1", "h0 1 x", " 1 2", "h0 1 2 3", "h0 1 2 "] {
            assert_eq!(Label::parse(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(Label::parse(b"h\xff 1 2"), None);
        for text in ["1 2", "1 2 stored now", "1 2 eaten", "1 stored"] {
            assert_eq!(Answer::parse(text.as_bytes()), None, "{text:?}");
        }
    }
}
