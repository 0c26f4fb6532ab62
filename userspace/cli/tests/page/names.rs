//! Names are input: of observers, interfaces, files. They stay text.

use crate::rig::{Rig, flow};
use rocescope_model::FlowRow;
use rocescope_testkit::browser::Browser;

const OBSERVER: &str = "<img src=x onerror=\"document.title='1'\">'\"&<script>document.title='2'</script>\u{1b}[2J";

#[test]
fn names_with_markup_are_text() {
    let Some(mut browser) = Browser::open() else { return };
    let mut rig = Rig::of(OBSERVER, &["127.0.0.1:0"]);
    // Two observers: then each flow names its own.
    rig.add(&[FlowRow {
        observer: String::from(OBSERVER).into(),
        service: "</td><svg onload=\"document.title='3'\">".into(),
        ..flow(3, 1_000)
    }]);
    let filter = "?q=%3Cscript%3Edocument.title%3D4%3C%2Fscript%3E&observer=%22%3E%3Cscript%3E&by=%22%3E%3Cimg+src%3Dx%3E&row=%22%3E%3Cb%3E";
    for address in ["", filter] {
        browser.go(&rig.url(address));
        browser.until("document.querySelector('#head')");
        rig.add(&[flow(4, 1_000)]);
        let elements =
            "document.querySelectorAll('img, svg:not(.chart), script:not([src]), iframe, object, embed').length";
        browser.until("document.getElementById('state').textContent.startsWith('live, up to')");
        assert_eq!(browser.eval(elements), 0, "{address}");
        assert_eq!(browser.eval("document.title"), "rocescope: data");
    }
    browser.go(&rig.url(""));
    browser.until("document.querySelector('#flows a.fields')");
    let row = "[...document.querySelectorAll('#flows tbody tr')].find((row) => row.textContent.includes('<img src=x'))";
    browser.until(row);
    browser.eval(&format!("{row}.querySelector('a.fields').click()"));
    browser.until("document.getElementById('fields').open");
    assert_eq!(
        browser.eval("document.querySelectorAll('#fields img, #fields svg, #fields script').length"),
        0
    );
    assert!(browser.text("#fields").contains("<img src=x"));
    assert_eq!(browser.eval("document.title"), "rocescope: data");
    assert_eq!(browser.complaints(), [""; 0]);
    assert!(!rig.get("").text().contains('\u{1b}'));
}
