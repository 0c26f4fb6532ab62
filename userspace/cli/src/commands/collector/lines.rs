//! The lines that differ between two texts.

use std::fmt::Write;

/// Lines that only `before` has, with `-`, and lines that only `after` has, with `+`, in their order. White space at the
/// end of a line, which no one sees, is no difference.
pub(super) fn diff(before: &str, after: &str) -> String {
    let before: Vec<&str> = before.lines().map(str::trim_end).collect();
    let after: Vec<&str> = after.lines().map(str::trim_end).collect();
    // common[i][j]: the length of the longest common subsequence of before[i..] and after[j..].
    let mut common = vec![vec![0u32; after.len() + 1]; before.len() + 1];
    for (i, old) in before.iter().enumerate().rev() {
        for (j, new) in after.iter().enumerate().rev() {
            common[i][j] = match old == new {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut out = String::new();
    while i < before.len() || j < after.len() {
        if i < before.len() && j < after.len() && before[i] == after[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == after.len() || (i < before.len() && common[i + 1][j] >= common[i][j + 1]) {
            let _ = writeln!(out, "-{}", before[i]);
            i += 1;
        } else {
            let _ = writeln!(out, "+{}", after[j]);
            j += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn only_what_differs_is_printed_in_order() {
        assert_eq!(diff("a\nb\nc\n", "a\nb\nc\n"), "");
        assert_eq!(diff("a\nb\nc\n", "a\nx\nc\nd\n"), "-b\n+x\n+d\n");
        assert_eq!(diff("", "a\n"), "+a\n");
        assert_eq!(diff("a\nb\n", ""), "-a\n-b\n");
        assert_eq!(diff("a\nb\n", "a \r\nb\t"), "");
        assert_eq!(diff("a\nb\n", "a\n b\n"), "-b\n+ b\n");
    }
}
