//! Capture files: pcap, pcapng, ERF and snoop, plain or compressed, from disk or from a pipe.
//!
//! [`open`] opens a file, [`Input::new`] any other stream, [`FrameReader`] yields the frames one by one
//! without copying them. Memory use is one buffer, whatever the length of the file; [`FrameReader::ahead`] has four more
//! and a thread that fills them. [`FrameFiles`] yields the frames of several files in the order of their times: a reader
//! and its thread for each file that overlaps with others in time.
//!
//! | module | what it does |
//! |---|---|
//! | `frame` | one frame, and the result of parsing |
//! | `files` | [`FrameFiles`]: several files as one capture |
//! | `spans` | gaps and overlaps between files |
//! | `reader` | [`FrameReader`]: reads the frames of a file |
//! | `buffer` | the window over that stream, refilled as frames are consumed |
//! | `read_ahead` | the stream, read by a thread of its own |
//! | `pcap` | records of the classic format |
//! | `pcapng` | blocks, sections and interfaces of the next generation format |
//! | `erf`, `snoop` | records of capture cards, and of Solaris |
//! | `write` | [`PcapNgWriter`]: writes frames into a file |

mod buffer;
mod erf;
mod error;
mod files;
mod frame;
mod pcap;
mod pcapng;
mod read_ahead;
mod reader;
mod snoop;
mod spans;
#[cfg(test)]
mod tests;
mod write;

pub use error::FileError;
pub use files::{FrameFiles, FrameSource};
pub use frame::Frame;
pub use reader::FrameReader;
pub use rocescope_input::Input;
pub use spans::{FileSpan, Gap, Overlap, gaps, overlaps};
pub use write::PcapNgWriter;
pub(crate) use write::number;

/// Opens a capture.
///
/// # Errors
/// [`FileError::Io`], [`FileError::Empty`].
pub fn open(path: &std::path::Path) -> Result<Input, FileError> {
    Ok(rocescope_input::open(path)?)
}
