//! Keys and certificates: PEM files in, TLS 1.3 configurations out.
//!
//! Both ends show a certificate. The collector accepts those of one authority, which signs only its agents; the
//! first DNS name in an agent's certificate is the name of the agent.

use crate::Error;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore, ServerConfig, version};

/// The certificate and key of one end, and the authority that it trusts.
#[derive(Debug, Clone)]
pub struct Files {
    /// Its certificate, followed by any intermediate certificates (PEM).
    pub certificate: PathBuf,
    /// The key of the certificate (PEM).
    pub key: PathBuf,
    /// Certificate of the authority that signed the other end's certificate (PEM); the file may hold several.
    pub authority: PathBuf,
}

/// ALPN protocol: HTTP/2, which gRPC uses.
const PROTOCOL: &[u8] = b"h2";
/// The same for operators: their connections never replace those of agents.
pub(crate) const OPERATOR: &[u8] = b"rocescope-operator";

impl Files {
    /// The configuration of a collector.
    ///
    /// # Errors
    /// A file cannot be read or parsed.
    pub fn server(&self) -> Result<Arc<ServerConfig>, Error> {
        let provider = provider();
        let roots = Arc::new(self.roots()?);
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider));
        let verifier = verifier.build().map_err(|error| bad(&self.authority, &error))?;
        let (chain, key) = self.own()?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&version::TLS13])
            .map_err(|error| bad(&self.certificate, &error))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .map_err(|error| bad(&self.key, &error))?;
        config.alpn_protocols = vec![PROTOCOL.to_vec(), OPERATOR.to_vec()];
        // A session ticket would admit a peer whose certificate has expired since.
        config.send_tls13_tickets = 0;
        Ok(Arc::new(config))
    }

    /// The configuration of an agent.
    ///
    /// # Errors
    /// Those of [`server`](Self::server).
    pub fn client(&self) -> Result<Arc<ClientConfig>, Error> {
        let (chain, key) = self.own()?;
        let mut config = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&version::TLS13])
            .map_err(|error| bad(&self.certificate, &error))?
            .with_root_certificates(self.roots()?)
            .with_client_auth_cert(chain, key)
            .map_err(|error| bad(&self.key, &error))?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        config.resumption = rustls::client::Resumption::disabled();
        Ok(Arc::new(config))
    }

    /// The configuration of an operator.
    ///
    /// # Errors
    /// Those of [`server`](Self::server).
    pub fn operator(&self) -> Result<Arc<ClientConfig>, Error> {
        let mut config = ClientConfig::clone(&*self.client()?);
        config.alpn_protocols = vec![OPERATOR.to_vec()];
        Ok(Arc::new(config))
    }

    /// Checks that the certificate has the name of an observer: the collector takes rows of no other.
    ///
    /// # Errors
    /// It has another name, or cannot be read.
    pub fn check_observer(&self, observer: &str) -> Result<(), Error> {
        let chain = certificates(&self.certificate)?;
        let name = chain.first().and_then(first_name);
        let reason = match name {
            Some(name) if name.eq_ignore_ascii_case(observer) => return Ok(()),
            Some(name) => format!(
                "it is the certificate of {name}, and the observer is {observer}: the collector takes only rows of {name}; \
                 set observer = \"{name}\", or use the certificate of {observer}"
            ),
            None => format!("it has no DNS name: use a certificate with the name of the observer, {observer}"),
        };
        Err(bad(&self.certificate, &reason))
    }

    fn own(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Error> {
        own(&self.certificate, &self.key)
    }

    fn roots(&self) -> Result<RootCertStore, Error> {
        roots(&self.authority)
    }
}

fn own(certificate: &Path, key: &Path) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Error> {
    let chain = certificates(certificate)?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| bad(key, &error))?;
    Ok((chain, key))
}

fn roots(authority: &Path) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(authority)? {
        let added = roots.add(certificate);
        added.map_err(|error| bad(authority, &error))?;
    }
    Ok(roots)
}

