//! The text of `nvidia-smi topo -m`: how far each two of GPUs and NICs are apart, of which the tree follows.

use super::machine::{Bridges, Device, DeviceKind, Machine};
use crate::hostping::refusal::{Refusal, line_number};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// How far two devices are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    /// `PIX`: one PCIe bridge.
    Switch,
    /// `PXB`: several bridges, not the host bridge.
    Switches,
    /// `PHB`: a host bridge.
    HostBridge,
    /// `NODE`: the host bridges of one NUMA node.
    Numa,
    /// `SYS`: between NUMA nodes.
    System,
    /// `NV12`: NVLink, which hides what the PCIe distance is.
    Unknown,
}

struct Entry {
    name: String,
    is_gpu: bool,
    numa: Option<u32>,
    distances: Vec<Distance>,
}

/// Reads the text.
///
/// # Errors
/// The line, and what is wrong there.
pub fn read(text: &str) -> Result<Machine, Refusal> {
    let clean = without_escapes(text);
    let mut lines = clean.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (head_at, head) = lines
        .next()
        .ok_or_else(|| Refusal::at(1, "empty: expected `nvidia-smi topo -m`"))?;
    let names: Vec<&str> = head.split_whitespace().take_while(|word| *word != "CPU").collect();
    if !names.iter().any(|name| is_gpu(name)) {
        let expected = "expected the heading of `nvidia-smi topo -m`: GPU0, GPU1, …";
        return Err(Refusal::at(line_number(head_at), expected));
    }
    let mut entries: Vec<Entry> = Vec::new();
    let mut legend: BTreeMap<String, String> = BTreeMap::new();
    for (at, line) in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [short, name] = words.as_slice()
            && let Some(short) = short.strip_suffix(':').filter(|short| short.starts_with("NIC"))
        {
            legend.insert(short.to_string(), name.to_string());
        } else if entries.len() < names.len() {
            entries.push(
                entry(&words, names[entries.len()], names.len()).map_err(|why| Refusal::at(line_number(at), why))?,
            );
        }
    }
    if entries.len() < names.len() {
        let end = line_number(clean.lines().count().saturating_sub(1));
        let missing = names[entries.len()];
        return Err(Refusal::at(end, format!("the line of {missing} is missing")));
    }
    for entry in &mut entries {
        if let Some(name) = legend.get(&entry.name) {
            entry.name.clone_from(name);
        }
    }
    Ok(machine(&mut entries))
}

fn is_gpu(name: &str) -> bool {
    name.strip_prefix("GPU")
        .is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Terminals underline the heading.
fn without_escapes(text: &str) -> String {
    let mut clean = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        clean.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    clean + rest
}

fn entry(words: &[&str], name: &str, count: usize) -> Result<Entry, String> {
    if words.first() != Some(&name) {
        let found = words.first().copied().unwrap_or_default();
        return Err(format!("`{found}`: expected the line of {name}"));
    }
    let codes = words.get(1..=count);
    let codes = codes.ok_or_else(|| format!("{} values: expected {count}", words.len() - 1))?;
    let distances: Result<Vec<Distance>, String> = codes.iter().map(|code| distance(code)).collect();
    // Then: CPU affinity, NUMA affinity, and the GPU's own NUMA node.
    let numa = words
        .get(count + 2)
        .and_then(|numa| numa.split(['-', ',']).next()?.parse().ok());
    Ok(Entry {
        name: name.to_string(),
        is_gpu: is_gpu(name),
        numa,
        distances: distances?,
    })
}

fn distance(code: &str) -> Result<Distance, String> {
    Ok(match code {
        "X" | "PIX" => Distance::Switch,
        "PXB" => Distance::Switches,
        "PHB" => Distance::HostBridge,
        "NODE" => Distance::Numa,
        "SYS" => Distance::System,
        _ if code.starts_with("NV") => Distance::Unknown,
        _ => {
            return Err(format!(
                "`{code}`: expected X, PIX, PXB, PHB, NODE, SYS or NV and a number"
            ));
        }
    })
}

fn machine(entries: &mut [Entry]) -> Machine {
    let mut machine = Machine {
        bridges: Bridges::Switches,
        notes: vec!["`nvidia-smi topo -m` has no speeds of links: they are not checked".to_string()],
        ..Machine::default()
    };
    find_numa(entries, &mut machine.notes);
    for entry in &*entries {
        machine.numa_mut(entry.numa.unwrap_or_default());
    }
    machine.numa.sort_by_key(|numa| numa.number);
    for tree in components(entries, &(0..entries.len()).collect::<Vec<_>>(), Distance::Switches) {
        let numa = entries[tree[0]].numa.unwrap_or_default();
        let mut groups = components(entries, &tree, Distance::Switch);
        let device = if groups.len() == 1 {
            group(entries, &groups.remove(0))
        } else {
            bridge(groups.iter().map(|members| group(entries, members)).collect())
        };
        machine.numa_mut(numa).devices.push(device);
    }
    machine
}

/// NICs have no NUMA node of their own in the table: that of a device on the same one.
fn find_numa(entries: &mut [Entry], notes: &mut Vec<String>) {
    for _ in 0..entries.len() {
        for at in 0..entries.len() {
            if entries[at].numa.is_some() {
                continue;
            }
            let near = |(other, distance): (usize, &Distance)| {
                (other != at && *distance <= Distance::Numa)
                    .then(|| entries[other].numa)
                    .flatten()
            };
            entries[at].numa = entries[at].distances.iter().enumerate().find_map(near);
        }
    }
    let known: Vec<u32> = entries.iter().filter_map(|entry| entry.numa).collect();
    let free = (0..).find(|number| !known.contains(number)).unwrap_or_default();
    for entry in entries.iter_mut().filter(|entry| entry.numa.is_none()) {
        entry.numa = Some(if known.is_empty() { 0 } else { free });
        notes.push(format!(
            "the NUMA node of {} is not in the table: assumed to be CPU {}",
            entry.name,
            entry.numa.unwrap_or_default()
        ));
    }
}

/// Groups of devices that are within this distance of each other.
fn components(entries: &[Entry], among: &[usize], within: Distance) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for at in among {
        let near = |group: &Vec<usize>| group.iter().any(|other| entries[*other].distances[*at] <= within);
        let mut joined = vec![*at];
        let mut apart = Vec::new();
        for group in groups {
            if near(&group) {
                joined.extend(group);
            } else {
                apart.push(group);
            }
        }
        joined.sort_unstable();
        apart.push(joined);
        apart.sort();
        groups = apart;
    }
    groups
}

fn group(entries: &[Entry], members: &[usize]) -> Device {
    let mut devices: Vec<Device> = members.iter().map(|at| device(&entries[*at])).collect();
    if devices.len() == 1 {
        devices.remove(0)
    } else {
        bridge(devices)
    }
}

fn bridge(children: Vec<Device>) -> Device {
    Device {
        kind: DeviceKind::Bridge,
        children,
        ..Device::default()
    }
}

fn device(entry: &Entry) -> Device {
    let number = entry.name.strip_prefix("GPU").filter(|_| entry.is_gpu);
    Device {
        kind: if entry.is_gpu { DeviceKind::Gpu } else { DeviceKind::Nic },
        index: number.and_then(|number| number.parse().ok()),
        names: if entry.is_gpu {
            Vec::new()
        } else {
            vec![entry.name.clone()]
        },
        is_rdma: !entry.is_gpu,
        ..Device::default()
    }
}
