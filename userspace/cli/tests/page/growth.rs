//! A day of updates leaves nothing behind: neither in the page nor in its server.

use crate::rig::{Rig, SECOND_NS, flow};
use rocescope_testkit::browser::Browser;
use std::fs;

/// Windows between two updates: one a minute.
const WINDOWS: i64 = 60;

#[test]
fn a_day_of_updates_does_not_grow() {
    let Some(mut browser) = Browser::open() else { return };
    let mut rig = Rig::new();
    browser.go(&rig.url("?last=5m"));
    browser.until("document.querySelector('#flows tbody')");
    let mut sizes = Vec::new();
    for hour in 0..24 {
        for minute in 0..WINDOWS {
            rig.next_ns += 59 * SECOND_NS;
            rig.add(&[
                flow(1, 5_000),
                flow(u8::try_from(2 + (hour * 60 + minute) % 100).unwrap(), 1_000),
            ]);
        }
        let until = rocescope_model::Time(rig.next_ns);
        browser.until(&format!(
            "document.getElementById('state').textContent.includes('{until:.0}')"
        ));
        browser.until("document.body.dataset.version === version && !busy");
        assert!(browser.text("#flows").contains("10.0.0.1"));
        browser.call("HeapProfiler.collectGarbage", serde_json::json!({}));
        let nodes = browser.eval("document.querySelectorAll('*').length").as_u64().unwrap();
        let heap = browser.call("Runtime.getHeapUsage", serde_json::json!({}))["usedSize"]
            .as_f64()
            .unwrap();
        sizes.push((nodes, heap, resident(rig.id())));
    }
    let (early, late) = (sizes[7], sizes[23]);
    assert!(late.0 <= early.0 + early.0 / 20, "elements: {sizes:?}");
    assert!(late.1 <= early.1 * 1.2, "bytes of the script: {sizes:?}");
    assert!(late.2 <= early.2 + early.2 / 5, "kilobytes of the server: {sizes:?}");
}

/// Memory of a process in KiB.
fn resident(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
