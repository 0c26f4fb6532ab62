//! The table `[queue-pairs]` of an agent.

use crate::units::{DAY, HOUR, within};
use clap::{Args, ValueEnum};
use rocescope_agent::queue_pairs::QueuePairPace;
use rocescope_host::owner::{Privacy, UserKey};
use std::time::Duration;

/// The table `[queue-pairs]`: how an agent follows the queue pairs of its host.
#[derive(Clone, Debug, Args)]
pub struct QueuePairsPartArguments {
    /// Whether to attach programs to the kernel that report every queue pair as it comes, changes and goes, with the
    /// addresses and attributes that reads do not have; `auto`: if the kernel can do it
    #[arg(long, value_enum, default_value_t = KernelEvents::Auto)]
    pub kernel_events: KernelEvents,
    /// Time between two reads of RDMA netlink, which find what was there before, and what events do not report
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = within::<10, HOUR>)]
    pub interval: Duration,
    /// Write unchanged queue pairs again after DURATION
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = within::<100, DAY>)]
    pub refresh: Duration,
    /// Do not read the command lines of processes that have queue pairs
    #[arg(long)]
    pub no_commands: bool,
    /// Hash the users of processes that have queue pairs; KEY is 64 hexadecimal digits, or @ and the path of a file with them: the
    /// same user has the same hash on all hosts with this key
    #[arg(long, value_name = "KEY")]
    pub hash_users: Option<UserKey>,
}

/// Whether to attach programs to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KernelEvents {
    /// If the kernel can do it
    Auto,
    /// No
    Off,
}

impl From<&QueuePairsPartArguments> for Privacy {
    fn from(arguments: &QueuePairsPartArguments) -> Self {
        Self {
            no_commands: arguments.no_commands,
            user_key: arguments.hash_users.clone(),
        }
    }
}

impl From<&QueuePairsPartArguments> for QueuePairPace {
    fn from(arguments: &QueuePairsPartArguments) -> Self {
        Self {
            interval: arguments.interval,
            refresh: arguments.refresh,
        }
    }
}
