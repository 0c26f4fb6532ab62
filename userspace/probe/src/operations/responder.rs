//! The end that answers: WRITE and READ need nothing of it, a SEND one of its receives.

use crate::rc::{Address, Device, Error, Kind, Options, QueuePair, Region, Window};

/// Room for a receive, in the second half of the memory; the first half is the peer's.
const PLACE: std::ops::Range<usize> = 2048..2112;

#[derive(Debug)]
pub(super) struct Responder {
    pair: QueuePair,
    region: Region,
}

impl Responder {
    /// Connects a queue pair that takes SENDs to the one that asks.
    pub(super) fn new(
        device: &Device,
        region: Result<Region, Error>,
        options: &Options,
        peer: &Address,
    ) -> Result<Self, Error> {
        let mut responder = Self {
            region: region?,
            pair: QueuePair::new(device, options)?,
        };
        for _ in 0..options.depth {
            responder.post()?;
        }
        responder.pair.connect(peer)?;
        Ok(responder)
    }

    fn post(&mut self) -> Result<(), Error> {
        // What arrives does not matter.
        self.pair.post_receive(&self.region, PLACE, 0)
    }

    pub(super) fn address(&self) -> Address {
        self.pair.address()
    }

    pub(super) fn window(&self) -> Window {
        self.region.window()
    }

    /// Posts a receive for each that was used; returns whether the queue pair works.
    pub(super) fn serve(&mut self) -> bool {
        loop {
            match self.pair.poll() {
                Ok(None) => return true,
                Ok(Some(completion)) if completion.kind == Kind::Receive => {
                    if self.post().is_err() {
                        return false;
                    }
                }
                Ok(Some(_)) => {}
                Err(_) => return false,
            }
        }
    }
}
