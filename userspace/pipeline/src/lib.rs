//! Event-time windows over run records: totals, flows, opcodes, events.
#![no_std]
