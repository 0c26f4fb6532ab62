//! YAML as a tree with lines.

use super::line::LineError;
use saphyr_parser::{Event, Parser, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A value and the line where it starts.
#[derive(Debug, Clone)]
pub(super) struct Yaml {
    pub(super) line: usize,
    pub(super) value: Value,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Scalar(String),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

impl Yaml {
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let found = self.map().iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value)
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text) if text != "~" && text != "null" && !text.is_empty() => Some(text),
            _ => None,
        }
    }

    pub(super) fn list(&self) -> &[Self] {
        match &self.value {
            Value::List(list) => list,
            _ => &[],
        }
    }

    pub(super) fn map(&self) -> &[(String, Self)] {
        match &self.value {
            Value::Map(map) => map,
            _ => &[],
        }
    }
}

/// Containers within containers, at most.
const MAX_DEPTH: usize = 64;

/// Values, with those that aliases repeat, at most: an alias of aliases would fill the memory.
const MAX_VALUES: usize = 4_000_000;

/// Parses the first document.
pub(super) fn parse(text: &str) -> Result<Yaml, LineError> {
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        anchors: BTreeMap::new(),
        values: 0,
    };
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
            Event::StreamEnd | Event::DocumentEnd => return Err((None, "the file is empty".into())),
            event => return reader.value(event, span, 0),
        }
    }
}

struct Reader<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    /// Values by the number of their anchor, with their sizes.
    anchors: BTreeMap<usize, (Yaml, usize)>,
    values: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), LineError> {
        match self.parser.next_event() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => Err((Some(error.marker().line()), error.info().to_owned())),
            None => Err((None, "the file ends within a value".into())),
        }
    }

    fn value(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Yaml, LineError> {
        let line = span.start.line();
        let before = self.values;
        self.values += 1;
        if depth > MAX_DEPTH || self.values > MAX_VALUES {
            return Err((Some(line), "the file nests or repeats too many values".into()));
        }
        let (value, anchor) = match event {
            Event::Scalar(text, _, anchor, _) => (Value::Scalar(text.into_owned()), anchor),
            Event::Alias(anchor) => {
                let Some((value, size)) = self.anchors.get(&anchor) else {
                    return Err((Some(line), "an alias has no anchor".into()));
                };
                self.values += size;
                if self.values > MAX_VALUES {
                    return Err((Some(line), "the file nests or repeats too many values".into()));
                }
                let value = value.value.clone();
                return Ok(Yaml { line, value });
            }
            Event::SequenceStart(anchor, _) => (self.sequence(depth)?, anchor),
            Event::MappingStart(anchor, _) => (self.mapping(depth)?, anchor),
            _ => return Err((Some(line), "a value was expected".into())),
        };
        let yaml = Yaml { line, value };
        if anchor > 0 {
            self.anchors.insert(anchor, (yaml.clone(), self.values - before));
        }
        Ok(yaml)
    }

    fn sequence(&mut self, depth: usize) -> Result<Value, LineError> {
        let mut list = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Value::List(list)),
                (event, span) => list.push(self.value(event, span, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Value, LineError> {
        let mut map: Vec<(String, Yaml)> = Vec::new();
        let mut merged = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                // The own members of a map count before those of another.
                let own: BTreeSet<String> = map.iter().map(|(name, _)| name.clone()).collect();
                map.extend(merged.into_iter().filter(|(name, _)| !own.contains(name)));
                return Ok(Value::Map(map));
            }
            let key = self.value(event, span, depth + 1)?;
            let (event, span) = self.next()?;
            let value = self.value(event, span, depth + 1)?;
            // A merge key repeats the members of another map.
            match key.value {
                Value::Scalar(name) if name == "<<" => merged.extend(value.map().iter().cloned()),
                Value::Scalar(name) => map.push((name, value)),
                _ => return Err((Some(key.line), "a key must be a text".into())),
            }
        }
    }
}
