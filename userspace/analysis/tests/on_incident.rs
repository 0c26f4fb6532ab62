//! Changes of incidents reach a server, and what is lost is counted.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use rocescope_analysis::incidents::Reports;
use rocescope_analysis::incidents::reporting::Reporting;
use rocescope_diagnose::incidents::changes::Changes;
use rocescope_diagnose::incidents::{Certainty, Document, Incident, Place, Source, ToldBy};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

const SECOND: i64 = 1_000_000_000;

/// A server that answers with these statuses, one for each request, and passes on the paths and bodies.
fn server(statuses: &'static [&'static str]) -> (SocketAddr, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (pass, passed) = channel();
    thread::spawn(move || {
        for status in statuses {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream);
            let mut head = Vec::new();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if line.trim().is_empty() {
                    break;
                }
                head.push(line.trim().to_lowercase());
            }
            let length = head.iter().find_map(|line| line.strip_prefix("content-length: "));
            let mut body = vec![0; length.unwrap().parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            assert!(head.contains(&"content-type: application/json".to_owned()), "{head:?}");
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nno");
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
            pass.send((head.swap_remove(0), serde_json::from_slice(&body).unwrap()))
                .unwrap();
        }
    });
    (address, passed)
}

fn fault(place: &str, certainty: Certainty) -> Incident {
    let mut incident = Incident::new(
        "network_loss",
        Place::named("pair", place),
        ToldBy::Wire,
        Source::Capture,
    );
    (incident.certainty, incident.is_open) = (certainty, true);
    (incident.since_ns, incident.until_ns) = (1_795_200_000 * SECOND, 1_795_200_060 * SECOND);
    incident.meaning = "it fails".into();
    incident.action = "look".into();
    incident
}

/// Reports two incidents that open, one that changes, and one that closes.
fn report(target: &str) {
    let reports = Reports {
        on_incident: Some(target.parse().unwrap()),
        observer: "tap".into(),
        ..Reports::default()
    };
    let mut reporting = Reporting::new(reports, Changes::default());
    let mut look = |incidents: &[Incident]| {
        let document = Document {
            incidents: incidents.to_vec(),
            ..Document::default()
        };
        reporting.report(&document, None);
    };
    look(&[fault("a", Certainty::Likely)]);
    look(&[fault("a", Certainty::Certain), fault("b", Certainty::Likely)]);
    let mut over = fault("b", Certainty::Likely);
    over.is_open = false;
    look(&[fault("a", Certainty::Certain), over]);
    reporting.finish();
}

#[test]
fn a_server_gets_each_change_and_again_what_it_refused() {
    let (address, passed) = server(&["503 Busy", "200 OK", "204 No Content", "200 OK", "200 OK"]);
    report(&format!("http://{address}/hook?token=1"));
    let got: Vec<(String, Value)> = passed.iter().collect();
    assert!(
        got.iter().all(|(path, _)| path == "post /hook?token=1 http/1.1"),
        "{got:?}"
    );
    let changes: Vec<_> = got
        .iter()
        .map(|(_, body)| {
            (
                body["change"].as_str().unwrap(),
                body["incident"]["place"]["name"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        changes,
        [
            ("opened", "a"),
            ("opened", "a"),
            ("changed", "a"),
            ("opened", "b"),
            ("closed", "b")
        ]
    );
}

/// The form is that of Alertmanager's API: `docs/incidents.md` has what a real one answered.
#[test]
fn an_alertmanager_gets_all_open_alerts_and_the_end_of_those_that_closed() {
    let (address, passed) = server(&["200 OK"; 4]);
    report(&format!("alertmanager+http://{address}/"));
    let got: Vec<(String, Value)> = passed.iter().collect();
    assert!(
        got.iter().all(|(path, _)| path == "post /api/v2/alerts http/1.1"),
        "{got:?}"
    );
    let alerts: Vec<&Vec<Value>> = got.iter().map(|(_, body)| body.as_array().unwrap()).collect();
    assert_eq!(alerts.iter().map(|all| all.len()).collect::<Vec<_>>(), [1, 1, 2, 2]);
    let (first, changed) = (&alerts[0][0], &alerts[1][0]);
    // The same alert: only its annotations have changed.
    assert_eq!(first["labels"], changed["labels"]);
    assert_ne!(first["annotations"], changed["annotations"]);
    assert_eq!(
        (
            &first["labels"]["alertname"],
            &first["labels"]["observer"],
            &first["startsAt"]
        ),
        (
            &"RocescopeIncident".into(),
            &"tap".into(),
            &"2026-11-20T18:40:00.000Z".into()
        )
    );
    let ended: Vec<&Value> = alerts[3].iter().filter(|alert| !alert["endsAt"].is_null()).collect();
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0]["labels"]["place"], "b");
    assert_eq!(ended[0]["endsAt"], "2026-11-20T18:41:00.000Z");
}
