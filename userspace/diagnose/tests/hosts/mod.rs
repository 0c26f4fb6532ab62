//! `hosts`: rows in, verdicts out. Runs with generated traffic are in `userspace/cli/tests/evaluations/hosts_at_fault`.

mod false_friends;
mod faults;
mod give_ups;
mod join;
mod known;
mod retries;
mod rows;
mod unsure;
