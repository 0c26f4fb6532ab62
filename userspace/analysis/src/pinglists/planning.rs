//! The plan in force, and what agents have of it.

use super::traces::Traces;
use rocescope_collector::server::{Agent, Roster};
use rocescope_diagnose::pinglist::{Attachments, Host, Pinglist, Plan, plan};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long a plan stays at least: agents that start together come within seconds.
const LEAST: Duration = Duration::from_secs(5);
/// For how long an agent that is away stays a target, so that a connection that ends and comes back changes nothing.
const AWAY_NS: i64 = 60_000_000_000;
/// For how long a NIC has a target.
const PERIOD_NS: i64 = 600_000_000_000;

/// The plan in force, and what agents have of it.
#[derive(Default)]
pub(super) struct Planning {
    hosts: Vec<Host>,
    pub(super) plan: Plan,
    planned: Option<Instant>,
    attachments: Attachments,
    rows: u64,
    /// By agent: the connection over which it got its last pinglist.
    sent: BTreeMap<String, (u64, Pinglist)>,
}

impl Planning {
    /// Plans again, unless that was just done.
    pub(super) fn turn(&mut self, roster: &Roster, traces: &Traces, now_ns: i64, now: Instant) {
        if self.planned.is_some_and(|planned| now < planned + LEAST) {
            return;
        }
        self.planned = Some(now);
        if let Some((attachments, rows)) = traces.since(self.rows) {
            (self.attachments, self.rows) = (attachments, rows);
        }
        self.hosts = hosts(roster, now_ns);
        self.plan = plan(&self.hosts, &self.attachments, now_ns, PERIOD_NS);
        let dscp = roster.peering.iter().flat_map(|peering| &peering.dscp);
        let dscps: Vec<u8> = dscp.copied().collect();
        for list in &mut self.plan.pinglists {
            list.dscps.clone_from(&dscps);
        }
    }

    /// Passes each agent that is there its pinglist, if it has another one or a new connection.
    pub(super) fn hand_out(&mut self, roster: &Roster, send: impl Fn(&str, u64, &Pinglist) -> bool) {
        let planned = self.hosts.iter().zip(&self.plan.pinglists);
        let planned: BTreeMap<&str, &Pinglist> = planned.map(|(host, list)| (&*host.name, list)).collect();
        let none = Pinglist::default();
        for Agent { name, connection, .. } in &roster.agents {
            let Some(connection) = *connection else {
                continue;
            };
            let list = planned.get(name.as_str()).copied().unwrap_or(&none);
            let has = self
                .sent
                .get(name)
                .is_some_and(|sent| (sent.0, &sent.1) == (connection, list));
            if !has && send(name, connection, list) {
                self.sent.insert(name.clone(), (connection, list.clone()));
            }
        }
        self.sent
            .retain(|name, _| roster.agents.iter().any(|agent| agent.name == *name));
    }
}

