//! What queue pairs cannot send goes over frames: traces of the own 5-tuples, and all to other hosts.

use crate::{LONG_TIMEOUT, nics};
use rocescope_probe::backend::verbs::{Frames, Verbs};
use rocescope_probe::backend::{Error, Waited};
use rocescope_probe::types::{Clock, DatagramKind, Outgoing, Refusal};
use rocescope_probe::{Agent, Backend, Event, Nanos, Nic, OtherHosts, Settings, drive};
use rocescope_testkit::verbs::with;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};

/// Frames that a test records.
#[derive(Clone, Debug, Default)]
struct Sent(Arc<Mutex<(Vec<Outgoing>, Vec<u32>)>>);

#[derive(Debug)]
struct Recorded {
    nics: Vec<Nic>,
    sent: Sent,
    /// Never readable.
    idle: (UnixStream, UnixStream),
}

const CLOCK: Clock = Clock {
    source: "kernel software",
    error: Nanos(1_000),
    own: false,
};

impl Backend for Recorded {
    fn nics(&self) -> &[Nic] {
        &self.nics
    }

    fn clock(&self) -> Clock {
        CLOCK
    }

    fn now(&self) -> Nanos {
        Nanos(0)
    }

    fn send(&mut self, outgoing: &Outgoing) -> Result<(), Refusal> {
        self.sent.0.lock().unwrap().0.push(*outgoing);
        Ok(())
    }

    fn wait(&mut self, until: Nanos, events: &mut Vec<Event>) -> Result<Waited, Error> {
        // The clock of the agent has its own watch.
        events.push(Event::Stepped { by: Nanos::SECOND });
        Ok(Waited {
            seen: until,
            woken: false,
        })
    }

    fn dropped(&mut self) -> u64 {
        7
    }
}

impl Frames for Recorded {
    fn ready(&self) -> BorrowedFd<'_> {
        self.idle.0.as_fd()
    }

    fn next_due(&self) -> Nanos {
        Nanos(i64::MAX)
    }

    fn reach(&mut self, queue_pairs: Vec<u32>) {
        self.sent.0.lock().unwrap().1 = queue_pairs;
    }
}

#[test]
fn traces_and_what_goes_to_other_hosts_leave_as_frames_and_probes_over_queue_pairs() {
    let nics = nics();
    let sent = Sent::default();
    let frames = Recorded {
        nics: nics.iter().map(|(nic, _)| nic.clone()).collect(),
        sent: sent.clone(),
        idle: UnixStream::pair().unwrap(),
    };
    let mut verbs = Verbs::open(&nics).unwrap().with_frames(Box::new(frames));
    let mut reached = sent.0.lock().unwrap().1.clone();
    reached.sort_unstable();
    let mut of_device = with(|double| double.qps.values().map(|qp| qp.number).collect::<Vec<u32>>());
    of_device.sort_unstable();
    assert_eq!(reached, of_device);
    assert_eq!(verbs.dropped(), 7);

    let settings = Settings {
        interval: Nanos(5_000_000),
        timeout: LONG_TIMEOUT,
        traces_per_second: 20.0,
        others: Some(OtherHosts {
            udp_dst_port: 47_910,
            clock: CLOCK,
        }),
        ..Settings::new("h0", 7)
    };
    let mut agent = Agent::new(settings, verbs.nics(), verbs.clock(), verbs.now());
    while agent.counters().received < 50 || sent.0.lock().unwrap().0.len() < 20 {
        let until = verbs.now() + Nanos(20_000_000);
        drive(&mut agent, &mut verbs, until, &mut Vec::new()).unwrap();
    }
    let counters = agent.counters();
    assert_eq!(
        (counters.unsent, counters.traces_unsent, counters.clock_steps),
        (0, 0, 0)
    );
    let frames = sent.0.lock().unwrap().0.clone();
    let is_trace = |outgoing: &Outgoing| matches!(outgoing.kind, DatagramKind::Trace { .. });
    assert!(
        frames
            .iter()
            .all(|outgoing| is_trace(outgoing) && outgoing.remote.is_none())
    );
    // Only probes went over queue pairs, and the traces have their source ports.
    let wire = with(|double| std::mem::take(&mut double.wire));
    let ports: Vec<u16> = wire.iter().map(|(port, _)| *port).collect();
    assert_eq!(wire.len() as u64, counters.probes);
    assert!(frames.iter().any(|outgoing| ports.contains(&outgoing.port)));
    let remote = Outgoing {
        kind: DatagramKind::Question,
        remote: Some([10, 0, 0, 9].into()),
        ..frames[0]
    };
    verbs.send(&remote).unwrap();
    assert_eq!(sent.0.lock().unwrap().0.last(), Some(&remote));
}
