//! The checks.
//!
//! | module | what it compares |
//! |---|---|
//! | `captures` | captures in every mode with the mirror and the driver; part of `perftest` |
//! | `counters` | `rocescope counters` with `rdma statistic`, for a WRITE of perftest |
//! | `doctor` | `doctor` with what captures can do on this kernel |
//! | `hostping` | loopback tests of both NICs to both NUMA nodes, of healthy NICs and of one that is throttled |
//! | `killed` | `diagnose hosts` with what happened: a receiver that was killed under load |
//! | `loss` | netem's drops with the driver's counters, the mirror and `connections` |
//! | `mesh` | agents of both guests for a while: outcomes, memory, processor; part of `operations` |
//! | `operations` | the latency of RDMA operations with the mirror and with perftest |
//! | `perftest` | what `connections` reports of the mirror with perftest's own report |
//! | `probe` | probes between two NICs of a guest with the mirror |
//! | `verdicts` | what `diagnose mesh` names, with a NIC that loses or delays, or an agent that is killed |
//! | `queue_pairs` | what agents report of queue pairs with perftest, the mirror and a program that opens a thousand |
//! | `recorder` | the flight recorder with the NAKs of the mirror; part of `loss` |

mod captures;
mod counters;
mod doctor;
mod hostping;
mod killed;
mod loss;
mod mesh;
mod operations;
mod perftest;
mod probe;
mod queue_pairs;
mod recorder;
mod verdicts;

use super::fabric::Fabric;
use anyhow::Result;

/// How many guests a check needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guests {
    Two,
    TwoOrThree,
}

/// Name, description, guests and function of a check.
pub(super) type Check = (&'static str, &'static str, Guests, fn(&mut Fabric) -> Result<()>);

/// The checks, in the order in which they run.
pub(super) const CHECKS: &[Check] = &[
    (
        "doctor",
        "doctor beside captures in every mode, with and without cap_perfmon",
        Guests::Two,
        doctor::run,
    ),
    (
        "perftest",
        "connections and captures in every mode beside perftest's report and the driver",
        Guests::Two,
        perftest::run,
    ),
    ("counters", "counters beside rdma statistic", Guests::Two, counters::run),
    (
        "hostping",
        "loopback tests of both NICs to both NUMA nodes, one throttled",
        Guests::Two,
        hostping::run,
    ),
    (
        "probe",
        "verbs probes between two NICs of a guest",
        Guests::TwoOrThree,
        probe::run,
    ),
    (
        "operations",
        "latency of RDMA operations, alone and between agents",
        Guests::Two,
        operations::run,
    ),
    (
        "verdicts",
        "what the mesh names: a NIC that loses or delays, an agent that is killed",
        Guests::TwoOrThree,
        verdicts::run,
    ),
    (
        "queue_pairs",
        "agents follow queue pairs of perftest, and a thousand in a loop",
        Guests::Two,
        queue_pairs::run,
    ),
    ("killed", "a receiver is killed under load", Guests::Two, killed::run),
    (
        "loss",
        "netem drops 0.1, 1 and 5 % before the mirror and behind it",
        Guests::Two,
        loss::run,
    ),
];
