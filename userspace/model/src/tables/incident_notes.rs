//! `incident_notes`: what operators noted about incidents.

use crate::row::table;
use crate::{Text, Time};

table! {
    /// One row for each note: what was found or done about an incident.
    IncidentNoteRow = "incident_notes" [kept] {
        /// Who noted it.
        observer: Text, None, [same], show "Observer";
        /// When it was noted.
        time: Time, None, [last], show "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [last], hide "Exact time";
        /// The incident, as in `incidents`.
        id: Text, None, [same], show "ID";
        /// Class of the incident.
        class: Text, None, [same], show "Class";
        /// Place of the incident.
        place: Text, None, [same], show "Place";
        /// The note.
        note: Text, None, [same], show "Note";
    }
}
