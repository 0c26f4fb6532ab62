//! Incidents say whose their victims are.

use super::{SECOND_NS, row};
use rocescope_diagnose::incidents::{Document, Incident, Place, Source, ToldBy, Victim, Victims};
use rocescope_diagnose::owners::{Owners, naming};
use rocescope_model::QueuePairRow;

/// A victim from host 1 to host 2, whose queue pairs have both this number.
fn victim(qpn: u32) -> Victim {
    Victim {
        src_qpn: Some(qpn),
        dst_qpn: Some(qpn),
        lost_packets: 10,
        first_ns: Some(20 * SECOND_NS),
        last_ns: Some(30 * SECOND_NS),
        ..Victim::between([10, 0, 0, 1].into(), [10, 0, 0, 2].into())
    }
}

fn incident(victims: Vec<Victim>) -> Incident {
    let place = Place::pair([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
    let mut incident = Incident::new("network_loss", place, ToldBy::Wire, Source::Capture);
    incident.meaning = "lost packets".into();
    incident.action = "look".into();
    incident.victims = Victims::of(victims);
    incident
}

/// A queue pair of a rank of a job.
fn of_job(host: u8, qpn: u32, job: &str, rank: u32) -> QueuePairRow {
    QueuePairRow {
        remote_qpn: Some(qpn),
        job_id: Some(job.to_owned().into()),
        rank: Some(rank),
        ..row(host, qpn, 1_000 + rank, 100, 100)
    }
}

fn named(victims: Vec<Victim>, rows: &[QueuePairRow]) -> Incident {
    let mut incidents = [incident(victims)];
    let mut owners = Owners::of_these(naming::asked(&incidents));
    rows.iter().for_each(|row| owners.row(row));
    naming::name(&mut incidents, &owners);
    let [incident] = incidents;
    incident
}

#[test]
fn an_incident_names_jobs_and_ranks() {
    let rows = [
        of_job(1, 17, "4711", 3),
        of_job(2, 17, "4711", 7),
        of_job(3, 17, "9", 1),
    ];
    let incident = named(vec![victim(17)], &rows);
    assert_eq!(incident.victims.owners(), ["job 4711, ranks 3 and 7"]);
    let owner = incident.victims.worst[0].dst_owner.as_ref().unwrap();
    assert_eq!((&*owner.host, owner.rank), ("gpu-2", Some(7)));
    let row = incident.row(&"box".into(), 0);
    assert_eq!(row.owners.as_deref(), Some("job 4711, ranks 3 and 7"));
    let document = Document {
        incidents: vec![incident],
        ..Document::default()
    };
    let text = document.text(None);
    assert!(text.contains("\n  whose   job 4711, ranks 3 and 7\n"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&document.json()).unwrap();
    let one = &json["incidents"][0];
    assert_eq!(one["owners"][0], "job 4711, ranks 3 and 7");
    assert_eq!(one["victims"]["worst"][0]["src_owner"]["job"], "4711");
}

#[test]
fn what_has_no_job_is_named_by_what_is_known() {
    let pod = QueuePairRow {
        pod: Some("llama-0".into()),
        namespace: Some("training".into()),
        remote_qpn: Some(17),
        ..row(1, 17, 42, 100, 100)
    };
    let incident = named(vec![victim(17)], &[pod]);
    assert_eq!(incident.victims.owners(), ["pod training/llama-0"]);
    assert_eq!(incident.victims.worst[0].dst_owner, None);
    assert_eq!(incident.unknown, Vec::<String>::new());
    let without = named(vec![victim(17)], &[]);
    assert_eq!(without.victims.whose(), None);
    assert!(
        !Document {
            incidents: vec![without],
            ..Document::default()
        }
        .text(None)
        .contains("whose")
    );
}

#[test]
fn ambiguous_owners_are_not_named_and_it_is_said() {
    let other = QueuePairRow {
        observer: "gpu-7".into(),
        ..of_job(1, 17, "4712", 0)
    };
    let incident = named(
        vec![victim(17)],
        &[of_job(1, 17, "4711", 3), other, of_job(2, 17, "4711", 7)],
    );
    assert_eq!(incident.victims.owners(), ["job 4711, rank 7"]);
    assert_eq!(incident.unknown.len(), 1);
    assert!(
        incident.unknown[0].starts_with("whose 1 queue pair"),
        "{:?}",
        incident.unknown
    );
}

#[test]
fn many_victims_are_brief() {
    let victims: Vec<Victim> = (0..20).map(victim).collect();
    let rows: Vec<QueuePairRow> = (0..20).map(|qpn| of_job(1, qpn, "4711", qpn)).collect();
    let incident = named(victims, &rows);
    assert_eq!(
        incident.victims.whose().unwrap(),
        "job 4711, ranks 0, 1, 2, 3, 4, 5, 6 and 7 (of the 8 worst)"
    );
}
