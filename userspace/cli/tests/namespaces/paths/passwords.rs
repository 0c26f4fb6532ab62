//! Logins with a password, at a real OpenSSH server that accepts nothing else.

use super::devices::{Device, Prints, prepare};
use super::discover;
use rocescope_testkit::run_in;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

const PASSWORD: &str = "correct horse";

/// Makes the server of a device know a password of root: in a mount namespace of its own, so that this machine's
/// `/etc/shadow` stays as it is. `false` where that is impossible.
fn with_password(folder: &Path) -> bool {
    let hash = Command::new("openssl").args(["passwd", "-6", PASSWORD]).output();
    let Some(hash) = hash.ok().filter(|hash| hash.status.success()) else {
        assert!(std::env::var_os("CI").is_none(), "no openssl");
        return false;
    };
    let hash = String::from_utf8(hash.stdout).unwrap();
    fs::write(
        folder.join("shadow"),
        format!("root:{}:19000:0:99999:7:::\nsshd:!:19000::::::\n", hash.trim()),
    )
    .unwrap();
    let client = fs::read_to_string(folder.join("ssh")).unwrap();
    let server = format!(
        "ProxyCommand unshare -m sh -c 'mount --bind {0}/shadow /etc/shadow && exec /usr/sbin/sshd -i -f {0}/%h.conf'",
        folder.display()
    );
    let lines = client
        .lines()
        .map(|line| match line.trim_start().starts_with("ProxyCommand") {
            true => format!("  {server}"),
            false => line.to_owned(),
        });
    fs::write(folder.join("ssh"), lines.collect::<Vec<String>>().join("\n") + "\n").unwrap();
    true
}

#[test]
fn the_password_of_a_file_logs_in_and_a_wrong_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let device = Device {
        // The first line of a configuration counts.
        server: "PubkeyAuthentication no\n",
        ..Device::new("eos", "eos", Prints::Script("echo 'Output Interface: Ethernet2'"))
    };
    if !prepare(folder, &[device], 2) || !with_password(folder) {
        return;
    }
    let conf = folder.join("eos.conf");
    let text = fs::read_to_string(&conf).unwrap();
    fs::write(
        &conf,
        text.replace("PasswordAuthentication no", "PasswordAuthentication yes"),
    )
    .unwrap();
    // Only the first line is the password.
    fs::write(folder.join("it's right"), format!("{PASSWORD}\nanother line\n")).unwrap();
    fs::write(folder.join("wrong"), "incorrect horse\n").unwrap();
    for (options, outcome) in [
        (&["--password-file", "it's right"][..], "complete"),
        (&["--password-file", "wrong"], "login_refused"),
        (&[], "login_refused"),
    ] {
        let output = run_in(&discover("flows.json", options), folder);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            found["outcomes"],
            json!({outcome: 2}),
            "{options:?}: {:#}",
            found["devices"]
        );
        let printed = [output.stdout, output.stderr].concat();
        assert!(!String::from_utf8_lossy(&printed).contains("horse"));
    }
}
