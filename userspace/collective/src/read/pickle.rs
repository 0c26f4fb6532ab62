//! Pickles of plain values, as JSON.
//!
//! `PyTorch` writes the dumps of its flight recorder so: protocol 2, with a function around each list and dictionary that
//! restores its type (`Pickler` in torch/csrc/jit/serialization/pickler.cpp). Protocols up to 5 of Python are read too.
//! Nothing that a pickle names is run: a call has the value of its first argument.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// The first bytes of a pickle are this one and its protocol.
const PROTOCOL: u8 = 0x80;
const LAST_PROTOCOL: u8 = 5;
/// Values can be in each other without end, and a value that is written once be in many others.
const DEEPEST: usize = 32;
const LONGEST_JSON: (usize, usize) = (32, 65_536);
/// Call stacks, which nothing here reads, are most of a dump.
const UNREAD: &str = "frames";

/// Why bytes are no pickle of plain values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damaged {
    /// The byte, from 0.
    pub at: usize,
    reason: &'static str,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "damaged pickle, byte {}: {}", self.at, self.reason)
    }
}

impl core::error::Error for Damaged {}

/// Whether bytes begin as a pickle does; no text in UTF-8 begins so.
#[must_use]
pub fn is_pickle(bytes: &[u8]) -> bool {
    matches!(bytes, [PROTOCOL, protocol, ..] if (2..=LAST_PROTOCOL).contains(protocol))
}

/// Returns the value of a pickle as JSON, without the call stacks of a flight recorder.
///
/// # Errors
/// The pickle is cut, damaged, has values that are not plain, or its JSON would be more than 32 times as long.
pub fn json(bytes: &[u8]) -> Result<String, Damaged> {
    let mut machine = Machine {
        bytes,
        ..Machine::default()
    };
    let value = loop {
        if let Some(value) = machine.step()? {
            break value;
        }
    };
    let (times, least) = LONGEST_JSON;
    let mut json = Json {
        machine: &machine,
        text: String::new(),
        longest: bytes.len().saturating_mul(times).saturating_add(least),
    };
    json.write(value, 0)?;
    Ok(json.text)
}

/// A value; lists and dictionaries by their number, because they change after they are named.
#[derive(Debug, Clone, Copy)]
enum Item<'a> {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(&'a str),
    List(usize),
    Dictionary(usize),
    Function,
}

/// What the instructions of a pickle work on.
#[derive(Debug, Default)]
struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Item<'a>>,
    /// Lengths of the stack.
    marks: Vec<usize>,
    named: BTreeMap<u64, Item<'a>>,
    lists: Vec<Vec<Item<'a>>>,
    dictionaries: Vec<Vec<(Item<'a>, Item<'a>)>>,
}

