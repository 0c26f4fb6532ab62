//! The layers of settings, as a user sees them.

use rocescope_collector::control::Plan;
use rocescope_testkit::{command, refusal, text as out};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

fn capture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/rnr_nak.pcap")
}

/// The binary, without the environment variables of the process that runs the tests.
fn rocescope(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = command(arguments);
    command.env_clear();
    command.envs(environment.iter().copied());
    command.output().unwrap()
}

/// Writes a file that contains `text`.
fn file(folder: &tempfile::TempDir, text: &str) -> String {
    let path = folder.path().join("rocescope.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The number of top flows that a capture prints.
fn top(arguments: &[&str], environment: &[(&str, &str)]) -> usize {
    let path = capture();
    let call = ["capture", "-r", path.to_str().unwrap(), "-q", "-o", "json"];
    let output = out(&rocescope(&[&call, arguments].concat(), environment));
    let json: Value = serde_json::from_str(&output).unwrap();
    json["top_flows"].as_array().unwrap().len()
}

#[test]
fn the_command_line_wins_over_the_environment_over_the_file_over_the_default() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "top = 3\n[connections]\ntop = 9\n");
    let all = top(&[], &[]);
    assert!(all > 4);
    assert_eq!(top(&["--config", &path], &[]), 3);
    assert_eq!(top(&[], &[("ROCESCOPE_CONFIG", &path)]), 3);
    assert_eq!(top(&["--config", &path], &[("ROCESCOPE_TOP", "2")]), 2);
    let line = ["--config", &path, "--top", "1"];
    assert_eq!(top(&line, &[("ROCESCOPE_TOP", "2")]), 1);
    // A command's table takes precedence over the top level, in any order.
    let path = file(&folder, "top = 3\n[capture]\ntop = 4\n");
    assert_eq!(top(&["--config", &path], &[]), 4);
}

/// A misspelt variable would otherwise seem to have an effect.
#[test]
fn unknown_variables_are_reported() {
    let variables = [("ROCESCOPE_WINDWO", "2s"), ("ROCESCOPE_TOP", "2"), ("ROCESCOPE", "x")];
    let output = rocescope(&["config", "print"], &variables);
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "rocescope: warning: unknown environment variable ROCESCOPE_WINDWO; did you mean ROCESCOPE_WINDOW?\n"
    );
}

#[test]
fn recorder_options_require_the_recorder() {
    let capture = capture();
    let call = ["capture", "-q", "-r", capture.to_str().unwrap()];
    let memory = ["--keep-frames-memory", "1Mi"];
    let error = refusal(&rocescope(&[&call[..], &memory].concat(), &[]));
    assert!(
        error.starts_with("error: --keep-frames-memory has no effect without --keep-frames SECONDS"),
        "{error}"
    );
    // A file may contain it without the option that uses it, or together with that option.
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "[capture]\nkeep-frames-memory = \"1Mi\"\n");
    out(&rocescope(&[&call[..], &["--config", &path]].concat(), &[]));
    let path = file(&folder, "[capture]\nkeep-frames = 1\n");
    let frames = folder.path().join("frames");
    let frames = ["--keep-frames-dir", frames.to_str().unwrap()];
    let config = ["--config", &path];
    out(&rocescope(&[&call[..], &memory, &frames, &config].concat(), &[]));
}

#[test]
fn flags_and_lists_are_settings_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[capture]\nverify-icrc = true\nno-sketches = false\nudp-port = [4791, 4792]\n";
    let path = file(&folder, text);
    let printed = out(&rocescope(&["config", "print", "--config", &path], &[]));
    for (setting, line) in [("verify-icrc = true", 2), ("udp-port = [4791, 4792]", 4)] {
        let wanted = printed.lines().find(|found| found.starts_with(setting));
        assert!(wanted.unwrap().ends_with(&format!("{path}:{line}")));
    }
    let variables = [("ROCESCOPE_VERIFY_ICRC", "yes"), ("ROCESCOPE_UDP_PORT", "4791,9")];
    let printed = out(&rocescope(&["config", "print"], &variables));
    assert!(printed.contains("udp-port = [4791, 9]"), "{printed}");
    let path = capture();
    let call = ["capture", "-r", path.to_str().unwrap(), "-q", "-o", "json"];
    let json: Value = serde_json::from_str(&out(&rocescope(&call, &variables))).unwrap();
    assert!(json["icrc_bad"].is_u64());
}

