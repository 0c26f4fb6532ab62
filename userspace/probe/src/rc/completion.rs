//! A completion queue, polled and awaited.

use super::{Device, Error, check};
use rocescope_ibverbs as ib;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::ffi::CStr;
use std::mem::zeroed;
use std::os::fd::BorrowedFd;
use std::ptr::{NonNull, null_mut};
use std::time::{Duration, Instant};

/// How long the processor asks for a completion before it sleeps: a few round trips of a fabric.
const SPIN: Duration = Duration::from_micros(100);
/// Marks the number of a receive.
const RECEIVE: u64 = 1 << 32;

/// What completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An operation of this queue pair: a SEND and a WRITE when the peer's NIC has acknowledged them, a READ when its
    /// data is here.
    Operation,
    /// A receive: a SEND of the peer.
    Receive,
}

/// A completion without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// What completed.
    pub kind: Kind,
    /// The number that it was posted with.
    pub number: u32,
    /// The bytes that a receive got; 0 for operations.
    pub bytes: u32,
}

/// The number of a request for the device.
pub(super) fn number(kind: Kind, number: u32) -> u64 {
    match kind {
        Kind::Operation => u64::from(number),
        Kind::Receive => u64::from(number) | RECEIVE,
    }
}

/// A completion queue and its channel.
#[derive(Debug)]
pub(super) struct Completions {
    queue: NonNull<ib::ibv_cq>,
    channel: NonNull<ib::ibv_comp_channel>,
    /// Closed after the queue.
    _device: Device,
}

impl Completions {
    pub(super) fn new(device: &Device, depth: u32) -> Result<Self, Error> {
        let context = device.context().as_ptr();
        // SAFETY: the device is open.
        let channel = NonNull::new(unsafe { ib::ibv_create_comp_channel(context) });
        let channel = channel.ok_or_else(|| Error::last("a completion channel"))?;
        let depth = libc::c_int::try_from(depth).unwrap_or(libc::c_int::MAX);
        // SAFETY: device and channel are open.
        let queue = unsafe { ib::ibv_create_cq(context, depth, null_mut(), channel.as_ptr(), 0) };
        let Some(queue) = NonNull::new(queue) else {
            let error = Error::last("a completion queue");
            // SAFETY: it is open, and nothing uses it.
            unsafe { ib::ibv_destroy_comp_channel(channel.as_ptr()) };
            return Err(error);
        };
        Ok(Self {
            queue,
            channel,
            _device: device.clone(),
        })
    }

    pub(super) const fn queue(&self) -> *mut ib::ibv_cq {
        self.queue.as_ptr()
    }

    /// Returns the next completion if there is one.
    pub(super) fn next(&mut self) -> Result<Option<Completion>, Error> {
        // SAFETY: a structure of numbers, for which all zeros is valid; the queue is open, and one fits.
        let (count, found) = unsafe {
            let mut found: ib::ibv_wc = zeroed();
            let count = ib::ibv_poll_cq(self.queue.as_ptr(), 1, &raw mut found);
            (count, found)
        };
        match count {
            0 => Ok(None),
            1 => completion(&found).map(Some),
            _ => Err(Error::last("a completion")),
        }
    }

    /// Waits for the next completion.
    pub(super) fn wait(&mut self, limit: Duration) -> Result<Completion, Error> {
        let start = Instant::now();
        loop {
            if let Some(completion) = self.next()? {
                return Ok(completion);
            }
            let waited = start.elapsed();
            let Some(rest) = limit.checked_sub(waited).filter(|rest| !rest.is_zero()) else {
                return Err(Error::Timeout { limit });
            };
            if waited < SPIN {
                std::hint::spin_loop();
                continue;
            }
            // SAFETY: the queue is open.
            check("a completion event", unsafe {
                ib::ibv_req_notify_cq(self.queue.as_ptr(), 0)
            })?;
            // What completed before the request causes no event.
            if let Some(completion) = self.next()? {
                return Ok(completion);
            }
            self.sleep(rest)?;
        }
    }

    /// Sleeps until the queue has an event, and takes it.
    fn sleep(&self, limit: Duration) -> Result<(), Error> {
        let limit = Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: limit.subsec_nanos().into(),
        };
        // SAFETY: the channel is open for as long as this is.
        let channel = unsafe { BorrowedFd::borrow_raw(self.channel.as_ref().fd) };
        let mut fds = [PollFd::from_borrowed_fd(channel, PollFlags::IN)];
        match poll(&mut fds, Some(&limit)) {
            Ok(0) | Err(Errno::INTR) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(Error::errno("waiting for completions", error.raw_os_error())),
        }
        let (mut queue, mut context) = (null_mut(), null_mut());
        // SAFETY: channel and queue are open, and an event waits.
        unsafe {
            if ib::ibv_get_cq_event(self.channel.as_ptr(), &raw mut queue, &raw mut context) != 0 {
                return Err(Error::last("a completion event"));
            }
            ib::ibv_ack_cq_events(queue, 1);
        }
        Ok(())
    }
}

impl Drop for Completions {
    fn drop(&mut self) {
        // SAFETY: both are open, and the queue pair that used them is closed. The results of closing do not matter.
        unsafe {
            ib::ibv_destroy_cq(self.queue.as_ptr());
            ib::ibv_destroy_comp_channel(self.channel.as_ptr());
        }
    }
}

fn completion(found: &ib::ibv_wc) -> Result<Completion, Error> {
    if found.status != ib::IBV_WC_SUCCESS {
        // SAFETY: the library returns a string of its own for every value.
        let meaning = unsafe { CStr::from_ptr(ib::ibv_wc_status_str(found.status)) };
        return Err(Error::Failed {
            status: found.status,
            meaning: meaning.to_string_lossy().into_owned(),
        });
    }
    let is_receive = found.wr_id & RECEIVE != 0;
    Ok(Completion {
        kind: if is_receive { Kind::Receive } else { Kind::Operation },
        number: found.wr_id as u32,
        bytes: if is_receive { found.byte_len } else { 0 },
    })
}
