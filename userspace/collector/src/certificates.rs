//! Certificates of a fleet: one authority, and a certificate with its key for each name of a list.
//!
//! The authority signs nothing else: every holder of one of its certificates may send rows. Its key is needed only
//! here, so it may stay offline.

use crate::Error;
use crate::tls;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions, rename};
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use time::OffsetDateTime;

/// The common name of the authority.
const AUTHORITY: &str = "rocescope mesh";
/// How long the authority is valid.
const AUTHORITY_VALID: Duration = Duration::from_secs(3650 * 86_400);
/// Certificates are valid from this time before they were made: clocks of hosts differ.
const BEFORE: Duration = Duration::from_secs(3600);
/// The longest name of a host (RFC 1035, 2.3.4).
const NAME_BYTES: usize = 253;

/// A host of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The first DNS name: the name of the agent, capture box or operator, and of its files.
    pub name: String,
    /// Further DNS names and IP addresses. A collector needs those that agents write in its URL.
    pub more: Vec<String>,
}

/// Parses a list: one host a line, its name and then further DNS names and IP addresses, separated by blanks. `#` begins
/// a comment.
///
/// # Errors
/// The number of a line and what is wrong in it; or an empty list.
pub fn hosts(text: &str) -> Result<Vec<Host>, String> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut names = BTreeSet::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(name) = words.next() else { continue };
        let fault = |what: String| Err(format!("line {number}: {what}"));
        if name.parse::<IpAddr>().is_ok() {
            return fault(format!("`{name}` is an address: a name is first"));
        }
        let more: Vec<String> = words.map(str::to_owned).collect();
        let is_name = |word: &str| {
            let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
            word.len() <= NAME_BYTES
                && word.starts_with(|c: char| c.is_ascii_alphanumeric())
                && word.chars().all(letters)
        };
        let mut all = std::iter::once(name).chain(more.iter().map(String::as_str));
        if let Some(wrong) = all.find(|word| !is_name(word) && word.parse::<IpAddr>().is_err()) {
            return fault(format!("`{wrong}` is neither a DNS name nor an IP address"));
        }
        if !names.insert(name.to_owned()) || name == "ca" {
            let why = if name == "ca" {
                "is the name of the authority"
            } else {
                "is there twice"
            };
            return fault(format!("`{name}` {why}"));
        }
        let name = name.to_owned();
        hosts.push(Host { name, more });
    }
    if hosts.is_empty() {
        return Err("no host: write one name a line".to_owned());
    }
    Ok(hosts)
}

/// How certificates are made.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The directory: `ca.pem` and `ca.key` of the authority, which are made if missing, and `NAME.pem` and `NAME.key` of
    /// each host.
    pub directory: PathBuf,
    /// How long certificates are valid.
    pub valid: Duration,
    /// Whether hosts that have a certificate get a new one.
    pub renew: bool,
    /// Seconds since 1970 UTC now.
    pub now_s: i64,
}

/// What was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// Whether the authority is new.
    pub authority_is_new: bool,
    /// Hosts with a new certificate.
    pub made: usize,
    /// Hosts that had one.
    pub kept: usize,
}

/// Makes the certificates of `hosts`. Keys are readable by their owner alone. Each file is complete or missing, also if this
/// is killed; the next run makes those that are missing.
///
/// # Errors
/// A file cannot be read or written; `ca.key` does not belong to `ca.pem`, or another program made them.
pub fn issue(settings: &Settings, hosts: &[Host]) -> Result<Issued, Error> {
    let directory = &settings.directory;
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder
        .create(directory)
        .map_err(|cause| failed("create", directory, cause))?;
    let (authority, authority_is_new) = authority(settings)?;
    let (mut made, mut kept) = (0, 0);
    for host in hosts {
        let [certificate, key] = ["pem", "key"].map(|kind| directory.join(format!("{}.{kind}", host.name)));
        if !settings.renew && certificate.exists() && key.exists() {
            kept += 1;
            continue;
        }
        let signed = sign(&authority, host, settings)?;
        if made == 0 {
            tls::verify_issued(&signed.certificate, &directory.join("ca.pem"), settings.now_s)?;
        }
        write(&key, &signed.key, 0o600)?;
        write(&certificate, &signed.certificate, 0o644)?;
        made += 1;
    }
    Ok(Issued {
        authority_is_new,
        made,
        kept,
    })
}

/// A certificate and its key, both PEM.
struct Signed {
    certificate: String,
    key: String,
}

/// The authority of the directory, made if missing; and whether it is new.
fn authority(settings: &Settings) -> Result<(Issuer<'static, KeyPair>, bool), Error> {
    let [certificate, key] = ["ca.pem", "ca.key"].map(|name| settings.directory.join(name));
    let mut params = params(Vec::new(), AUTHORITY, AUTHORITY_VALID, settings)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    match (certificate.exists(), key.exists()) {
        (true, true) => {
            let text = std::fs::read_to_string(&key).map_err(|cause| failed("read", &key, cause))?;
            let pair = KeyPair::from_pem(&text).map_err(|error| invalid(&key, &error))?;
            Ok((Issuer::new(params, pair), false))
        }
        (false, false) => {
            let pair = KeyPair::generate().map_err(|error| invalid(&key, &error))?;
            let signed = params
                .self_signed(&pair)
                .map_err(|error| invalid(&certificate, &error))?;
            write(&key, &pair.serialize_pem(), 0o600)?;
            write(&certificate, &signed.pem(), 0o644)?;
            Ok((Issuer::new(params, pair), true))
        }
        (has_certificate, _) => {
            let (there, missing) = if has_certificate {
                (certificate, key)
            } else {
                (key, certificate)
            };
            let reason = format!("{} is missing: both are the authority's", missing.display());
            Err(Error::Certificate { path: there, reason })
        }
    }
}