/// The agents that probe each other: those that are there, or left just now.
fn hosts(roster: &Roster, now_ns: i64) -> Vec<Host> {
    let Some(peering) = &roster.peering else {
        return Vec::new();
    };
    let takes_part = |agent: &&Agent| {
        let is_there = agent.connection.is_some() || now_ns - agent.since_ns < AWAY_NS;
        is_there && !agent.addresses.is_empty() && peering.has(&agent.name)
    };
    let host = |agent: &Agent| Host {
        name: agent.name.clone(),
        nics: agent.addresses.clone(),
    };
    roster.agents.iter().filter(takes_part).map(host).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocescope_collector::control::Peering;
    use rocescope_model::PathRow;
    use std::cell::RefCell;
    use std::net::IpAddr;

    const START_NS: i64 = 1_795_228_200_000_000_000;

    fn address(host: u8) -> IpAddr {
        [10, 0, host, 9].into()
    }

    fn roster(hosts: u8) -> Roster {
        let agent = |host: u8| Agent {
            name: format!("h{host}"),
            connection: Some(host.into()),
            since_ns: START_NS,
            addresses: vec![address(host)],
        };
        Roster {
            peering: Some(Peering {
                members: vec!["h*".into()],
                dscp: vec![26],
            }),
            agents: (0..hosts).map(agent).collect(),
        }
    }

    /// Plans at a time; what agents get.
    fn turn(planning: &mut Planning, roster: &Roster, traces: &Traces, seconds: u64) -> BTreeMap<String, Pinglist> {
        let now_ns = START_NS + seconds as i64 * 1_000_000_000;
        let start = *START.get_or_init(Instant::now);
        planning.turn(roster, traces, now_ns, start + Duration::from_secs(seconds));
        let sent = RefCell::new(BTreeMap::new());
        planning.hand_out(roster, |agent, _, list| {
            sent.borrow_mut().insert(agent.to_owned(), list.clone());
            true
        });
        sent.into_inner()
    }

    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();

    fn targets(list: &Pinglist) -> Vec<IpAddr> {
        let nics = list.nics.iter().flat_map(|nic| &nic.targets);
        nics.map(|target| target.address).collect()
    }

    #[test]
    fn agents_get_a_list_when_it_changes_and_after_each_connection() {
        let (mut planning, traces) = (Planning::default(), Traces::default());
        let mut roster = roster(4);
        let first = turn(&mut planning, &roster, &traces, 0);
        assert_eq!(first.len(), 4);
        assert!(
            first
                .values()
                .all(|list| targets(list).len() == 3 && list.dscps == [26])
        );
        assert!(turn(&mut planning, &roster, &traces, 6).is_empty());
        roster.agents[1].connection = Some(9);
        assert_eq!(
            turn(&mut planning, &roster, &traces, 12)
                .into_keys()
                .collect::<Vec<_>>(),
            ["h1"]
        );
        // One that is away stays a target for a minute.
        (roster.agents[1].connection, roster.agents[1].since_ns) = (None, START_NS + 13_000_000_000);
        assert!(turn(&mut planning, &roster, &traces, 18).is_empty());
        let without = turn(&mut planning, &roster, &traces, 80);
        assert_eq!(without.len(), 3);
        assert!(without.values().all(|list| !targets(list).contains(&address(1))));
        // Without [peers] all get an empty one.
        roster.peering = None;
        let none = turn(&mut planning, &roster, &traces, 90);
        assert!(none.len() == 3 && none.values().all(|list| *list == Pinglist::default()));
    }

    #[test]
    fn one_that_cannot_be_sent_is_sent_again_and_who_takes_no_part_gets_none() {
        let (mut planning, traces) = (Planning::default(), Traces::default());
        let mut roster = roster(3);
        roster.agents[2].name = "other".into();
        planning.turn(&roster, &traces, START_NS, Instant::now());
        planning.hand_out(&roster, |_, _, _| false);
        let sent = RefCell::new(Vec::new());
        for _ in 0..2 {
            planning.hand_out(&roster, |agent, _, list| {
                sent.borrow_mut().push((agent.to_owned(), targets(list)));
                true
            });
        }
        let expected = [("h0", vec![address(1)]), ("h1", vec![address(0)]), ("other", vec![])];
        assert_eq!(sent.into_inner(), expected.map(|(name, list)| (name.to_owned(), list)));
    }

    #[test]
    fn switches_that_traces_show_count() {
        let (mut planning, traces) = (Planning::default(), Traces::default());
        let roster = roster(9);
        turn(&mut planning, &roster, &traces, 0);
        assert_eq!(
            (planning.plan.coverage.switches, planning.plan.coverage.without_switch),
            (0, 9)
        );
        let hop = |src: u8, dst: u8, hop: u16, router: [u8; 4]| PathRow {
            src: address(src),
            dst: address(dst),
            time_ns: START_NS,
            hop,
            hops: 4,
            address: Some(router.into()),
            ..PathRow::default()
        };
        for src in 0..9 {
            let dst = (src + 3) % 9;
            traces.add(&hop(src, dst, 1, [10, 1, src / 3, 9]));
            traces.add(&hop(src, dst, 2, [10, 2, src % 2, 8 * (src / 3) + 9]));
            traces.add(&hop(src, dst, 3, [10, 3, dst / 3, 8 * (src % 2) + 9]));
            traces.add(&hop(src, dst, 4, [10, 0, dst, 9]));
        }
        let lists = turn(&mut planning, &roster, &traces, 6);
        let coverage = &planning.plan.coverage;
        assert_eq!((coverage.switches, coverage.without_switch), (3, 0));
        assert!(
            coverage
                .least
                .as_ref()
                .is_some_and(|least| least.ways == 2 && least.chance() > 0.99)
        );
        assert!(!lists.is_empty() && lists.values().all(|list| targets(list).len() == 6));
    }
}
