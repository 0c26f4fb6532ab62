//! Traces over routers that answer, or do not.

use super::*;
use crate::route::RowReason;
use std::net::Ipv4Addr;

const TUPLE: Tuple = Tuple {
    src: NicIndex(0),
    dst: NicIndex(1),
    port: 50_000,
    remote: None,
};
const DESTINATION: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 9, 9, 9));

fn tracer(answers_per_second: f64) -> Tracer {
    let limits = Limits {
        interval: Some(Nanos(1_000)),
        answers_per_second,
        ttl_max: 8,
        timeout: Nanos(500),
        refresh: Nanos(1_000_000),
    };
    let mut tracer = Tracer::new(limits, 2, Nanos(0));
    tracer.follow(TUPLE.src, 2, &[TUPLE.port]);
    tracer
}

fn hop(ttl: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, ttl))
}

fn answer(from: IpAddr, id: u16, ttl: u8) -> Answer {
    Answer {
        from,
        exceeded: true,
        code: 0,
        src: hop(100),
        dst: DESTINATION,
        src_port: TUPLE.port,
        dst_port: 4791,
        kind: Some(DatagramKind::Trace { id, ttl }),
    }
}

/// Runs a trace at `now` over routers that answer from these addresses; returns its result.
fn trace(tracer: &mut Tracer, now: i64, routers: &[IpAddr], reaches: bool) -> (u8, Finished) {
    let begun = tracer.begin(Nanos(now)).unwrap();
    assert_eq!(begun.tuple, TUPLE);
    for ttl in 1..=begun.ttl_max {
        match routers.get(usize::from(ttl) - 1) {
            Some(router) => {
                let reply = tracer.answered(TUPLE, &answer(*router, begun.id, ttl), Nanos(now + 5));
                assert_eq!(reply, Reply::Hop);
            }
            None if reaches => {
                assert!(tracer.arrived(TUPLE, (begun.id, ttl), DESTINATION, Nanos(now + 9)));
            }
            None => {}
        }
    }
    let waits = if reaches && usize::from(begun.ttl_max) > routers.len() {
        9
    } else {
        501
    };
    assert_eq!(tracer.ended(Nanos(now + waits - 1)).is_none(), waits == 501);
    let ended = match waits {
        501 => tracer.ended(Nanos(now + waits)).unwrap(),
        _ => {
            return (
                begun.ttl_max,
                Finished {
                    tuple: TUPLE,
                    at: Nanos(now),
                    path: None,
                    cut: None,
                },
            );
        }
    };
    (begun.ttl_max, ended)
}

fn news(ended: &Finished) -> Option<RowReason> {
    ended.path.as_ref().and_then(|(_, news)| *news)
}

#[test]
fn a_path_is_known_when_its_destination_is_reached_and_every_hop_answered() {
    let mut tracer = tracer(100.0);
    let begun = tracer.begin(Nanos(0)).unwrap();
    assert_eq!(begun.ttl_max, 8);
    for ttl in 3..=8 {
        assert!(tracer.arrived(TUPLE, (begun.id, ttl), DESTINATION, Nanos(9)));
    }
    tracer.answered(TUPLE, &answer(hop(2), begun.id, 2), Nanos(4));
    assert_eq!(tracer.ended(Nanos(10)), None, "the first hop is missing");
    tracer.answered(TUPLE, &answer(hop(1), begun.id, 1), Nanos(3));
    let ended = tracer.ended(Nanos(10)).unwrap();
    let (hops, news) = ended.path.unwrap();
    let addresses: Vec<_> = hops.iter().map(|hop| hop.address.unwrap()).collect();
    assert_eq!(addresses, [hop(1), hop(2), DESTINATION]);
    let times: Vec<_> = hops.iter().map(|hop| hop.round_trip.unwrap().0).collect();
    assert_eq!(times, [3, 4, 9]);
    assert_eq!(news, Some(RowReason::First));
    assert_eq!(tracer.known(), (1, 1));
}