fn sign(authority: &Issuer<'_, KeyPair>, host: &Host, settings: &Settings) -> Result<Signed, Error> {
    let path = settings.directory.join(format!("{}.pem", host.name));
    let names = std::iter::once(&host.name).chain(&host.more).cloned().collect();
    let mut params = params(names, &host.name, settings.valid, settings)?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
    let pair = KeyPair::generate().map_err(|error| invalid(&path, &error))?;
    let signed = params
        .signed_by(&pair, authority)
        .map_err(|error| invalid(&path, &error))?;
    Ok(Signed {
        certificate: signed.pem(),
        key: pair.serialize_pem(),
    })
}

fn params(names: Vec<String>, common: &str, valid: Duration, settings: &Settings) -> Result<CertificateParams, Error> {
    let path = &settings.directory;
    let mut params = CertificateParams::new(names).map_err(|error| invalid(path, &error))?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common);
    let now = OffsetDateTime::from_unix_timestamp(settings.now_s).map_err(|error| invalid(path, &error))?;
    params.not_before = now - BEFORE;
    params.not_after = now + valid;
    Ok(params)
}

/// Writes a file whole, or not at all.
fn write(path: &Path, text: &str, mode: u32) -> Result<(), Error> {
    let unfinished = path.with_extension("new");
    let open = || -> io::Result<()> {
        let mut file: File = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(mode)
            .open(&unfinished)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        rename(&unfinished, path)
    };
    open().map_err(|cause| failed("write", path, cause))
}

fn failed(action: &'static str, path: &Path, cause: io::Error) -> Error {
    Error::Io {
        action,
        place: path.display().to_string(),
        cause,
    }
}

fn invalid(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::Certificate {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Host, Issued, Settings, hosts, issue};
    use crate::Files;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    #[test]
    fn a_list_has_a_name_and_more_names_a_line() {
        let list = "# the fleet\nh0\ncollector collector.example 192.0.2.10 2001:db8::1 # its URL\n\n";
        let host = |name: &str, more: &[&str]| Host {
            name: name.into(),
            more: more.iter().map(|&word| word.into()).collect(),
        };
        let collector = host("collector", &["collector.example", "192.0.2.10", "2001:db8::1"]);
        assert_eq!(hosts(list).unwrap(), [host("h0", &[]), collector]);
        for (wrong, why) in [
            ("", "no host"),
            ("h0\n10.0.0.1 h1", "line 2: `10.0.0.1` is an address"),
            ("h0\nh1\nh0", "line 3: `h0` is there twice"),
            ("../h0", "line 1: `../h0` is neither"),
            ("h0 a/b", "`a/b` is neither"),
            ("ca", "the name of the authority"),
        ] {
            let error = hosts(wrong).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn certificates_are_made_once_and_open_connections() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings {
            directory: folder.path().join("certificates"),
            valid: Duration::from_secs(86_400),
            renew: false,
            now_s: 1_790_000_000,
        };
        let list = hosts("collector collector.example 127.0.0.1\nh0").unwrap();
        let issued = |authority_is_new, made, kept| Issued {
            authority_is_new,
            made,
            kept,
        };
        assert_eq!(issue(&settings, &list).unwrap(), issued(true, 2, 0));
        let path = |name: &str| settings.directory.join(name);
        let files = |name: &str| Files {
            certificate: path(&format!("{name}.pem")),
            key: path(&format!("{name}.key")),
            authority: path("ca.pem"),
        };
        assert!(files("collector").server().is_ok() && files("h0").client().is_ok());
        for key in ["ca.key", "h0.key", "collector.key"] {
            let mode = std::fs::metadata(path(key)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{key}");
        }
        let before = std::fs::read(path("h0.pem")).unwrap();
        // A host more; the others keep theirs. A file that a killed run left out is made.
        std::fs::remove_file(path("collector.pem")).unwrap();
        let list = hosts("collector 127.0.0.1\nh0\nh1").unwrap();
        assert_eq!(issue(&settings, &list).unwrap(), issued(false, 2, 1));
        assert_eq!(std::fs::read(path("h0.pem")).unwrap(), before);
        settings.renew = true;
        assert_eq!(issue(&settings, &list).unwrap(), issued(false, 3, 0));
        assert_ne!(
            std::fs::read(folder.path().join("certificates/h0.pem")).unwrap(),
            before
        );
    }

    #[test]
    fn the_key_of_another_authority_signs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let settings = |name: &str| Settings {
            directory: folder.path().join(name),
            valid: Duration::from_secs(86_400),
            renew: false,
            now_s: 1_790_000_000,
        };
        let list = hosts("h0").unwrap();
        issue(&settings("one"), &list).unwrap();
        issue(&settings("two"), &list).unwrap();
        let key = |name: &str| folder.path().join(name).join("ca.key");
        std::fs::copy(key("two"), key("one")).unwrap();
        let error = issue(&settings("one"), &hosts("h1").unwrap()).unwrap_err().to_string();
        assert!(error.contains("ca.pem") && error.contains("did not sign"), "{error}");
        assert!(!folder.path().join("one/h1.pem").exists());
        std::fs::remove_file(key("one")).unwrap();
        let error = issue(&settings("one"), &list).unwrap_err().to_string();
        assert!(error.contains("ca.key is missing"), "{error}");
    }
}
