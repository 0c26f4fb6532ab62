//! The PCI devices of a host, its NUMA nodes, and whether it is virtual, from `/sys` or a copy of it.
//!
//! | module | contents |
//! |---|---|
//! | `configuration` | what the PCI configuration space holds of ACS and ATS |

mod configuration;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What cannot be read, and where.
#[derive(Debug)]
pub struct Unreadable {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

impl std::error::Error for Unreadable {}

/// The hardware of a host.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hardware {
    /// Its PCI devices, by address.
    pub devices: Vec<PciDevice>,
    /// Its NUMA nodes, by number; never empty.
    pub numa: Vec<NumaNode>,
    /// Vendor and product of the machine as DMI names them; empty if unknown.
    pub dmi: Vec<String>,
    /// Whether the kernel runs as a guest that knows its hypervisor (`/sys/hypervisor`).
    pub has_hypervisor: bool,
}

/// A NUMA node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NumaNode {
    /// Its number.
    pub number: u32,
    /// The socket of its first processor.
    pub package: Option<u32>,
    /// Distances to NUMA nodes, in the order of their numbers.
    pub distances: Vec<u32>,
}

/// A PCI device.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PciDevice {
    /// Its address: `0000:07:00.0`.
    pub address: String,
    /// Address of the bridge above it.
    pub parent: Option<String>,
    /// Its class: `0x030200`.
    pub class: u32,
    /// Its vendor: `0x10de`.
    pub vendor: u32,
    /// Its NUMA node; the only one, or 0, if the kernel does not know it.
    pub numa: u32,
    /// Texts of `current_link_speed`, `current_link_width`, `max_link_speed` and `max_link_width`; empty if missing.
    pub link: [String; 4],
    /// Its RDMA devices.
    pub rdma: Vec<String>,
    /// Its network interfaces.
    pub interfaces: Vec<String>,
    /// Rate of its first port in Gbit/s.
    pub rate_gbps: Option<f64>,
    /// Whether ACS redirects peer-to-peer requests; none if it cannot, or without the privilege to read it.
    pub acs: Option<bool>,
    /// Whether ATS is enabled; none likewise.
    pub ats: Option<bool>,
}

/// Reads the hardware of the host whose `/sys` is at `sys`. Virtual functions of a NIC that this host has are left out.
///
/// # Errors
/// The file that is missing or not as expected.
pub fn read(sys: &Path) -> Result<Hardware, Unreadable> {
    let numa = numa_nodes(sys)?;
    let folder = sys.join("bus/pci/devices");
    let mut devices = Vec::new();
    for path in entries(&folder).map_err(|error| unreadable(&folder, &error.to_string()))? {
        if !path.join("physfn").exists() {
            devices.push(device(&path, sys, &numa)?);
        }
    }
    devices.sort_by(|a, b| a.address.cmp(&b.address));
    let dmi = ["sys_vendor", "product_name"].map(|name| text(&sys.join("class/dmi/id").join(name)));
    Ok(Hardware {
        devices,
        numa: numa.into_iter().map(|(node, _)| node).collect(),
        dmi: dmi.into_iter().filter(|text| !text.is_empty()).collect(),
        has_hypervisor: sys.join("hypervisor/type").exists(),
    })
}