#[test]
fn former_names_still_work_and_name_the_present_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "");
    let present = rocescope(&["dataset", "schema", "flows"], &[]);
    for line in [&["schema", "flows"][..], &["--config", &path, "schema", "flows"]] {
        let former = rocescope(line, &[]);
        assert_eq!(out(&former), out(&present));
        let note = String::from_utf8_lossy(&former.stderr).into_owned();
        assert!(
            note.contains("`rocescope schema` is `rocescope dataset schema` now"),
            "{note}"
        );
    }
    let path = file(&folder, "[control]\ncert = \"c\"\n");
    let error = refusal(&rocescope(&["--config", &path, "config", "check"], &[]));
    assert!(error.contains("did you mean `operator`?"), "{error}");
}

#[test]
fn required_options_may_come_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[probe]\ninterface = [\"nix0\", \"nix1\"]\n\
                [collector]\nout = \"x\"\ncert = \"c\"\nkey = \"k\"\nclient-ca = \"nowhere.pem\"\n";
    let path = file(&folder, text);
    let refused = |command: &[&str]| refusal(&rocescope(&[&["--config", &path], command].concat(), &[]));
    let error = refused(&["probe"]);
    assert!(error.starts_with("rocescope: nix0: no such interface"), "{error}");
    let error = refused(&["collector", "run"]);
    assert!(error.starts_with("rocescope: nowhere.pem: "), "{error}");
    let both = ["--config", &path, "probe", "--all"];
    let error = refusal(&rocescope(&both, &[]));
    assert!(error.contains("`all` and `interface` are both set"), "{error}");
}

#[test]
fn the_template_is_a_valid_file_and_lists_the_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let template = out(&rocescope(&["config", "template"], &[]));
    let path = file(&folder, &template);
    out(&rocescope(&["config", "check", "--config", &path], &[]));
    // Uncommented, every default is a value that its option accepts, and changes nothing.
    let defaults: String = template
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') && !setting.contains('<') => setting,
            _ => line,
        })
        .fold(String::new(), |all, line| all + line + "\n");
    assert!(defaults.lines().any(|line| line == "window = \"1s\""));
    let path = file(&folder, &defaults);
    out(&rocescope(&["config", "check", "--config", &path], &[]));
    let value = |printed: String| -> Vec<String> {
        let before_source = |line: &str| line.split(" # ").next().unwrap().trim().to_owned();
        printed.lines().map(before_source).collect()
    };
    let with = out(&rocescope(&["config", "print", "--config", &path], &[]));
    let without = out(&rocescope(&["config", "print"], &[]));
    assert_eq!(value(with), value(without));
}

/// What users copy is taken as it is.
#[test]
fn the_files_in_deploy_are_valid() {
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let check = |path: &Path| {
        out(&rocescope(
            &["config", "check", "--config", path.to_str().unwrap()],
            &[],
        ))
    };
    for name in [
        "etc/rocescope.toml",
        "kubernetes/example/agent.toml",
        "kubernetes/example/capture.toml",
        "kubernetes/example/collector.toml",
    ] {
        check(&deploy.join(name));
    }
    let fleet = fs::read_to_string(deploy.join("kubernetes/example/fleet.toml")).unwrap();
    let plan = Plan::parse(&fleet).unwrap();
    // Settings are checked by who receives them: these are what its own file takes.
    for (table, settings) in plan.groups.iter().flat_map(|group| &group.settings) {
        // Strings and numbers are written as in JSON.
        let json = |value| serde_json::to_string(value).unwrap();
        let keys = settings.iter().map(|(key, value)| format!("{key} = {}\n", json(value)));
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder, &format!("[{table}]\n{}", keys.collect::<String>()));
        check(Path::new(&path));
    }
}

/// An error in the environment is not an error in the file.
#[test]
fn an_error_in_the_environment_has_no_line_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "observer = \"a\"\n");
    let environment = [("ROCESCOPE_WINDOW", "zz")];
    let capture = capture();
    let call = ["--config", &path, "capture", "-q", "-r"];
    let call = [&call[..], &[capture.to_str().unwrap()]].concat();
    let error = refusal(&rocescope(&call, &environment));
    assert!(
        error.starts_with("error: invalid value 'zz' for '--window <DURATION>'"),
        "{error}"
    );
    // The operator did not type `--window`.
    assert!(error.contains("environment variable ROCESCOPE_WINDOW"), "{error}");
    assert!(error.contains("Usage: rocescope capture"), "{error}");
    let typed = refusal(&rocescope(&["capture", "-i", "lo", "--window", "yy"], &environment));
    assert!(typed.contains("'yy'") && !typed.contains("ROCESCOPE_WINDOW"), "{typed}");
    let flag = refusal(&rocescope(&["capture", "-i", "lo"], &[("ROCESCOPE_QUIET", "maybe")]));
    assert!(flag.contains("environment variable ROCESCOPE_QUIET"), "{flag}");
    out(&rocescope(&["config", "check", "--config", &path], &environment));
}

