//! The controller's configuration: who may change it, and what each group of members is to run.
//!
//! ```toml
//! operators = ["ops"]              # names in certificates
//!
//! [peers]                          # agents probe each other: the controller chooses whom
//! members = ["h*"]
//!
//! [addresses]                      # of agents whose certificates do not have them
//! h0 = ["10.9.0.1"]
//!
//! [[group]]
//! name = "hosts"
//! members = ["h*"]                 # names of agents and capture boxes; the first group that has a name wins
//! [group.probe]                    # settings as in the members' own files
//! interval = "50ms"
//! ```

use super::message::Role;
use rocescope_model::filter::matches;
use rocescope_model::human::{is_visible, visible};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::net::IpAddr;
use toml::Value;

/// Maximum bytes of the file: it is sent to every member.
const MAX_BYTES: usize = 256 << 10;

/// The parsed configuration.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Names in the certificates of those who may apply and roll back.
    pub operators: Vec<String>,
    /// Addresses of members, by name, beside those in their certificates.
    #[serde(default)]
    pub addresses: BTreeMap<String, Vec<IpAddr>>,
    /// Who probes NICs of other hosts, if the controller chooses these.
    #[serde(default)]
    pub peers: Option<Peering>,
    /// The groups.
    #[serde(default, rename = "group")]
    pub groups: Vec<Group>,
}

/// The agents whose NICs probe each other, as the controller hands out.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peering {
    /// Patterns of their names: all agents.
    #[serde(default = "Peering::all")]
    pub members: Vec<String>,
    /// DSCPs that the source ports take in turn: those of each host.
    #[serde(default)]
    pub dscp: Vec<u8>,
}

impl Peering {
    fn all() -> Vec<String> {
        vec!["*".into()]
    }

    /// Whether an agent takes part.
    #[must_use]
    pub fn has(&self, member: &str) -> bool {
        self.members.iter().any(|pattern| matches(member, pattern))
    }
}

/// A group of members, and what they are to run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Patterns of the names of its members.
    pub members: Vec<String>,
    /// What they are; without it, see [`Group::role`].
    #[serde(default)]
    pub role: Option<Role>,
    /// The settings, by table.
    #[serde(flatten)]
    pub settings: BTreeMap<String, BTreeMap<String, Value>>,
}

impl Plan {
    /// Parses and checks the file. Settings are checked by those who receive them: they may run another version.
    ///
    /// # Errors
    /// Why it is invalid, in one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_BYTES {
            return Err(format!("it has {} bytes, of at most {MAX_BYTES}", text.len()));
        }
        let plan: Self = toml::from_str(text).map_err(|error| line_of(text, &error))?;
        let mut names = BTreeSet::new();
        for name in &plan.operators {
            if name.is_empty() || !name.chars().all(is_visible) {
                return Err(format!(
                    "operator {name:?}: expected a DNS name of a certificate, such as \"ops\""
                ));
            }
        }
        if plan.operators.is_empty() {
            return Err("no operator: no one could change it; set operators = [\"NAME\"]".into());
        }
        if let Some(dscp) = plan.peers.iter().flat_map(|peers| &peers.dscp).find(|dscp| **dscp > 63) {
            return Err(format!("peers: dscp {dscp}: expected 0 to 63"));
        }
        for group in &plan.groups {
            if group.name.is_empty() || !group.name.chars().all(is_visible) {
                return Err(format!("group {:?}: expected a name", group.name));
            }
            if !names.insert(&group.name) {
                return Err(format!("there are two groups {}", group.name));
            }
            if group.members.is_empty() {
                return Err(format!(
                    "group {} has no members: set members = [\"PATTERN\"]",
                    group.name
                ));
            }
        }
        Ok(plan)
    }

    /// The first group that has this member.
    #[must_use]
    pub fn group(&self, member: &str) -> Option<&Group> {
        let is_of = |group: &&Group| group.members.iter().any(|pattern| matches(member, pattern));
        self.groups.iter().find(is_of)
    }

    /// What a member is: agents and members of no group are agents.
    #[must_use]
    pub fn role(&self, member: &str) -> Role {
        self.group(member).map_or(Role::Agent, Group::role)
    }

    /// Whether the file gives a member this address. Names of DNS know no case.
    #[must_use]
    pub fn has_address(&self, member: &str, address: IpAddr) -> bool {
        self.addresses
            .iter()
            .any(|(name, addresses)| name.eq_ignore_ascii_case(member) && addresses.contains(&address))
    }

    /// What has no member among these names, each in a line: patterns that match none, and groups whose members belong
    /// to earlier groups. Without names nothing is known.
    #[must_use]
    pub fn unmatched(&self, members: &[&str]) -> Vec<String> {
        let mut lines = Vec::new();
        for group in self.groups.iter().filter(|_| !members.is_empty()) {
            let is_unmatched = |pattern: &&String| !members.iter().any(|member| matches(member, pattern));
            let unmatched = group.members.iter().filter(is_unmatched);
            let unmatched: Vec<&str> = unmatched.map(String::as_str).collect();
            let has_member = members.iter().any(|member| self.group(member) == Some(group));
            if !unmatched.is_empty() {
                let patterns = visible(&unmatched.join(", "));
                lines.push(format!("group {}: no member matches {patterns}", group.name));
            } else if !has_member {
                lines.push(format!(
                    "group {}: all its members belong to earlier groups",
                    group.name
                ));
            }
        }
        lines
    }

    /// Whether a certificate of this name may apply. Names of DNS know no case.
    #[must_use]
    pub fn is_operator(&self, name: &str) -> bool {
        self.operators
            .iter()
            .any(|operator| operator.eq_ignore_ascii_case(name))
    }

    /// The settings of a member, as a configuration file; empty without a group.
    #[must_use]
    pub fn text(&self, member: &str) -> String {
        self.group(member).map_or_else(String::new, Group::text)
    }
}

