//! Requests of agents for recordings: those of flows that pass this capture box become events, which the flight recorder
//! records. A request waits for the windows in which its flow may show, and the box has a budget of its own.

use rocescope_collector::control::message::{RecordingCounts, RecordingRequest};
use rocescope_model::human::visible;
use rocescope_model::time::HOUR_NS;
use rocescope_model::{EventRow, Text, Time, WindowRows};
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

/// Windows after which a request without its flow is of another box.
const PATIENCE: u8 = 3;
/// Requests that wait; the oldest beyond them are of another box.
const MAX_WAITING: usize = 256;
/// The recorder keeps no older frames.
const OLDEST_NS: i64 = 60_000_000_000;
/// Characters of a description.
const MAX_DETAIL: usize = 300;

/// The requests of a capture.
pub(super) struct Recordings {
    observer: Text,
    per_hour: usize,
    /// Address pairs with flows in the last windows, and the last window of each.
    seen: HashMap<(IpAddr, IpAddr), i64>,
    waiting: VecDeque<(RecordingRequest, u8)>,
    /// When those of the last hour were recorded.
    recorded: VecDeque<i64>,
    pub(super) counts: RecordingCounts,
}

impl Recordings {
    pub(super) fn new(observer: &str, per_hour: u16) -> Self {
        Self {
            observer: observer.to_owned().into(),
            per_hour: per_hour.into(),
            seen: HashMap::new(),
            waiting: VecDeque::new(),
            recorded: VecDeque::new(),
            counts: RecordingCounts::default(),
        }
    }

    /// Takes requests and the rows of a turn at `now_ns`; returns the events to record.
    pub(super) fn turn(&mut self, requests: Vec<RecordingRequest>, rows: &WindowRows, now_ns: i64) -> Vec<EventRow> {
        self.waiting
            .extend(requests.into_iter().map(|request| (request, PATIENCE)));
        while self.waiting.len() > MAX_WAITING {
            self.waiting.pop_front();
            self.counts.elsewhere += 1;
        }
        for row in &rows.flows {
            self.seen.insert((row.src, row.dst), row.window_start_ns);
        }
        if let Some(last) = rows.windows.last() {
            let oldest_ns = last.window_start_ns.saturating_sub(last.window_ns.saturating_mul(2));
            self.seen.retain(|_, start_ns| *start_ns >= oldest_ns);
            for (_, patience) in &mut self.waiting {
                *patience = patience.saturating_sub(1);
            }
        }
        let mut events = Vec::new();
        for (request, patience) in std::mem::take(&mut self.waiting) {
            let RecordingRequest { src, dst, .. } = request;
            // Probes and acknowledgements go the other way.
            let passes = [(src, dst), (dst, src)].iter().any(|pair| self.seen.contains_key(pair));
            match passes {
                true => events.extend(self.event(&request, now_ns)),
                false if patience > 0 => self.waiting.push_back((request, patience)),
                false => self.counts.elsewhere += 1,
            }
        }
        events
    }

    fn event(&mut self, request: &RecordingRequest, now_ns: i64) -> Option<EventRow> {
        while self
            .recorded
            .pop_front_if(|at_ns| now_ns.saturating_sub(*at_ns) >= HOUR_NS)
            .is_some()
        {}
        if self.recorded.len() >= self.per_hour {
            self.counts.over_budget += 1;
            return None;
        }
        self.recorded.push_back(now_ns);
        self.counts.recorded += 1;
        // The clock of the agent may be another.
        let time_ns = request.time_ns.clamp(now_ns.saturating_sub(OLDEST_NS), now_ns);
        let RecordingRequest {
            step,
            host,
            collective,
            agent,
            ..
        } = request;
        let detail = visible(&format!("step {step} of rank {host} in {collective}, asked by {agent}"));
        Some(EventRow {
            observer: self.observer.clone(),
            time: Time(time_ns),
            time_ns,
            kind: Text::from_static(EventRow::SLOW_STEP),
            src: Some(request.src),
            dst: Some(request.dst),
            value: Some(request.round_trip_ns as f64),
            count: 1,
            detail: detail.chars().take(MAX_DETAIL).collect::<String>().into(),
            ..EventRow::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocescope_model::{FlowRow, WindowRow};

    const S: i64 = 1_000_000_000;

    fn request(dst: u8, time_ns: i64) -> RecordingRequest {
        RecordingRequest {
            agent: "h0".into(),
            src: IpAddr::from([10, 0, 0, 1]),
            dst: IpAddr::from([10, 0, 0, dst]),
            time_ns,
            round_trip_ns: 5_000,
            collective: "c\n:1".into(),
            host: "0".into(),
            step: 3,
        }
    }

    /// The window at this second, with flows to these.
    fn window(second: i64, to: &[u8]) -> WindowRows {
        let flows = to.iter().map(|dst| FlowRow {
            src: IpAddr::from([10, 0, 0, 1]),
            dst: IpAddr::from([10, 0, 0, *dst]),
            window_start_ns: second * S,
            ..FlowRow::default()
        });
        WindowRows {
            windows: vec![WindowRow {
                window_start_ns: second * S,
                window_ns: S,
                ..WindowRow::default()
            }],
            flows: flows.collect(),
            ..WindowRows::default()
        }
    }

    #[test]
    fn only_flows_that_pass_are_recorded_and_one_may_show_later() {
        let mut recordings = Recordings::new("box", 10);
        let requests = vec![request(2, 5 * S), request(3, 5 * S), request(4, 5 * S)];
        let events = recordings.turn(requests, &window(4, &[2]), 6 * S);
        assert_eq!(events.len(), 1);
        let event = &events[0];
        assert_eq!(
            (event.time_ns, event.value, &*event.observer),
            (5 * S, Some(5_000.0), "box")
        );
        assert_eq!(&*event.detail, "step 3 of rank 0 in c\u{fffd}:1, asked by h0");
        assert!(recordings.turn(Vec::new(), &WindowRows::default(), 6 * S).is_empty());
        assert_eq!(recordings.turn(Vec::new(), &window(5, &[3]), 7 * S).len(), 1);
        assert!(recordings.turn(Vec::new(), &window(6, &[]), 8 * S).is_empty());
        let RecordingCounts {
            recorded, elsewhere, ..
        } = recordings.counts;
        assert_eq!((recorded, elsewhere), (2, 1));
        // The flow ended some windows ago.
        let _ = recordings.turn(vec![request(2, 9 * S)], &window(9, &[]), 10 * S);
        assert_eq!(recordings.counts.recorded, 2);
    }

    #[test]
    fn a_box_has_a_budget_and_does_not_trust_the_clocks_of_agents() {
        let mut recordings = Recordings::new("box", 2);
        let requests = (0..5).map(|_| request(2, 900 * S)).collect();
        let events = recordings.turn(requests, &window(4, &[2]), 6 * S);
        assert_eq!(events.iter().map(|event| event.time_ns).collect::<Vec<_>>(), [6 * S; 2]);
        assert_eq!(recordings.counts.over_budget, 3);
        let later = 6 * S + HOUR_NS;
        let events = recordings.turn(vec![request(2, 0)], &window(later / S, &[2]), later);
        assert_eq!(events[0].time_ns, later - OLDEST_NS);
    }
}
