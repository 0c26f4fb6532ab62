//! Names of users, from `/etc/passwd`, and hashes in their place.

use super::files;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Larger files have more users than a host.
const MAX_BYTES: usize = 4 << 20;

/// With this key, users are hashes: the same user is the same on all hosts with the key, and no one without it can try
/// names.
#[derive(Clone, PartialEq, Eq)]
pub struct UserKey([u8; 32]);

impl fmt::Debug for UserKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserKey")
    }
}

impl FromStr for UserKey {
    type Err = String;

    /// 64 hexadecimal digits, or `@` and the path of a file with them. Errors do not contain the key.
    fn from_str(text: &str) -> Result<Self, String> {
        let digits = match text.strip_prefix('@') {
            Some(path) => fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?,
            None => text.to_owned(),
        };
        let digits = digits.trim().as_bytes();
        let wrong = || "expected 64 hexadecimal digits, or @ and the path of a file with them".to_owned();
        let mut key = [0; 32];
        if digits.len() != 2 * key.len() {
            return Err(wrong());
        }
        for (byte, pair) in key.iter_mut().zip(digits.chunks(2)) {
            let digit = |digit: u8| {
                char::from(digit)
                    .to_digit(16)
                    .and_then(|digit| u8::try_from(digit).ok())
            };
            let (Some(high), Some(low)) = (digit(pair[0]), digit(pair[1])) else {
                return Err(wrong());
            };
            *byte = high << 4 | low;
        }
        Ok(Self(key))
    }
}

impl UserKey {
    /// 16 hexadecimal digits for a user.
    #[must_use]
    pub fn hash(&self, user: &str) -> String {
        let digest = Sha256::new().chain_update(self.0).chain_update(user).finalize();
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The users of a host. Users of a directory service have no name here: they are numbers.
#[derive(Debug)]
pub(super) struct Users {
    path: PathBuf,
    names: Option<HashMap<u32, String>>,
}

impl Users {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path, names: None }
    }

    /// The name of a user; its number if it has none. The file is read once: users rarely come, and are numbers until the
    /// program starts again.
    pub(super) fn name(&mut self, id: u32) -> String {
        let names = self.names.get_or_insert_with(|| read(&self.path));
        names.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }
}

fn read(path: &Path) -> HashMap<u32, String> {
    let text = files::text(path, MAX_BYTES).unwrap_or_default();
    let mut names = HashMap::new();
    for line in text.lines() {
        let mut fields = line.split(':');
        if let (Some(name), Some(Ok(id))) = (fields.next(), fields.nth(1).map(str::parse)) {
            names.entry(id).or_insert_with(|| name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_their_first_name_or_their_number() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("passwd");
        fs::write(
            &path,
            b"root:x:0:0:root:/root:/bin/sh\ntoor:x:0:0::/:\nan\xffa:x:1000:1000::/:\nbroken\n:x:y\n",
        )
        .unwrap();
        let mut users = Users::new(path);
        assert_eq!(users.name(0), "root");
        assert_eq!(users.name(1000), "an\u{fffd}a");
        assert_eq!(users.name(4_294_967_294), "4294967294");
        assert_eq!(Users::new("/nowhere/passwd".into()).name(7), "7");
    }

    #[test]
    fn a_hash_follows_from_the_key_and_the_user() {
        let digits = "0123456789abcdeffedcba98765432101032547698BADCFEefcdab8967452301";
        let key: UserKey = digits.parse().unwrap();
        assert_eq!(key.hash("ana"), key.hash("ana"));
        assert_ne!(key.hash("ana"), key.hash("ben"));
        assert_eq!(key.hash("ana").len(), 16);
        let other: UserKey = digits.replace('0', "1").parse().unwrap();
        assert_ne!(key.hash("ana"), other.hash("ana"));
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        fs::write(&path, format!("{digits}\n")).unwrap();
        assert_eq!(format!("@{}", path.display()).parse(), Ok(key.clone()));
        assert_eq!(format!("{key:?}"), "UserKey");
        for wrong in [
            "",
            "01",
            "@/nowhere/key",
            &digits.replace('a', "x"),
            &digits.replace("ab", "ä"),
        ] {
            let error = wrong.parse::<UserKey>().unwrap_err();
            assert!(!error.contains("0123"), "{error}");
        }
    }
}
