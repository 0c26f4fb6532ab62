//! Reads a driver, and checks all that can be known before a switch is asked.

use super::template::{NAMES, Template};
use super::{Driver, Pattern};
use crate::topology::Lines;
use std::path::Path;

/// The drivers of rocescope by name.
const BUILT_IN: [(&str, &str); 6] = [
    ("linux", include_str!("linux.toml")),
    ("eos", include_str!("eos.toml")),
    ("cumulus", include_str!("cumulus.toml")),
    ("sonic", include_str!("sonic.toml")),
    ("nxos", include_str!("nxos.toml")),
    ("junos", include_str!("junos.toml")),
];

impl Driver {
    /// The driver with a name: one of rocescope's, or the path of a TOML file, seen from `folder`.
    ///
    /// # Errors
    /// There is none, or the file is wrong: one line.
    pub fn find(name: &str, folder: &Path) -> Result<Self, String> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
            return Self::parse(text).map_err(|(_, message)| message);
        }
        if !name.ends_with(".toml") {
            let names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "no driver `{name}`: choose one of {}, or name a TOML file",
                names.join(", ")
            ));
        }
        let path = folder.join(name);
        let text = rocescope_input::text(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map_err(|(line, message)| {
            let line = line.map_or(String::new(), |line| format!(":{line}"));
            format!("{}{line}: {message}", path.display())
        })
    }

    /// Reads a driver.
    ///
    /// # Errors
    /// What is wrong with it, and in which line, if that is known.
    pub fn parse(text: &str) -> Result<Self, (Option<usize>, String)> {
        let driver: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| Lines::of(text).line(span.start));
            (line, error.message().replace('\n', " "))
        })?;
        driver.check().map_err(|message| (None, message))?;
        Ok(driver)
    }

    fn check(&self) -> Result<(), String> {
        if self.ask.commands().all().next().is_none() {
            return Err("`[ask]` has no command: write `ipv4`, `ipv6` or both".into());
        }
        let channel = self.channel.as_ref();
        let parts = [
            ("ask", Some(self.ask.commands())),
            ("start", self.start.as_ref().map(super::Ask::commands)),
            ("channel", channel.map(super::Channel::commands)),
        ];
        for (part, commands) in parts {
            let names = commands
                .into_iter()
                .flat_map(super::Commands::all)
                .flat_map(Template::names);
            for name in names {
                let is_known = NAMES.contains(&name)
                    || name == "ingress" && part != "start"
                    || name == "channel" && part == "channel"
                    || self.values.contains_key(name);
                if !is_known {
                    return Err(format!(
                        "`{{{name}}}` in a command of `[{part}]` has no value: add it to `[values]`, or write one of {}",
                        NAMES.join(", ")
                    ));
                }
            }
        }
        named("egress", &self.egress, Pattern::has_port)?;
        named("outer_src_port", &self.outer_src_port, Pattern::has_port)?;
        if let Some(channel) = channel {
            named("egress` of `[channel]", &channel.egress, Pattern::has_port)?;
        }
        let hashes = [self.hash.as_ref(), self.channel_hash()];
        for hash in hashes.into_iter().flatten() {
            named("fields", &hash.fields, Pattern::has_field)?;
        }
        match self.egress.is_empty() {
            true => Err("`egress` is empty: no answer could be read".into()),
            false => Ok(()),
        }
    }
}

/// Refuses a pattern that finds no name.
fn named(key: &str, patterns: &[Pattern], has_name: fn(&Pattern) -> bool) -> Result<(), String> {
    let wants = if key == "fields" {
        "`{field}` or `{fields}`"
    } else {
        "`{egress}`"
    };
    match patterns.iter().position(|pattern| !has_name(pattern)) {
        Some(place) => Err(format!("pattern {} of `{key}` needs {wants}", place + 1)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{BUILT_IN, Driver};

    #[test]
    fn drivers_of_rocescope_are_right() {
        for (name, text) in BUILT_IN {
            assert!(Driver::parse(text).is_ok(), "{name}: {:?}", Driver::parse(text).err());
        }
    }

    #[test]
    fn a_wrong_driver_has_one_error_before_a_switch_is_asked() {
        let ask = "egress = [\"port {egress}\"]\n[ask]\nipv4 = \"which {dst}\"\n";
        for (text, line, message) in [
            (
                ask.replace("dst}", "dst"),
                Some(3),
                "a command has a brace without a name",
            ),
            (
                ask.replace("dst", "vrf"),
                None,
                "`{vrf}` in a command of `[ask]` has no value",
            ),
            (
                ask.replace("{egress}", "x"),
                None,
                "pattern 1 of `egress` needs `{egress}`",
            ),
            (
                ask.replace("port {egress}", "{egress} {egress}"),
                Some(1),
                "is no pattern",
            ),
            (ask.replace("ipv4", "ipv5"), Some(3), "unknown field `ipv5`"),
            (
                ask.replace("ipv4 = \"which {dst}\"", ""),
                None,
                "`[ask]` has no command",
            ),
            (
                format!("{ask}[start]\nipv4 = \"{{ingress}}\""),
                None,
                "`{ingress}` in a command of `[start]`",
            ),
            (
                format!("{ask}[hash]\nfields = [\"is on\"]"),
                None,
                "pattern 1 of `fields` needs `{field}`",
            ),
        ] {
            let (at, found) = Driver::parse(&text).unwrap_err();
            assert!(found.contains(message) && !found.contains('\n'), "{text}: {found}");
            assert_eq!(at, line, "{text}: {found}");
        }
        let with_value = format!("{}[values]\nvrf = \"red\"\n", ask.replace("{dst}", "{dst} vrf {vrf}"));
        assert!(Driver::parse(&with_value).is_ok());
    }
}
