//! A terminal of a given size, provided by tmux.

use rocescope_testkit::{binary, until, until_some};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// A tmux server of its own with one window.
pub(crate) struct Terminal {
    socket: String,
}

impl Terminal {
    /// Starts a shell that runs this line, with the binary as `$ROCESCOPE`.
    pub(crate) fn run(width: u16, height: u16, line: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let terminal = Self {
            socket: format!("rocescope-{}-{number}", std::process::id()),
        };
        let (width, height) = (width.to_string(), height.to_string());
        let mut start = terminal.tmux(&["new-session", "-d", "-x", &width, "-y", &height]);
        // The prompt must not contain the expected text.
        start.args(["-e", "PS1=ready$ ", "-e", "LC_ALL=C.UTF-8"]);
        start.args(["-e", &format!("ROCESCOPE={}", binary())]);
        let status = start.args(["bash", "--norc", "--noprofile", "-i"]).status();
        assert!(status.unwrap().success(), "tmux is a Debian package");
        terminal.wait("ready$");
        terminal.type_in(line);
        terminal.press(&["Enter"]);
        terminal
    }

    fn tmux(&self, arguments: &[&str]) -> Command {
        let mut tmux = Command::new("tmux");
        // Without the settings of any user.
        tmux.args(["-L", &self.socket, "-f", "/dev/null", "-u"]);
        tmux.args(arguments).env_remove("TMUX").env_remove("NO_COLOR");
        tmux
    }

    fn ask(&self, arguments: &[&str]) -> String {
        let output = self.tmux(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Presses keys, by tmux's names.
    pub(crate) fn press(&self, keys: &[&str]) {
        for key in keys {
            self.ask(&["send-keys", key]);
        }
    }

    /// Types characters.
    pub(crate) fn type_in(&self, text: &str) {
        self.ask(&["send-keys", "-l", text]);
    }

    /// The text on the screen, when no frame is being painted: two looks are equal.
    pub(crate) fn screen(&self) -> String {
        let look = || self.ask(&["capture-pane", "-p"]);
        let mut screen = look();
        for _ in 0..20 {
            sleep(Duration::from_millis(10));
            let next = look();
            if next == screen {
                break;
            }
            screen = next;
        }
        screen
    }

    /// The screen with its escape codes.
    pub(crate) fn painted(&self) -> String {
        self.ask(&["capture-pane", "-p", "-e"])
    }

    /// Sets columns and lines.
    pub(crate) fn resize(&self, width: u16, height: u16) {
        let (width, height) = (width.to_string(), height.to_string());
        self.ask(&["resize-window", "-x", &width, "-y", &height]);
    }

    /// Whether a program uses the alternate screen, and whether the cursor is visible.
    pub(crate) fn taken(&self) -> (bool, bool) {
        let flags = self.ask(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]);
        let flags: Vec<&str> = flags.split_whitespace().collect();
        (flags[0] == "1", flags[1] == "1")
    }

    /// Waits until the screen meets a condition.
    #[track_caller]
    pub(crate) fn until(&self, wanted: &str, is: impl Fn(&str) -> bool) -> String {
        until_some(wanted, || Some(self.screen()).filter(|screen| is(screen)))
    }

    /// Waits for a text.
    #[track_caller]
    pub(crate) fn wait(&self, text: &str) -> String {
        self.until(&format!("`{text}`"), |screen| screen.contains(text))
    }

    /// Leaves the view, which must restore the terminal.
    #[track_caller]
    pub(crate) fn quit(&self) {
        self.press(&["q"]);
        self.is_restored();
    }

    /// Asserts that the shell is back and the terminal is as programs expect it: lines, echo, cursor.
    #[track_caller]
    pub(crate) fn is_restored(&self) {
        until("the shell", || {
            self.taken() == (false, true) && self.screen().trim_end().ends_with("ready$")
        });
        // The printed words are adjacent; those of the typed line are not.
        self.type_in("stty -a | tr ';' '\\n' | grep -o ' icanon.* iexten\\| echo '; echo back-$((6*7))");
        self.press(&["Enter"]);
        let screen = self.wait("back-42");
        assert!(screen.contains(" icanon") && screen.contains(" echo"), "{screen}");
        assert_eq!(self.taken(), (false, true), "{screen}");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]).status();
    }
}
