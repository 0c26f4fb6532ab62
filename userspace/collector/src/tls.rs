//! Keys and certificates: PEM files in, configurations of TLS 1.3 out.
//!
//! Both ends show a certificate. The collector takes those of one authority, which is its own and signs
//! agents alone; the first DNS name in an agent's certificate is the agent's name.

use crate::Error;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore, ServerConfig, version};

/// What an end of a connection shows, and whom it believes.
#[derive(Debug, Clone)]
pub struct Files {
    /// Its certificate, with those between it and the authority, in PEM.
    pub certificate: PathBuf,
    /// The key of the certificate, in PEM.
    pub key: PathBuf,
    /// Certificate of the authority that signed the other end's, in PEM; several may follow each other.
    pub authority: PathBuf,
}

/// The protocol inside: HTTP/2, as gRPC has it.
const PROTOCOL: &[u8] = b"h2";

impl Files {
    /// What a collector needs.
    ///
    /// # Errors
    /// A file cannot be read, or is not what it should be.
    pub fn server(&self) -> Result<Arc<ServerConfig>, Error> {
        let provider = provider();
        let roots = Arc::new(self.roots()?);
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider));
        let verifier = verifier
            .build()
            .map_err(|error| bad(&self.authority, &error))?;
        let (chain, key) = self.own()?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&version::TLS13])
            .map_err(|error| bad(&self.certificate, &error))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .map_err(|error| bad(&self.key, &error))?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        // A ticket would let a peer in whose certificate has run out since.
        config.send_tls13_tickets = 0;
        Ok(Arc::new(config))
    }

    /// What an agent needs.
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

    fn own(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Error> {
        let chain = certificates(&self.certificate)?;
        let key =
            PrivateKeyDer::from_pem_file(&self.key).map_err(|error| bad(&self.key, &error))?;
        Ok((chain, key))
    }

    fn roots(&self) -> Result<RootCertStore, Error> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&self.authority)? {
            let added = roots.add(certificate);
            added.map_err(|error| bad(&self.authority, &error))?;
        }
        Ok(roots)
    }
}

/// The first DNS name of a certificate that stands for one host.
#[must_use]
pub fn first_name(certificate: &CertificateDer<'_>) -> Option<String> {
    let parsed = webpki::EndEntityCert::try_from(certificate).ok()?;
    let mut names = parsed.valid_dns_names();
    let name = names.find(|name| !name.contains('*'));
    name.map(str::to_owned)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found = CertificateDer::pem_file_iter(path).map_err(|error| bad(path, &error))?;
    let found: Result<Vec<_>, _> = found.collect();
    let found = found.map_err(|error| bad(path, &error))?;
    if found.is_empty() {
        return Err(bad(path, &"there is no certificate in it"));
    }
    Ok(found)
}

fn bad(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::Certificate {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
