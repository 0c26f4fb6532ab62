//! Graphviz DOT, as far as Cumulus' PTM uses it: `"leaf1":"swp1" -- "spine1":"swp3" [attributes]`.
//!
//! Attributes of a node name its place: `role` or `function` (leaf, spine, host), `mgmt_ip`, `driver`. Those that `convert`
//! writes hold the rest of a topology: `kind`, `tier`, `addresses`, `vtep`, `ports` and `channels`.

use super::line::LineError;
use super::tiers::by_name;
use super::write::unescaped;
use super::{Link, Node, NodeKind, Port, TIERS, Topology};
use std::iter::Peekable;
use std::net::IpAddr;
use std::str::Chars;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// A name, quoted or not.
    Id(String),
    /// `--` or `->`.
    Edge,
    Mark(char),
}

pub(super) fn parse(text: &str) -> Result<Topology, LineError> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: &tokens, at: 0 };
    let word =
        |token: Option<&Token>, word: &str| matches!(token, Some(Token::Id(id)) if id.eq_ignore_ascii_case(word));
    if word(reader.peek(), "strict") {
        reader.at += 1;
    }
    if !word(reader.peek(), "graph") && !word(reader.peek(), "digraph") {
        return Err((Some(1), "a DOT file begins with `graph NAME {`".into()));
    }
    reader.at += 1;
    if matches!(reader.peek(), Some(Token::Id(_))) {
        reader.at += 1;
    }
    reader.expect('{')?;
    let mut topology = Topology::default();
    reader.statements(&mut topology)?;
    topology.add_named_nodes();
    Ok(topology)
}

