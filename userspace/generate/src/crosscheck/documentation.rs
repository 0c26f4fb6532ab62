//! Checks `docs/scenarios.md` and `docs/scenarios-method.md` against the code.

use super::{checked, folder};
use crate::Scenario;

/// Both pages as one text, and their fenced blocks.
fn documented() -> (String, Vec<String>) {
    let read = |page: &str| std::fs::read_to_string(folder(page)).unwrap();
    let page = read("../../docs/scenarios.md") + &read("../../docs/scenarios-method.md");
    let blocks = page
        .split("```toml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect();
    (page, blocks)
}

#[test]
fn the_documented_scenarios_are_scenarios() {
    let (_, blocks) = documented();
    assert!(blocks.len() >= 4);
    for block in blocks {
        let scenario = Scenario::parse(&block).unwrap_or_else(|error| panic!("{error}\n{block}"));
        checked(&scenario, 1);
    }
}

#[test]
fn every_key_is_documented() {
    let (page, _) = documented();
    let flows = "duration = \"1s\"\n[[flows]]\nsrc = \"10.0.0.1\"\ndst = \"10.0.0.2\"\nrate = \"1Mbit/s\"\n";
    let collective = "[[collective]]\nranks = \"10.0.0.1-10.0.0.4\"\n";
    for table in [
        "nonsense = 1".to_owned(),
        "[mirror]\nnonsense = 1".to_owned(),
        "[truth]\nnonsense = 1".to_owned(),
        "[[background]]\nnonsense = 1".to_owned(),
        "[[uet]]\nnonsense = 1".to_owned(),
        "[[collective]]\nnonsense = 1".to_owned(),
        format!("{collective}algorithm = \"nonsense\""),
        format!("{collective}operation = \"nonsense\""),
        format!("{collective}straggler = [{{ kind = \"nonsense\" }}]"),
        format!("{collective}straggler = [{{ kind = \"slow_link\", nonsense = 1 }}]"),
        format!("{collective}straggler = [{{ kind = \"lossy_qp\", nonsense = 1 }}]"),
        format!("{flows}nonsense = 1"),
        format!("{flows}loss = [{{ nonsense = 1 }}]"),
        format!("{flows}spray = [{{ nonsense = 1 }}]"),
        format!("{flows}sender = \"nonsense\""),
        format!("{flows}tap = \"nonsense\""),
        format!("{flows}spray = [{{ paths = 1, skew = \"1us\", ports = \"nonsense\" }}]"),
        format!("{flows}ecn = {{ nonsense = 1 }}"),
        format!("{flows}rnr = {{ nonsense = 1 }}"),
        format!("{flows}refuse = {{ nonsense = 1 }}"),
        format!("{flows}encapsulation = {{ nonsense = 1 }}"),
        format!("{flows}operations = [{{ nonsense = 1 }}]"),
        format!("{flows}rate_changes = [{{ nonsense = 1 }}]"),
        format!("{flows}operation = \"nonsense\""),
        format!("{flows}service = \"nonsense\""),
        format!("{flows}receiver = \"nonsense\""),
        "[[background]]\nkind = \"nonsense\"".to_owned(),
    ] {
        // The error lists the known keys: `unknown field `nonsense`, expected one of `a`, `b``.
        let error = Scenario::parse(&table).unwrap_err().to_string();
        let known: Vec<&str> = error
            .split("expected")
            .nth(1)
            .unwrap_or_else(|| panic!("{error}"))
            .split('`')
            .skip(1)
            .step_by(2)
            .collect();
        assert!(!known.is_empty(), "{error}");
        for key in known {
            let shown = [
                format!("`{key}`"),
                format!("\"{key}\""),
                format!("{key} ="),
                format!("[{key}]"),
            ];
            assert!(shown.iter().any(|shown| page.contains(shown)), "{key} of {table}");
        }
    }
}

#[test]
fn every_class_is_documented() {
    let (page, _) = documented();
    for (name, text) in crate::CLASSES.iter().chain(crate::UET) {
        let about = text.lines().next().unwrap().trim_start_matches("# ");
        assert!(page.contains(&format!("| `{name}` | {about} |\n")), "{name}");
    }
}
