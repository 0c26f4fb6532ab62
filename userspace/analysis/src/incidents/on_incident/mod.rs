//! What `--on-incident` names: a command, a server that gets each change as JSON, or an Alertmanager.
//!
//! | module | what it does |
//! |---|---|
//! | `alertmanager` | keeps an Alertmanager up to date |

mod alertmanager;

use alertmanager::Alertmanager;
use rocescope_collector::http::{Client, Url};
use rocescope_diagnose::incidents::changes::Change;
use rocescope_model::hosts::Hosts;
use rocescope_model::json;
use rocescope_runtime::hook::{LONGEST, Target, command};
use std::str::FromStr;

/// How the address of an Alertmanager begins, before `http://` or `https://`.
const ALERTMANAGER: &str = "alertmanager+";

/// A target of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnIncident {
    /// A command of the shell, with the change as one line of JSON on its standard input.
    Command(String),
    /// A server, to which the change is posted as JSON.
    Post(Url),
    /// An Alertmanager.
    Alertmanager(Url),
}

impl FromStr for OnIncident {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Some(url) = text.strip_prefix(ALERTMANAGER) {
            return Url::parse(url).map(Self::Alertmanager);
        }
        if text.starts_with("http://") || text.starts_with("https://") {
            return Url::parse(text).map(Self::Post);
        }
        match text.is_empty() {
            true => Err("expected a command, http://…, https://… or alertmanager+http://…".into()),
            false => Ok(Self::Command(text.to_owned())),
        }
    }
}

impl OnIncident {
    /// Makes it ready for the changes that `observer` reports; `names` replaces addresses.
    pub(super) fn open(&self, observer: &str, names: &Hosts) -> Box<dyn Target<Change>> {
        let names = names.clone();
        match self {
            Self::Command(command) => Box::new(Command {
                command: command.clone(),
                names,
            }),
            Self::Post(url) => Box::new(Post {
                client: Client::new(url.clone()),
                names,
            }),
            Self::Alertmanager(url) => Box::new(Alertmanager::new(url, observer, names)),
        }
    }
}

struct Command {
    command: String,
    names: Hosts,
}

impl Target<Change> for Command {
    fn deliver(&mut self, change: &Change) -> Result<(), String> {
        command::run(&self.command, &text(&self.names, change), LONGEST)
    }
}

struct Post {
    client: Client,
    names: Hosts,
}

impl Target<Change> for Post {
    fn deliver(&mut self, change: &Change) -> Result<(), String> {
        self.client.post(text(&self.names, change))
    }
}

/// A change as one line of JSON.
fn text(names: &Hosts, change: &Change) -> String {
    names.json(&(json::compact(change) + "\n"))
}

#[cfg(test)]
mod tests {
    use super::OnIncident;

    #[test]
    fn the_first_word_decides_and_the_rest_is_a_command() {
        let parse = |text: &str| text.parse::<OnIncident>();
        assert!(matches!(parse("cat >> log"), Ok(OnIncident::Command(_))));
        assert!(matches!(parse("curl -d @- http://a"), Ok(OnIncident::Command(_))));
        assert!(matches!(parse("https://a.example/hook"), Ok(OnIncident::Post(_))));
        let alerts = parse("alertmanager+http://localhost:9093");
        assert!(matches!(alerts, Ok(OnIncident::Alertmanager(_))), "{alerts:?}");
        for wrong in ["", "http://", "alertmanager+localhost:9093", "alertmanager+ftp://a"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
