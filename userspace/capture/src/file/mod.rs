//! Capture files: pcap and pcapng, plain or compressed, from disk or from a pipe.
//!
//! [`open`] opens a file, [`Input::new`] any other stream, [`FrameReader`] yields the frames one by one
//! without copying them. Memory use is one buffer, whatever the length of the file.
//!
//! | module | what it does |
//! |---|---|
//! | `frame` | one frame, and the result of parsing |
//! | `reader` | [`FrameReader`]: reads the frames of a file |
//! | `input` | files, pipes, gzip and Zstandard as one stream of bytes |
//! | `buffer` | the window over that stream, refilled as frames are consumed |
//! | `pcap` | records of the classic format |
//! | `pcapng` | blocks, sections and interfaces of the next generation format |
//! | `write` | [`PcapNgWriter`]: writes frames into a file |

mod buffer;
mod error;
mod frame;
mod input;
mod pcap;
mod pcapng;
mod reader;
#[cfg(test)]
mod tests;
mod write;

pub use error::FileError;
pub use frame::Frame;
pub use input::{Input, open};
pub use reader::FrameReader;
pub use write::PcapNgWriter;
pub(crate) use write::number;
