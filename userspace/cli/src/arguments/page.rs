//! The arguments of `rocescope serve`, and of the page of a capture and of a collector.

use super::HostsArguments;
use crate::units::socket_address;
use clap::Args;
use rocescope_page::Access;
use std::net::SocketAddr;
use std::path::PathBuf;

/// `rocescope serve`.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Dataset; it may grow meanwhile
    #[arg(value_name = "DATASET")]
    pub dataset: PathBuf,
    /// Serve the page on this address; another host can read it only with TLS and a token or certificates
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9465", value_parser = socket_address)]
    pub listen: SocketAddr,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
    /// Who may look.
    #[command(flatten)]
    pub access: PageAccessArguments,
}

/// The page of a command that makes rows.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Page")]
pub struct PageArguments {
    /// Serve what happens as a page for browsers on this address, such as 127.0.0.1:9465; another host can read it only with
    /// TLS and a token or certificates
    #[arg(long, value_name = "ADDRESS", value_parser = socket_address)]
    pub page: Option<SocketAddr>,
    /// Who may look.
    #[command(flatten)]
    pub access: PageAccessArguments,
}

/// Who may look at a page.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Page")]
pub struct PageAccessArguments {
    /// Certificate of the page (PEM)
    #[arg(long, value_name = "FILE")]
    page_cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE")]
    page_key: Option<PathBuf>,
    /// CA certificate that signs the certificates of viewers (PEM); others are refused
    #[arg(long, value_name = "FILE")]
    page_client_ca: Option<PathBuf>,
    /// File with the token that viewers must know: browsers ask for it as the password
    #[arg(long, value_name = "FILE")]
    page_token: Option<PathBuf>,
}

impl PageAccessArguments {
    /// The files.
    #[must_use]
    pub fn access(&self) -> Access {
        Access {
            certificate: self.page_cert.clone(),
            key: self.page_key.clone(),
            client_authority: self.page_client_ca.clone(),
            token: self.page_token.clone(),
        }
    }
}
