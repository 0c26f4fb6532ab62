//! Keeps the kernel from answering probes.
//!
//! To the kernel a probe is a UDP datagram to a port. If it accepts the datagram (its source is an address of this
//! host, which IPv4 refuses as martian unless `accept_local` is set) and the port is closed, it would answer with *port
//! unreachable*, which switches would carry back. So the agent binds the port, and a filter drops all datagrams.

use super::super::Error;
use rocescope_host::packet::{DROP_ALL, attach_filter};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};

/// Sockets bound to the port.
#[derive(Debug)]
pub(super) struct Guard {
    _sockets: Vec<UdpSocket>,
    is_taken: bool,
}

impl Guard {
    pub(super) fn open(port: u16) -> Result<Self, Error> {
        // One for both families if the host has IPv6 (and does not separate them), else one for each.
        let v6 = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, port));
        let v4 = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port));
        let mut guard = Self {
            _sockets: Vec::new(),
            is_taken: false,
        };
        let has_v6 = v6.is_ok();
        for (bound, is_v4) in [(v6, false), (v4, true)] {
            match bound {
                Ok(socket) => {
                    attach_filter(&socket, &DROP_ALL).map_err(Error::at("a filter"))?;
                    guard._sockets.push(socket);
                }
                // The first socket covers IPv4 too.
                Err(error) if error.kind() == ErrorKind::AddrInUse => {
                    guard.is_taken |= !(is_v4 && has_v6);
                }
                // A host without IPv6.
                Err(_) if !is_v4 => {}
                Err(error) => return Err(Error::at("the probes' port")(error)),
            }
        }
        Ok(guard)
    }

    /// Whether another process is bound to the port.
    pub(super) const fn is_taken(&self) -> bool {
        self.is_taken
    }
}
