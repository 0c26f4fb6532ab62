//! `hosts`: rows in, verdicts out. Runs with generated traffic are in `lab/evaluation/src/hosts`.

mod false_friends;
mod faults;
mod give_ups;
mod join;
mod known;
mod retries;
mod rows;
mod unsure;
