//! RoCEv2 headers, decode and encode, for the kernel and for user space.
#![no_std]
