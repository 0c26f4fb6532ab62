//! The events that the flight recorder records.

use rocescope_capture::history::History;
use rocescope_model::{EventRow, Time};
use rocescope_pipeline::fields::address;
use rocescope_wire::Packet;
use rocescope_wire::extension::{Acknowledgement, Syndrome, rnr_timer_us};
use std::net::IpAddr;
use std::time::Duration;

/// The kinds of events, with their names in the table `events`.
pub(super) const KINDS: [&str; 4] = ["nak", "rnr_nak", "jitter", EventRow::SLOW_STEP];
/// Extension of every file.
pub(super) const ENDING: &str = ".pcapng";
/// Maximum length of the observer in a file name.
const OBSERVER_MAX: usize = 100;

/// An event to record.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// When it began.
    pub(super) time_ns: u64,
    /// When it ended: for jitter, the end of its window.
    pub(super) last_ns: u64,
    src: Option<IpAddr>,
    dst: Option<IpAddr>,
    dst_qpn: Option<u32>,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// A NAK or RNR NAK.
    Refusal { syndrome: Syndrome, psn: u32 },
    /// A flow changed its rate; the description.
    Jitter(String),
    /// An agent found a step of a collective slow along the path of the flow; the description.
    SlowStep(String),
}

impl Event {
    /// The event of a NAK or RNR NAK.
    pub(super) fn refusal(packet: &Packet, time_ns: u64) -> Self {
        Self {
            time_ns,
            last_ns: time_ns,
            src: Some(address(packet.flow.src)),
            dst: Some(address(packet.flow.dst)),
            dst_qpn: Some(packet.flow.dst_qpn),
            what: What::Refusal {
                syndrome: packet.syndrome,
                psn: packet.psn().get(),
            },
        }
    }

    /// The event of a row that has no frame of its own: jitter, or a request for a recording; `None` for other kinds.
    pub(super) fn of_row(row: &EventRow, window_ns: u64) -> Option<Self> {
        let time_ns = u64::try_from(row.time_ns).ok()?;
        let detail = row.detail.to_string();
        let (what, length_ns) = match &*row.kind {
            "jitter" => (What::Jitter(detail), window_ns),
            EventRow::SLOW_STEP => (What::SlowStep(detail), 0),
            _ => return None,
        };
        Some(Self {
            time_ns,
            last_ns: time_ns.saturating_add(length_ns),
            src: row.src,
            dst: row.dst,
            dst_qpn: row.dst_qpn,
            what,
        })
    }

    /// Index in [`KINDS`].
    pub(super) const fn kind(&self) -> usize {
        match &self.what {
            What::Refusal { syndrome, .. } => match syndrome.meaning() {
                Acknowledgement::RnrNak { .. } => 1,
                _ => 0,
            },
            What::Jitter(_) => 2,
            What::SlowStep(_) => 3,
        }
    }

    /// Whether a frame is the event.
    pub(super) const fn is_frame(&self) -> bool {
        matches!(self.what, What::Refusal { .. })
    }

    /// `20260101T093000.000000000Z-local-nak-10.0.0.1-10.0.0.2-qp17.pcapng`: sorts by time.
    pub(super) fn file_name(&self, observer: &str) -> String {
        let time: String = format!("{:.9}", time(self.time_ns));
        let time = time.replace(['-', ':'], "");
        let observer = file_part(observer);
        let mut name = format!("{time}-{observer}-{}", KINDS[self.kind()]);
        for end in [self.src, self.dst].into_iter().flatten() {
            name.push('-');
            name.push_str(&end.to_string().replace(':', "_"));
        }
        if let Some(qpn) = self.dst_qpn {
            name.push_str(&format!("-qp{qpn}"));
        }
        name + ENDING
    }

    /// One line: what happened to which flow, and when.
    pub(super) fn line(&self) -> String {
        let end = |address: Option<IpAddr>| address.map_or_else(|| "?".to_owned(), |address| address.to_string());
        let mut line = format!(
            "{} at {:.9}: {} to {}",
            KINDS[self.kind()],
            time(self.time_ns),
            end(self.src),
            end(self.dst)
        );
        if let Some(qpn) = self.dst_qpn {
            line.push_str(&format!(" QP {qpn}"));
        }
        match &self.what {
            What::Refusal { syndrome, psn } => line + &format!(", {} at PSN {psn}", refusal(*syndrome)),
            What::Jitter(detail) | What::SlowStep(detail) => line + ", " + detail,
        }
    }

    /// The comment of the file.
    pub(super) fn comment(&self, history: &History, from_ns: u64, before_ns: u64) -> String {
        let mut comment = self.line();
        let oldest = history.since(history.oldest()).next();
        let oldest_ns = oldest.map_or(self.time_ns, |held| held.frame.time_ns);
        if history.overwritten() > 0 && oldest_ns > from_ns {
            let held = Duration::from_nanos(self.time_ns.saturating_sub(oldest_ns));
            comment.push_str(&format!(
                "; frames of {:.3} s of the {:.3} s before it are included",
                held.as_secs_f64(),
                Duration::from_nanos(before_ns).as_secs_f64()
            ));
        }
        comment
    }
}

/// Whether the recorder of this observer wrote a file of this name.
pub(super) fn is_of(name: &str, observer: &str) -> bool {
    let rest = name.strip_suffix(ENDING).and_then(|name| {
        let (_, rest) = name.split_once('-')?;
        rest.strip_prefix(&*file_part(observer))?.strip_prefix('-')
    });
    rest.is_some_and(|rest| KINDS.iter().any(|kind| rest.starts_with(kind)))
}

/// An observer as part of a file name.
fn file_part(observer: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let kept = observer.chars().map(|c| if keep(c) { c } else { '_' });
    kept.take(OBSERVER_MAX).collect()
}

/// The meaning of a NAK syndrome.
pub(super) fn refusal(syndrome: Syndrome) -> String {
    match syndrome.meaning() {
        Acknowledgement::RnrNak { timer } => format!(
            "rnr_nak: receiver not ready, requests a wait of {} µs",
            rnr_timer_us(timer)
        ),
        _ => syndrome.name().to_owned(),
    }
}

fn time(ns: u64) -> Time {
    Time(ns.min(i64::MAX as u64) as i64)
}