impl Group {
    /// What its members are: capture boxes if the file states it, or if it has settings of capture boxes and none of agents.
    #[must_use]
    pub fn role(&self) -> Role {
        let has_only_captures = !self.settings.is_empty() && self.settings.keys().all(|table| table == "capture");
        self.role.unwrap_or(match has_only_captures {
            true => Role::Capture,
            false => Role::Agent,
        })
    }

    /// The settings as a configuration file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (table, settings) in &self.settings {
            let _ = writeln!(text, "[{table}]");
            for (name, value) in settings {
                let _ = writeln!(text, "{name} = {}", inline(value));
            }
        }
        text
    }
}

/// The value as TOML in one line.
fn inline(value: &Value) -> String {
    match value {
        // TOML accepts all escapes of JSON.
        Value::String(text) => serde_json::to_string(text).unwrap_or_default(),
        Value::Integer(number) => number.to_string(),
        // The spelling of TOML.
        Value::Float(number) if number.is_nan() => "nan".to_owned(),
        Value::Float(number) => format!("{number:?}"),
        Value::Boolean(flag) => flag.to_string(),
        Value::Datetime(time) => time.to_string(),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(inline).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Table(values) => {
            let pair = |(name, value): (&String, &Value)| {
                let name = serde_json::to_string(name).unwrap_or_default();
                format!("{name} = {}", inline(value))
            };
            let values: Vec<String> = values.iter().map(pair).collect();
            format!("{{ {} }}", values.join(", "))
        }
    }
}

