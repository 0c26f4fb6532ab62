//! This machine: its interfaces, drivers, privileges and limits.
//!
//! | module | what it holds |
//! |---|---|
//! | [`interface`](mod@interface) | network interfaces: state, MTU, use, promiscuous mode |
//! | [`listing`] | every interface with its flags and addresses, in one call |
//! | [`port`] | every interface with speed, driver, XDP support and RDMA device |
//! | `xdp_features` | what drivers support of XDP |
//! | [`ethtool`] | what drivers report, and the one setting that a capture changes |
//! | [`packet`] | packet sockets |
//! | [`netlink`] | netlink: requests, notifications, attributes |
//! | [`rules`] | routing rules that are about one NIC |
//! | [`counters`] | what NICs, drivers and the host count |
//! | [`owner`] | whose a queue pair is: process, user, container, pod, job, rank |
//! | [`memory`] | memory of this process that is free |
//! | [`pci`] | PCI devices, their links, NUMA nodes, and whether the host is virtual |
//! | [`privileges`] | capabilities: what a task needs, what is missing, and how to give them up |
//! | [`doctor`] | checks of the kernel, its limits and an interface, with the command that fixes each problem |
//!
//! No other crate asks the operating system about interfaces, drivers or privileges. Every answer is about
//! the network namespace of this process.

pub mod counters;
pub mod doctor;
pub mod ethtool;
pub mod interface;
pub mod listing;
pub mod local_time;
pub mod memory;
pub mod netlink;
pub mod owner;
pub mod packet;
pub mod pci;
pub mod port;
pub mod privileges;
mod request;
pub mod rules;
mod xdp_features;
pub mod xdp_program;
