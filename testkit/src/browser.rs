//! A browser without a screen, driven over its debugging pipe.

use crate::DEADLINE;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

/// Chromium with one page.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    session: String,
    last: u64,
    /// Requests of the page, in order.
    requests: Vec<String>,
    /// What the page reported to its console: errors, and violations of its policy.
    complaints: Vec<String>,
    /// Errors of its script that nothing caught: no wait goes on after one.
    exceptions: Vec<String>,
    _profile: tempfile::TempDir,
}

/// Chromium, or `None` if it is not installed, which is a failure in CI.
pub fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file());
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "chromium is not installed");
        eprintln!("skipped: chromium is not installed");
    }
    found
}

/// Options that keep it from everything but the page.
pub const QUIET: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
];

impl Browser {
    /// Starts it, with an empty page; `None` if it is not installed.
    pub fn open() -> Option<Self> {
        let chromium = chromium()?;
        let profile = tempfile::tempdir().unwrap();
        // The pipe is file descriptors 3 and 4 of the browser.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 >/dev/null </dev/null"])
            .arg(chromium)
            .args(QUIET)
            .args([
                "--remote-debugging-pipe",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let commands = child.stdin.take().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while answers.read_until(0, &mut message).is_ok_and(|bytes| bytes > 0) {
                message.pop();
                if sender.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Self {
            child,
            commands,
            messages,
            session: String::new(),
            last: 0,
            requests: Vec::new(),
            complaints: Vec::new(),
            exceptions: Vec::new(),
            _profile: profile,
        };
        let page = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = json!({"targetId": page["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", attached);
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Sends a command of the protocol, and returns its result.
    #[track_caller]
    pub fn call(&mut self, method: &str, parameters: impl Into<Value>) -> Value {
        self.attempt(method, parameters).unwrap()
    }

    /// As [`call`](Self::call); the error if the browser refuses.
    #[track_caller]
    fn attempt(&mut self, method: &str, parameters: impl Into<Value>) -> Result<Value, String> {
        self.last += 1;
        let parameters: Value = parameters.into();
        let mut command = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).unwrap();
        let wanted = self.last;
        let answer = self.wait(method, |message| (message["id"] == wanted).then(|| message.clone()));
        match &answer["error"] {
            Value::Null => Ok(answer["result"].clone()),
            error => Err(format!("{method}: {error}")),
        }
    }

    /// Takes messages until one is wanted.
    #[track_caller]
    fn wait(&mut self, what: &str, mut wanted: impl FnMut(&Value) -> Option<Value>) -> Value {
        let begun = Instant::now();
        loop {
            let left = DEADLINE.saturating_sub(begun.elapsed());
            let message = match self.messages.recv_timeout(left) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => panic!("it never came to this: {what}"),
                Err(RecvTimeoutError::Disconnected) => panic!("the browser ended: {what}"),
            };
            self.note(&message);
            if let Some(found) = wanted(&message) {
                return found;
            }
        }
    }

    fn note(&mut self, message: &Value) {
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                self.requests
                    .push(parameters["request"]["url"].as_str().unwrap().to_owned());
            }
            Some("Log.entryAdded") if parameters["entry"]["level"] == "error" => {
                self.complaints.push(parameters["entry"]["text"].to_string());
            }
            Some("Runtime.exceptionThrown") => self.exceptions.push(parameters["exceptionDetails"].to_string()),
            _ => {}
        }
    }

    /// Opens an address, and waits until it is loaded.
    #[track_caller]
    pub fn go(&mut self, url: &str) {
        let opened = self.call("Page.navigate", json!({"url": url}));
        assert!(opened["errorText"].is_null(), "{url}: {}", opened["errorText"]);
        let here = json!(url.split('#').next());
        self.until(&format!(
            "document.readyState === 'complete' && location.href.split('#')[0] === new URL({here}).href.split('#')[0]"
        ));
    }

    /// The value of an expression in the page; of a promise, what it comes to.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.call("Runtime.evaluate", parameters);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].clone()
    }

    /// The text of the first element that a selector finds.
    #[track_caller]
    pub fn text(&mut self, selector: &str) -> String {
        let text = self.eval(&format!("document.querySelector({}).textContent", json!(selector)));
        text.as_str().unwrap().to_owned()
    }

    /// Waits until an expression holds in the page: it is looked at whenever the page changes.
    #[track_caller]
    pub fn until(&mut self, expression: &str) {
        let begun = Instant::now();
        let look = format!("Boolean({expression})");
        // A page that is being replaced has no answer.
        loop {
            let parameters = json!({"expression": look, "returnByValue": true});
            let found = self.attempt("Runtime.evaluate", parameters);
            if found.is_ok_and(|found| found["result"]["value"] == true) {
                return;
            }
            assert!(self.exceptions.is_empty(), "{expression}: {:?}", self.exceptions);
            assert!(begun.elapsed() < DEADLINE, "it never came to this: {expression}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Clicks the first element that a selector finds.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        self.eval(&format!("document.querySelector({}).click()", json!(selector)));
    }

    /// Presses a key, such as `Tab` or `Enter`.
    pub fn press(&mut self, key: &str) {
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let code = match key {
                "Tab" => 9,
                "Enter" => 13,
                "Escape" => 27,
                _ => 0,
            };
            let parameters =
                json!({"type": kind, "key": key, "code": key, "text": text, "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", parameters);
        }
    }

    /// Sets the size of the window and the colour scheme.
    pub fn look(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// A picture of the window, base64.
    pub fn picture(&mut self, is_whole: bool) -> String {
        let parameters = json!({"format": "png", "captureBeyondViewport": is_whole});
        let picture = self.call("Page.captureScreenshot", parameters);
        picture["data"].as_str().unwrap().to_owned()
    }

    /// The requests of the page so far.
    pub fn requests(&self) -> &[String] {
        &self.requests
    }

    /// Errors that the page reported so far.
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
