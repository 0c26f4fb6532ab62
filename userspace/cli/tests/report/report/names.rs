//! Names with markup stay text: names of datasets, files and observers are input.

use super::{Bench, printed};
use std::fs;

const DATASET: &str = "\"><svg onload=alert(1)>\u{1b}[2J";
const OBSERVER: &str = "<img src=x onerror=alert(2)> ](javascript:alert(3)) |`*_";

#[test]
fn names_are_text_in_every_document() {
    let bench = Bench::new();
    bench.capture(DATASET, &["--observer", OBSERVER]);
    let run = |options: &[&str]| printed(&bench.run(&[&["report", DATASET], options].concat()));
    run(&["--html", "page.html"]);
    let page = fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(page.contains("&lt;img src=x onerror=alert(2)&gt;"));
    assert!(page.contains("&quot;&gt;&lt;svg onload=alert(1)&gt;"));
    for markup in ["<img", "<svg onload", "\u{1b}"] {
        assert!(!page.contains(markup), "{markup}");
    }
    assert_eq!(page.matches("<script").count(), 1, "our own");
    assert_eq!(page.matches("<style").count(), 1);
    for address in ["http:", "https:", "url(", "@import", " src=\"", "<link", "<iframe"] {
        assert!(!page.contains(address), "{address}");
    }

    let text = run(&["-o", "text"]);
    assert!(!text.contains('\u{1b}') && text.contains(OBSERVER));
    let markdown = run(&["-o", "markdown"]);
    assert!(!markdown.contains("<img") && !markdown.contains("<svg"));
    // After a backslash a bracket is a bracket.
    assert!(!markdown.replace("\\]", "").contains("](java"));
    let json: serde_json::Value = serde_json::from_str(&run(&["-o", "json"])).unwrap();
    assert_eq!(json["dataset"], DATASET);
    assert_eq!(json["observers"][0], OBSERVER);
}
