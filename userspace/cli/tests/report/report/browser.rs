//! Chromium opens the page from disk: it draws charts in both colour schemes, the script runs under the page's own
//! policy, and the page requests nothing.

use super::{Bench, list, png};
use rocescope_testkit::browser::chromium;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// First colour of charts, light and dark, from the style sheet.
const LIGHT: [u8; 3] = [0x24, 0x68, 0xd1];
const DARK: [u8; 3] = [0x6c, 0xa6, 0xff];

/// Opens a page without a network and returns Chromium's output.
fn open(chromium: &Path, page: &Path, options: &[&str]) -> String {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(chromium)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(options)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The page after its script has run, and the requests on its behalf.
///
/// Chromium itself requests updates; those requests have no initiator.
fn dom_and_requests(chromium: &Path, page: &Path) -> (String, Vec<String>) {
    let log = page.with_extension("netlog");
    let option = format!("--log-net-log={}", log.display());
    let dom = open(chromium, page, &[&option, "--dump-dom"]);
    let log: Value = serde_json::from_slice(&fs::read(log).unwrap()).unwrap();
    let start = &log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"];
    assert!(start.is_u64());
    let events = list(&log["events"]).iter();
    let of_page = events.filter(|event| {
        event["type"] == *start
            && event["params"]["initiator"]
                .as_str()
                .is_some_and(|initiator| initiator != "not an origin")
    });
    let requests = of_page.map(|event| event["params"]["url"].to_string());
    (dom, requests.collect())
}

/// The drawings of this kind.
fn charts<'a>(dom: &'a str, kind: &str) -> Vec<&'a str> {
    let mark = format!("data-kind=\"{kind}\"");
    let drawings = dom.split("<svg").skip(1);
    let drawings = drawings.filter_map(|drawing| drawing.split("</svg>").next());
    drawings.filter(|drawing| drawing.contains(&mark)).collect()
}

#[test]
fn the_page_opens_from_disk_and_requests_nothing() {
    let Some(chromium) = chromium() else {
        return;
    };
    let bench = Bench::with_dataset();
    let report = bench.json(&[]);
    bench.html(&[]);
    let (dom, requests) = dom_and_requests(&chromium, &bench.path("page.html"));
    assert_eq!(requests, [""; 0]);

    // Rates, packets, loss and congestion: one point per window.
    let lines = charts(&dom, "lines");
    assert_eq!(lines.len(), 4);
    let windows = list(&report["series"]["periods"]).len();
    for chart in &lines {
        assert_eq!(chart.matches("class=\"hit\"").count(), windows);
        // No line has a gap: a window without losses is 0, not unknown.
        for path in chart.split(" d=\"").skip(1) {
            assert_eq!(path.split('"').next().unwrap().matches('M').count(), 1, "{path}");
        }
    }
    let bars = charts(&dom, "bars");
    let count = |chart: &str, class: &str| chart.matches(&format!("class=\"{class}\"")).count();
    assert_eq!(bars.len(), 2);
    assert_eq!(count(bars[0], "bar c1"), list(&report["opcodes"]).len());
    assert_eq!(count(bars[1], "bar c0"), list(&report["flows"]["top"]).len());
    let ranges = charts(&dom, "ranges");
    assert_eq!(ranges.len(), 1);
    assert!(count(ranges[0], "dot c0") > 0);
    assert_eq!(count(ranges[0], "dot c0"), count(ranges[0], "dot c1"));
    let lanes = charts(&dom, "lanes");
    assert_eq!(lanes.len(), 1);
    let kinds = list(&report["events"]["kinds"]).len();
    assert_eq!(lanes[0].matches("class=\"lane\"").count(), kinds);
    for chart in [lines, bars, ranges, lanes].concat() {
        assert!(!chart.contains("NaN") && !chart.contains("inf\""));
    }

    // The script ran: the policy's hash permits it.
    assert!(dom.contains("class=\"sorts\"") && dom.contains("data-words="));
}