/// The error of the parser with its line, in one line.
fn line_of(text: &str, error: &toml::de::Error) -> String {
    let start = error.span().map_or(0, |span| span.start);
    let before = text.get(..start).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    format!("line {line}: {}", error.message().replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::{Plan, Role};

    const FILE: &str = "operators = [\"ops\"]\n[[group]]\nname = \"hosts\"\nmembers = [\"h*\"]\n\
        [group.probe]\ninterval = \"50ms\"\nmax-cpu = 0.5\nall = true\n[group.counters]\nmetric = [\"a\\\"b\", \"*cnp*\"]\n\
        [[group]]\nname = \"rest\"\nmembers = [\"*\"]\n";

    #[test]
    fn the_first_group_that_has_a_member_wins_and_its_settings_are_a_file_again() {
        let plan = Plan::parse(FILE).unwrap();
        let text = plan.text("h7");
        let read: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(read["probe"]["interval"].as_str(), Some("50ms"));
        assert_eq!(read["probe"]["max-cpu"].as_float(), Some(0.5));
        assert_eq!(read["probe"]["all"].as_bool(), Some(true));
        assert_eq!(read["counters"]["metric"][0].as_str(), Some("a\"b"));
        assert_eq!(plan.group("box-1").unwrap().name, "rest");
        assert_eq!(plan.text("box-1"), "");
        assert!(plan.is_operator("OPS") && !plan.is_operator("h7"));
    }

    #[test]
    fn a_group_with_settings_of_capture_boxes_alone_is_of_capture_boxes() {
        let role = |more: &str| {
            let file = format!("operators = [\"a\"]\n[[group]]\nname = \"g\"\nmembers = [\"*\"]\n{more}");
            Plan::parse(&file).map(|plan| plan.role("x"))
        };
        assert_eq!(role(""), Ok(Role::Agent));
        assert_eq!(role("role = \"capture\"\n"), Ok(Role::Capture));
        assert_eq!(role("[group.capture]\ntop = 1\n"), Ok(Role::Capture));
        assert_eq!(role("role = \"agent\"\n[group.capture]\ntop = 1\n"), Ok(Role::Agent));
        assert_eq!(
            role("[group.capture]\ntop = 1\n[group.probe]\nall = true\n"),
            Ok(Role::Agent)
        );
        assert!(role("role = \"operator\"\n").is_err());
    }

    #[test]
    fn agents_probe_each_other_where_the_file_states_it() {
        let parse = |peers: &str| Plan::parse(&format!("operators = [\"a\"]\n{peers}"));
        assert_eq!(parse("").unwrap().peers, None);
        let all = parse("[peers]\n").unwrap().peers.unwrap();
        assert!(all.has("h7") && all.dscp.is_empty());
        let some = parse("[peers]\nmembers = [\"gpu*\"]\ndscp = [26, 48]\n")
            .unwrap()
            .peers
            .unwrap();
        assert_eq!(
            (some.has("gpu1"), some.has("h7"), &*some.dscp),
            (true, false, &[26, 48][..])
        );
        assert_eq!(
            parse("[peers]\ndscp = [64]\n").unwrap_err(),
            "peers: dscp 64: expected 0 to 63"
        );
        assert!(parse("[peers]\nmember = []\n").unwrap_err().starts_with("line 3:"));
    }

    #[test]
    fn patterns_and_groups_without_a_member_are_named() {
        let plan = Plan::parse(FILE).unwrap();
        assert_eq!(plan.unmatched(&["h0", "box"]), Vec::<String>::new());
        assert_eq!(plan.unmatched(&["box"]), ["group hosts: no member matches h*"]);
        assert_eq!(
            plan.unmatched(&["h0"]),
            ["group rest: all its members belong to earlier groups"]
        );
        assert_eq!(plan.unmatched(&[]), Vec::<String>::new(), "no one was here yet");
    }

    #[test]
    fn an_invalid_file_is_refused_in_one_line_with_its_place() {
        for (text, expected) in [
            ("operators = []\n", "no operator"),
            ("operators = [\"a\"]\nx = 1\n", "line 2: unknown field `x`"),
            (
                "operators = [\"a\"]\n[[group]]\nname = \"g\"\nmembers = []\n",
                "group g has no members",
            ),
            (
                "operators = [\"a\"]\n[[group]]\nname = \"g\"\nmember = [\"a\"]\n",
                "line 2:",
            ),
            ("operators = [\"a\"]\n[[group\n", "line 2:"),
        ] {
            let error = Plan::parse(text).unwrap_err();
            assert!(error.contains(expected) && !error.contains('\n'), "{error}");
        }
        let two = "operators = [\"a\"]\n".to_owned() + &"[[group]]\nname = \"g\"\nmembers = [\"*\"]\n".repeat(2);
        assert_eq!(Plan::parse(&two).unwrap_err(), "there are two groups g");
    }
}
