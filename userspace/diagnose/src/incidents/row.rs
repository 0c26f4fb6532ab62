//! Incidents as rows, and back.

use super::incident::{Certainty, Incident, Source, ToldBy, state};
use super::place::Place;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::{IncidentRow, Text, Time};

impl Incident {
    /// Its row, written at `time_ns` by `observer`.
    #[must_use]
    pub fn row(&self, observer: &Text, time_ns: i64) -> IncidentRow {
        let text = |text: &Option<String>| text.clone().map(Text::from);
        let list = |list: Vec<String>| list.join(", ");
        let some = |text: String| (!text.is_empty()).then(|| Text::from(text));
        let worst = list(self.victims.worst.iter().map(ToString::to_string).collect());
        let has_victims = self.victims.connections > 0;
        IncidentRow {
            observer: observer.clone(),
            time: Time(time_ns),
            time_ns,
            id: self.id().into(),
            state: state(self.is_open).into(),
            class: self.class.clone().into(),
            place_kind: self.place.kind.clone().into(),
            place: self.place.name.clone().into(),
            host: text(&self.place.host),
            nic: text(&self.place.nic),
            link: text(&self.place.link),
            switch: text(&self.place.switch),
            src: self.place.src,
            dst: self.place.dst,
            dst_qpn: self.place.dst_qpn,
            since_ns: self.since_ns,
            until_ns: (!self.is_open).then_some(self.until_ns),
            certainty: self.certainty.name().into(),
            reason: self.reason.clone().into(),
            sources: list(self.sources.iter().map(|source| source.name().into()).collect()).into(),
            victims: has_victims.then_some(self.victims.connections),
            worst_victims: some(worst),
            owners: self.victims.whose().map(Text::from),
            lost_packets: self.victims.lost_packets.filter(|_| has_victims),
            retransmitted_packets: self.victims.retransmitted_packets.filter(|_| has_victims),
            evidence: list(self.evidence.iter().map(ToString::to_string).collect()).into(),
            explains: some(list(
                self.explains.iter().map(|effect| effect.sentence.clone()).collect(),
            )),
            unknown: some(self.unknown.join("; ")),
            sentence: self.sentence().into(),
            action: self.action.clone().into(),
        }
    }

    /// What a row of an open incident still shows: enough to go on with it.
    #[must_use]
    pub fn resumed(row: &IncidentRow) -> Self {
        let place = Place {
            host: row.host.as_ref().map(ToString::to_string),
            ..Place::named(&row.place_kind, row.place.as_str())
        };
        let mut incident = Self::new(row.class.as_str(), place, ToldBy::Wire, Source::Capture);
        incident.since_ns = row.since_ns;
        incident.until_ns = row.time_ns;
        incident.is_open = &*row.state == IncidentRow::OPEN;
        incident.certainty = Certainty::split(&row.certainty).0;
        incident.reason = row.reason.to_string();
        let meaning = row.sentence.strip_prefix(row.place.as_str()).unwrap_or(&row.sentence);
        incident.meaning = meaning.trim_start_matches(": ").to_string();
        incident.action = row.action.to_string();
        incident
    }
}