struct Reader<'a> {
    tokens: &'a [(Token, usize)],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn line(&self) -> Option<usize> {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.get(self.at.min(last)).map(|(_, line)| *line)
    }

    fn take(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(&Token::Mark(mark));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, mark: char) -> Result<(), LineError> {
        match self.take(mark) {
            true => Ok(()),
            false => Err((self.line(), format!("`{mark}` was expected"))),
        }
    }

    fn id(&mut self) -> Result<String, LineError> {
        match self.peek() {
            Some(Token::Id(id)) => {
                let id = id.clone();
                self.at += 1;
                Ok(id)
            }
            _ => Err((self.line(), "a name was expected".into())),
        }
    }

    /// The statements up to the end of the graph; subgraphs only group.
    fn statements(&mut self, topology: &mut Topology) -> Result<(), LineError> {
        let mut open = 1;
        while open > 0 {
            if self.take(';') || self.take(',') {
                continue;
            }
            if self.take('{') {
                open += 1;
            } else if self.take('}') {
                open -= 1;
            } else if self.peek().is_none() {
                return Err((self.line(), "the file ends before `}`".into()));
            } else {
                self.statement(topology)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, topology: &mut Topology) -> Result<(), LineError> {
        let line = self.line();
        let first = self.end()?;
        if self.take('=') {
            // An attribute of the graph.
            let value = self.id()?;
            if first.0 == "tiers" {
                topology.tiers = names(&value);
            }
            return Ok(());
        }
        if self.peek() != Some(&Token::Edge) {
            let attributes = self.attributes()?;
            let keyword = ["graph", "node", "edge", "subgraph"]
                .iter()
                .any(|word| first.0.eq_ignore_ascii_case(word));
            if !keyword {
                // A name may have colons: only an edge has ports.
                let name = match &first.1 {
                    Some(port) => format!("{}:{port}", first.0),
                    None => first.0.clone(),
                };
                node(topology, &name, &attributes, line)?;
            } else if first.0.eq_ignore_ascii_case("subgraph") && matches!(self.peek(), Some(Token::Id(_))) {
                self.at += 1;
            }
            return Ok(());
        }
        let mut before = first;
        while self.peek() == Some(&Token::Edge) {
            self.at += 1;
            let line = self.line();
            let next = self.end()?;
            let ends = [&before, &next].into_iter().map(|(node, port)| {
                let port = port.clone().ok_or_else(|| {
                    (
                        line,
                        format!("the link at {node} names no port: write `\"{node}\":\"PORT\"`"),
                    )
                })?;
                let node = node.clone();
                Ok(Port { node, port })
            });
            let ends: Result<Vec<Port>, LineError> = ends.collect();
            topology.links.push(Link { ends: ends?, line });
            before = next;
        }
        self.attributes()?;
        Ok(())
    }

    /// A node, perhaps with a port: `"leaf1":"swp1"`, or both in one name.
    fn end(&mut self) -> Result<(String, Option<String>), LineError> {
        let node = self.id()?;
        if self.take(':') {
            return Ok((node, Some(self.id()?)));
        }
        Ok(match Port::parse(&node) {
            Some(Port { node, port }) => (node, Some(port)),
            None => (node, None),
        })
    }

    fn attributes(&mut self) -> Result<Vec<(String, String)>, LineError> {
        let mut attributes = Vec::new();
        while self.take('[') {
            while !self.take(']') {
                if self.take(',') || self.take(';') {
                    continue;
                }
                let key = self.id()?;
                let value = if self.take('=') { self.id()? } else { "true".into() };
                attributes.push((key, value));
            }
        }
        Ok(attributes)
    }
}

/// The names of a list in an attribute.
fn names(value: &str) -> Vec<String> {
    let names = value.split(',').filter(|name| !name.is_empty());
    names.map(unescaped).collect()
}

fn node(
    topology: &mut Topology,
    name: &str,
    attributes: &[(String, String)],
    line: Option<usize>,
) -> Result<(), LineError> {
    let get = |keys: &[&str]| {
        let found = attributes.iter().find(|(key, _)| keys.contains(&&**key));
        found.map(|(_, value)| value.clone())
    };
    let role = get(&["role", "function"]).and_then(|role| by_name(&role));
    let address = |text: &str| {
        let parsed = text.trim().parse();
        parsed.map_err(|_| (line, format!("`{text}` is no IP address")))
    };
    let addresses = get(&["addresses"]).unwrap_or_default();
    let addresses = addresses.split(',').filter(|text| !text.trim().is_empty()).map(address);
    let addresses = addresses.collect::<Result<Vec<IpAddr>, LineError>>()?;
    let vtep = get(&["vtep"]).map(|text| address(&text)).transpose()?;
    let channels = get(&["channels"]).unwrap_or_default();
    let channels = channels.split(';').filter_map(|channel| channel.split_once('='));
    let tier = role.filter(|role| *role > 0).and_then(|role| TIERS.get(role));
    let kind = match get(&["kind"]).as_deref() {
        Some("switch") => Some(NodeKind::Switch),
        Some("host") => Some(NodeKind::Host),
        _ => (role == Some(0)).then_some(NodeKind::Host),
    };
    let node = Node {
        name: name.into(),
        kind,
        tier: get(&["tier"]).or_else(|| tier.map(|tier| (*tier).to_owned())),
        addresses,
        ports: get(&["ports"]).map(|ports| names(&ports)),
        channels: channels
            .map(|(name, members)| (unescaped(name), names(members)))
            .collect(),
        management: get(&["mgmt_ip", "management"]),
        driver: get(&["driver"]),
        vtep,
        line,
    };
    topology.nodes.push(node);
    Ok(())
}

fn tokens(text: &str) -> Result<Vec<(Token, usize)>, LineError> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut is_first_of_line = true;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let at = line;
        match c {
            '\n' => {
                line += 1;
                is_first_of_line = true;
                continue;
            }
            c if c.is_whitespace() => continue,
            // A line of the preprocessor.
            '#' if is_first_of_line => to_end_of_line(&mut rest),
            '/' if rest.peek() == Some(&'/') => to_end_of_line(&mut rest),
            '/' if rest.peek() == Some(&'*') => {
                rest.next();
                let mut last = ' ';
                loop {
                    match rest.next() {
                        Some('/') if last == '*' => break,
                        Some(c) => {
                            line += usize::from(c == '\n');
                            last = c;
                        }
                        None => return Err((Some(at), "a comment has no end".into())),
                    }
                }
            }
            '-' if matches!(rest.peek(), Some('-' | '>')) => {
                rest.next();
                tokens.push((Token::Edge, at));
            }
            '{' | '}' | '[' | ']' | ';' | ',' | '=' | ':' => tokens.push((Token::Mark(c), at)),
            '"' => {
                let mut id = String::new();
                loop {
                    match rest.next() {
                        Some('"') => break,
                        Some('\\') if rest.peek() == Some(&'"') => id.extend(rest.next()),
                        Some(c) => {
                            line += usize::from(c == '\n');
                            id.push(c);
                        }
                        None => return Err((Some(at), "a quoted name has no end".into())),
                    }
                }
                tokens.push((Token::Id(id), at));
            }
            c if is_part_of_id(c) => {
                let mut id = String::from(c);
                while let Some(c) = rest.next_if(|c| is_part_of_id(*c)) {
                    id.push(c);
                }
                tokens.push((Token::Id(id), at));
            }
            c => return Err((Some(at), format!("unexpected `{c}`"))),
        }
        is_first_of_line = false;
    }
    Ok(tokens)
}

/// Letters and digits, and `.` and `/` beyond the standard: names of interfaces have them.
fn is_part_of_id(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '/')
}

fn to_end_of_line(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| *c != '\n').is_some() {}
}
