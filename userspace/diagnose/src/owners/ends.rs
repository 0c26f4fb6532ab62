//! Whose both ends of a connection are.

use super::{Answer, End, Owner, Owners};
use alloc::format;
use alloc::string::String;
use core::net::IpAddr;
use rocescope_model::{ConnectionOwnersRow, ConnectionRow, Text};

/// What [`Owners::ends`] asks about these rows: addresses and queue pair numbers of both ends.
pub fn asked<'a>(rows: impl IntoIterator<Item = &'a ConnectionRow>) -> impl Iterator<Item = (IpAddr, u32)> {
    let both = |row: &ConnectionRow| [(row.src, row.src_qpn), (row.dst, row.dst_qpn)];
    let all = rows.into_iter().flat_map(both);
    all.filter_map(|(address, qpn)| Some((address, qpn?)))
}

impl Owners {
    /// Whose the sender and the receiver of a direction are.
    #[must_use]
    pub fn ends(&self, row: &ConnectionRow) -> [Answer; 2] {
        [self.sender(row), self.receiver(row)]
    }

    /// Whose the ends `a` and `b` of a connection are, from what each sent; of one that sent nothing, from what it received.
    #[must_use]
    pub fn both(&self, a_to_b: Option<&ConnectionRow>, b_to_a: Option<&ConnectionRow>) -> [Answer; 2] {
        let end = |sent: Option<&ConnectionRow>, received: Option<&ConnectionRow>| {
            let sent = sent.filter(|row| row.src_qpn.is_some());
            sent.map(|row| self.sender(row))
                .or_else(|| received.map(|row| self.receiver(row)))
                .unwrap_or_default()
        };
        [end(a_to_b, b_to_a), end(b_to_a, a_to_b)]
    }

    /// Whose the sender of a direction is.
    #[must_use]
    pub fn sender(&self, row: &ConnectionRow) -> Answer {
        self.end(row, (row.src, row.src_qpn), (row.dst, row.dst_qpn))
    }

    /// Whose the receiver of a direction is.
    #[must_use]
    pub fn receiver(&self, row: &ConnectionRow) -> Answer {
        self.end(row, (row.dst, row.dst_qpn), (row.src, row.src_qpn))
    }

    fn end(&self, row: &ConnectionRow, own: (IpAddr, Option<u32>), peer: (IpAddr, Option<u32>)) -> Answer {
        let Some(qpn) = own.1 else {
            return Answer::Unknown;
        };
        self.of(&End {
            address: own.0,
            qpn,
            peer: peer.0,
            peer_qpn: peer.1,
            first_ns: row.first_ns.unwrap_or(row.last_ns),
            last_ns: row.last_ns,
        })
    }
}

impl Answer {
    /// The owner, if it is known.
    #[must_use]
    pub fn owner(&self) -> Option<&Owner> {
        match self {
            Self::Owner(owner) => Some(owner),
            Self::Unknown | Self::Ambiguous => None,
        }
    }
}

/// The row of a direction whose sender and receiver have these owners.
#[must_use]
pub fn row_of(row: &ConnectionRow, ends: &[Answer; 2]) -> ConnectionOwnersRow {
    let [src, dst] = ends.each_ref().map(Answer::owner);
    ConnectionOwnersRow {
        observer: row.observer.clone(),
        connection: row.connection,
        role: row.role.clone(),
        owners: short(ends).map(Text::from),
        src_host: text(src, |owner| Some(&owner.host)),
        src_pid: src.and_then(|owner| owner.pid),
        src_process: text(src, |owner| Some(&owner.process)),
        src_user: text(src, |owner| owner.user.as_ref()),
        src_unit: text(src, |owner| owner.unit.as_ref()),
        src_container: text(src, |owner| owner.container.as_ref()),
        src_pod: text(src, |owner| owner.pod.as_ref()),
        src_namespace: text(src, |owner| owner.namespace.as_ref()),
        src_job_id: text(src, |owner| owner.job.as_ref()),
        src_job_step: text(src, |owner| owner.step.as_ref()),
        src_rank: src.and_then(|owner| owner.rank),
        dst_host: text(dst, |owner| Some(&owner.host)),
        dst_pid: dst.and_then(|owner| owner.pid),
        dst_process: text(dst, |owner| Some(&owner.process)),
        dst_user: text(dst, |owner| owner.user.as_ref()),
        dst_unit: text(dst, |owner| owner.unit.as_ref()),
        dst_container: text(dst, |owner| owner.container.as_ref()),
        dst_pod: text(dst, |owner| owner.pod.as_ref()),
        dst_namespace: text(dst, |owner| owner.namespace.as_ref()),
        dst_job_id: text(dst, |owner| owner.job.as_ref()),
        dst_job_step: text(dst, |owner| owner.step.as_ref()),
        dst_rank: dst.and_then(|owner| owner.rank),
    }
}

