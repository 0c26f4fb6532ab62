//! A signal leaves no session on a switch.

use super::devices::{Device, Prints, prepare};
use super::discover;
use rocescope_testkit::{Running, binary, until};
use std::fs;
use std::process::Command;

/// Processes whose command line has this text.
fn processes(text: &str) -> usize {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| String::from_utf8_lossy(line).contains(text))
        .count()
}

#[test]
fn a_signal_ends_the_sessions_and_what_was_answered_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let devices = [
        Device::new("answers", "eos", Prints::Script("echo 'Output Interface: Ethernet2'")),
        Device::new("hangs", "eos", Prints::Script("sleep 300")),
    ];
    if !prepare(folder, &devices, 3) {
        return;
    }
    for signal in ["-TERM", "-HUP", "-INT"] {
        for device in ["answers", "hangs"] {
            let _ = fs::remove_file(folder.join(format!("{device}.log")));
        }
        let mut command = Command::new(binary());
        // One session at a time: when the third flow is asked about, the first two have their answers.
        let options = ["--sessions", "1"];
        command.args(discover("flows.json", &options)).current_dir(folder);
        let mut run = Running::spawn(&mut command);
        let sockets = format!("rocescope-{}-", run.id());
        let asked = |device: &str| {
            let log = fs::read_to_string(folder.join(format!("{device}.log")));
            log.map_or(0, |log| log.matches("show load-balance destination").count())
        };
        until("both are asked", || asked("hangs") > 0 && asked("answers") == 3);
        assert!(processes(&sockets) >= 2, "{signal}");
        run.signal(signal);
        until("it ends", || run.has_ended());
        let printed = run.end().json();
        let outcomes = &printed["outcomes"];
        let [complete, interrupted] = ["complete", "interrupted"].map(|outcome| outcomes[outcome].as_u64().unwrap());
        // The last answer may have been on its way.
        assert!(
            complete + interrupted == 6 && (2..=3).contains(&complete),
            "{signal} {outcomes}"
        );
        until("its clients end", || processes(&sockets) == 0);
        let left: Vec<_> = fs::read_dir(std::env::temp_dir()).unwrap().flatten().collect();
        let is_left = left
            .iter()
            .any(|entry| entry.file_name().to_string_lossy().starts_with(&sockets));
        assert!(!is_left, "{signal}");
    }
}