/// The configuration of a server for browsers; they need a certificate of the authority, if one is named.
///
/// # Errors
/// A file cannot be read or parsed.
pub fn web_server(certificate: &Path, key: &Path, authority: Option<&Path>) -> Result<Arc<ServerConfig>, Error> {
    let provider = provider();
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&version::TLS13])
        .map_err(|error| bad(certificate, &error))?;
    let builder = match authority {
        Some(authority) => {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots(authority)?), provider);
            let verifier = verifier.build().map_err(|error| bad(authority, &error))?;
            builder.with_client_cert_verifier(verifier)
        }
        None => builder.with_no_client_auth(),
    };
    let (chain, private) = own(certificate, key)?;
    let mut config = builder
        .with_single_cert(chain, private)
        .map_err(|error| bad(key, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // As above: a ticket would outlive the certificate.
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// Who a peer is: what its certificate states, and not the peer.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    /// The first DNS name.
    pub(crate) name: String,
    certificate: CertificateDer<'static>,
}

impl Identity {
    /// `None` if the certificate has no DNS name.
    pub(crate) fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        Some(Self {
            name: first_name(certificate)?,
            certificate: certificate.clone().into_owned(),
        })
    }

    /// Whether the certificate is one for this address too.
    pub(crate) fn has_address(&self, address: IpAddr) -> bool {
        let name = ServerName::IpAddress(address.into());
        let parsed = webpki::EndEntityCert::try_from(&self.certificate);
        parsed.is_ok_and(|parsed| parsed.verify_is_valid_for_subject_name(&name).is_ok())
    }

    /// One whose certificate has only this name.
    #[cfg(test)]
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            certificate: CertificateDer::from(Vec::new()),
        }
    }
}

/// The first DNS name in a certificate that is not a wildcard.
#[must_use]
pub fn first_name(certificate: &CertificateDer<'_>) -> Option<String> {
    let parsed = webpki::EndEntityCert::try_from(certificate).ok()?;
    let mut names = parsed.valid_dns_names();
    let name = names.find(|name| !name.contains('*'));
    name.map(str::to_owned)
}

/// Checks that the authority in a file signed a certificate (PEM), as a collector or an agent would at this time.
///
/// # Errors
/// It did not, or one of them cannot be read.
pub(crate) fn verify_issued(certificate: &str, authority: &Path, now_s: i64) -> Result<(), Error> {
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).map_err(|error| bad(authority, &error))?;
    let roots = certificates(authority)?;
    let root = roots.first().ok_or_else(|| bad(authority, &"no certificate"))?;
    let anchors = [webpki::anchor_from_trusted_cert(root).map_err(|error| bad(authority, &error))?];
    let now = UnixTime::since_unix_epoch(Duration::from_secs(now_s.max(0).unsigned_abs()));
    let parsed = webpki::EndEntityCert::try_from(&certificate).map_err(|error| bad(authority, &error))?;
    let algorithms = provider().signature_verification_algorithms.all;
    let usage = webpki::KeyUsage::client_auth();
    let verified = parsed.verify_for_usage(algorithms, &anchors, &[], now, usage, None, None);
    verified.map(drop).map_err(|error| {
        let why = format!(
            "it did not sign what the key beside it signs ({error}): it is of another program, or of another key"
        );
        bad(authority, &why)
    })
}

/// Where distributions keep the authorities of the system: Debian, Red Hat, SUSE, Alpine.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The configuration of a client of any server whose certificate the system trusts.
///
/// # Errors
/// The file that `SSL_CERT_FILE` names, or the bundle of the distribution, cannot be read.
pub(crate) fn public(authorities: Option<&Path>) -> Result<Arc<ClientConfig>, Error> {
    let bundle = match (authorities, std::env::var_os("SSL_CERT_FILE")) {
        (Some(given), _) => given.to_owned(),
        (None, Some(named)) => PathBuf::from(named),
        (None, None) => {
            let known = BUNDLES.into_iter().find(|path| Path::new(path).is_file());
            PathBuf::from(known.unwrap_or(BUNDLES[0]))
        }
    };
    let mut roots = RootCertStore::empty();
    // Old authorities that this library cannot read sign no certificates of today.
    let (added, _) = roots.add_parsable_certificates(certificates(&bundle)?);
    if added == 0 {
        return Err(bad(&bundle, &"no certificate of an authority"));
    }
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&version::TLS13])
        .map_err(|error| bad(&bundle, &error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// As [`public`], for gRPC.
///
/// # Errors
/// Those of [`public`].
pub(crate) fn public_grpc(authorities: Option<&Path>) -> Result<Arc<ClientConfig>, Error> {
    let mut config = ClientConfig::clone(&*public(authorities)?);
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(Arc::new(config))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found = CertificateDer::pem_file_iter(path).map_err(|error| bad(path, &error))?;
    let found: Result<Vec<_>, _> = found.collect();
    let found = found.map_err(|error| bad(path, &error))?;
    if found.is_empty() {
        return Err(bad(path, &"no certificate in this file"));
    }
    Ok(found)
}

/// The reason of a failure without the manual of the TLS library, which it may point to.
pub(crate) fn reason(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    match text.split_once(": https://") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

fn bad(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::Certificate {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
