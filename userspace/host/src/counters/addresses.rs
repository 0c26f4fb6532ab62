//! RoCEv2 addresses of the ports of RDMA devices, from their GIDs.

use super::group::read_text;
use rocescope_model::{QueuePairRow, Text};
use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};

/// A port has at most as many GIDs as a table of them has entries: 256 on the NICs of today.
const GIDS: usize = 1024;

/// The addresses of the ports below a directory `class/infiniband`.
#[derive(Clone, Debug)]
pub struct PortAddresses(PathBuf);

impl PortAddresses {
    /// Those below this directory.
    #[must_use]
    pub const fn new(class: PathBuf) -> Self {
        Self(class)
    }

    /// The addresses that queue pairs of this port can send from: RoCEv2 only, each once, IPv4 first.
    #[must_use]
    pub fn of(&self, device: &str, port: u16) -> Vec<IpAddr> {
        let port = self.0.join(device).join("ports").join(port.to_string());
        let entries = fs::read_dir(port.join("gids")).into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u16>().ok());
        let mut found: Vec<IpAddr> = numbers.take(GIDS).filter_map(|number| address(&port, number)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Names the addresses of the port in each row, and the one of a port that has no other.
    pub fn complete(&self, rows: &mut [QueuePairRow]) {
        let mut known: HashMap<(Text, u16), Vec<IpAddr>> = HashMap::new();
        for row in rows {
            let Some(port) = row.port else { continue };
            let place = (row.device.clone(), port);
            let addresses = known.entry(place).or_insert_with(|| self.of(&row.device, port));
            if addresses.is_empty() {
                continue;
            }
            let texts: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
            row.port_addresses = Some(texts.join(",").into());
            if let ([only], None) = (&**addresses, row.local_address) {
                row.local_address = Some(*only);
            }
        }
    }
}

/// The address of a GID; `None` for an unused entry, and for one of `RoCEv1` or InfiniBand.
fn address(port: &Path, number: u16) -> Option<IpAddr> {
    let number = number.to_string();
    // An unused entry has no type that can be read.
    let kind = read_text(&port.join("gid_attrs/types").join(&number)).ok()?;
    let gid = read_text(&port.join("gids").join(&number)).ok()?;
    let gid: Ipv6Addr = gid.trim().parse().ok()?;
    (kind.trim() == "RoCE v2" && !gid.is_unspecified()).then(|| gid.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(gids: &[(&str, &str, &str, &str)]) -> tempfile::TempDir {
        let class = tempfile::tempdir().unwrap();
        for (device, number, kind, gid) in gids {
            let port = class.path().join(device).join("ports/1");
            fs::create_dir_all(port.join("gids")).unwrap();
            fs::create_dir_all(port.join("gid_attrs/types")).unwrap();
            fs::write(port.join("gids").join(number), format!("{gid}\n")).unwrap();
            if !kind.is_empty() {
                fs::write(port.join("gid_attrs/types").join(number), format!("{kind}\n")).unwrap();
            }
        }
        class
    }

    fn row(device: &str, port: Option<u16>) -> QueuePairRow {
        QueuePairRow {
            device: device.to_owned().into(),
            port,
            ..QueuePairRow::default()
        }
    }

    #[test]
    fn rows_get_the_addresses_of_their_port() {
        let class = tree(&[
            ("mlx5_0", "0", "IB/RoCE v1", "fe80:0000:0000:0000:0a00:00ff:fe00:0001"),
            ("mlx5_0", "1", "RoCE v2", "fe80:0000:0000:0000:0a00:00ff:fe00:0001"),
            ("mlx5_0", "2", "IB/RoCE v1", "0000:0000:0000:0000:0000:ffff:0a00:0002"),
            ("mlx5_0", "3", "RoCE v2", "0000:0000:0000:0000:0000:ffff:0a00:0002"),
            ("mlx5_0", "4", "", "0000:0000:0000:0000:0000:0000:0000:0000"),
            ("rxe0", "0", "RoCE v2", "0000:0000:0000:0000:0000:ffff:0a00:0003"),
            ("rxe0", "1", "RoCE v2", "0000:0000:0000:0000:0000:0000:0000:0000"),
            ("ib0", "0", "IB/RoCE v1", "fe80:0000:0000:0000:0000:0000:0000:0001"),
        ]);
        let mut rows = [
            row("mlx5_0", Some(1)),
            row("rxe0", Some(1)),
            row("ib0", Some(1)),
            row("rxe0", None),
            row("rxe0", Some(2)),
        ];
        PortAddresses::new(class.path().to_owned()).complete(&mut rows);
        let found: Vec<_> = rows
            .iter()
            .map(|row| (row.local_address, row.port_addresses.as_deref()))
            .collect();
        let only = "10.0.0.3".parse().unwrap();
        let expected = [
            (None, Some("10.0.0.2,fe80::a00:ff:fe00:1")),
            (Some(only), Some("10.0.0.3")),
            (None, None),
            (None, None),
            (None, None),
        ];
        assert_eq!(found, expected);
    }

    /// What another source knows stays.
    #[test]
    fn an_address_that_is_known_stays() {
        let class = tree(&[("rxe0", "0", "RoCE v2", "::ffff:10.0.0.3")]);
        let mut rows = [QueuePairRow {
            local_address: "10.0.0.9".parse().ok(),
            ..row("rxe0", Some(1))
        }];
        PortAddresses::new(class.path().to_owned()).complete(&mut rows);
        assert_eq!(rows[0].local_address, "10.0.0.9".parse().ok());
    }
}
