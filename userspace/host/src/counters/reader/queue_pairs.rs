//! The queue pairs of all devices, and whose they are.

use super::{Reader, is_any};
use crate::counters::addresses::PortAddresses;
use crate::counters::entry::Moment;
use crate::counters::queue_pairs::QueuePairs;
use crate::counters::rdma::{QueuePair, Rdma};
use crate::owner::Now;
use rocescope_model::QueuePairRow;
use std::io;
use std::time::Duration;

impl Reader {
    /// The queue pairs of every device; none if the kernel has no RDMA.
    ///
    /// # Errors
    /// The kernel did not list all of them, which [counts](Reader::counts) as unreadable. What is missing in a part of the list
    /// is not gone, so no part is returned.
    pub fn queue_pairs(&mut self) -> io::Result<Vec<(String, QueuePair)>> {
        if self.rdma.is_none() && self.sources.netlink {
            // Its modules may be loaded by now.
            self.rdma = Rdma::open().ok();
        }
        let Some(rdma) = &mut self.rdma else {
            return Ok(Vec::new());
        };
        let is_wanted = |name: &str| self.devices.is_empty() || is_any(&self.devices, name);
        list(rdma, is_wanted).inspect_err(|error| self.counts.unreadable("queue pairs by RDMA netlink", error))
    }

    /// The rows of the queue pairs that are new, changed, gone or due since `known` was read, with the addresses of their
    /// ports and their owners.
    ///
    /// # Errors
    /// Those of [`Reader::queue_pairs`]; `known` stays as it is.
    pub fn queue_pair_rows(
        &mut self,
        known: &mut QueuePairs,
        moment: Moment,
        refresh: Duration,
    ) -> io::Result<Vec<QueuePairRow>> {
        let mut rows = known.read(self.queue_pairs()?, moment, refresh, &self.observer);
        self.complete(&mut rows, moment);
        Ok(rows)
    }

    /// Adds to rows of queue pairs, wherever they come from, what this host knows: the addresses of their ports and their
    /// owners.
    pub fn complete(&mut self, rows: &mut [QueuePairRow], moment: Moment) {
        PortAddresses::new(self.sources.class()).complete(rows);
        if let Some(owners) = &mut self.owners {
            owners.complete(rows, Now::at(moment.time.0));
        }
    }
}

/// The queue pairs of the wanted devices, with the names of these.
fn list(rdma: &mut Rdma, is_wanted: impl Fn(&str) -> bool) -> io::Result<Vec<(String, QueuePair)>> {
    let mut all = Vec::new();
    for device in rdma.devices()?.into_iter().filter(|device| is_wanted(&device.name)) {
        match rdma.queue_pairs(device.index) {
            Ok(pairs) => all.extend(pairs.into_iter().map(|pair| (device.name.clone(), pair))),
            // It vanished meanwhile, and its queue pairs with it.
            Err(_) if !rdma.devices()?.contains(&device) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::{Sources, Wanted};
    use crate::netlink::{Socket, attribute, message};
    use rocescope_model::Time;
    use std::os::unix::net::UnixDatagram;
    use std::path::PathBuf;

    const DEVICES: u16 = (5 << 10) + 1;
    const QUEUE_PAIRS: u16 = (5 << 10) + 10;
    const DONE: u16 = 3;
    const ERROR: u16 = 2;
    const NESTED: u16 = 0x8000;

    /// A reader, and the kernel that it asks.
    fn reader() -> (Reader, UnixDatagram) {
        let (kernel, end) = UnixDatagram::pair().unwrap();
        let mut reader = Reader::new(Sources::copy(PathBuf::from("/nowhere")), Wanted::default(), "h0");
        reader.rdma = Some(Rdma::over(Socket::made(end)));
        (reader, kernel)
    }

    fn devices(names: &[&str]) -> Vec<u8> {
        let device = |(index, name): (usize, &&str)| {
            let parts = [
                attribute(1, &(index as u32).to_ne_bytes()),
                attribute(2, name.as_bytes()),
            ];
            message(DEVICES, 0, &parts.concat())
        };
        names.iter().enumerate().flat_map(device).chain(end(0)).collect()
    }

    fn pair(number: u32) -> Vec<u8> {
        let pair = attribute(20 | NESTED, &attribute(21, &number.to_ne_bytes()));
        message(QUEUE_PAIRS, 0, &attribute(19 | NESTED, &pair))
    }

    /// The end of a list, with 0 or an error below it.
    fn end(code: i32) -> Vec<u8> {
        message(DONE, 0, &code.to_ne_bytes())
    }

    fn refused(code: i32) -> Vec<u8> {
        message(ERROR, 0, &code.to_ne_bytes())
    }

    /// What each row reports, after a read that the kernel answers so.
    fn read(
        reader: &mut Reader,
        kernel: &UnixDatagram,
        known: &mut QueuePairs,
        answers: &[Vec<u8>],
    ) -> io::Result<Vec<String>> {
        for answer in answers {
            kernel.send(answer).unwrap();
        }
        let moment = Moment {
            clock: Duration::from_secs(1),
            time: Time(1),
        };
        let rows = reader.queue_pair_rows(known, moment, Duration::from_secs(3_600))?;
        let line = |row: &QueuePairRow| format!("{} {} {:?}", row.device, row.local_qpn, row.event.as_deref());
        Ok(rows.iter().map(line).collect())
    }

    #[test]
    fn what_the_kernel_does_not_list_because_of_an_error_is_not_gone() {
        let (mut reader, kernel) = reader();
        let mut known = QueuePairs::default();
        let both = devices(&["mlx5_0", "mlx5_1"]);
        let list = |number| [pair(number), end(0)].concat();
        let whole = [both.clone(), list(7), list(8)];
        let first = read(&mut reader, &kernel, &mut known, &whole).unwrap();
        assert_eq!(first, [r#"mlx5_0 7 Some("first")"#, r#"mlx5_1 8 Some("first")"#]);
        let failed: [&[Vec<u8>]; 4] = [
            &[refused(-libc::ENOBUFS)],
            &[both.clone(), refused(-libc::ENOMEM), both.clone()],
            &[both.clone(), list(7), refused(-libc::EIO), both.clone()],
            // The list stops with an error before it is whole.
            &[both.clone(), list(7), end(-libc::EMSGSIZE), both.clone()],
        ];
        for answers in failed {
            let rows = read(&mut reader, &kernel, &mut known, answers);
            assert!(rows.is_err(), "{rows:?}");
        }
        assert_eq!(reader.counts().unreadable, 4);
        let reason = reader.counts().last_unreadable.as_deref().unwrap();
        assert!(
            reason.starts_with("queue pairs by RDMA netlink: No buffer space"),
            "{reason}"
        );
        assert!(read(&mut reader, &kernel, &mut known, &whole).unwrap().is_empty());
        // A device that is gone takes its queue pairs along.
        let gone = [both, list(7), refused(-libc::EINVAL), devices(&["mlx5_0"])];
        let last = read(&mut reader, &kernel, &mut known, &gone).unwrap();
        assert_eq!(last, [r#"mlx5_1 8 Some("gone")"#]);
    }
}
