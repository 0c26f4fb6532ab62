//! A network that stops.

use crate::network::Network;
use crate::rig::{Rig, SOON, probes};
use rocescope_collector::Server;
use rocescope_testkit::until;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// Scaled by about thirty: pings every half second where they are every ten, a cut of two seconds
/// where it is a minute.
#[test]
fn a_cut_network_costs_nothing_and_doubles_nothing() {
    let rig = Rig::new();
    let mut settings = rig.settings(0);
    (settings.patience, settings.keep_alive) = (SOON, SOON);
    let server = Server::start(settings, None).unwrap();
    let network = Network::to(server.address().port());
    let spool = rig.spool("h0");
    let sender = rig.impatient("h0", network.port, &spool);
    let mut next = 0;
    for round in 0..3 {
        for step in 0..60 {
            spool.append(&probes("h0", next..next + 20)).unwrap();
            next += 20;
            thread::sleep(Duration::from_millis(40));
            // In the middle of what is under way, another place each round.
            if step == 5 + round {
                network.cut.store(true, Ordering::Relaxed);
            }
            if step == 55 {
                network.cut.store(false, Ordering::Relaxed);
            }
        }
        until("all is acknowledged", || spool.counts().parcels == 0);
    }
    assert!(network.lost_bytes.load(Ordering::Relaxed) > 0);
    // A busy machine may look like another cut.
    assert!(sender.status().connections >= 4);
    sender.finish(Duration::from_secs(5));
    server.stop().unwrap();
    assert_eq!(rig.stored("h0"), (0..next).collect::<Vec<u64>>());
}
