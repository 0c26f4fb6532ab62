//! The order of names in which `leaf2` comes before `leaf10`.

use core::cmp::Ordering;

/// Compares names; runs of digits compare as numbers.
#[must_use]
pub fn compare(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        let (x, y) = (digits(a), digits(b));
        if x > 0 && y > 0 {
            let order = number(&a[..x]).cmp(&number(&b[..y]));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (&a[x..], &b[y..]);
            continue;
        }
        match (a.split_first(), b.split_first()) {
            (None, None) => return Ordering::Equal,
            (None, _) => return Ordering::Less,
            (_, None) => return Ordering::Greater,
            (Some((x, rest)), Some((y, others))) => {
                if x != y {
                    return x.cmp(y);
                }
                (a, b) = (rest, others);
            }
        }
    }
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Its length without leading zeros, then its digits: the order of numbers of any length.
fn number(digits: &[u8]) -> (usize, &[u8]) {
    let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
    (digits.len() - zeros, &digits[zeros..])
}

#[cfg(test)]
mod tests {
    use super::compare;
    use std::vec;

    #[test]
    fn digits_compare_as_numbers() {
        let mut names = vec!["10", "9", "leaf10", "leaf2", "leaf", "a1b2", "a1b10", "007"];
        names.sort_by(|a, b| compare(a, b));
        assert_eq!(names, ["007", "9", "10", "a1b2", "a1b10", "leaf", "leaf2", "leaf10"]);
    }
}
