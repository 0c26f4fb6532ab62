//! Opens the part that follows queue pairs: the kernel's events, if there are any, and RDMA netlink.

use crate::arguments::{KernelEvents, QueuePairsPartArguments};
use rocescope_agent::queue_pairs::{QueuePairPace, QueuePairs, Source};
use rocescope_capture::queue_pairs::QueuePairEvents;
use rocescope_host::counters::{Reader, Sources, Wanted};
use rocescope_runtime::status;

/// Opens it, while the process has privileges.
pub(super) fn open(arguments: &QueuePairsPartArguments, observer: &str) -> QueuePairs {
    let pace = QueuePairPace::from(arguments);
    let events: Source = match arguments.kernel_events {
        KernelEvents::Off => None,
        KernelEvents::Auto => match QueuePairEvents::open() {
            Ok(events) => Some(Box::new(events)),
            Err(error) => {
                status!("queue pairs: no kernel events: {}; {pace}", error.in_a_line());
                None
            }
        },
    };
    if events.is_some() {
        status!("queue pairs: kernel events; {pace}");
    }
    let wanted = Wanted {
        owners: Some(arguments.into()),
        ..Wanted::default()
    };
    let reader = Reader::new(Sources::this_host(), wanted, observer);
    QueuePairs::open(reader, events, pace)
}