#[test]
fn a_router_without_a_route_ends_the_path_of_a_tuple_whose_destination_was_never_reached() {
    let mut tracer = tracer(100.0);
    let addresses = |hops: &[Hop]| hops.iter().map(|hop| hop.address).collect::<Vec<_>>();
    let unreachable = |from, id, ttl| Answer {
        exceeded: false,
        ..answer(from, id, ttl)
    };
    let (_, ended) = trace(&mut tracer, 0, &[hop(1)], false);
    let (hops, reason) = ended.cut.unwrap();
    assert_eq!((addresses(&hops), reason), (vec![Some(hop(1))], RowReason::Unreached));
    assert_eq!(tracer.known(), (1, 0));
    let begun = tracer.begin(Nanos(1_000)).unwrap();
    tracer.answered(TUPLE, &answer(hop(1), begun.id, 1), Nanos(1_001));
    for ttl in [4, 2, 3] {
        let reply = tracer.answered(TUPLE, &unreachable(hop(2), begun.id, ttl), Nanos(1_002));
        assert_eq!(reply, Reply::Unreachable);
    }
    let (hops, reason) = tracer.ended(Nanos(1_501)).unwrap().cut.unwrap();
    let both = vec![Some(hop(1)), Some(hop(2))];
    assert_eq!((addresses(&hops), reason), (both, RowReason::Unreachable));
    // A host without an agent is no router.
    let begun = tracer.begin(Nanos(2_000)).unwrap();
    tracer.answered(TUPLE, &unreachable(DESTINATION, begun.id, 5), Nanos(2_001));
    assert_eq!(tracer.ended(Nanos(2_501)).unwrap().cut, None);
}

#[test]
fn a_failed_trace_keeps_the_known_path_and_the_next_one_uses_more_hops() {
    let mut tracer = tracer(100.0);
    let known = [hop(1), hop(2)];
    trace(&mut tracer, 0, &known, true);
    let before = tracer.route(TUPLE).unwrap().hops().to_vec();
    let (ttl_max, ended) = trace(&mut tracer, 1_000, &known[..1], false);
    assert_eq!((ttl_max, ended.path), (3, None), "the known path limits the TTL");
    assert_eq!(tracer.route(TUPLE).unwrap().hops(), before);
    // Now with one more hop.
    let begun = tracer.begin(Nanos(2_000)).unwrap();
    assert_eq!(begun.ttl_max, 8);
    for ttl in 1..=3 {
        tracer.answered(TUPLE, &answer(hop(ttl), begun.id, ttl), Nanos(2_001));
    }
    assert!(tracer.arrived(TUPLE, (begun.id, 4), DESTINATION, Nanos(2_002)));
    let ended = tracer.ended(Nanos(2_002)).unwrap();
    assert_eq!(news(&ended), Some(RowReason::Changed));
}

#[test]
fn unexpected_answers_match_no_trace() {
    let mut tracer = tracer(100.0);
    let begun = tracer.begin(Nanos(0)).unwrap();
    let strange = |tracer: &mut Tracer, tuple, answer| {
        assert_eq!(tracer.answered(tuple, &answer, Nanos(1)), Reply::Unmatched);
    };
    strange(&mut tracer, TUPLE, answer(hop(1), begun.id + 1, 1));
    strange(&mut tracer, TUPLE, answer(hop(1), begun.id, 0));
    strange(&mut tracer, TUPLE, answer(hop(1), begun.id, 9));
    let other = Tuple { port: 50_001, ..TUPLE };
    strange(&mut tracer, other, answer(hop(1), begun.id, 1));
    assert!(!tracer.arrived(other, (begun.id, 1), DESTINATION, Nanos(1)));
}

#[test]
fn no_address_exceeds_its_rate_of_answers() {
    let mut tracer = tracer(2.0);
    tracer.limits.interval = Some(Nanos(50_000_000));
    let mut asked = 0;
    for turn in 0..200 {
        let now = Nanos(turn * 50_000_000);
        if let Some(begun) = tracer.begin(now) {
            asked += 1;
            tracer.answered(TUPLE, &answer(hop(1), begun.id, 1), now);
            tracer.arrived(TUPLE, (begun.id, 2), DESTINATION, now);
            tracer.ended(now).unwrap();
        }
    }
    // Ten seconds at two per second, and a burst of two.
    assert!((20..=22).contains(&asked), "{asked}");
    assert!(tracer.deferred() > 100);
}

