//! `--hosts FILE`: names for addresses in text, HTML and JSON.

use rocescope_testkit::command;
use serde_json::Value;
use std::fs;
use std::path::Path;

const CAPTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/rnr_nak.pcap");

fn run(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> (bool, String, String) {
    let mut command = command(arguments);
    command.current_dir(folder).envs(environment.iter().copied());
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn printed(folder: &Path, arguments: &[&str]) -> String {
    let (success, out, error) = run(folder, arguments, &[]);
    assert!(success, "{error}");
    out
}

#[test]
fn names_stand_in_text_html_and_json_and_json_keeps_the_address() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(
        folder.join("hosts"),
        "10.77.0.1 client client.example\n10.77.0.2 server # rail 0\n",
    )
    .unwrap();
    let hosts = ["--hosts", "hosts"];
    printed(folder, &["capture", "-q", "-r", CAPTURE, "--out", "d"]);

    let text = printed(folder, &[&["connections", "-q", "-r", CAPTURE], &hosts[..]].concat());
    assert!(
        text.contains("client (10.77.0.1)") && text.contains("server (10.77.0.2)"),
        "{text}"
    );
    let json = printed(folder, &[&["connections", "-o", "json", "d"], &hosts[..]].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    let end = &json["connections"][0]["a"];
    assert_eq!((&end["ip"], &end["ip_name"]), (&"10.77.0.1".into(), &"client".into()));

    let text = printed(
        folder,
        &[&["report", "d", "--html", "r.html", "-o", "text"], &hosts[..]].concat(),
    );
    assert!(text.contains("client (10.77.0.1)"), "{text}");
    let html = fs::read_to_string(folder.join("r.html")).unwrap();
    assert!(html.contains("client (10.77.0.1)") && html.contains("server (10.77.0.2)"));
    let json = printed(folder, &[&["report", "d", "-o", "json"], &hosts[..]].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(json.to_string().contains(r#""src_name":"client""#));

    let json = printed(folder, &[&["top", "d", "--once", "-o", "json"], &hosts[..]].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    let flow = &json["flows"][0];
    assert!(flow["src"].as_str().unwrap().starts_with("10.77.0."), "{flow}");
    assert!(flow["src_name"].is_string() && flow["dst_name"].is_string(), "{flow}");
    let text = printed(folder, &[&["top", "d", "--once"], &hosts[..]].concat());
    assert!(text.contains("(10.77.0.1)"), "{text}");
    // Without the file nothing has a name; a filter uses addresses.
    assert!(!printed(folder, &["report", "d"]).contains("client"));
    let found = printed(
        folder,
        &[&["connections", "d", "--filter", "src = 10.77.0.1"], &hosts[..]].concat(),
    );
    assert!(found.contains("client"), "{found}");
}

#[test]
fn the_file_may_come_from_the_environment_or_the_configuration_and_errors_name_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("hosts"), "10.77.0.1 client\n").unwrap();
    fs::write(folder.join("bad"), "10.77.0.1 client\nserver 10.77.0.2\n").unwrap();
    fs::write(folder.join("c.toml"), "hosts = \"hosts\"\n").unwrap();
    let call = ["connections", "-q", "-r", CAPTURE];
    let (success, out, error) = run(folder, &call, &[("ROCESCOPE_HOSTS", "hosts")]);
    assert!(success && out.contains("client (10.77.0.1)"), "{error}{out}");
    let out = printed(folder, &[&["--config", "c.toml"], &call[..]].concat());
    assert!(out.contains("client (10.77.0.1)"), "{out}");
    let (success, _, error) = run(folder, &[&call[..], &["--hosts", "bad"]].concat(), &[]);
    assert!(
        !success && error.contains("line 2: `server` is no IP address"),
        "{error}"
    );
}

/// A key above the first table is for all commands that show addresses; `observer` and `top` are not for readers.
#[test]
fn every_command_that_shows_addresses_takes_the_names_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("hosts"), "10.77.0.1 client\n").unwrap();
    fs::write(
        folder.join("c.toml"),
        "hosts = \"hosts\"\nobserver = \"box\"\ntop = 3\n",
    )
    .unwrap();
    fs::write(folder.join("bad"), "server 10.77.0.2\n").unwrap();
    fs::write(folder.join("bad.toml"), "hosts = \"bad\"\n").unwrap();
    let with = ["--config", "c.toml"];
    let capture = ["capture", "-q", "-r", CAPTURE];
    let name = "client (10.77.0.1)";
    let out = printed(folder, &[&with, &capture[..], &["--out", "d"]].concat());
    assert!(out.contains(name), "{out}");
    for format in ["json", "jsonl"] {
        let out = printed(folder, &[&with, &capture[..], &["-o", format]].concat());
        for line in out.lines().filter(|_| format == "jsonl") {
            serde_json::from_str::<Value>(line).unwrap();
        }
        assert!(out.contains("\"src_name\""), "{format}: {out}");
    }
    printed(
        folder,
        &[&capture[..], &["--out", "e", "--observer", "other", "-c", "300"]].concat(),
    );
    for command in [
        &["report", "d"][..],
        &["report", "e", "-o", "markdown"],
        &["connections", "d"],
        &["top", "d", "--once"],
    ] {
        let out = printed(folder, &[&with, command].concat());
        assert!(out.contains(name), "{command:?}: {out}");
        assert!(!printed(folder, command).contains("client"), "{command:?}");
    }
    for command in [
        &["report", "d"][..],
        &["compare", "d", "e"],
        &["diagnose", "hostmesh", "d"],
        &["top", "d", "--once"],
    ] {
        let (success, _, error) = run(folder, &[&["--config", "bad.toml"], command].concat(), &[]);
        assert!(
            !success && error.contains("`server` is no IP address"),
            "{command:?}: {error}"
        );
    }
}
