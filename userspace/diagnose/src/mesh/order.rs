//! Natural order of names with numbers: `h2` before `h10`.

use core::cmp::Ordering;

/// Compares runs of digits as numbers, everything else as text.
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut a_rest, mut b_rest) = (a, b);
    while !a_rest.is_empty() && !b_rest.is_empty() {
        let (a_part, b_part) = (part(a_rest), part(b_rest));
        let digits = |part: &str| part.starts_with(|first: char| first.is_ascii_digit());
        let order = if digits(a_part) && digits(b_part) {
            let number = |part: &'_ str| part.trim_start_matches('0').len();
            let (a_digits, b_digits) = (number(a_part), number(b_part));
            // Longer numbers are larger; numbers of equal length compare as text.
            let tails = (&a_part[a_part.len() - a_digits..], &b_part[b_part.len() - b_digits..]);
            a_digits.cmp(&b_digits).then(tails.0.cmp(tails.1))
        } else {
            a_part.cmp(b_part)
        };
        if order.is_ne() {
            return order;
        }
        (a_rest, b_rest) = (&a_rest[a_part.len()..], &b_rest[b_part.len()..]);
    }
    // Equal as numbers, but `a1` and `a01` are different names.
    a_rest.len().cmp(&b_rest.len()).then_with(|| a.cmp(b))
}

/// The leading digits, or the text before the first digit.
fn part(text: &str) -> &str {
    let digits = text.starts_with(|first: char| first.is_ascii_digit());
    let end = text.find(|character: char| character.is_ascii_digit() != digits);
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::natural;
    use core::cmp::Ordering;

    #[test]
    fn numbers_in_names_compare_as_numbers() {
        let sorted = ["", "eth0", "eth2", "eth10", "eth10np1", "h", "h01", "h1", "h2a", "h10"];
        for (at, a) in sorted.iter().enumerate() {
            for (other, b) in sorted.iter().enumerate() {
                assert_eq!(natural(a, b), at.cmp(&other), "{a} {b}");
            }
        }
        assert_eq!(natural("x007", "x7"), Ordering::Less);
    }
}
