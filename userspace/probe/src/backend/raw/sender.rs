//! Sends frames out of a NIC, with `pnet`.
//!
//! `pnet` reads frames without timestamps, so [`Socket`] receives; both use one descriptor.

use super::super::Error;
use super::link::Link;
use super::socket::Socket;
use crate::types::Refusal;
use pnet::datalink::{self, Channel, Config, DataLinkSender, NetworkInterface};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, IntoRawFd};
use std::time::Duration;

/// Sends frames.
pub(super) struct Sender(Box<dyn DataLinkSender>);

impl Sender {
    /// Binds the socket to the NIC and sends through it.
    pub(super) fn new(link: &Link, socket: &Socket) -> Result<Self, Error> {
        let shared = socket.fd().as_fd().try_clone_to_owned();
        let config = Config {
            // `pnet` does not read or build frames here.
            read_buffer_size: 0,
            write_buffer_size: 0,
            write_timeout: Some(Duration::ZERO),
            promiscuous: false,
            // `pnet` closes it.
            socket_fd: Some(shared.map_err(Error::at("a packet socket"))?.into_raw_fd()),
            ..Config::default()
        };
        // `pnet` binds by the index only.
        let interface = NetworkInterface {
            name: link.name().into(),
            description: String::new(),
            index: link.index(),
            mac: None,
            ips: Vec::new(),
            flags: 0,
        };
        match datalink::channel(&interface, config).map_err(Error::at("a packet socket"))? {
            Channel::Ethernet(sender, _) => Ok(Self(sender)),
            _ => Err(Error::at("a packet socket")(ErrorKind::Unsupported.into())),
        }
    }

    pub(super) fn send(&mut self, frame: &[u8]) -> Result<(), Refusal> {
        match self.0.send_to(frame, None) {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(refusal(&error)),
            None => Err(Refusal::Other),
        }
    }
}

fn refusal(error: &io::Error) -> Refusal {
    match (error.raw_os_error(), error.kind()) {
        (Some(libc::ENOBUFS | libc::EAGAIN), _) | (None, ErrorKind::TimedOut) => Refusal::Full,
        (Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV), _) => Refusal::Down,
        _ => Refusal::Other,
    }
}