#[test]
fn the_mesh_is_drawn() {
    let Some(chromium) = chromium() else {
        return;
    };
    let bench = super::mesh::bench(true);
    bench.html(&[]);
    let (dom, requests) = dom_and_requests(&chromium, &bench.path("page.html"));
    assert_eq!(requests, [""; 0]);
    // Drops, P50 and P99: one cell per pair, and those of the fault stand out.
    let heat = charts(&dom, "heat");
    assert_eq!(heat.len(), 3);
    for chart in &heat {
        assert_eq!(chart.matches("class=\"heat ").count(), 48);
    }
    assert_eq!(
        heat[0].matches("class=\"heat notice\"").count(),
        12,
        "all pairs from rail 1"
    );
    assert!(heat[0].contains("h1/rail1 to rail0"));
    // Drops, network and host over time: one point per window.
    let lines = charts(&dom, "lines");
    assert_eq!(lines.len(), 3);
    for chart in &lines {
        assert_eq!(chart.matches("class=\"hit\"").count(), 6);
    }
    for chart in [lines, heat].concat() {
        assert!(!chart.contains("NaN") && !chart.contains("inf\""));
    }
}

/// Otherwise the test above could not fail.
#[test]
fn a_page_with_a_request_is_caught() {
    let Some(chromium) = chromium() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("control.html");
    fs::write(&page, "<!DOCTYPE html><img src=\"http://probe.invalid/x.png\">").unwrap();
    let (_, requests) = dom_and_requests(&chromium, &page);
    assert_eq!(requests, ["\"http://probe.invalid/x.png\""]);
}

/// Measures a page at a width in a frame of another: how far it overflows, the highest row of a table, tables and titles
/// that do not fit, charts that do not fit, the smallest text of a chart, and the text that differs least from what is
/// behind it.
const RULER: &str = r#"<!DOCTYPE html><meta charset="utf-8"><body><script>
function measure(frame) {
  const view = frame.contentWindow, page = view.document, shown = (one) => one.getBoundingClientRect().width > 0;
  const height = (one) => one.getBoundingClientRect().height;
  const most = (all) => Math.max(0, ...all), charts = [...page.querySelectorAll("svg.chart")].filter(shown);
  const tables = [...page.querySelectorAll("table")];
  const cut = (one) => one.scrollWidth > one.clientWidth + 1;
  const hasSentences = (table) => [...table.querySelectorAll("td")].some((cell) => cell.textContent.length >= 48);
  const light = (color) => {
    const parts = color.match(/[\d.]+/g).map(Number).slice(0, 3).map((part) => part / 255);
    const [r, g, b] = parts.map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const isClear = (color) => color === "transparent" || /, 0\)$/.test(color);
  const behind = (one) => {
    const color = one ? view.getComputedStyle(one).backgroundColor : "rgb(255, 255, 255)";
    return isClear(color) ? behind(one.parentElement) : color;
  };
  const contrast = (one) => {
    const style = view.getComputedStyle(one), ratio = light(one.closest("svg") ? style.fill : style.color) / light(behind(one));
    return Math.max(ratio, 1 / ratio);
  };
  const hasText = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  // The values of a heat map are on cells, not on the page.
  const isOnCell = (one) => one.previousElementSibling?.classList.contains("heat");
  const texts = [...page.body.querySelectorAll("*")].filter((one) => hasText(one) && shown(one) && !isOnCell(one) && !one.closest("script"));
  const faintest = texts.map((one) => [contrast(one), one.textContent.trim().slice(0, 40)]).sort((a, b) => a[0] - b[0])[0];
  document.body.dataset.found = JSON.stringify({
    overflow: page.documentElement.scrollWidth - view.innerWidth,
    row: most([...page.querySelectorAll("tr")].map(height)),
    tables: tables.filter((table) => cut(table.parentElement)).map((table) => table.parentElement.closest("section").id),
    sentences: tables.filter((table) => hasSentences(table) && cut(table.parentElement)).length,
    titles: [...page.querySelectorAll("h2, h3, summary, caption")].filter((one) => one.getBoundingClientRect().right > view.innerWidth).length,
    contrast: faintest[0],
    faintest: faintest[1],
    scheme: view.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
    charts: charts.length,
    wide: charts.filter((chart) => cut(chart.parentElement)).length,
    letters: Math.min(...charts.flatMap((chart) => [...chart.querySelectorAll("text")].map(height))),
  });
}
</script><iframe onload="measure(this)" style="border:0" height="2000" "#;

