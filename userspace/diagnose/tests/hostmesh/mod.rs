//! The analysis of probes over a simulated fabric whose faults are known.

mod again;
mod asymmetry;
mod boundary;
mod classes;
mod cut;
mod faint;
mod faults;
mod peers;
mod quiet;
mod run;
mod silence;
mod sla;
mod together;
mod unlocated;
mod unsent;
