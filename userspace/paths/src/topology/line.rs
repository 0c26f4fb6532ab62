//! Lines of a text, for messages.

/// A message with the line that it is about.
pub type LineError = (Option<usize>, String);

/// Where the lines of a text begin: a topology has tens of thousands of nodes and links, each with its line.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(ends.map(|(at, _)| at).collect())
    }

    /// The line of a byte, from 1.
    pub(crate) fn line(&self, byte: usize) -> usize {
        self.0.partition_point(|end| *end < byte) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn bytes_have_the_line_that_they_are_in() {
        let lines = Lines::of("a\n\nbc\n");
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6, 99].map(|byte| lines.line(byte)),
            [1, 1, 2, 3, 3, 3, 4, 4]
        );
        assert_eq!(Lines::of("").line(0), 1);
    }
}
