//! What made the collective slow, as far as the waits of its steps tell.

use super::ms;
use crate::culprit::{Culprit, Delay};
use crate::steps::Steps;
use alloc::format;
use alloc::string::{String, ToString};
use serde::Serialize;

/// What made the collective slow, as far as the waits of its steps tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CulpritDocument {
    /// `slow_link`, `slow_rank`, `late_start` or `lossy_qp`.
    pub kind: &'static str,
    /// The host; of a link or a QP the one that sends.
    pub host: String,
    /// The host that receives, of a link or a QP.
    pub dst_host: Option<String>,
    /// The QP there, if it is known.
    pub dst_qpn: Option<u32>,
    /// How much longer the collective took because of it.
    pub cost_ns: i64,
    /// The same in a sentence.
    pub text: String,
}

impl CulpritDocument {
    pub(super) fn of(steps: &Steps, delay: &Delay) -> Self {
        let name = |host: u32| steps.hosts[host as usize].to_string();
        let cost = ms(delay.cost_ns);
        let (host, dst_host, dst_qpn, text) = match delay.culprit {
            Culprit::SlowLink { from, to } => {
                let (from, to) = (name(from), name(to));
                let text =
                    format!("The link from {from} to {to} is slow: its transfers took {cost} longer than others.");
                (from, Some(to), None, text)
            }
            Culprit::LossyQp { from, to, qpn } => {
                let (from, to) = (name(from), name(to));
                let qp = qpn.map_or_else(String::new, |qpn| format!(", QP 0x{qpn:06x}"));
                let text = format!(
                    "Packets from {from} to {to}{qp} are lost: transfers with retransmissions took {cost} longer than others."
                );
                (from, Some(to), qpn, text)
            }
            Culprit::SlowRank { host } => {
                let host = name(host);
                let text = format!(
                    "Host {host} is slow: it sent, or gave its credits, {cost} later than others after it had the data."
                );
                (host, None, None, text)
            }
            Culprit::LateStart { host } => {
                let host = name(host);
                let text = format!("Host {host} started late: the others waited {cost} for it.");
                (host, None, None, text)
            }
        };
        Self {
            kind: delay.culprit.name(),
            host,
            dst_host,
            dst_qpn,
            cost_ns: delay.cost_ns,
            text,
        }
    }
}
