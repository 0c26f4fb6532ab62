//! A panic gives the terminal back before its message is printed.

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

#[test]
fn a_panic_leaves_the_terminal_as_it_was() {
    // Cargo builds examples with tests.
    let here = std::env::current_exe().unwrap();
    let example = here.ancestors().nth(2).unwrap().join("examples/panics");
    let socket = format!("rocescope-view-{}", std::process::id());
    let tmux = |arguments: &[&str]| {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &socket, "-f", "/dev/null", "-u"]);
        let output = tmux.args(arguments).env_remove("TMUX").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let line = format!(
        "{}; echo left-$?; stty -a | tr ';' '\\n' | grep ' icanon'; read wait",
        example.display()
    );
    tmux(&["new-session", "-d", "-x", "120", "-y", "24", "sh", "-c", &line]);
    let begun = Instant::now();
    let mut screen = String::new();
    while begun.elapsed() < Duration::from_secs(60) && !screen.contains(" icanon") {
        sleep(Duration::from_millis(20));
        screen = tmux(&["capture-pane", "-p"]);
    }
    let flags = tmux(&[
        "display-message",
        "-p",
        "#{alternate_on} #{cursor_flag} #{mouse_any_flag}",
    ]);
    tmux(&["kill-server"]);
    assert!(screen.contains("seen by the user"), "{screen}");
    assert!(screen.contains("left-101") && screen.contains(" icanon"), "{screen}");
    assert_eq!(flags.trim(), "0 1 0");
}
