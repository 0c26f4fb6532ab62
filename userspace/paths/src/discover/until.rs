//! A run that something else may end early.

use super::{Plan, Run, Settings, discover};
use crate::flow::Flow;
use crate::ssh::Ssh;

/// Asks the switches about flows. When `wait` returns, the sessions end: what was not answered by then is `interrupted`.
/// After the last answer, `wake` must make `wait` return.
pub fn discover_until(
    plan: &Plan,
    flows: &[Flow],
    ssh: &Ssh,
    settings: &Settings,
    (wait, wake): (impl FnOnce() + Send, impl FnOnce()),
) -> Run {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            wait();
            ssh.end();
        });
        let run = discover(plan, flows, ssh, settings);
        wake();
        run
    })
}
