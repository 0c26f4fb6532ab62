//! Writes JSON key by key: the old way, for those that have not turned to serde yet.

use crate::{Cells, Value};
use alloc::string::{String, ToString};
use core::fmt::Write;

/// Writes JSON into a string: commas, quoting and indentation are its business, closing what was
/// opened the caller's.
///
/// ```
/// use rocescope_model::{Value, json::Writer};
///
/// let mut json = Writer::compact();
/// json.begin_object();
/// json.key("frames").value(&Value::I64(3));
/// json.key("top_flows").begin_array().end_array();
/// json.end_object();
/// assert_eq!(json.finish(), r#"{"frames":3,"top_flows":[]}"#);
/// ```
#[derive(Debug)]
pub struct Writer {
    out: String,
    indent: Option<usize>,
    depth: usize,
    state: State,
}

/// What stands before the place where the writer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing, or an opening bracket.
    Open,
    /// A key, whose value must follow on the same line.
    Key,
    /// A whole value.
    Value,
}

impl Writer {
    /// Everything on one line.
    #[must_use]
    pub const fn compact() -> Self {
        Self::with_indent(None)
    }

    /// One member a line, indented by two spaces a level.
    #[must_use]
    pub const fn pretty() -> Self {
        Self::with_indent(Some(2))
    }

    const fn with_indent(indent: Option<usize>) -> Self {
        Self {
            out: String::new(),
            indent,
            depth: 0,
            state: State::Open,
        }
    }

    /// The text written.
    #[must_use]
    pub fn finish(self) -> String {
        self.out
    }

    /// Opens an object.
    pub fn begin_object(&mut self) -> &mut Self {
        self.begin('{')
    }

    /// Closes the innermost object.
    pub fn end_object(&mut self) -> &mut Self {
        self.end('}')
    }

    /// Opens an array.
    pub fn begin_array(&mut self) -> &mut Self {
        self.begin('[')
    }

    /// Closes the innermost array.
    pub fn end_array(&mut self) -> &mut Self {
        self.end(']')
    }

    /// Key of the value that follows, inside an object.
    pub fn key(&mut self, key: &str) -> &mut Self {
        self.before_member();
        string(&mut self.out, key);
        self.out
            .push_str(if self.indent.is_some() { ": " } else { ":" });
        self.state = State::Key;
        self
    }

    /// A string.
    pub fn string(&mut self, text: &str) -> &mut Self {
        self.before_member();
        string(&mut self.out, text);
        self.state = State::Value;
        self
    }

    /// A whole number.
    pub fn integer(&mut self, number: impl Into<i128>) -> &mut Self {
        self.raw(&number.into().to_string())
    }

    /// True or false.
    pub fn bool(&mut self, truth: bool) -> &mut Self {
        self.raw(if truth { "true" } else { "false" })
    }

    /// A cell.
    pub fn value(&mut self, value: &Value<'_>) -> &mut Self {
        match value {
            Value::Null => self.raw("null"),
            Value::I64(number) => self.integer(*number),
            Value::F64(number) if number.is_finite() => self.raw(&number.to_string()),
            Value::F64(_) => self.raw("null"),
            Value::Bool(truth) => self.bool(*truth),
            Value::Text(text) => self.string(text),
            Value::Time(time) => self.string(&time.to_string()),
            Value::Bytes(bytes) => self.string(&base64(bytes)),
            Value::ListI64(list) => {
                self.begin_array();
                for number in *list {
                    self.integer(*number);
                }
                self.end_array()
            }
        }
    }

    /// One row as an object: every column that `wanted` says yes to, by name.
    pub fn row(
        &mut self,
        cells: &dyn Cells,
        row: usize,
        wanted: impl Fn(&crate::Column) -> bool,
    ) -> &mut Self {
        self.begin_object();
        for (i, column) in cells.table().columns.iter().enumerate() {
            if wanted(column) {
                self.key(column.name).value(&cells.value(row, i));
            }
        }
        self.end_object()
    }

    fn raw(&mut self, token: &str) -> &mut Self {
        self.before_member();
        self.out.push_str(token);
        self.state = State::Value;
        self
    }

    fn begin(&mut self, bracket: char) -> &mut Self {
        self.before_member();
        self.out.push(bracket);
        self.depth += 1;
        self.state = State::Open;
        self
    }

    fn end(&mut self, bracket: char) -> &mut Self {
        self.depth = self.depth.saturating_sub(1);
        if self.state == State::Value {
            self.new_line();
        }
        self.out.push(bracket);
        self.state = State::Value;
        self
    }

    fn before_member(&mut self) {
        match self.state {
            State::Key => return,
            State::Value if self.depth > 0 => self.out.push(','),
            State::Value | State::Open => {}
        }
        if !self.out.is_empty() {
            self.new_line();
        }
    }

    fn new_line(&mut self) {
        if let Some(indent) = self.indent {
            self.out.push('\n');
            self.out
                .extend(core::iter::repeat_n(' ', indent * self.depth));
        }
    }
}

/// Appends a quoted string. Escapes what RFC 8259 section 7 requires: quote, backslash and control
/// characters.
fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// RFC 4648 section 4, padded.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: [u8; 64] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (i, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            out.push(if i <= chunk.len() {
                char::from(ALPHABET[(group >> shift & 63) as usize])
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Writer, base64};
    use crate::{Time, Value};

    #[test]
    fn strings_are_escaped() {
        let mut json = Writer::compact();
        json.string("a\"b\\c\n\u{1}é/");
        assert_eq!(json.finish(), "\"a\\\"b\\\\c\\n\\u0001é/\"");
    }

    #[test]
    fn values_of_every_type() {
        let mut json = Writer::compact();
        json.begin_array()
            .value(&Value::Null)
            .value(&Value::I64(i64::MIN))
            .value(&Value::F64(0.5))
            .value(&Value::F64(f64::NAN))
            .value(&Value::Bool(true))
            .value(&Value::Time(Time(1)))
            .value(&Value::Bytes(b"fo"))
            .value(&Value::ListI64(&[1, -2]))
            .end_array();
        assert_eq!(
            json.finish(),
            "[null,-9223372036854775808,0.5,null,true,\"1970-01-01T00:00:00.000000001Z\",\"Zm8=\",[1,-2]]"
        );
    }

    #[test]
    fn base64_of_rfc_4648_section_10() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let codes = [
            "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
        ];
        for (text, code) in texts.into_iter().zip(codes) {
            assert_eq!(base64(text.as_bytes()), code);
        }
    }

    #[test]
    fn nesting_indents_and_empty_brackets_stay_closed() {
        let mut json = Writer::pretty();
        json.begin_object().key("a").begin_array();
        json.integer(1).integer(2u64).end_array();
        json.key("b").begin_object().end_object().end_object();
        assert_eq!(
            json.finish(),
            "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}"
        );
    }
}
