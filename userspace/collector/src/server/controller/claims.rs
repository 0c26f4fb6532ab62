//! What a member claims, and what of it is believed: its role is the one of its group in the configuration, its
//! addresses are those that its certificate or the configuration gives it. What it claims is bounded.

use crate::control::Plan;
use crate::control::message::{MemberState, MemberStatus, Role};
use crate::tls::Identity;
use rocescope_model::human::visible;
use std::net::IpAddr;

/// Characters of a reason.
const MAX_REASON: usize = 1_000;
/// Settings that wait for a restart, and characters of each.
const MAX_SETTINGS: usize = 64;
const MAX_SETTING: usize = 100;
/// Addresses of a member.
const MAX_ADDRESSES: usize = 64;

/// The claims of a member on its connection.
#[derive(Debug, Default)]
pub(super) struct Claims {
    role: Role,
    addresses: Vec<IpAddr>,
    /// Those of them that its certificate has.
    certified: Vec<IpAddr>,
}

impl Claims {
    /// Takes a report, and replaces what it claims by what is believed. Returns a line about new claims that are not.
    pub(super) fn take(&mut self, identity: &Identity, reported: &mut MemberState, plan: &Plan) -> Option<String> {
        let is_new = self.role != reported.role || self.addresses != reported.addresses;
        if is_new {
            let certified = reported.addresses.iter().copied();
            *self = Self {
                role: reported.role,
                addresses: reported.addresses.clone(),
                certified: certified.filter(|address| identity.has_address(*address)).collect(),
            };
        }
        let doubted = self.settle(&identity.name, reported, plan);
        doubted.filter(|_| is_new)
    }

    /// Sets the role and the addresses of a member. Returns a line about claims that are not believed.
    pub(super) fn settle(&self, name: &str, state: &mut MemberState, plan: &Plan) -> Option<String> {
        state.role = plan.role(name);
        state.records &= state.role == Role::Capture;
        let is_own = |address: &IpAddr| self.certified.contains(address) || plan.has_address(name, *address);
        let (own, others): (Vec<IpAddr>, Vec<IpAddr>) = self.addresses.iter().copied().partition(is_own);
        state.addresses = own;
        if self.role == Role::Capture && state.role != Role::Capture {
            return Some(format!(
                "{name} claims that it is a capture box, but no group with role = \"capture\" has it: it may name no flows"
            ));
        }
        let first = others.first()?;
        let more = match others.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "{name} reports the address {first}{more}, which neither its certificate nor [addresses] names: it is not asked \
             to probe flows of it"
        ))
    }
}

/// Shortens what a member reported: every operator gets it, and the log.
pub(super) fn limit(state: &mut MemberState) {
    if let Some(refused) = &mut state.refused {
        refused.reason = shortened(&refused.reason, MAX_REASON);
    }
    state.restart.truncate(MAX_SETTINGS);
    for setting in &mut state.restart {
        *setting = shortened(setting, MAX_SETTING);
    }
    state.addresses.truncate(MAX_ADDRESSES);
}

/// The same for what an earlier controller kept.
pub(super) fn limit_status(status: &mut MemberStatus) {
    limit(&mut status.state);
    let excess = status.refused.len().saturating_sub(super::MAX_REFUSED);
    status.refused.drain(..excess);
    for refused in &mut status.refused {
        refused.reason = shortened(&refused.reason, MAX_REASON);
    }
}

fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => visible(text),
        Some((end, _)) => format!("{}…", visible(&text[..end])),
    }
}

#[cfg(test)]
mod tests {
    use super::{Claims, limit};
    use crate::control::Plan;
    use crate::control::message::{MemberState, Refused, Role};
    use crate::tls::Identity;
    use rocescope_testkit::Authority;
    use rustls_pki_types::CertificateDer;
    use rustls_pki_types::pem::PemObject;
    use std::net::IpAddr;

    const FILE: &str = "operators = [\"ops\"]\n[addresses]\nh1 = [\"10.9.0.2\"]\n\
        [[group]]\nname = \"boxes\"\nmembers = [\"box\"]\nrole = \"capture\"\n";

    fn address(last: u8) -> IpAddr {
        [10, 9, 0, last].into()
    }

    fn state(role: Role) -> MemberState {
        MemberState {
            role,
            addresses: (1..=3).map(address).collect(),
            records: true,
            ..MemberState::default()
        }
    }

    /// An agent said that it was a capture box with the address of another host, and got probes sent there.
    #[test]
    fn a_member_is_what_its_certificate_and_the_configuration_say() {
        let directory = tempfile::tempdir().unwrap();
        let signed = Authority::new(directory.path()).sign("h1", &["h1", "10.9.0.1"]);
        let certificate = CertificateDer::from_pem_file(signed.certificate).unwrap();
        let (h1, plan) = (Identity::of(&certificate).unwrap(), Plan::parse(FILE).unwrap());
        let (mut claims, mut claimed) = (Claims::default(), state(Role::Capture));
        let doubted = claims.take(&h1, &mut claimed, &plan).unwrap();
        assert!(doubted.contains("no group with role = \"capture\""), "{doubted}");
        assert_eq!((claimed.role, claimed.records), (Role::Agent, false));
        assert_eq!(claimed.addresses, [address(1), address(2)]);
        assert_eq!(claims.take(&h1, &mut state(Role::Capture), &plan), None, "once");
        let doubted = claims.take(&h1, &mut state(Role::Agent), &plan).unwrap();
        assert!(doubted.contains("10.9.0.3, which neither"), "{doubted}");

        // Another version of the configuration changes what is believed.
        let next = Plan::parse(&FILE.replace("box\"]", "h*\"]").replace("h1 =", "h7 =")).unwrap();
        claims.settle("h1", &mut claimed, &next);
        assert_eq!((claimed.role, &*claimed.addresses), (Role::Capture, &[address(1)][..]));
    }

    /// A reason of 900,000 characters, 16 times, was more than an operator's answer may have.
    #[test]
    fn what_a_member_says_is_bounded() {
        let mut state = MemberState {
            refused: Some(Refused {
                version: 1,
                reason: "é\n".repeat(900_000),
            }),
            restart: vec!["x".repeat(100_000); 1_000],
            addresses: vec![address(1); 100_000],
            ..MemberState::default()
        };
        limit(&mut state);
        assert!(state.refused.as_ref().unwrap().reason.starts_with("é\u{fffd}é"));
        assert!(serde_json::to_vec(&state).unwrap().len() < 16_384);
    }
}
