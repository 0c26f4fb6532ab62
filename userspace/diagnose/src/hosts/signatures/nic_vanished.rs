//! A NIC is gone from its host.

use super::give_ups;
use crate::hosts::finding::{Class, Confidence, Finding, Place};
use crate::hosts::view::View;
use crate::hosts::watched::{ABSENT, Watched};
use alloc::vec::Vec;
use core::net::IpAddr;

pub(super) fn find(view: &View<'_>, found: &mut Vec<Finding>) {
    let gone: Vec<u32> = view.gone().collect();
    for device in gone.iter().copied().filter(|device| view.is_host_read(*device)) {
        // A NIC that was never up is not in use; the interface of a NIC goes with it.
        let ports: Vec<u32> = view.ports.ports_of(device).collect();
        let is_unused = !ports.is_empty() && !ports.iter().any(|port| view.ports.get(*port).was_up);
        if !is_unused && !is_interface(view, device, &gone) && !is_renamed(view, device) {
            found.push(finding(view, device, &ports));
        }
    }
}

/// Whether a device is the network interface of another that is gone.
fn is_interface(view: &View<'_>, device: u32, gone: &[u32]) -> bool {
    let (host, name) = (view.ports.get(device).host, &view.ports.get(device).device);
    let others = gone.iter().filter(|other| **other != device);
    let mut ports = others.flat_map(|other| view.ports.ports_of(*other));
    ports.any(|port| {
        let port = view.ports.get(port);
        port.host == host && port.netdev.as_ref() == Some(name)
    })
}

/// Whether a device that appeared when this one vanished has its address: it has another name now.
fn is_renamed(view: &View<'_>, device: u32) -> bool {
    let old = view.ports.get(device);
    let Some(gone_ns) = old.gone_ns else {
        return false;
    };
    let addresses = view.ports.addresses(device);
    let since_ns = gone_ns.saturating_sub(view.settings.window_ns);
    view.ports.numbers().any(|port| {
        let new = view.ports.get(port);
        new.host == old.host
            && new.device != old.device
            && new.new_ns.is_some_and(|at| at >= since_ns)
            && new.addresses.iter().any(|address| addresses.contains(address))
    })
}

fn finding(view: &View<'_>, device: u32, ports: &[u32]) -> Finding {
    let of = view.ports.text(device);
    let is_away = view.ports.value(device, Watched::Present) == Some(ABSENT);
    let mut finding = Finding::new(Class::NicVanished, Place::Port(device), Confidence::Possible)
        .because("the reader of its host found it gone")
        .means(
            match is_away {
                true if view.ports.get(device).is_absent => {
                    "the NIC is not there, although the configuration of its host names it: nothing reaches the applications \
                     that use it"
                }
                true => "the NIC vanished from its host: nothing reaches the applications that use it",
                false => "the NIC vanished from its host and returned: the connections that used it are lost",
            },
            "look at the kernel log of the host for errors of PCIe, the firmware or the driver, and at `lspci` for the slot; \
             nothing is at fault if someone reloaded the driver or moved the device to a container",
        );
    finding.since_ns = view.ports.get(device).gone_ns;
    let present = if is_away { ABSENT } else { 1.0 };
    finding.value(&of, Watched::Present.name(), present, "state");
    for port in ports {
        if let Some(state) = view.ports.value(*port, Watched::State) {
            finding.value(&view.ports.text(*port), "state before", state, "state");
        }
    }
    let addresses: Vec<IpAddr> = view.broken_addresses(device);
    let mut given_up = give_ups::on_wire(view, &addresses).peekable();
    let off_wire = give_ups::off_wire(view);
    if given_up.peek().is_some() || !off_wire.is_empty() {
        // Its connections ended: no one took it out of use before, and that it returned soon is no comfort.
        finding.confidence = Confidence::Certain;
        finding.begins_after = Some(1);
    }
    give_ups::seen(view, given_up, &mut finding);
    for sender in off_wire.into_iter().take(4) {
        give_ups::counted(view, sender, &mut finding);
    }
    finding
}