#[test]
fn a_path_with_an_unknown_hop_is_traced_again_before_others_and_not_forever() {
    let mut tracer = tracer(1e6);
    let ports = [1, 2, 3, 4, 5, 6];
    tracer.follow(TUPLE.src, 2, &ports);
    // The first router never answers to the third port, and missed the first packet of the first one.
    let mut first = 0;
    let mut asked = Vec::new();
    for turn in 0..23 {
        let now = Nanos(turn * 1_000);
        let begun = tracer.begin(now).unwrap();
        let port = begun.tuple.port;
        first += u32::from(port == 1);
        if port != 3 && (port, first) != (1, 1) {
            tracer.answered(begun.tuple, &answer(hop(1), begun.id, 1), now);
        }
        tracer.arrived(begun.tuple, (begun.id, 2), DESTINATION, now);
        tracer.ended(now + Nanos(501)).unwrap();
        asked.push(port);
    }
    let new = [1, 2, 3, 4, 5, 6];
    let repeated = [1, 3, 3, 3, 3, 3, 3];
    let turns = [2, 4, 5, 6, 1, 3, 2, 4, 5, 6];
    assert_eq!(asked, [&new[..], &repeated, &turns].concat());
}

#[test]
fn flows_to_other_hosts_take_turns_and_are_bounded() {
    let mut tracer = tracer(1e6);
    let remote = hop(77);
    let flow = |port| Tuple {
        src: TUPLE.src,
        dst: TUPLE.src,
        port,
        remote: Some(remote),
    };
    tracer.follow_flow(TUPLE.src, remote, 9, Nanos(0));
    // Ports of probes change; the flow stays.
    tracer.follow(TUPLE.src, 2, &[TUPLE.port]);
    let mut asked = Vec::new();
    for turn in 0..4 {
        let now = Nanos(turn * 1_000);
        let begun = tracer.begin(now).unwrap();
        tracer.answered(begun.tuple, &answer(hop(1), begun.id, 1), now);
        let destination = begun.tuple.remote.unwrap_or(DESTINATION);
        assert!(tracer.arrived(begun.tuple, (begun.id, 2), destination, now));
        tracer.ended(now).unwrap();
        asked.push(begun.tuple);
    }
    assert_eq!(asked, [flow(9), TUPLE, flow(9), TUPLE]);
    let hops = tracer.route(flow(9)).unwrap().hops();
    assert_eq!(hops, [Some(hop(1)), Some(remote)]);
    assert_eq!(tracer.known(), (1, 1), "of probes");
    // One more than there is room for.
    for port in 0..FLOWS as u16 {
        tracer.follow_flow(TUPLE.src, remote, 100 + port, Nanos(10_000 + i64::from(port)));
    }
    assert!(tracer.route(flow(9)).is_none() && tracer.route(flow(100)).is_some());
    // No one has asked for the others since.
    tracer.follow_flow(TUPLE.src, remote, 99, Nanos(3_000_000));
    tracer.begin(Nanos(3_000_000)).unwrap();
    assert_eq!(tracer.routes.len(), 2);
}

#[test]
fn every_tuple_is_traced() {
    let limits = Limits {
        interval: Some(Nanos(10)),
        ..tracer(1e6).limits
    };
    let mut tracer = Tracer::new(limits, 3, Nanos(0));
    let ports = [1, 2, 3, 4];
    tracer.follow(NicIndex(1), 3, &ports);
    let mut asked = Vec::new();
    for turn in 1..9 {
        let now = Nanos(turn * 1_000);
        while let Some(begun) = tracer.begin(now) {
            asked.push(begun.tuple);
        }
        while tracer.ended(now + Nanos(900)).is_some() {}
    }
    asked.sort_unstable();
    asked.dedup();
    assert_eq!(asked.len(), 8);
    tracer.follow(NicIndex(1), 3, &[1]);
    assert_eq!(tracer.known(), (2, 0));
}