/// The measures of a page at a width, in a colour scheme.
fn measured(chromium: &Path, bench: &Bench, page: &str, width: u32, scheme: &str) -> Value {
    // The page's policy forbids the ruler's script; the page itself needs none.
    let (head, rest) = page.split_once("<meta http-equiv").unwrap();
    let (_, rest) = rest.split_once('>').unwrap();
    let page = format!("{head}{rest}").replace('&', "&amp;").replace('"', "&quot;");
    let ruler = bench.path("ruler.html");
    fs::write(&ruler, format!("{RULER}width=\"{width}\" srcdoc=\"{page}\"></iframe>")).unwrap();
    let number = if scheme == "dark" { 0 } else { 1 };
    let scheme_of = format!("--blink-settings=preferredColorScheme={number}");
    let dom = open(chromium, &ruler, &["--dump-dom", "--window-size=1600,2200", &scheme_of]);
    let (_, found) = dom.split_once("data-found=\"").unwrap();
    let (found, _) = found.split_once('"').unwrap();
    let found: Value = serde_json::from_str(&found.replace("&quot;", "\"")).unwrap();
    assert_eq!(found["scheme"], scheme);
    found
}

/// A name as long as they come, and the verdicts of a mesh: rows were 200 pixels high; columns, titles, sentences and
/// charts were cut.
#[test]
fn pages_fit_their_screens() {
    const OBSERVER: &str = "capture-box-17.row-4.hall-b.datacenter-east.fabric-operations.example.com";
    let Some(chromium) = chromium() else {
        return;
    };
    let captured = Bench::new();
    captured.capture("data", &["--observer", OBSERVER]);
    let mesh = super::mesh::bench(true);
    let paths = super::paths::bench();
    for (name, bench) in [("captured", captured), ("mesh", mesh), ("paths", paths)] {
        let page = bench.html(&[]);
        assert_eq!(page.contains("<h2>Verdicts</h2>"), name == "mesh");
        for (width, row, scheme) in [
            (1_280, 60.0, "light"),
            (1_280, 60.0, "dark"),
            (390, 260.0, "light"),
            (390, 260.0, "dark"),
        ] {
            let found = measured(&chromium, &bench, &page, width, scheme);
            let number = |what: &str| found[what].as_f64().unwrap();
            let case = format!("{name}, {width}, {scheme}: {found}");
            assert!(number("overflow") <= 0.0, "{case}");
            assert!(number("row") <= row, "{case}");
            assert!(
                width < 1_280 || list(&found["tables"]).is_empty(),
                "a cut column: {case}"
            );
            assert_eq!(number("sentences"), 0.0, "sentences are cut: {case}");
            assert_eq!(number("titles"), 0.0, "titles are cut: {case}");
            assert!(number("charts") >= 6.0, "{case}");
            assert_eq!(number("wide"), 0.0, "a cut chart: {case}");
            assert!(number("letters") >= 10.0, "unreadable: {case}");
            assert!(number("contrast") >= 4.0, "faint: {case}");
        }
    }
}

#[test]
fn charts_are_drawn_in_light_and_in_dark() {
    let Some(chromium) = chromium() else {
        return;
    };
    let bench = Bench::with_dataset();
    bench.html(&[]);
    let page = bench.path("page.html");
    for (scheme, colour, other) in [("light", LIGHT, DARK), ("dark", DARK, LIGHT)] {
        let picture = bench.path(&format!("{scheme}.png"));
        let screenshot = format!("--screenshot={}", picture.display());
        let mut options = vec![screenshot.as_str(), "--window-size=1280,4000"];
        if scheme == "dark" {
            options.push("--blink-settings=preferredColorScheme=0");
        }
        open(&chromium, &page, &options);
        let picture = fs::read(picture).unwrap();
        let drawn = png::pixels_of(&picture, colour);
        assert!(drawn > 5_000, "{scheme}: {drawn} pixels of the charts' first colour");
        assert_eq!(png::pixels_of(&picture, other), 0, "{scheme}");
    }
}
