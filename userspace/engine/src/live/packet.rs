//! Feeds frames of packet sockets to a session.

use super::overload::Overload;
use super::report::LiveReport;
use super::watch::Watch;
use crate::error::{EngineError, Result};
use crate::intake::Outputs;
use crate::notice::Notice;
use crate::outcome::Outcome;
use crate::session::Session;
use rocescope_capture::af_packet::{PacketSocket, RETIRE, now_ns};
use rocescope_pipeline::Settings;
use rocescope_record::Config;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::thread::sleep;
use std::time::Duration;

/// Maximum wait for a block before signals and interfaces are checked.
const BLOCK_TIMEOUT: Duration = Duration::from_millis(50);
/// A frame may wait in a block for this long, so the clock of the windows lags by as much.
const BEHIND_NS: u64 = 100_000_000;

pub(super) fn drive(
    mut sockets: Vec<PacketSocket>,
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
        // Before the sockets are read: afterwards they are empty up to this time, even if the process is stopped here.
        let now_ns = now_ns();
        let filled = sockets.iter().map(PacketSocket::ring_filled).fold(0.0, f64::max);
        session.yield_connections(overload.observe(filled));
        report.so_far(count_drops(&mut sockets, &mut session)?);
        if !take(&mut sockets, &mut session)? {
            session.advance(now_ns.saturating_sub(BEHIND_NS))?;
            session.flush_frames();
            wait(&sockets)?;
        }
        session.tick();
        if let Some(change) = watch.reloaded() {
            if change.is_to_drop {
                watch.notices().send(Notice::CannotDrop);
            }
            session.reconfigure(&change.intake.settings, &change.intake.config());
        }
        if watch.counts_requested() {
            let dropped = count_drops(&mut sockets, &mut session)?;
            let port = watch.port().sentence();
            let rest = format!("capture loss {dropped} at the socket; {port}");
            watch.notices().counts(session.counters(), session.delivery(), rest);
        }
    }
    session.yield_connections(false);
    report.cost.peak_buffer_ratio = overload.peak();
    for socket in &sockets {
        socket.stop().map_err(EngineError::Socket)?;
    }
    // The timer retires the last blocks within this time.
    sleep(4 * RETIRE);
    let end_ns = now_ns();
    report.socket_dropped = count_drops(&mut sockets, &mut session)?;
    while take(&mut sockets, &mut session)? {}
    session.advance(end_ns)?;
    session.finish()
}

/// Reads a block of every socket that has one; returns whether one had.
fn take(sockets: &mut [PacketSocket], session: &mut Session) -> Result<bool> {
    let mut some = false;
    for socket in sockets {
        some |= socket.next_block(|frame| session.frame(frame))?;
    }
    Ok(some)
}

fn wait(sockets: &[PacketSocket]) -> Result<()> {
    let mut ready: Vec<PollFd<'_>> = sockets
        .iter()
        .map(|socket| PollFd::from_borrowed_fd(socket.fd(), PollFlags::IN))
        .collect();
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: BLOCK_TIMEOUT.subsec_nanos().into(),
    };
    match poll(&mut ready, Some(&timeout)) {
        Ok(_) if ready.iter().any(|fd| fd.revents().contains(PollFlags::ERR)) => {
            // `poll` returns immediately for an interface that is down, so sleep instead.
            sleep(BLOCK_TIMEOUT);
            Ok(())
        }
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(EngineError::Socket(error.into())),
    }
}

/// Passes the drops since the last call to the session; returns their sum since the capture began.
fn count_drops(sockets: &mut [PacketSocket], session: &mut Session) -> Result<u64> {
    let mut sum = 0;
    for socket in sockets {
        if let Some(drops) = socket.new_drops().map_err(EngineError::Socket)? {
            session.capture_dropped(drops.from_ns, drops.to_ns, drops.frames);
        }
        sum += socket.dropped();
    }
    Ok(sum)
}
