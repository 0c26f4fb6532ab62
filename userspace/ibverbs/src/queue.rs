//! The completion queue of a device.

use crate as ib;
use crate::error::{Error, check};
use std::io;
use std::mem::zeroed;
use std::os::fd::BorrowedFd;
use std::ptr::{NonNull, null_mut};

/// The maximum number of completions per call.
const BURST: usize = 16;

/// The result of a request.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// The number that it was posted with.
    pub number: u64,
    /// Otherwise the request or the queue pair failed.
    pub is_good: bool,
    /// The length of a receive in bytes; of no meaning for a send.
    pub bytes: u32,
    /// When, in nanoseconds of the device's clock.
    pub stamp: Option<i64>,
}

/// The clock that stamps completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamping {
    /// The device, in nanoseconds since 1970.
    WallClock,
    /// The device, in ticks of its clock.
    Ticks {
        /// The frequency of that clock.
        kilohertz: u64,
    },
    /// None: the device has no timestamps.
    Processor,
}

/// Converts ticks to nanoseconds.
#[must_use]
pub fn nanos(ticks: u64, kilohertz: u64) -> i64 {
    let nanos = u128::from(ticks) * 1_000_000 / u128::from(kilohertz.max(1));
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

/// A completion queue and its event channel. It is not closed when it is dropped: queue pairs name it.
#[derive(Debug)]
pub struct Queue {
    /// An `ibv_cq_ex` if it has timestamps.
    cq: NonNull<ib::ibv_cq>,
    channel: NonNull<ib::ibv_comp_channel>,
    stamping: Stamping,
}

impl Queue {
    /// Creates a queue with the best timestamps of the device; `None` if its driver has none.
    ///
    /// # Errors
    /// The device refuses.
    pub fn stamped(context: NonNull<ib::ibv_context>, depth: u32) -> Result<Option<Self>, Error> {
        let channel = channel(context)?;
        let ticks = kilohertz(context).map(|kilohertz| Stamping::Ticks { kilohertz });
        let ways = [
            (
                ib::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
                Some(Stamping::WallClock),
            ),
            (ib::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, ticks),
        ];
        for (flags, stamping) in ways {
            let Some(stamping) = stamping else {
                continue;
            };
            // SAFETY: context and channel are open; the attributes are read during the call.
            let cq = unsafe {
                let mut attributes: ib::ibv_cq_init_attr_ex = zeroed();
                attributes.cqe = depth;
                attributes.channel = channel.as_ptr();
                attributes.wc_flags = flags | ib::IBV_WC_EX_WITH_BYTE_LEN;
                ib::ibv_create_cq_ex(context.as_ptr(), &raw mut attributes)
            };
            if let Some(cq) = NonNull::new(cq) {
                return Ok(Some(Self {
                    cq: cq.cast(),
                    channel,
                    stamping,
                }));
            }
            // The driver does not support these timestamps; try the next.
            if io::Error::last_os_error().raw_os_error() != Some(libc::EOPNOTSUPP) {
                return Err(Error::last("a completion queue"));
            }
        }
        // SAFETY: nothing uses it.
        check("a completion channel", unsafe {
            ib::ibv_destroy_comp_channel(channel.as_ptr())
        })?;
        Ok(None)
    }

    /// Creates a queue without timestamps.
    ///
    /// # Errors
    /// The device refuses.
    pub fn plain(context: NonNull<ib::ibv_context>, depth: u32) -> Result<Self, Error> {
        let channel = channel(context)?;
        // SAFETY: context and channel are open.
        let cq = unsafe {
            let depth = depth as libc::c_int;
            ib::ibv_create_cq(context.as_ptr(), depth, null_mut(), channel.as_ptr(), 0)
        };
        Ok(Self {
            cq: NonNull::new(cq).ok_or_else(|| Error::last("a completion queue"))?,
            channel,
            stamping: Stamping::Processor,
        })
    }

    /// Closes an unused queue.
    ///
    /// # Errors
    /// The device refuses.
    pub fn close(self) -> Result<(), Error> {
        // SAFETY: both are open, and this was their only owner.
        unsafe {
            check("a completion queue", ib::ibv_destroy_cq(self.cq.as_ptr()))?;
            let answer = ib::ibv_destroy_comp_channel(self.channel.as_ptr());
            check("a completion channel", answer)
        }
    }

    /// What calls of the library name it by.
    #[must_use]
    pub const fn cq(&self) -> *mut ib::ibv_cq {
        self.cq.as_ptr()
    }

    /// The clock that stamps its completions.
    #[must_use]
    pub const fn stamping(&self) -> Stamping {
        self.stamping
    }

    /// Readable when something has completed.
    #[must_use]
    pub fn channel(&self) -> BorrowedFd<'_> {
        // SAFETY: the channel is open for as long as the queue is.
        unsafe { BorrowedFd::borrow_raw(self.channel.as_ref().fd) }
    }

    /// Requests an event for the next completion.
    ///
    /// # Errors
    /// The device refuses.
    pub fn arm(&self) -> Result<(), Error> {
        // SAFETY: the queue is open.
        let answer = unsafe { ib::ibv_req_notify_cq(self.cq.as_ptr(), 0) };
        check("a completion event", answer)
    }

    /// Takes the event that made the channel readable, and asks for the next one; without an event it blocks, unless the
    /// channel does not.
    ///
    /// # Errors
    /// The device reports one.
    pub fn take_event(&mut self) -> Result<(), Error> {
        let (mut queue, mut context) = (null_mut(), null_mut());
        // SAFETY: channel and queue are open.
        unsafe {
            let channel = self.channel.as_ptr();
            if ib::ibv_get_cq_event(channel, &raw mut queue, &raw mut context) != 0 {
                return Err(Error::last("a completion event"));
            }
            ib::ibv_ack_cq_events(queue, 1);
        }
        // Before polling: later completions then cause an event.
        self.arm()
    }

    /// Appends what has completed, at most `most` and 16 more.
    ///
    /// # Errors
    /// The device reports one.
    pub fn completions(&mut self, most: usize, completions: &mut Vec<Completion>) -> Result<(), Error> {
        match self.stamping {
            Stamping::Processor => self.poll(most, completions),
            Stamping::WallClock | Stamping::Ticks { .. } => self.poll_stamped(most, completions),
        }
    }

    fn poll(&mut self, most: usize, completions: &mut Vec<Completion>) -> Result<(), Error> {
        // SAFETY: structures of numbers, for which all zeros is valid.
        let mut found: [ib::ibv_wc; BURST] = unsafe { zeroed() };
        loop {
            // SAFETY: the queue is open, and the call fills no more than the given number.
            let count = unsafe { ib::ibv_poll_cq(self.cq.as_ptr(), BURST as i32, found.as_mut_ptr()) };
            let count = usize::try_from(count).map_err(|_| Error::last("a completion"))?;
            completions.extend(found.iter().take(count).map(|completion| Completion {
                number: completion.wr_id,
                is_good: completion.status == ib::IBV_WC_SUCCESS,
                bytes: completion.byte_len,
                stamp: None,
            }));
            if count < BURST || completions.len() >= most {
                return Ok(());
            }
        }
    }

    fn poll_stamped(&mut self, most: usize, completions: &mut Vec<Completion>) -> Result<(), Error> {
        let cq: NonNull<ib::ibv_cq_ex> = self.cq.cast();
        // SAFETY: the queue is open and has timestamps; a completion is read between start and end of polling.
        let answer = unsafe {
            let mut attributes: ib::ibv_poll_cq_attr = zeroed();
            let mut answer = ib::ibv_start_poll(cq.as_ptr(), &raw mut attributes);
            let begun = answer == 0;
            while answer == 0 {
                let is_good = cq.as_ref().status == ib::IBV_WC_SUCCESS;
                completions.push(Completion {
                    number: cq.as_ref().wr_id,
                    is_good,
                    bytes: if is_good {
                        ib::ibv_wc_read_byte_len(cq.as_ptr())
                    } else {
                        0
                    },
                    stamp: is_good.then(|| self.stamp()).flatten(),
                });
                // The next one is read once it is asked for.
                if completions.len() >= most {
                    break;
                }
                answer = ib::ibv_next_poll(cq.as_ptr());
            }
            if begun {
                ib::ibv_end_poll(cq.as_ptr());
            }
            answer
        };
        match answer {
            // There are no more, or as many as wanted.
            0 | libc::ENOENT => Ok(()),
            errno => check("a completion", errno),
        }
    }

    /// The timestamp of the completion that is being read.
    fn stamp(&self) -> Option<i64> {
        let cq = self.cq.cast::<ib::ibv_cq_ex>().as_ptr();
        match self.stamping {
            // SAFETY: the queue has this kind of timestamp, and a completion is being read.
            Stamping::WallClock => unsafe { Some(ib::ibv_wc_read_completion_wallclock_ns(cq) as i64) },
            // SAFETY: as above.
            Stamping::Ticks { kilohertz } => unsafe { Some(nanos(ib::ibv_wc_read_completion_ts(cq), kilohertz)) },
            Stamping::Processor => None,
        }
    }
}

fn channel(context: NonNull<ib::ibv_context>) -> Result<NonNull<ib::ibv_comp_channel>, Error> {
    // SAFETY: the device is open.
    let channel = unsafe { ib::ibv_create_comp_channel(context.as_ptr()) };
    NonNull::new(channel).ok_or_else(|| Error::last("a completion channel"))
}

/// The frequency of the device's clock; `None` if it is unknown.
fn kilohertz(context: NonNull<ib::ibv_context>) -> Option<u64> {
    // SAFETY: a structure of numbers, for which all zeros is valid; the device is open, and the call fills it.
    let attributes = unsafe {
        let mut attributes: ib::ibv_device_attr_ex = zeroed();
        let got = ib::ibv_query_device_ex(context.as_ptr(), &raw mut attributes);
        (got == 0).then_some(attributes)?
    };
    (attributes.hca_core_clock > 0).then_some(attributes.hca_core_clock)
}
