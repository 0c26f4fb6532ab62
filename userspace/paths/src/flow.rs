//! A flow: what switches hash.

use rocescope_model::ROCE_UDP_PORT;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// The number of UDP among the protocols of IP.
pub const UDP: u8 = 17;

/// A flow, one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Flow {
    /// Source IP address.
    pub src: IpAddr,
    /// Destination IP address.
    pub dst: IpAddr,
    /// Number of the IP protocol: 17 is UDP, 6 TCP.
    #[serde(default = "udp")]
    pub protocol: u8,
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    #[serde(default = "roce")]
    pub dst_port: u16,
    /// Destination queue pair number, if it is known: some switches hash it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dst_qpn: Option<u32>,
    /// Source port of the VXLAN header around it, if it is known: switches between tunnel ends hash that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outer_src_port: Option<u16>,
}

const fn udp() -> u8 {
    UDP
}

const fn roce() -> u16 {
    ROCE_UDP_PORT
}

impl Flow {
    /// A RoCEv2 flow.
    #[must_use]
    pub const fn roce(src: IpAddr, dst: IpAddr, src_port: u16) -> Self {
        Self {
            src,
            dst,
            protocol: UDP,
            src_port,
            dst_port: ROCE_UDP_PORT,
            dst_qpn: None,
            outer_src_port: None,
        }
    }

    /// Whether its protocol has ports: TCP, UDP, DCCP, SCTP, UDP-Lite.
    #[must_use]
    pub const fn has_ports(&self) -> bool {
        matches!(self.protocol, 6 | UDP | 33 | 132 | 136)
    }

    /// `udp`, `tcp`, or the number.
    #[must_use]
    pub fn protocol_name(&self) -> String {
        match self.protocol {
            UDP => "udp".into(),
            6 => "tcp".into(),
            number => number.to_string(),
        }
    }
}

/// `10.0.0.1:49152>10.0.0.2:4791`; with `/tcp` behind it if it is not UDP.
impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = SocketAddr::new(self.src, self.src_port);
        let to = SocketAddr::new(self.dst, self.dst_port);
        write!(f, "{from}>{to}")?;
        match self.protocol {
            UDP => Ok(()),
            _ => write!(f, "/{}", self.protocol_name()),
        }
    }
}

impl FromStr for Flow {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (text, protocol) = match text.rsplit_once('/') {
            None | Some((_, "udp")) => (text.trim_end_matches("/udp"), UDP),
            Some((text, "tcp")) => (text, 6),
            Some((text, number)) => (text, number.parse().map_err(drop)?),
        };
        let (from, to) = text.split_once('>').ok_or(())?;
        let [from, to] = [from, to].map(|end| end.trim().parse::<SocketAddr>().map_err(drop));
        let (from, to) = (from?, to?);
        Ok(Self {
            src: from.ip(),
            dst: to.ip(),
            protocol,
            src_port: from.port(),
            dst_port: to.port(),
            dst_qpn: None,
            outer_src_port: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Flow;

    #[test]
    fn flows_are_read_as_they_are_written() {
        for text in [
            "10.0.0.1:49152>10.0.0.2:4791",
            "[fd00::1]:1>[fd00::2]:4791",
            "10.0.0.1:5>10.0.0.2:80/tcp",
        ] {
            assert_eq!(text.parse::<Flow>().unwrap().to_string(), text);
        }
        assert!("a>b".parse::<Flow>().is_err() && "10.0.0.1>10.0.0.2".parse::<Flow>().is_err());
    }
}
