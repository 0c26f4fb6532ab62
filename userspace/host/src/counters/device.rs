//! One device: its driver, ports and groups of counters.

use super::entry::Owner;
use super::group::{Group, Identity, Origin, open_statistics, read_text};
use super::reader::{Filter, Sources, StatisticsFrom};
use crate::interface::Interface;
use rocescope_model::Text;
use rocescope_model::catalogue::{Driver, Place};
use std::fs;
use std::path::Path;

const PORT_FILES: &[&str] = &["state", "phys_state", "link_layer", "rate"];
const PCIE_FILES: &[&str] = &[
    "current_link_speed",
    "current_link_width",
    "max_link_speed",
    "max_link_width",
];

/// An RDMA device, a network interface, or the host.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) name: String,
    /// Its directory; `None` while it does not exist.
    pub(super) identity: Option<Identity>,
    /// Whether it exists: outlives the other groups.
    pub(super) present: Group,
    pub(super) groups: Vec<Group>,
    was_open: bool,
    /// What happened since the last read.
    pub(super) event: Option<&'static str>,
}

impl Device {
    /// A device that is opened at the next read.
    pub(super) fn new(name: &str, observer: &Text) -> Self {
        let owner = Owner {
            observer: observer.clone(),
            device: String::from(name).into(),
            port: None,
            netdev: None,
            driver: None,
            driver_name: Text::default(),
        };
        Self {
            name: name.to_owned(),
            identity: None,
            present: Group::new(owner, Place::Device, Origin::Present(false)),
            groups: Vec::new(),
            was_open: false,
            event: None,
        }
    }

    /// Whether it existed before.
    pub(super) const fn was_known(&self) -> bool {
        self.was_open
    }

    /// Its directory is gone.
    pub(super) fn vanish(&mut self) {
        self.identity = None;
        self.groups.clear();
        self.present.replace(Origin::Present(false));
        self.event = Some("vanished");
    }

    /// Finds the counters of an RDMA device.
    pub(super) fn open(&mut self, sources: &Sources, filter: &Filter, rdma_index: Option<u32>) {
        let path = sources.class().join(&self.name);
        let (driver, driver_name) = driver(&path, &self.name);
        let owner = Owner {
            driver,
            driver_name,
            ..self.present.owner.clone()
        };
        self.arrive(&owner);
        let mut groups = Vec::new();
        let pcie = path.join("device");
        if pcie.join("current_link_speed").exists() {
            groups.push(Group::directory(owner.clone(), Place::Pcie, pcie, PCIE_FILES));
        }
        let device_counters = path.join("hw_counters");
        if device_counters.is_dir() {
            groups.push(Group::directory(owner.clone(), Place::HwCounters, device_counters, &[]));
        }
        let ports = path.join("ports");
        for number in numbers(&ports) {
            self.open_port(
                &mut groups,
                &ports.join(number.to_string()),
                number,
                &owner,
                sources,
                filter,
                rdma_index,
            );
        }
        if let Some(device) = rdma_index {
            groups.push(Group::new(owner, Place::Resources, Origin::Resources { device }));
        }
        self.groups = groups;
    }

    fn arrive(&mut self, owner: &Owner) {
        self.was_open = true;
        self.present.owner = owner.clone();
        self.present.replace(Origin::Present(true));
    }

