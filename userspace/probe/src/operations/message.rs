//! What ends tell each other, as lines of text.

use crate::rc::{Address, Window};
use std::fmt;
use std::net::Ipv6Addr;
use std::str::{FromStr, SplitWhitespace};

/// A message between two ends. `nic` is the index of the asking NIC, `id` the number of its offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Asks for a queue pair that answers.
    Offer {
        /// The asking NIC.
        nic: u16,
        /// The index of the NIC that is to answer.
        to: u16,
        /// The number of the offer.
        id: u32,
        /// The asking queue pair.
        address: Address,
    },
    /// The queue pair that answers.
    Answer {
        /// The asking NIC.
        nic: u16,
        /// The number of the offer.
        id: u32,
        /// The answering queue pair.
        address: Address,
        /// Its memory.
        window: Window,
    },
    /// No queue pair answers.
    Refusal {
        /// The asking NIC.
        nic: u16,
        /// The number of the offer.
        id: u32,
        /// Why.
        reason: String,
    },
}

struct Shown<'a>(&'a Address);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Address {
            gid,
            number,
            first_psn,
            mtu,
        } = self.0;
        write!(f, "{} {number} {first_psn} {mtu}", Ipv6Addr::from(*gid))
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offer { nic, to, id, address } => write!(f, "offer {nic} {id} {to} {}", Shown(address)),
            Self::Answer {
                nic,
                id,
                address,
                window: Window { address: start, key },
            } => write!(f, "answer {nic} {id} {} {start} {key}", Shown(address)),
            Self::Refusal { nic, id, reason } => write!(f, "refusal {nic} {id} {reason}"),
        }
    }
}

fn next<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

fn address(words: &mut SplitWhitespace<'_>) -> Option<Address> {
    Some(Address {
        gid: next::<Ipv6Addr>(words)?.octets(),
        number: next(words).filter(|number| *number < 1 << 24)?,
        first_psn: next(words).filter(|psn| *psn < 1 << 24)?,
        mtu: next(words)?,
    })
}

impl Message {
    /// Reads the text of a message; `None` if it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let kind = words.next()?;
        let (nic, id) = (next(&mut words)?, next(&mut words)?);
        let message = match kind {
            "offer" => Self::Offer {
                nic,
                id,
                to: next(&mut words)?,
                address: address(&mut words)?,
            },
            "answer" => Self::Answer {
                nic,
                id,
                address: address(&mut words)?,
                window: Window {
                    address: next(&mut words)?,
                    key: next(&mut words)?,
                },
            },
            "refusal" => {
                let reason: Vec<&str> = words.by_ref().collect();
                Self::Refusal {
                    nic,
                    id,
                    reason: reason.join(" "),
                }
            }
            _ => return None,
        };
        words.next().is_none().then_some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::Message;
    use crate::rc::{Address, Window};
    use std::net::Ipv4Addr;

    #[test]
    fn what_is_written_is_read() {
        let address = Address {
            gid: Ipv4Addr::new(10, 77, 0, 2).to_ipv6_mapped().octets(),
            number: 17,
            first_psn: 0xff_ffff,
            mtu: 4096,
        };
        let messages = [
            Message::Offer {
                nic: 1,
                to: 2,
                id: 3,
                address,
            },
            Message::Answer {
                nic: 1,
                id: u32::MAX,
                address,
                window: Window {
                    address: u64::MAX,
                    key: 5,
                },
            },
            Message::Refusal {
                nic: 0,
                id: 9,
                reason: "h1 has no RDMA device for NIC 1".into(),
            },
        ];
        for message in messages {
            assert_eq!(Message::parse(&message.to_string()), Some(message));
        }
    }

    #[test]
    fn other_text_is_no_message() {
        for text in [
            "",
            "offer",
            "offer 1 2",
            "offer 1 2 3 ::1 16777216 0 4096",
            "offer 1 2 3 ::1 5 0 4096 7",
            "answer 1 2 ::1 5 0 4096 7",
            "answer -1 2 ::1 5 0 4096 7 8",
            "hello 1 2",
        ] {
            assert_eq!(Message::parse(text), None, "{text}");
        }
    }
}
