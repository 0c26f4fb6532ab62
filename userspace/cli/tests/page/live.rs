//! What a viewer sees and does while windows come.

use crate::rig::{Rig, flow};
use rocescope_model::{IncidentRow, Time};
use rocescope_testkit::browser::Browser;

/// The addresses of the flows of the table, in its order.
const FLOWS: &str = "[...document.querySelectorAll('#flows table tbody tr')].map((row) => row.textContent)";

fn shows(address: &str) -> String {
    format!("{FLOWS}.some((row) => row.includes('{address}'))")
}

#[test]
fn windows_appear_as_they_end() {
    let Some(mut browser) = Browser::open() else { return };
    let mut rig = Rig::new();
    browser.go(&rig.url(""));
    browser.until(&shows("10.0.0.1"));
    browser.until("document.getElementById('state').textContent.startsWith('live, up to')");
    for number in 3..8 {
        assert_eq!(browser.eval(&shows(&format!("10.0.0.{number}"))), false);
        rig.add(&[flow(number, 1_000)]);
        browser.until(&shows(&format!("10.0.0.{number}")));
    }
    // Everything comes from this server, and nothing breaks its policy.
    let ours = rig.url("");
    assert!(
        browser.requests().iter().all(|url| url.starts_with(&ours)),
        "{:?}",
        browser.requests()
    );
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_reader_keeps_what_is_sorted_open_and_focused() {
    let Some(mut browser) = Browser::open() else { return };
    let mut rig = Rig::new();
    browser.go(&rig.url(""));
    browser.until(&shows("10.0.0.1"));
    // The smaller flow first: by the column of the bytes, ascending.
    let bytes = "[...document.querySelectorAll('#flows th')].find((head) => head.textContent === 'Frame bytes')";
    browser.eval(&format!("{bytes}.click(), {bytes}.click()"));
    browser.until(&format!("{FLOWS}[0].includes('10.0.0.2')"));
    browser.until("new URL(location.href).searchParams.get('sort').startsWith('flows.0.')");
    browser.eval("document.querySelector('#flows a.fields').focus()");
    rig.add(&[flow(3, 100_000)]);
    browser.until(&shows("10.0.0.3"));
    browser.until(&format!("{FLOWS}[0].includes('10.0.0.2')"));
    assert_eq!(
        browser.eval("document.activeElement.closest('tr').textContent.includes('10.0.0.2')"),
        true
    );
    // The address alone is enough.
    let address = browser.eval("location.href").as_str().unwrap().to_owned();
    browser.go("about:blank");
    browser.go(&address);
    browser.until(&format!("{FLOWS}[0].includes('10.0.0.2')"));
}

#[test]
fn a_row_opens_its_fields_with_their_meaning() {
    let Some(mut browser) = Browser::open() else { return };
    let rig = Rig::new();
    browser.go(&rig.url(""));
    browser.until(&shows("10.0.0.1"));
    browser.eval("document.querySelector('#flows a.fields').focus()");
    browser.press("Enter");
    browser.until("document.getElementById('fields').open");
    let fields = browser.text("#fields");
    assert!(fields.contains("dst_qpn") && fields.contains("10.0.0.1"), "{fields}");
    let address = browser.eval("location.href").as_str().unwrap().to_owned();
    assert!(address.contains("row=flows.0."), "{address}");
    browser.press("Escape");
    browser.until("!document.getElementById('fields').open && !location.href.includes('row=')");
    browser.go("about:blank");
    browser.go(&address);
    browser.until("document.getElementById('fields').open");
    assert!(browser.text("#fields").contains("dst_qpn"));
}

#[test]
fn filters_select_and_say_what_is_wrong() {
    let Some(mut browser) = Browser::open() else { return };
    let rig = Rig::new();
    browser.go(&rig.url(""));
    browser.until(&shows("10.0.0.1"));
    browser.eval("document.querySelector('input[name=q]').value = '10.0.0.2', document.querySelector('form.bar').requestSubmit()");
    browser.until(&format!(
        "location.href.includes('q=10.0.0.2') && {}",
        shows("10.0.0.2")
    ));
    assert_eq!(browser.eval(&shows("10.0.0.1")), false);
    browser.go(&rig.url("?q=102"));
    browser.until(&shows("10.0.0.2"));
    assert_eq!(browser.eval(&shows("10.0.0.1")), false);
    browser.go(&rig.url("?q=colour+%3D+3"));
    browser.until("document.querySelector('[role=alert]')");
    assert!(browser.text("[role=alert]").contains("colour"));
    browser.until(&shows("10.0.0.1"));
}

#[test]
fn a_time_that_is_held_stays_and_live_goes_on() {
    let Some(mut browser) = Browser::open() else { return };
    let mut rig = Rig::new();
    browser.go(&rig.url("?last=1m"));
    browser.until(&shows("10.0.0.1"));
    browser.click("#head a[aria-label='Hold this time']");
    browser.until("location.href.includes('from=') && document.readyState === 'complete'");
    assert_eq!(browser.text("#state"), "fixed time");
    let held = browser.eval("location.href").as_str().unwrap().to_owned();
    rig.add(&[flow(9, 1_000)]);
    // The same time again, from the dataset: what is not sealed is not there yet, and nothing later is.
    browser.go(&held);
    browser.until("document.readyState === 'complete'");
    assert_eq!(browser.eval(&shows("10.0.0.9")), false);
    browser.click(".lengths a");
    browser.until(&shows("10.0.0.9"));
}

#[test]
fn a_server_that_starts_again_is_found_again() {
    let Some(mut browser) = Browser::open() else { return };
    let mut rig = Rig::new();
    browser.go(&rig.url(""));
    browser.until("document.getElementById('state').textContent.startsWith('live, up to')");
    rig.stop();
    browser.until("document.getElementById('state').classList.contains('lost')");
    rig.add(&[flow(7, 1_000)]);
    rig.resume();
    browser.until(&shows("10.0.0.7"));
    browser.until("document.getElementById('state').textContent.startsWith('live, up to')");
}

#[test]
fn the_victim_of_an_incident_is_two_clicks_away() {
    let Some(mut browser) = Browser::open() else { return };
    let rig = Rig::of_scenario(include_str!("../../../generate/scenarios/loss.toml"));
    browser.go(&rig.url(""));
    browser.until("document.querySelector('#incidents a.rows')");
    let incident = browser.text("#incidents li.bad");
    browser.click("#incidents a.rows");
    browser.until(
        "location.hash === '#flows' && document.readyState === 'complete' && document.querySelector('#flows a.fields')",
    );
    browser.click("#flows a.fields");
    browser.until("document.getElementById('fields').open");
    let address = browser.eval("[...document.querySelectorAll('#fields tr')].find((row) => row.textContent.includes('src')).cells[1].textContent");
    assert!(incident.contains(address.as_str().unwrap()), "{incident}: {address}");
}

#[test]
fn incidents_of_a_collector_open_and_end() {
    let Some(mut browser) = Browser::open() else { return };
    let rig = Rig::new();
    let row = |state: &'static str, time_ns: i64| IncidentRow {
        observer: "collector".into(),
        time: Time(time_ns),
        time_ns,
        id: "0badcab1".into(),
        state: state.into(),
        class: "bad_link".into(),
        place_kind: "link".into(),
        place: "leaf-3>spine-1".into(),
        since_ns: time_ns,
        certainty: "certain".into(),
        sources: "counters, mesh".into(),
        sentence: "leaf-3>spine-1: loses packets".into(),
        action: "replace the cable".into(),
        ..IncidentRow::default()
    };
    browser.go(&rig.url(""));
    browser.until("document.getElementById('state').textContent.startsWith('live, up to')");
    rig.report(row(IncidentRow::OPEN, rig.next_ns));
    browser.until("document.getElementById('announce').textContent === '1 open incident'");
    let incident = browser.text("#incidents li.bad");
    for part in ["leaf-3>spine-1", "replace the cable", "seen by counters, mesh"] {
        assert!(incident.contains(part), "{incident}");
    }
    rig.report(row(IncidentRow::ENDED, rig.next_ns + 1));
    browser.until("document.getElementById('announce').textContent === '0 open incidents'");
    rig.report(row("withdrawn", rig.next_ns + 2));
    browser.until("!document.querySelector('#incidents li.bad')");
}