    #[expect(clippy::too_many_arguments, reason = "what a port needs of its device")]
    fn open_port(
        &self,
        groups: &mut Vec<Group>,
        path: &Path,
        number: u16,
        device: &Owner,
        sources: &Sources,
        filter: &Filter,
        rdma_index: Option<u32>,
    ) {
        let netdev = interface(path);
        let owner = Owner {
            port: Some(number),
            netdev: netdev.clone().map(Text::from),
            ..device.clone()
        };
        groups.push(Group::directory(
            owner.clone(),
            Place::Port,
            path.to_owned(),
            PORT_FILES,
        ));
        let gids = path.join("gids");
        if gids.is_dir() {
            let origin = Origin::Addresses {
                path: gids,
                known: None,
                reads: 0,
            };
            groups.push(Group::new(owner.clone(), Place::Port, origin));
        }
        for (name, place) in [("counters", Place::Counters), ("hw_counters", Place::HwCounters)] {
            let path = path.join(name);
            if path.is_dir() {
                groups.push(Group::directory(owner.clone(), place, path, &[]));
            }
        }
        if let Some(device) = rdma_index {
            let known = fs::read_dir(path.join("hw_counters")).into_iter().flatten().flatten();
            let origin = Origin::Netlink {
                device,
                port: number.into(),
                known: known.filter_map(|entry| entry.file_name().into_string().ok()).collect(),
            };
            groups.push(Group::new(owner.clone(), Place::Netlink, origin));
        }
        groups.extend(netdev.and_then(|name| statistics(&name, owner, sources, filter, false)));
    }

    /// Finds the counters of a network interface without an RDMA device.
    pub(super) fn open_interface(&mut self, sources: &Sources, filter: &Filter) {
        let driver_name = Interface::find(&self.name).and_then(|interface| interface.driver());
        let driver_name = driver_name.unwrap_or_default();
        let driver = Driver::of_module(&driver_name);
        let owner = Owner {
            driver,
            driver_name: driver.map_or_else(|| driver_name.into(), |driver| driver.name().into()),
            netdev: Some(String::from(&*self.name).into()),
            ..self.present.owner.clone()
        };
        self.arrive(&owner);
        self.groups = statistics(&self.name, owner, sources, filter, true)
            .into_iter()
            .collect();
    }
}

fn statistics(name: &str, owner: Owner, sources: &Sources, filter: &Filter, all: bool) -> Option<Group> {
    let origin = match &sources.ethtool {
        StatisticsFrom::Nowhere => return None,
        StatisticsFrom::Files(directory) => {
            let path = directory.join(name);
            path.exists().then_some(Origin::StatisticsFile(path))?
        }
        StatisticsFrom::Kernel => {
            let statistics = open_statistics(name, owner.driver, filter, all).ok()?;
            Origin::Statistics { statistics, all }
        }
    };
    Some(Group::new(owner, Place::Ethtool, origin))
}

/// The driver of a device: by its kernel module, or by the device's name if it has the default one.
fn driver(path: &Path, name: &str) -> (Option<Driver>, Text) {
    let uevent = read_text(&path.join("device/uevent")).unwrap_or_default();
    let module = uevent.lines().find_map(|line| line.strip_prefix("DRIVER="));
    let module = module.map(ToOwned::to_owned).or_else(|| {
        let link = fs::read_link(path.join("device/driver")).ok()?;
        Some(link.file_name()?.to_str()?.to_owned())
    });
    let driver = module
        .as_deref()
        .and_then(Driver::of_module)
        .or_else(|| Driver::of_device(name));
    let name = match (driver, module) {
        (Some(driver), _) => driver.name().into(),
        (None, Some(module)) => module.into(),
        (None, None) => Text::default(),
    };
    (driver, name)
}

/// The network interface of a port: that of its addresses, or of the device.
fn interface(port: &Path) -> Option<String> {
    let addresses = port.join("gid_attrs/ndevs");
    let entries = fs::read_dir(addresses).into_iter().flatten().flatten();
    // An unused entry cannot be read.
    let mut names: Vec<String> = entries
        .filter_map(|entry| read_text(&entry.path()).ok())
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    // A VLAN or a bond has addresses of its own on the port: its name is longer.
    names.sort_by_key(|name| (name.contains('.'), name.len()));
    names.into_iter().next().or_else(|| {
        let device = port.parent()?.parent()?.join("device/net");
        let entries = fs::read_dir(device).ok()?.flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names.into_iter().next()
    })
}

fn numbers(directory: &Path) -> Vec<u16> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut numbers: Vec<u16> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers
}