impl<'a> Machine<'a> {
    /// Runs an instruction; returns the value at the end of the pickle.
    fn step(&mut self) -> Result<Option<Item<'a>>, Damaged> {
        match self.number(1)? as u8 {
            0x80 => drop(self.take(1)?),
            0x95 => drop(self.take(8)?),
            b'.' => return self.pop().map(Some),
            b'(' => self.marks.push(self.stack.len()),
            b'N' => self.stack.push(Item::Null),
            0x88 => self.stack.push(Item::Bool(true)),
            0x89 => self.stack.push(Item::Bool(false)),
            b'K' => self.integer(1)?,
            b'M' => self.integer(2)?,
            b'J' => {
                let number = self.number(4)? as u32;
                self.stack.push(Item::Integer(number.cast_signed().into()));
            }
            0x8a => self.long()?,
            b'G' => {
                // The only number with its highest byte first.
                let number = self.number(8)?.swap_bytes();
                self.stack.push(Item::Float(f64::from_bits(number)));
            }
            0x8c => self.text(1)?,
            b'X' => self.text(4)?,
            0x8d => self.text(8)?,
            b']' => self.list(Vec::new()),
            b')' => self.list(Vec::new()),
            b'}' => {
                self.stack.push(Item::Dictionary(self.dictionaries.len()));
                self.dictionaries.push(Vec::new());
            }
            b'a' => {
                let value = self.pop()?;
                self.append(&[value])?;
            }
            b'e' => {
                let values = self.marked()?;
                self.append(&values)?;
            }
            b's' => {
                let values = self.pop_some(2)?;
                self.set(&values)?;
            }
            b'u' => {
                let values = self.marked()?;
                self.set(&values)?;
            }
            b't' => {
                let values = self.marked()?;
                self.list(values);
            }
            tuple @ 0x85..=0x87 => {
                let values = self.pop_some(usize::from(tuple) - 0x84)?;
                self.list(values);
            }
            b'q' => self.name(1)?,
            b'r' => self.name(4)?,
            0x94 => {
                let value = self.top()?;
                self.named.insert(self.named.len() as u64, value);
            }
            b'h' => self.named(1)?,
            b'j' => self.named(4)?,
            b'c' => {
                self.line()?;
                self.line()?;
                self.stack.push(Item::Function);
            }
            0x93 => {
                self.pop_some(2)?;
                self.stack.push(Item::Function);
            }
            b'R' => self.call()?,
            _ => return Err(self.damaged("an instruction for what is no plain value")),
        }
        Ok(None)
    }

    const fn damaged(&self, reason: &'static str) -> Damaged {
        Damaged { at: self.at, reason }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Damaged> {
        let end = self.at.saturating_add(count);
        let taken = self.bytes.get(self.at..end);
        let taken = taken.ok_or_else(|| self.damaged("it ends too early"))?;
        self.at = end;
        Ok(taken)
    }

    /// An unsigned number of some bytes, the lowest first.
    fn number(&mut self, bytes: usize) -> Result<u64, Damaged> {
        let bytes = self.take(bytes)?.iter().rev();
        Ok(bytes.fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn integer(&mut self, bytes: usize) -> Result<(), Damaged> {
        let number = self.number(bytes)?;
        self.stack.push(i64::try_from(number).map_or(Item::Null, Item::Integer));
        Ok(())
    }

    /// An integer of up to 255 bytes; null beyond 64 bits.
    fn long(&mut self) -> Result<(), Damaged> {
        let count = self.number(1)? as usize;
        let bytes = self.take(count)?;
        let is_negative = bytes.last().is_some_and(|highest| *highest > 0x7f);
        let start: i64 = if is_negative { -1 } else { 0 };
        let number = bytes
            .iter()
            .rev()
            .fold(start, |number, byte| number << 8 | i64::from(*byte));
        self.stack
            .push(if count > 8 { Item::Null } else { Item::Integer(number) });
        Ok(())
    }

    fn text(&mut self, bytes: usize) -> Result<(), Damaged> {
        let length = self.number(bytes)?;
        let text = self.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        let text = core::str::from_utf8(text).map_err(|_| self.damaged("a text that is not UTF-8"))?;
        self.stack.push(Item::Text(text));
        Ok(())
    }

    fn line(&mut self) -> Result<(), Damaged> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'\n');
        let end = end.ok_or_else(|| self.damaged("a name without end"))?;
        self.take(end + 1).map(drop)
    }

    fn top(&self) -> Result<Item<'a>, Damaged> {
        let top = self.stack.last().copied();
        top.ok_or_else(|| self.damaged("no value"))
    }

    fn pop(&mut self) -> Result<Item<'a>, Damaged> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    fn pop_some(&mut self, count: usize) -> Result<Vec<Item<'a>>, Damaged> {
        let from = self.stack.len().checked_sub(count);
        let from = from.ok_or_else(|| self.damaged("no values"))?;
        Ok(self.stack.split_off(from))
    }

    /// The values since the last mark.
    fn marked(&mut self) -> Result<Vec<Item<'a>>, Damaged> {
        let mark = self.marks.pop().filter(|mark| *mark <= self.stack.len());
        let mark = mark.ok_or_else(|| self.damaged("no mark"))?;
        Ok(self.stack.split_off(mark))
    }

    fn list(&mut self, values: Vec<Item<'a>>) {
        self.stack.push(Item::List(self.lists.len()));
        self.lists.push(values);
    }

    fn append(&mut self, values: &[Item<'a>]) -> Result<(), Damaged> {
        match self.top()? {
            Item::List(list) => self.lists[list].extend_from_slice(values),
            _ => return Err(self.damaged("values for what is no list")),
        }
        Ok(())
    }

    /// Adds keys and their values to a dictionary.
    fn set(&mut self, values: &[Item<'a>]) -> Result<(), Damaged> {
        match (self.top()?, values.as_chunks()) {
            (Item::Dictionary(dictionary), (pairs, [])) => {
                let pairs = pairs.iter().map(|[key, value]| (*key, *value));
                self.dictionaries[dictionary].extend(pairs);
            }
            _ => return Err(self.damaged("keys for what is no dictionary")),
        }
        Ok(())
    }

    fn name(&mut self, bytes: usize) -> Result<(), Damaged> {
        let number = self.number(bytes)?;
        let value = self.top()?;
        self.named.insert(number, value);
        Ok(())
    }

    fn named(&mut self, bytes: usize) -> Result<(), Damaged> {
        let number = self.number(bytes)?;
        let value = self.named.get(&number).copied();
        let value = value.ok_or_else(|| self.damaged("a value that was not named"))?;
        self.stack.push(value);
        Ok(())
    }

    fn call(&mut self) -> Result<(), Damaged> {
        let arguments = self.pop()?;
        match (self.pop()?, arguments) {
            (Item::Function, Item::List(arguments)) => {
                let first = self.lists[arguments].first().copied();
                self.stack.push(first.unwrap_or(Item::Null));
                Ok(())
            }
            _ => Err(self.damaged("a call of what is no function")),
        }
    }
}

/// Writes values as JSON.
struct Json<'m, 'a> {
    machine: &'m Machine<'a>,
    text: String,
    longest: usize,
}

impl<'a> Json<'_, 'a> {
    fn write(&mut self, value: Item<'a>, depth: usize) -> Result<(), Damaged> {
        if depth > DEEPEST {
            return Err(self.machine.damaged("values in each other without end"));
        }
        if self.text.len() > self.longest {
            return Err(self.machine.damaged("too long as JSON"));
        }
        match value {
            Item::Null | Item::Function => self.text.push_str("null"),
            Item::Bool(truth) => self.text.push_str(if truth { "true" } else { "false" }),
            Item::Integer(number) => self.text.push_str(&number.to_string()),
            Item::Float(number) => self.text.push_str(&serde_json::json!(number).to_string()),
            Item::Text(text) => self.quote(text),
            Item::List(list) => {
                self.text.push('[');
                for (at, value) in self.machine.lists[list].iter().enumerate() {
                    self.separate(at);
                    self.write(*value, depth + 1)?;
                }
                self.text.push(']');
            }
            Item::Dictionary(dictionary) => {
                self.text.push('{');
                let pairs = self.machine.dictionaries[dictionary].iter();
                let pairs = pairs.filter(|(key, _)| !matches!(key, Item::Text(UNREAD)));
                for (at, (key, value)) in pairs.enumerate() {
                    self.separate(at);
                    match key {
                        Item::Text(key) => self.quote(key),
                        Item::Integer(key) => self.quote(&key.to_string()),
                        _ => return Err(self.machine.damaged("a key that is neither text nor integer")),
                    }
                    self.text.push(':');
                    self.write(*value, depth + 1)?;
                }
                self.text.push('}');
            }
        }
        Ok(())
    }

    fn separate(&mut self, at: usize) {
        if at > 0 {
            self.text.push(',');
        }
    }

    fn quote(&mut self, text: &str) {
        self.text.push_str(&serde_json::json!(text).to_string());
    }
}

#[cfg(test)]
mod tests;
