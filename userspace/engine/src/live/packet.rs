//! Feeds frames of packet sockets and of RDMA devices to a session.

use super::overload::Overload;
use super::report::LiveReport;
use super::tap::FrameTap;
use super::watch::Watch;
use crate::error::{EngineError, Result};
use crate::intake::Outputs;
use crate::notice::Notice;
use crate::outcome::Outcome;
use crate::session::Session;
use rocescope_capture::af_packet::{RETIRE, now_ns};
use rocescope_pipeline::Settings;
use rocescope_record::Config;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::thread::sleep;
use std::time::Duration;

/// Maximum wait for a block before signals and interfaces are checked.
const BLOCK_TIMEOUT: Duration = Duration::from_millis(50);
/// A full buffer is read in fewer turns than this. A device may go on to deliver after its end.
const BUFFERED: u32 = 64;
/// A frame may wait in a block for this long, so the clock of the windows lags by as much.
const BEHIND_NS: u64 = 100_000_000;

pub(super) fn drive(
    mut taps: Vec<FrameTap>,
    settings: Settings,
    config: Config,
    outputs: Outputs,
    watch: &mut Watch,
    report: &mut LiveReport,
) -> Result<Outcome> {
    let mut session = Session::new(settings, config, outputs)?;
    session.advance(now_ns())?;
    let mut overload = Overload::default();
    while !session.is_over() && !watch.over()? {
        // Before the taps are read: afterwards they are empty up to this time, even if the process is stopped here.
        let now_ns = now_ns();
        let filled = taps.iter().map(FrameTap::filled).fold(0.0, f64::max);
        session.yield_connections(overload.observe(filled));
        report.so_far(count_drops(&mut taps, &mut session)?);
        if !take(&mut taps, &mut session)? {
            session.advance(now_ns.saturating_sub(BEHIND_NS))?;
            session.flush_frames();
            wait(&mut taps)?;
        }
        session.tick();
        if let Some(change) = watch.reloaded() {
            if change.is_to_drop {
                watch.notices().send(Notice::CannotDrop);
            }
            session.reconfigure(&change.intake.settings, &change.intake.config());
        }
        if watch.counts_requested() {
            let dropped = count_drops(&mut taps, &mut session)?;
            let port = watch.port().sentence();
            let rest = format!("capture loss {dropped} at the socket; {port}");
            watch.notices().counts(session.counters(), session.delivery(), rest);
        }
    }
    session.yield_connections(false);
    report.cost.peak_buffer_ratio = overload.peak();
    for tap in &mut taps {
        tap.stop()?;
    }
    // The timer retires the last blocks within this time.
    sleep(4 * RETIRE);
    let end_ns = now_ns();
    report.socket_dropped = count_drops(&mut taps, &mut session)?;
    for _ in 0..BUFFERED {
        if !take(&mut taps, &mut session)? {
            break;
        }
    }
    session.advance(end_ns)?;
    session.finish()
}

/// Reads the next frames of every tap that has some; returns whether one had.
fn take(taps: &mut [FrameTap], session: &mut Session) -> Result<bool> {
    let mut some = false;
    for tap in taps {
        some |= tap.take(session)?;
    }
    Ok(some)
}

fn wait(taps: &mut [FrameTap]) -> Result<()> {
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: BLOCK_TIMEOUT.subsec_nanos().into(),
    };
    let mut fds: Vec<PollFd<'_>> = taps
        .iter()
        .map(|tap| PollFd::from_borrowed_fd(tap.fd(), PollFlags::IN))
        .collect();
    let polled = poll(&mut fds, Some(&timeout));
    let ready: Vec<PollFlags> = fds.iter().map(PollFd::revents).collect();
    match polled {
        Ok(_) if ready.iter().any(|flags| flags.contains(PollFlags::ERR)) => {
            // `poll` returns immediately for an interface that is down, so sleep instead.
            sleep(BLOCK_TIMEOUT);
        }
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(EngineError::Socket(error.into())),
    }
    for (tap, flags) in taps.iter_mut().zip(ready) {
        if flags.contains(PollFlags::IN) {
            tap.woken()?;
        }
    }
    Ok(())
}

/// Passes the drops since the last call to the session; returns their sum since the capture began.
fn count_drops(taps: &mut [FrameTap], session: &mut Session) -> Result<u64> {
    let mut sum = 0;
    for tap in taps {
        if let Some(drops) = tap.new_drops()? {
            session.capture_dropped(drops.from_ns, drops.to_ns, drops.frames);
        }
        sum += tap.dropped();
    }
    Ok(sum)
}