fn unreadable(path: &Path, reason: &str) -> Unreadable {
    Unreadable {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

fn names(folder: &Path) -> Vec<String> {
    let paths = entries(folder).unwrap_or_default().into_iter();
    paths
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect()
}

/// The trimmed text of a file; empty if it cannot be read.
fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

fn hexadecimal(path: &Path) -> Result<u32, Unreadable> {
    let read = fs::read_to_string(path).map_err(|error| unreadable(path, &error.to_string()))?;
    let digits = read.trim().trim_start_matches("0x");
    u32::from_str_radix(digits, 16).map_err(|_| {
        unreadable(
            path,
            &format!("`{}`: expected hexadecimal digits, such as 0x030200", read.trim()),
        )
    })
}

fn device(path: &Path, sys: &Path, numa: &[(NumaNode, Vec<u32>)]) -> Result<PciDevice, Unreadable> {
    let address = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // The directory itself is inside that of the bridge above it.
    let place = fs::canonicalize(path).map_err(|error| unreadable(path, &error.to_string()))?;
    let above = place.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let is_address = |name: &&str| name.len() >= 12 && name.contains('.') && name.matches(':').count() == 2;
    let mut interfaces = names(&path.join("net"));
    for below in names(path).iter().filter(|name| name.starts_with("virtio")) {
        interfaces.extend(names(&path.join(below).join("net")));
    }
    let mut rdma = names(&path.join("infiniband"));
    if rdma.is_empty() {
        rdma = software_rdma(sys, &interfaces);
    }
    let [acs, ats] = fs::read(path.join("config")).map_or([None, None], |bytes| configuration::flags(&bytes));
    Ok(PciDevice {
        parent: above.filter(is_address).map(str::to_owned),
        class: hexadecimal(&path.join("class"))?,
        vendor: hexadecimal(&path.join("vendor"))?,
        numa: numa_of(path, numa),
        link: [
            "current_link_speed",
            "current_link_width",
            "max_link_speed",
            "max_link_width",
        ]
        .map(|name| text(&path.join(name))),
        rate_gbps: rate(path, sys, &rdma, &interfaces),
        address,
        rdma,
        interfaces,
        acs,
        ats,
    })
}

/// The RDMA devices that software made of these interfaces, such as soft-RoCE: they are not below the PCI device.
fn software_rdma(sys: &Path, interfaces: &[String]) -> Vec<String> {
    let class = sys.join("class/infiniband");
    let is_of = |name: &String| interfaces.contains(&text(&class.join(name).join("parent")));
    let mut found: Vec<String> = names(&class).into_iter().filter(is_of).collect();
    found.sort();
    found
}

/// `200 Gb/sec (4X HDR)` of a port, or the speed of an interface in Mbit/s.
fn rate(path: &Path, sys: &Path, rdma: &[String], interfaces: &[String]) -> Option<f64> {
    for device in rdma {
        for ports in [path.join("infiniband"), sys.join("class/infiniband")] {
            let rate = text(&ports.join(device).join("ports/1/rate"));
            if let Some(rate) = rate.split_whitespace().next().and_then(|rate| rate.parse().ok()) {
                return Some(rate);
            }
        }
    }
    let mut speeds = interfaces
        .iter()
        .map(|name| text(&path.join("net").join(name).join("speed")));
    let speed = speeds.find_map(|speed| speed.parse::<f64>().ok())?;
    (speed > 0.0).then_some(speed / 1e3)
}

/// The NUMA node of a device, or else the one of the first processor that is local to it.
fn numa_of(path: &Path, numa: &[(NumaNode, Vec<u32>)]) -> u32 {
    if let Ok(number) = text(&path.join("numa_node")).parse() {
        return number;
    }
    let local = cpus(&text(&path.join("local_cpulist")));
    let has = |(_, of_node): &&(NumaNode, Vec<u32>)| local.first().is_some_and(|first| of_node.contains(first));
    let found = numa.iter().find(has).or(numa.first());
    found.map_or(0, |(node, _)| node.number)
}

/// `0-3,8` as numbers.
fn cpus(list: &str) -> Vec<u32> {
    let mut all = Vec::new();
    for part in list.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(from), Ok(to)) = (from.parse::<u32>(), to.parse::<u32>()) {
            all.extend(from..=to.min(from.saturating_add(100_000)));
        }
    }
    all
}

/// The processors near an RDMA device; empty if unknown.
#[must_use]
pub fn near_processors(sys: &Path, rdma: &str) -> Vec<u32> {
    cpus(&text(
        &sys.join("class/infiniband").join(rdma).join("device/local_cpulist"),
    ))
}

/// The NUMA nodes with processors, and these.
fn numa_nodes(sys: &Path) -> Result<Vec<(NumaNode, Vec<u32>)>, Unreadable> {
    let folder = sys.join("devices/system/node");
    let mut nodes = Vec::new();
    for path in entries(&folder).unwrap_or_default() {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(number) = name.strip_prefix("node").and_then(|number| number.parse().ok()) else {
            continue;
        };
        let processors = cpus(&text(&path.join("cpulist")));
        let Some(first) = processors.first() else {
            continue;
        };
        let package = sys.join(format!("devices/system/cpu/cpu{first}/topology/physical_package_id"));
        let distance = path.join("distance");
        let mut distances = Vec::new();
        for word in text(&distance).split_whitespace() {
            let expected = |_| unreadable(&distance, &format!("`{word}`: expected distances, such as 10 21"));
            distances.push(word.parse().map_err(expected)?);
        }
        let node = NumaNode {
            number,
            package: text(&package).parse().ok(),
            distances,
        };
        nodes.push((node, processors));
    }
    nodes.sort_by_key(|(node, _)| node.number);
    if nodes.is_empty() {
        // A kernel without NUMA has no nodes.
        nodes.push((NumaNode::default(), Vec::new()));
    }
    Ok(nodes)
}
