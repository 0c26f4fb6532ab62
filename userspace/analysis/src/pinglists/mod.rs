//! Hands out whom agents probe: plans again when agents come and go, when traces show their switches, and when it is the turn
//! of other targets.
//!
//! | module | what it does |
//! |---|---|
//! | `traces` | the switches that traces show |
//! | `planning` | the plan in force, and what agents have of it |

mod planning;
mod traces;

pub use traces::Traces;

use planning::Planning;
use rocescope_collector::server::Monitor;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the plan is looked at.
const TICK: Duration = Duration::from_millis(500);

/// The thread that plans. It ends when this is dropped.
pub struct Planner {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for Planner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planner").finish_non_exhaustive()
    }
}

impl Planner {
    /// Plans for the agents of a controller, by this clock.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(monitor: Monitor, traces: Traces, clock: crate::live::Clock) -> std::io::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let run = move || {
            let mut planning = Planning::default();
            while !over.load(Ordering::Relaxed) {
                if let Some(roster) = monitor.roster() {
                    planning.turn(&roster, &traces, clock().0, Instant::now());
                    planning.hand_out(&roster, |agent, connection, list| {
                        monitor.hand_out(agent, connection, list)
                    });
                    monitor.covers(roster.peering.is_some().then(|| planning.plan.coverage.clone()));
                }
                std::thread::sleep(TICK);
            }
        };
        let thread = std::thread::Builder::new().name("pinglists".into()).spawn(run)?;
        Ok(Self {
            is_over,
            thread: Some(thread),
        })
    }
}

impl Drop for Planner {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
