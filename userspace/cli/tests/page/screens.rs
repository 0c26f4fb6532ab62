//! Both widths and colour schemes: nothing is cut or faint, and everything has a name. `PAGE_SCREENS=FOLDER` keeps the
//! pictures, and `AXE=axe.min.js` has the rules of axe-core checked too (`docs/page.md`).

use crate::rig::Rig;
use rocescope_testkit::browser::Browser;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const DEMO: &str = rocescope_generate::DEMO;

/// What is wider than the window, controls without a name, headings and landmarks.
const RULER: &str = r#"(() => {
  const shown = (one) => one.getBoundingClientRect().width > 0;
  const name = (one) => one.getAttribute("aria-label") || one.textContent.trim() || one.title || (one.labels && one.labels[0] && one.labels[0].textContent.trim());
  const controls = [...document.querySelectorAll("a, button, input:not([type=hidden]), select, summary")].filter(shown);
  return {
    overflow: document.documentElement.scrollWidth - innerWidth,
    unnamed: controls.filter((one) => !name(one)).map((one) => one.outerHTML.slice(0, 80)),
    small: innerWidth < 600 ? [...document.querySelectorAll(".bar input:not([type=hidden]), .bar button, .bar a")].filter((one) => one.getBoundingClientRect().height < 24).length : 0,
    cut: [...document.querySelectorAll("h1, h2, h3, summary, .findings li")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.textContent.slice(0, 40)),
    landmarks: ["header", "nav", "main", "footer"].filter((one) => !document.querySelector(one)),
    headings: document.querySelectorAll("h1").length,
  };
})()"#;

#[test]
fn the_page_fits_both_widths_and_schemes() {
    let Some(mut browser) = Browser::open() else { return };
    let rig = Rig::of_scenario(DEMO);
    for (width, height) in [(1_280, 1_600), (390, 1_200)] {
        for scheme in ["light", "dark"] {
            browser.look(width, height, scheme);
            for (name, address) in [("page", ""), ("filter", "?q=colour"), ("row", "?row=")] {
                browser.go("about:blank");
                browser.go(&rig.url(address));
                browser.until("document.querySelector('#head')");
                if name == "row" {
                    browser.click("#flows a.fields");
                    browser.until("document.getElementById('fields').open");
                }
                let found = browser.eval(RULER);
                let case = format!("{name}, {width}, {scheme}: {found}");
                assert!(found["overflow"].as_i64().unwrap() <= 0, "{case}");
                for list in ["unnamed", "cut", "landmarks"] {
                    assert_eq!(found[list], Value::Array(Vec::new()), "{list}: {case}");
                }
                assert_eq!((&found["small"], &found["headings"]), (&0.into(), &1.into()), "{case}");
                keep(&mut browser, &format!("{name}-{width}-{scheme}"), name == "page");
                rules(&mut browser, &case);
            }
        }
    }
}

/// Writes a picture, if someone wants to see it.
fn keep(browser: &mut Browser, name: &str, is_whole: bool) {
    let Some(folder) = std::env::var_os("PAGE_SCREENS") else {
        return;
    };
    let file = fs::File::create(Path::new(&folder).join(format!("{name}.png"))).unwrap();
    let mut decoder = Command::new("base64")
        .arg("-d")
        .stdin(Stdio::piped())
        .stdout(file)
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut decoder.stdin.take().unwrap(), browser.picture(is_whole).as_bytes()).unwrap();
    assert!(decoder.wait().unwrap().success());
}

/// The rules of axe-core, if its script is at hand: none is broken.
fn rules(browser: &mut Browser, case: &str) {
    let Some(script) = std::env::var_os("AXE") else { return };
    browser.call("Page.setBypassCSP", serde_json::json!({"enabled": true}));
    let script = fs::read_to_string(script).unwrap();
    browser.eval(&format!("{script}; true"));
    let found = browser.eval(
        "axe.run(document).then((found) => found.violations.map((one) => one.id + ': ' + one.help + ': ' + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(' | ')))",
    );
    assert_eq!(found, Value::Array(Vec::new()), "{case}");
}
