//! Runs when the host is idle or counters call.

use super::tester::{Tested, Tester};
use crate::error::chain;
use rocescope_probe::loopback::Schedule;
use rocescope_probe::loopback::schedule::Timing;
use rocescope_runtime::status;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time between two reads of the counters.
const LOOK: Duration = Duration::from_secs(1);
/// Time between two checks for the end.
const STEP: Duration = Duration::from_millis(100);

/// Runs the tests whenever they are due, until `is_over`, and passes each run to `finish`. `is_forced`: on a busy host too.
pub(super) fn wait(
    tester: &mut Tester,
    is_forced: bool,
    timing: Timing,
    is_over: &dyn Fn() -> bool,
    finish: &mut dyn FnMut(&Tester, &Tested),
) {
    let may_alarm = timing.alarms.is_some();
    let mut schedule = Schedule::new(timing);
    let mut looked: Option<Instant> = None;
    while !is_over() {
        if looked.is_some_and(|looked| looked.elapsed() < LOOK) {
            sleep(STEP);
            continue;
        }
        looked = Some(Instant::now());
        let loads = tester.look();
        let alarm = may_alarm.then(|| tester.alarm()).flatten();
        let Some(reason) = schedule.due(tester.now(), loads.as_deref(), alarm) else {
            continue;
        };
        status!("loopback tests: {}", reason.text());
        match tester.test(is_forced || reason.is_busy(), is_over) {
            Ok(tested) => {
                status!("{}", tested.text());
                schedule.has_run(tester.now(), &reason, tested.end());
                finish(tester, &tested);
            }
            // Another process tests: later.
            Err(error) => {
                status!("{}", chain(&error));
                schedule.has_failed(tester.now());
            }
        }
    }
}
