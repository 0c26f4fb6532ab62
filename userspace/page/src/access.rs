//! Who may look: this host, or others with TLS and a token or a certificate.

use crate::Error;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap};
use rocescope_collector::tls;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::rustls::ServerConfig;

/// The shortest token: as many characters as a guess of years needs.
const TOKEN_MIN: usize = 16;

/// The files that let others look.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// The certificate of the server (PEM).
    pub certificate: Option<PathBuf>,
    /// Its key (PEM).
    pub key: Option<PathBuf>,
    /// The authority of the certificates of viewers (PEM).
    pub client_authority: Option<PathBuf>,
    /// A file with the token that viewers must know.
    pub token: Option<PathBuf>,
}

/// What every connection and every request must pass.
pub(crate) struct Guard {
    pub(crate) tls: Option<Arc<ServerConfig>>,
    token: Option<String>,
    /// Requests must name this host as their server: another name resolves to it only to pass the browser's rules.
    is_loopback: bool,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Its server has another name.
    Host,
    /// It has no token, or another one.
    Token,
}

impl Access {
    /// Reads the files.
    pub(crate) fn guard(&self, address: SocketAddr) -> Result<Guard, Error> {
        let tls = match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => {
                Some(tls::web_server(certificate, key, self.client_authority.as_deref())?)
            }
            (None, None) => None,
            _ => return Err(Error::Access("TLS needs both: --page-cert and --page-key")),
        };
        if tls.is_none() && self.client_authority.is_some() {
            return Err(Error::Access("--page-client-ca needs TLS: --page-cert and --page-key"));
        }
        let token = self.token.as_deref().map(token).transpose()?;
        let is_loopback = address.ip().is_loopback();
        let is_guarded = tls.is_some() && (token.is_some() || self.client_authority.is_some());
        if !is_loopback && !is_guarded {
            return Err(Error::Open(address));
        }
        Ok(Guard {
            tls,
            token,
            is_loopback,
        })
    }
}

fn token(path: &Path) -> Result<String, Error> {
    let failed = |reason: String| Error::Token {
        path: path.to_owned(),
        reason,
    };
    let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let token = text.trim();
    let is_plain = token.chars().all(|c| c.is_ascii_graphic());
    match token.len() >= TOKEN_MIN && is_plain {
        true => Ok(token.to_owned()),
        false => Err(failed(format!(
            "expected at least {TOKEN_MIN} visible ASCII characters on one line"
        ))),
    }
}

impl Guard {
    pub(crate) const fn scheme(&self) -> &'static str {
        match self.tls {
            Some(_) => "https",
            None => "http",
        }
    }

    /// Whether a request may be answered.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        if self.is_loopback
            && !headers
                .get(HOST)
                .and_then(|host| host.to_str().ok())
                .is_some_and(is_this_host)
        {
            return Err(Refusal::Host);
        }
        match &self.token {
            Some(token) if !has_token(headers, token) => Err(Refusal::Token),
            _ => Ok(()),
        }
    }
}

/// Whether the name of a server is one that only this host has.
fn is_this_host(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, port)) => (name, port.strip_prefix(':')),
        None => match host.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (host, None),
        },
    };
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
    let is_address = name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_port && (is_address || name.eq_ignore_ascii_case("localhost"))
}

/// `Bearer TOKEN`, or `Basic` with the token as the password, which browsers ask for.
fn has_token(headers: &HeaderMap, token: &str) -> bool {
    let stated = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some((scheme, value)) = stated.and_then(|value| value.split_once(' ')) else {
        return false;
    };
    let value = value.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return is_same(value, token);
    }
    let decoded = STANDARD
        .decode(value)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let password = decoded.as_deref().and_then(|pair| pair.split_once(':'));
    scheme.eq_ignore_ascii_case("basic") && password.is_some_and(|(_, password)| is_same(password, token))
}

/// Compares in a time that depends on the lengths alone.
fn is_same(a: &str, b: &str) -> bool {
    let differences = a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    a.len() == b.len() && std::hint::black_box(differences) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn headers(name: hyper::header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn only_names_of_this_host_pass_on_the_loopback() {
        let guard = Access::default().guard(([127, 0, 0, 1], 80).into()).unwrap();
        for host in [
            "localhost",
            "LOCALHOST:9465",
            "127.0.0.1:9465",
            "127.3.2.1",
            "[::1]:9465",
            "[::1]",
        ] {
            assert_eq!(guard.admit(&headers(HOST, host)), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example:80",
            "10.0.0.1",
            "",
            "localhost:x",
        ] {
            assert_eq!(guard.admit(&headers(HOST, host)), Err(Refusal::Host), "{host}");
        }
        assert_eq!(guard.admit(&HeaderMap::new()), Err(Refusal::Host));
    }

    #[test]
    fn other_addresses_need_tls_and_who_may_look() {
        let open = Access::default().guard(([0, 0, 0, 0], 80).into());
        assert!(matches!(open, Err(Error::Open(_))));
        let half = Access {
            key: Some("key.pem".into()),
            ..Access::default()
        };
        assert!(matches!(half.guard(([127, 0, 0, 1], 80).into()), Err(Error::Access(_))));
    }

    #[test]
    fn a_token_is_a_bearer_or_the_password() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let access = Access {
            token: Some(path.clone()),
            ..Access::default()
        };
        fs::write(&path, "short\n").unwrap();
        assert!(matches!(
            access.guard(([127, 0, 0, 1], 80).into()),
            Err(Error::Token { .. })
        ));
        fs::write(&path, "0123456789abcdef\n").unwrap();
        let guard = access.guard(([127, 0, 0, 1], 80).into()).unwrap();
        let basic = |pair: &str| format!("Basic {}", STANDARD.encode(pair));
        let admit = |value: &str| {
            let mut headers = headers(AUTHORIZATION, value);
            headers.insert(HOST, HeaderValue::from_static("localhost"));
            guard.admit(&headers)
        };
        for right in [
            "Bearer 0123456789abcdef",
            &basic("me:0123456789abcdef"),
            &basic(":0123456789abcdef"),
        ] {
            assert_eq!(admit(right), Ok(()), "{right}");
        }
        for wrong in [
            "Bearer 0123456789abcdeg",
            "Bearer",
            "Bearer ",
            "Basic !",
            &basic("0123456789abcdef"),
            "x y",
        ] {
            assert_eq!(admit(wrong), Err(Refusal::Token), "{wrong}");
        }
        assert_eq!(guard.admit(&headers(HOST, "localhost")), Err(Refusal::Token));
    }
}