/// What is shorter burns processors or gives no answer, what is longer is a typing error.
#[test]
fn every_interval_has_bounds_and_names_them() {
    for (arguments, expected) in [
        (&["collector", "run", "--lateness", "1ns"][..], "from 1ms to 1h"),
        (&["hostping", "run", "--max-time", "99d"], "from 10ms to 1d"),
        (&["diagnose", "hostmesh", "d", "--window", "1ns"], "from 1s to 1d"),
        (&["diagnose", "hostmesh", "d", "--sticky", "99d"], "from 1s to 1d"),
        (&["paths", "discover", "--time-limit", "1ns"], "from 10ms to 1h"),
        (&["paths", "discover", "--connect-limit", "2h"], "from 10ms to 1h"),
    ] {
        let error = refusal(&rocescope(arguments, &[]));
        let expected = format!("expected a duration {expected}");
        assert!(error.contains(&expected), "{arguments:?}: {error}");
    }
}

/// The usage of the program does not help an operator who forgot an option of a subcommand.
#[test]
fn a_usage_error_shows_the_usage_of_its_subcommand() {
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../generate/scenarios/demo.toml");
    let scenario = scenario.to_str().unwrap();
    for (arguments, why) in [
        (&["probe"][..], "nothing to probe between: set --interface or --all"),
        (&["capture"], "no input: set --interface or --read"),
        (
            &["capture", "-i", "lo", "--keep-frames-memory", "1Mi"],
            "no effect without --keep-frames",
        ),
        (
            &["connections"],
            "no input: name a dataset, or set --read or --interface",
        ),
        (&["top"], "no input: set --interface or --read, or name a dataset"),
        (
            &[
                "report",
                "d",
                "--from",
                "2026-11-22T10:00:00Z",
                "--to",
                "2026-11-22T09:00:00Z",
            ],
            "--from must be earlier than --to",
        ),
        (
            &["generate", scenario, "--iface", "lo", "--by", "live"],
            "--by live requires --pps",
        ),
    ] {
        let output = rocescope(arguments, &[]);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = refusal(&output);
        assert!(error.contains(why), "{arguments:?}: {error}");
        let usage = format!("Usage: rocescope {}", arguments[0]);
        assert!(error.contains(&usage), "{arguments:?}: {error}");
    }
}

#[test]
fn every_error_of_a_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        "windov = \"1s\"\nflow-rows = \"all\"\n[captrue]\n[capture]\nquiet = 1\ntop = \"many\"\n[probe]\nnix = 1\n";
    let path = file(&folder, text);
    let expected = [
        ":1: unknown setting `windov`",
        ":2: invalid value 'all'",
        ":3: unknown table `captrue`",
        ":5: `quiet` must be `true` or `false`",
        ":6: invalid value 'many' for `top`",
        ":8: unknown setting `nix`",
    ];
    for arguments in [
        &["config", "check", "--config", &path][..],
        &["capture", "-i", "lo", "--config", &path],
    ] {
        let error = refusal(&rocescope(arguments, &[]));
        for message in expected {
            let line = format!("rocescope: {path}{message}");
            assert_eq!(error.matches(&line).count(), 1, "{line}: {error}");
        }
    }
}

#[test]
fn an_error_in_the_file_has_its_line_number() {
    let folder = tempfile::tempdir().unwrap();
    for (text, message) in [
        (
            "\nwindov = \"1s\"\n",
            ":2: unknown setting `windov`; did you mean `window`?",
        ),
        ("[captrue]\n", ":1: unknown table `captrue`; did you mean `capture`?"),
        ("[capture]\nread = \"x\"\n", ":2: unknown setting `read`"),
        ("[capture]\ntop = \"many\"\n", ":2: invalid value 'many' for `top`"),
        ("[capture]\nquiet = 1\n", ":2: `quiet` must be `true` or `false`"),
        ("[capture]\nwindow = [1]\n", ":2: `window` must be a string or a number"),
        ("[capture]\nfilter = \"pakets > 3\"\n", ":2: invalid value 'pakets > 3'"),
        ("top = \n", ":1: "),
    ] {
        let path = file(&folder, text);
        let expected = format!("rocescope: {path}{message}");
        for arguments in [
            &["config", "check", "--config", &path][..],
            &["capture", "-i", "lo", "--config", &path],
        ] {
            let error = refusal(&rocescope(arguments, &[]));
            assert!(error.starts_with(&expected), "{error}");
        }
    }
    let missing = refusal(&rocescope(&["config", "check", "--config", "/nowhere"], &[]));
    assert!(missing.starts_with("rocescope: /nowhere: "), "{missing}");
    // A broken file does not prevent `--help`.
    let path = file(&folder, "x");
    out(&rocescope(&["capture", "--help", "--config", &path], &[]));
}
