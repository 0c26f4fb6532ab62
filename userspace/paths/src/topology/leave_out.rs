//! Leaves out links, and nodes that have no others.

use super::{Link, Port, Topology};
use std::collections::BTreeSet;

impl Topology {
    /// Leaves out the links at ports that fit a pattern, `PORT` or `NODE:PORT` with `*` for any characters, and the nodes
    /// whose only links these were.
    ///
    /// # Errors
    /// A pattern fits no port of a link.
    pub fn leave_out(&mut self, patterns: &[String]) -> Result<(), String> {
        let before = nodes(&self.links);
        for pattern in patterns {
            let fits = |link: &Link| link.ends.iter().any(|end| is_at(pattern, end));
            let count = self.links.len() + self.management.len();
            self.links.retain(|link| !fits(link));
            self.management.retain(|link| !fits(link));
            if self.links.len() + self.management.len() == count {
                return Err(format!("no link is at a port that fits `{pattern}`"));
            }
        }
        let after = nodes(&self.links);
        self.nodes
            .retain(|node| !before.contains(&node.name) || after.contains(&node.name));
        Ok(())
    }
}

fn nodes(links: &[Link]) -> BTreeSet<String> {
    let ends = links.iter().flat_map(|link| &link.ends);
    ends.map(|end| end.node.clone()).collect()
}

fn is_at(pattern: &str, end: &Port) -> bool {
    match pattern.split_once(':') {
        Some((node, port)) if fits(node, &end.node) && fits(port, &end.port) => true,
        _ => fits(pattern, &end.port),
    }
}

/// Whether a pattern fits a whole text: `*` is any characters.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.split_once(part) {
            Some((_, behind)) => text = behind,
            None => return false,
        }
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_are_any_characters() {
        let cases = [
            ("eth0", "eth0", true),
            ("eth0", "eth01", false),
            ("eth*", "eth01", true),
            ("*0", "eth0", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxcyyb", false),
            ("a*a", "a", false),
            ("*", "", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
