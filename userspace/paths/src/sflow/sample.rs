//! The head of a sample: where it was taken, and which ports its packet crosses.

use super::words::{Unreadable, Words};
use std::net::IpAddr;

/// Where frames are sampled: a data source of an agent, such as a port of a switch. A packet passes several on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Point {
    /// Address of the agent.
    pub agent: IpAddr,
    /// Its part (`sub_agent_id`).
    pub part: u32,
    /// Kind and index of the data source.
    pub source: (u32, u32),
}

/// A sample, and its agent.
#[derive(Clone, Copy)]
pub(super) struct Sample<'a> {
    pub(super) words: Words<'a>,
    /// Whether indices have words of their own.
    pub(super) is_expanded: bool,
    pub(super) agent: IpAddr,
    pub(super) part: u32,
    /// How often the agent was seen to start again.
    pub(super) restarts: u32,
}

impl Sample<'_> {
    /// Reads the sequence number and the data source.
    pub(super) fn point(&self, words: &mut Words<'_>) -> Result<Point, Unreadable> {
        words.skip(1)?;
        // The expanded form has two words for each of source, input and output.
        let source = match self.is_expanded {
            true => (words.word()?, words.word()?),
            false => {
                let source = words.word()?;
                (source >> 24, source & 0xff_ffff)
            }
        };
        Ok(Point {
            agent: self.agent,
            part: self.part,
            source,
        })
    }

    /// Reads input and output.
    pub(super) fn ports(&self, words: &mut Words<'_>) -> Result<[Output; 2], Unreadable> {
        let mut port = || {
            Ok(match self.is_expanded {
                true => Output {
                    format: words.word()?,
                    value: words.word()?,
                },
                false => {
                    let word = words.word()?;
                    Output {
                        format: word >> 30,
                        value: word & 0x3fff_ffff,
                    }
                }
            })
        };
        Ok([port()?, port()?])
    }
}

/// Where a packet leaves or arrives: format 0 is a port, 1 the reason of a drop, 2 a number of ports.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    pub(super) format: u32,
    pub(super) value: u32,
}

impl Output {
    pub(super) fn index(self) -> Option<u32> {
        known(self.value).filter(|_| self.format == 0)
    }
}

/// An index of a port: 0 is unknown, and the largest one of 30 bits the switch itself.
pub(super) fn known(index: u32) -> Option<u32> {
    (index != 0 && index != 0x3fff_ffff).then_some(index)
}
