//! The columns of `verdicts` that name the place.

use super::names::Names;
use super::place::FaultLocation;
use super::suspects::Suspect;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::{Text, VerdictRow};

/// Writes the place of a suspect into a row.
pub(super) fn name(row: &mut VerdictRow, suspect: &Suspect, names: &Names) {
    let nic = |nic: u32| Some(Text::from(names.nic_name(nic)));
    let address = |nic: u32| names.nics.get(nic as usize).map(|nic| nic.address);
    let switch = |switch: u32| Some(Text::from(names.switch_name(switch)));
    let (kind, place) = match suspect.place {
        FaultLocation::Nic(at) | FaultLocation::ToNic(at) | FaultLocation::FromNic(at) if !suspect.also.is_empty() => {
            let host = names
                .nics
                .get(at as usize)
                .and_then(|nic| names.hosts.get(nic.host as usize));
            row.host = host.cloned();
            let others = suspect.also.iter().filter_map(|place| match place {
                FaultLocation::Nic(at) | FaultLocation::ToNic(at) | FaultLocation::FromNic(at) => Some(*at),
                _ => None,
            });
            let mut all: Vec<String> = [at].into_iter().chain(others).map(|at| names.nic_name(at)).collect();
            all.sort();
            ("nic", all.join(" or "))
        }
        FaultLocation::Nic(at) | FaultLocation::ToNic(at) | FaultLocation::FromNic(at) => {
            row.nic = nic(at);
            row.dst = address(at);
            row.direction = Some(match suspect.place {
                FaultLocation::ToNic(_) => "to".into(),
                FaultLocation::FromNic(_) => "from".into(),
                _ => "both".into(),
            });
            ("nic", names.nic_name(at))
        }
        FaultLocation::Link(_) | FaultLocation::Cable(..) => {
            row.link = Some(links(suspect, names).into());
            ("link", either(suspect, names))
        }
        FaultLocation::Ports(set) => {
            row.switch = names
                .port_sets
                .all
                .get(set as usize)
                .map(|set| Text::from(set.node.clone()));
            ("ports", either(suspect, names))
        }
        FaultLocation::Switch(at) => {
            row.switch = switch(at);
            ("switch", either(suspect, names))
        }
        FaultLocation::Onward(at) => {
            row.switch = switch(at);
            ("switch", format!("{} or its next hops", names.switch_name(at)))
        }
        FaultLocation::Route { switch: at, nic: to } => {
            row.switch = switch(at);
            row.nic = nic(to);
            row.dst = address(to);
            ("route", format!("{} at {}", names.nic_name(to), names.switch_name(at)))
        }
        FaultLocation::Pair { src, dst } => {
            row.nic = nic(dst);
            (row.src, row.dst) = (address(src), address(dst));
            ("pair", format!("{} to {}", names.nic_name(src), names.nic_name(dst)))
        }
        FaultLocation::PairAt { switch: at, src, dst } => {
            row.switch = switch(at);
            row.nic = nic(dst);
            (row.src, row.dst) = (address(src), address(dst));
            let (from, to) = (names.nic_name(src), names.nic_name(dst));
            ("pair", format!("{from} to {to} at {}", names.switch_name(at)))
        }
        FaultLocation::Tuple {
            src, dst, udp_src_port, ..
        } => {
            row.nic = nic(dst);
            (row.src, row.dst) = (address(src), address(dst));
            row.udp_src_port = Some(udp_src_port);
            let (from, to) = (names.nic_name(src), names.nic_name(dst));
            ("tuple", format!("{from} to {to}, source port {udp_src_port}"))
        }
        FaultLocation::Host(host) => {
            let name = names.hosts.get(host as usize).cloned().unwrap_or_default();
            row.host = Some(name.clone());
            ("host", String::from(name.as_str()))
        }
        FaultLocation::Collector => ("collector", String::from(row.observer.as_str())),
        FaultLocation::Mesh => ("mesh", "mesh".into()),
    };
    row.place_kind = kind.into();
    row.place = place.into();
}

/// The place and those that the evidence cannot separate from it.
fn either(suspect: &Suspect, names: &Names) -> String {
    let name = |place: &FaultLocation| match *place {
        FaultLocation::Link(link) => names.link_name(link),
        FaultLocation::Cable(one, other) => {
            let [there, _] = ways(one, other, names);
            format!("{there} and back")
        }
        FaultLocation::Ports(set) => format!("ports {}", ports(set, names)),
        FaultLocation::Switch(at) => format!("switch {}", names.switch_name(at)),
        _ => String::new(),
    };
    let alone = match suspect.place {
        FaultLocation::Ports(set) => ports(set, names),
        FaultLocation::Switch(at) => names.switch_name(at),
        place => name(&place),
    };
    let all: Vec<String> = [alone].into_iter().chain(suspect.also.iter().map(name)).collect();
    all.join(" or ")
}

fn ports(set: u32, names: &Names) -> String {
    let set = names.port_sets.all.get(set as usize);
    set.map_or_else(String::new, |set| set.name.clone())
}

/// Every direction of a link among the place and those that the evidence cannot separate from it.
fn links(suspect: &Suspect, names: &Names) -> String {
    let of = |place: &FaultLocation| match *place {
        FaultLocation::Link(link) => [Some(names.link_name(link)), None],
        FaultLocation::Cable(one, other) => ways(one, other, names).map(Some),
        _ => [None, None],
    };
    let all: Vec<String> = [suspect.place]
        .iter()
        .chain(&suspect.also)
        .flat_map(of)
        .flatten()
        .collect();
    all.join(" ")
}

fn ways(one: u32, other: u32, names: &Names) -> [String; 2] {
    let mut both = [one, other].map(|link| names.link_name(link));
    both.sort();
    both
}