/// Both ends in short: `4711/3 > 4711/7`; `None` if nothing is known of either.
fn short(ends: &[Answer; 2]) -> Option<String> {
    let short = |answer: &Answer| match answer {
        Answer::Unknown => String::from("?"),
        Answer::Ambiguous => String::from("ambiguous"),
        Answer::Owner(owner) => owner.short(),
    };
    let [src, dst] = ends;
    let is_unknown = ends.iter().all(|end| *end == Answer::Unknown);
    (!is_unknown).then(|| format!("{} > {}", short(src), short(dst)))
}

/// A name of an owner; an empty one is none.
fn text(owner: Option<&Owner>, of: fn(&Owner) -> Option<&String>) -> Option<Text> {
    let name = owner.and_then(of).filter(|name| !name.is_empty());
    name.map(|name| Text::from(name.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocescope_model::QueuePairRow;

    fn direction(src: u8, dst: u8, src_qpn: Option<u32>, dst_qpn: Option<u32>) -> ConnectionRow {
        ConnectionRow {
            observer: "tap".into(),
            connection: 5,
            role: "a_to_b".into(),
            src: [10, 0, 0, src].into(),
            dst: [10, 0, 0, dst].into(),
            src_qpn,
            dst_qpn,
            first_ns: Some(20_000_000_000),
            last_ns: 30_000_000_000,
            ..ConnectionRow::default()
        }
    }

    fn pair(observer: &'static str, host: u8, qpn: u32, rank: u32) -> QueuePairRow {
        QueuePairRow {
            observer: observer.into(),
            device: "mlx5_0".into(),
            local_qpn: qpn,
            first_ns: 10_000_000_000,
            time_ns: 10_000_000_000,
            pid: Some(42),
            process: "python".into(),
            job_id: Some("4711".into()),
            rank: Some(rank),
            local_address: Some([10, 0, 0, host].into()),
            ..QueuePairRow::default()
        }
    }

    fn owners(rows: &[QueuePairRow]) -> Owners {
        let direction = direction(1, 2, Some(7), Some(8));
        let mut owners = Owners::of_these(asked([&direction]));
        rows.iter().for_each(|row| owners.row(row));
        owners
    }

    #[test]
    fn a_row_has_both_ends_in_the_order_of_its_direction() {
        let owners = owners(&[pair("gpu-1", 1, 7, 3), pair("gpu-2", 2, 8, 9)]);
        let row = |direction: &ConnectionRow| row_of(direction, &owners.ends(direction));
        let there = row(&direction(1, 2, Some(7), Some(8)));
        assert_eq!(there.owners.as_deref(), Some("4711/3 > 4711/9"));
        assert_eq!((&*there.observer, there.connection, &*there.role), ("tap", 5, "a_to_b"));
        assert_eq!((there.src_rank, there.dst_rank), (Some(3), Some(9)));
        assert_eq!(
            (there.src_host.as_deref(), there.dst_host.as_deref()),
            (Some("gpu-1"), Some("gpu-2"))
        );
        assert_eq!((there.dst_process.as_deref(), there.dst_user), (Some("python"), None));
        let back = row(&direction(2, 1, Some(8), Some(7)));
        assert_eq!(back.owners.as_deref(), Some("4711/9 > 4711/3"));
    }

    #[test]
    fn what_is_not_known_is_stated_if_the_other_end_is() {
        let [one, other] = [pair("gpu-2", 2, 8, 9), pair("gpu-9", 2, 8, 1)];
        let of = |rows: &[QueuePairRow]| {
            let direction = direction(1, 2, Some(7), Some(8));
            row_of(&direction, &owners(rows).ends(&direction))
        };
        assert_eq!(of(&[]).owners, None);
        assert_eq!(of(std::slice::from_ref(&one)).owners.as_deref(), Some("? > 4711/9"));
        let ambiguous = of(&[one, other]);
        assert_eq!(ambiguous.owners.as_deref(), Some("? > ambiguous"));
        assert_eq!((ambiguous.dst_rank, ambiguous.dst_host), (None, None));
    }

    #[test]
    fn an_end_that_sent_nothing_is_known_from_what_it_received() {
        let owners = owners(&[pair("gpu-1", 1, 7, 3), pair("gpu-2", 2, 8, 9)]);
        let there = direction(1, 2, Some(7), Some(8));
        let back = direction(2, 1, Some(8), Some(7));
        let ranks = |a_to_b, b_to_a| owners.both(a_to_b, b_to_a).map(|end| end.owner()?.rank);
        assert_eq!(ranks(Some(&there), Some(&back)), [Some(3), Some(9)]);
        assert_eq!(ranks(Some(&there), None), [Some(3), Some(9)]);
        assert_eq!(ranks(None, Some(&back)), [Some(3), Some(9)]);
        // The number of the sender is unknown until the other direction is.
        assert_eq!(ranks(Some(&direction(1, 2, None, Some(8))), None), [None, Some(9)]);
    }
}
