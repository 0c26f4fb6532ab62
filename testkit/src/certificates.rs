//! Certificates.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use std::path::{Path, PathBuf};
use std::process::Command;

const DOCUMENT: &str = include_str!("../../docs/hostmesh.md");

/// An authority that signs for agents and collectors. Its files lie in one directory: `ca.pem`, `NAME.pem`, `NAME.key`.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    directory: PathBuf,
}

/// What the owner of a certificate needs.
#[derive(Debug)]
pub struct Signed {
    /// The certificate.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The certificate of the authority.
    pub authority: PathBuf,
}

impl Authority {
    /// An authority with a new key.
    pub fn new(directory: &Path) -> Self {
        std::fs::create_dir_all(directory).unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        std::fs::write(directory.join("ca.pem"), certificate.pem()).unwrap();
        Self {
            issuer: Issuer::new(params, key),
            directory: directory.to_owned(),
        }
    }

    /// The directory of the files.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// A certificate for these names.
    pub fn sign(&self, file: &str, names: &[&str]) -> Signed {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(names).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let signed = Signed::of(&self.directory, file);
        std::fs::write(&signed.certificate, certificate.pem()).unwrap();
        std::fs::write(&signed.key, key.serialize_pem()).unwrap();
        signed
    }
}

impl Signed {
    /// The files of an owner.
    pub fn of(directory: &Path, file: &str) -> Self {
        Self {
            certificate: directory.join(format!("{file}.pem")),
            key: directory.join(format!("{file}.key")),
            authority: directory.join("ca.pem"),
        }
    }
}

/// Runs the commands of `docs/hostmesh.md` in a directory, as an operator types them, and signs one certificate for each
/// owner: file name, names in the certificate.
pub fn make_as_documented(directory: &Path, owners: &[(&str, &str)]) {
    let (_, rest) = DOCUMENT.split_once("```sh\n").unwrap();
    let (commands, _) = rest.split_once("```").unwrap();
    let sign = |(file, names): &(&str, &str)| format!("sign {file} {names}\n");
    let script = commands.to_owned() + &owners.iter().map(sign).collect::<String>();
    let mut shell = Command::new("sh");
    let made = shell.args(["-euc", &script]).current_dir(directory).output();
    let made = made.unwrap();
    assert!(made.status.success(), "{made:?}");
}
