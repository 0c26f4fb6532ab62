//! IP addressing on top of CM (IBTA volume 1, annex A11): what `rdma_cm` puts into the service id
//! and in front of the private data.

use super::field::{Fields, FieldsMut};

/// The five bytes that begin the service id of an IP service.
const PREFIX: u64 = 1;

/// A service named by protocol and port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Service {
    /// IP protocol number of the port space: 6 (`RDMA_PS_TCP`) or 17 (`RDMA_PS_UDP`).
    pub protocol: u8,
    /// Port, in host order.
    pub port: u16,
}

impl Service {
    /// Reads a service id; `None` when it is of another kind.
    #[must_use]
    pub const fn read(service_id: u64) -> Option<Self> {
        if service_id >> 24 != PREFIX {
            return None;
        }
        Some(Self {
            protocol: (service_id >> 16) as u8,
            port: service_id as u16,
        })
    }

    /// The service id.
    #[must_use]
    pub const fn write(self) -> u64 {
        PREFIX << 24 | (self.protocol as u64) << 16 | self.port as u64
    }
}

/// The addresses in front of the private data of a REQ or `SIDR_REQ` to an IP [`Service`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Addresses {
    /// Version of IP, 4 or 6.
    pub ip_version: u8,
    /// The active side's port, in host order.
    pub src_port: u16,
    /// The active side's address; IPv4 as an IPv4-mapped IPv6 address.
    pub src: [u8; 16],
    /// The passive side's address, likewise.
    pub dst: [u8; 16],
}

impl Addresses {
    /// Bytes on the wire.
    pub const LEN: usize = 36;

    /// Reads them; `None` when there are too few bytes, another format version than 0.0, or an
    /// unknown version of IP.
    #[must_use]
    pub fn read(private_data: &[u8]) -> Option<Self> {
        let bytes = private_data.first_chunk::<{ Self::LEN }>()?;
        let fields = Fields(bytes);
        let ip_version = fields.u8(1) >> 4;
        if fields.u8(0) != 0 {
            return None;
        }
        let address = |at: usize| match ip_version {
            // The wire has zeros in front of an IPv4 address.
            4 => {
                let [a, b, c, d] = fields.bytes(at + 12);
                Some([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d])
            }
            6 => Some(fields.bytes(at)),
            _ => None,
        };
        Some(Self {
            ip_version,
            src_port: fields.u16(2),
            src: address(4)?,
            dst: address(20)?,
        })
    }

    /// Their bytes.
    #[must_use]
    pub fn write(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        let mut fields = FieldsMut(&mut bytes);
        fields.put(1, [self.ip_version << 4]);
        fields.put(2, self.src_port.to_be_bytes());
        for (at, address) in [(4, &self.src), (20, &self.dst)] {
            if self.ip_version == 4 {
                fields.put(at + 12, Fields(address).bytes::<4>(12));
            } else {
                fields.put(at, *address);
            }
        }
        bytes
    }
}
