//! Topology files: hosts of all kinds, and broken files.

use rocescope_diagnose::hostping::Topology;
use rocescope_diagnose::hostping::topology::{self, LinkKind, NodeKind, Reach, draw, suspicions};

fn read(text: &str) -> Topology {
    topology::read(text).unwrap()
}

/// Number of nodes: processors, root ports, switches, NICs, GPUs.
fn counts(topology: &Topology) -> [usize; 5] {
    use NodeKind::{Cpu, Gpu, Nic, RootPort, Switch};
    [Cpu, RootPort, Switch, Nic, Gpu].map(|kind| topology.of_kind(kind).count())
}

fn reach(topology: &Topology, nic: &str, endpoint: &str) -> Reach {
    let (nic, endpoint) = (topology.find(nic).unwrap(), topology.find(endpoint).unwrap());
    topology.path(nic, endpoint).unwrap().reach
}

#[test]
fn a_dgx_a100_as_nccl_dumps_it() {
    let host = read(include_str!("trees/dgx-a100-4.nccl.xml"));
    assert_eq!(counts(&host), [2, 4, 4, 4, 8]);
    assert_eq!(reach(&host, "mlx5_0", "GPU1"), Reach::LocalGpu);
    assert_eq!(reach(&host, "mlx5_0", "GPU2"), Reach::NearGpu);
    assert_eq!(reach(&host, "mlx5_0", "GPU4"), Reach::FarGpu);
    assert_eq!(reach(&host, "mlx5_3", "mem1"), Reach::NearMemory);
    assert_eq!(reach(&host, "mlx5_3", "mem0"), Reach::FarMemory);
    let gbps = host.links.iter().find_map(|link| link.now).unwrap().gbps;
    assert!((gbps - 252.06).abs() < 0.1);
    assert!(suspicions(&host).is_empty());
    let eight = read(include_str!("trees/dgx-a100-8.nccl.xml"));
    assert_eq!(counts(&eight), [2, 4, 12, 8, 8]);
    assert_eq!(reach(&eight, "mlx5_1", "GPU0"), Reach::LocalGpu);
}

#[test]
fn a_dgx_h100_and_its_port_pair_is_one_nic() {
    let host = read(include_str!("trees/dgx-h100.nccl.xml"));
    assert_eq!(counts(&host), [2, 9, 8, 9, 8]);
    assert_eq!(
        host.find("mlx5_8"),
        host.find("mlx5_9"),
        "two functions of one card share its link"
    );
    assert_eq!(reach(&host, "mlx5_5", "GPU5"), Reach::LocalGpu);
    assert_eq!(reach(&host, "mlx5_9", "GPU0"), Reach::NearGpu);
}

#[test]
fn a_cloud_vm_without_names_says_what_was_assumed_and_shows_the_narrow_link() {
    let host = read(include_str!("trees/cloud-vm.nccl.xml"));
    assert_eq!(counts(&host), [2, 4, 4, 4, 4]);
    assert_eq!(reach(&host, "mlx5_2", "GPU2"), Reach::LocalGpu);
    assert_eq!(host.notes.len(), 2, "{:?}", host.notes);
    let wrong = suspicions(&host);
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert_eq!(
        (wrong[0].kind, wrong[0].place.as_str()),
        ("link-below-maximum", "mlx5_2 <-> PCIe switch 2")
    );
}

#[test]
fn an_mi300x_as_rccl_dumps_it() {
    let host = read(include_str!("trees/mi300x.rccl.xml"));
    assert_eq!(counts(&host), [2, 8, 8, 8, 8]);
    assert_eq!(reach(&host, "bnxt_re7", "GPU7"), Reach::LocalGpu);
}

#[test]
fn two_sockets_without_gpus_as_hwloc_writes_them() {
    let host = read(include_str!("trees/two-sockets.hwloc.xml"));
    assert_eq!(
        counts(&host),
        [2, 2, 0, 2, 0],
        "neither the management interface nor the display"
    );
    assert_eq!(
        (reach(&host, "mlx5_1", "mem1"), reach(&host, "mlx5_1", "mem0")),
        (Reach::NearMemory, Reach::FarMemory)
    );
    assert_eq!(host.is_virtual, Some(false));
    assert_eq!(
        host.links
            .iter()
            .filter(|link| link.kind == LinkKind::InterSocket)
            .count(),
        1
    );
}

#[test]
fn an_amd_host_with_two_numa_nodes_a_socket() {
    let host = read(include_str!("trees/amd-nps2.hwloc.xml"));
    assert_eq!(counts(&host), [4, 4, 4, 4, 4]);
    assert_eq!(host.of_kind(NodeKind::Socket).count(), 2);
    assert_eq!(reach(&host, "mlx5_3", "GPU3"), Reach::LocalGpu);
    assert_eq!(reach(&host, "mlx5_3", "GPU0"), Reach::FarGpu);
    let path = host
        .path(host.find("mlx5_0").unwrap(), host.find("mem3").unwrap())
        .unwrap();
    let names: Vec<&str> = path.nodes.iter().map(|node| host.nodes[*node].name.as_str()).collect();
    assert_eq!(
        names[1..],
        [
            "PCIe switch 0",
            "CPU root port 0",
            "CPU 0",
            "socket 0",
            "socket 1",
            "CPU 3",
            "mem3"
        ]
    );
}

#[test]
fn a_qemu_guest_has_its_devices_at_the_root_bus() {
    let host = read(include_str!("trees/qemu-vm.hwloc.xml"));
    assert_eq!(counts(&host), [1, 2, 0, 1, 1]);
    assert_eq!(host.is_virtual, Some(true));
    assert_eq!(reach(&host, "mlx5_0", "GPU0"), Reach::NearGpu);
    assert!(
        host.links.iter().all(|link| link.now.is_none()),
        "the hypervisor hides speeds"
    );
}

#[test]
fn nvidia_smi_gives_the_same_tree_as_nccl() {
    let host = read(include_str!("trees/dgx-a100.topo.txt"));
    let dump = read(include_str!("trees/dgx-a100-4.nccl.xml"));
    assert_eq!(counts(&host), counts(&dump));
    for nic in 0..4 {
        for gpu in 0..8 {
            let (nic, gpu) = (format!("mlx5_{nic}"), format!("GPU{gpu}"));
            assert_eq!(reach(&host, &nic, &gpu), reach(&dump, &nic, &gpu), "{nic} {gpu}");
        }
    }
    let server = read(include_str!("trees/l40-server.topo.txt"));
    assert_eq!(counts(&server), [2, 4, 0, 2, 2]);
    assert_eq!(reach(&server, "mlx5_1", "GPU0"), Reach::FarGpu);
    assert_eq!(reach(&server, "mlx5_0", "GPU0"), Reach::NearGpu);
    assert!(
        server.notes.iter().any(|note| note.contains("mlx5_1")),
        "{:?}",
        server.notes
    );
    // A terminal underlines the heading.
    let text = include_str!("trees/l40-server.topo.txt")
        .replacen("\tGPU0", "\t\u{1b}[4mGPU0", 1)
        .replacen("GPU NUMA ID", "GPU NUMA ID\u{1b}[0m", 1);
    assert_eq!(read(&text), server);
}

#[test]
fn the_tree_shows_every_device_and_what_is_below_its_maximum() {
    let host = read(include_str!("trees/dgx-a100-4.nccl.xml"));
    let drawn = draw::draw(&host);
    assert!(
        drawn.starts_with(
            "CPU 0\n├─ mem0\n├─ CPU root port 0\n│  └─ PCIe switch 0  0000:10:00.0  PCIe 16 GT/s x16 (252 Gbit/s)\n"
        ),
        "{drawn}"
    );
    assert!(drawn.contains("├─ GPU1  0000:12:00.0  PCIe 16 GT/s x16"), "{drawn}");
    assert!(
        drawn.contains("└─ mlx5_0  0000:13:00.0  port 200 Gbit/s  PCIe"),
        "{drawn}"
    );
    assert!(drawn.ends_with("CPU 0 <-> CPU 1\n"), "{drawn}");
}

#[test]
fn broken_files_are_refused_with_the_line() {
    let nccl = |body: &str| format!("<system version=\"1\">\n<cpu numaid=\"0\">\n{body}\n</cpu>\n</system>");
    let hwloc =
        |body: &str| format!("<topology version=\"2.0\">\n<object type=\"Machine\">\n{body}\n</object>\n</topology>");
    let pci = |attributes: &str| hwloc(&format!("<object type=\"PCIDev\" {attributes}/>"));
    let cases = [
        (
            "<system version=\"1\">\n<cpu numaid=\"0\">\n".to_string(),
            "line 2: the root node was opened",
        ),
        ("<systems/>".to_string(), "line 1: expected <system>"),
        ("<system version=\"7\"/>".to_string(), "line 1: version 7 is unknown"),
        ("<system version=\"1\"/>".to_string(), "line 1: no <cpu>"),
        (
            "<system version=\"1\">\n<cpu/>\n</system>".to_string(),
            "line 2: <cpu> has no attribute `numaid`",
        ),
        (
            "<system version=\"1\">\n<cpu numaid=\"x\"/>\n</system>".to_string(),
            "line 2: `numaid` is `x`",
        ),
        (
            "<system version=\"1\">\n<cpu numaid=\"0\"/>\n<cpu numaid=\"0\"/>\n</system>".to_string(),
            "line 3: NUMA node 0 is there twice",
        ),
        (
            nccl("<pci busid=\"0000:01:00.0\"/>"),
            "line 3: <pci> has no attribute `class`",
        ),
        (
            nccl("<pci class=\"0x060400\"/>"),
            "line 3: <pci> has no attribute `busid`",
        ),
        (
            nccl("<pci class=\"gpu\" busid=\"0000:01:00.0\"/>"),
            "line 3: `class` is `gpu`",
        ),
        ("<topology version=\"2.0\"/>".to_string(), "line 1: no <object>"),
        (
            pci("pci_busid=\"0000:01:00.0\""),
            "line 3: <object> has no attribute `pci_type`",
        ),
        (
            pci("pci_type=\"02\" pci_busid=\"0000:01:00.0\""),
            "line 3: `pci_type` is `02`",
        ),
        (
            pci("pci_type=\"0200 [15b3:101d]\""),
            "line 3: <object> has no attribute `pci_busid`",
        ),
        (
            pci("pci_type=\"0200 [15b3:101d]\" pci_busid=\"a\" pci_link_speed=\"x\""),
            "line 3: `pci_link_speed` is `x`",
        ),
        (
            hwloc("<object type=\"NUMANode\" os_index=\"-1\"/>"),
            "line 3: `os_index` is `-1`",
        ),
        (String::new(), "line 1: empty"),
        ("hello\n".to_string(), "line 1: expected the heading"),
        (
            "\tGPU0\tGPU1\n GPU0\t X \tPIX\n".to_string(),
            "line 2: the line of GPU1 is missing",
        ),
        (
            "\tGPU0\tGPU1\nGPU1\t X \tPIX\n".to_string(),
            "line 2: `GPU1`: expected the line of GPU0",
        ),
        ("\tGPU0\tGPU1\nGPU0\t X \n".to_string(), "line 2: 1 values: expected 2"),
        ("\tGPU0\tGPU1\nGPU0\t X \tFAR\n".to_string(), "line 2: `FAR`"),
    ];
    for (text, expected) in cases {
        let refusal = topology::read(&text).unwrap_err();
        assert!(refusal.to_string().starts_with(expected), "{text:?}: {refusal}");
        assert!(refusal.in_file("t.xml").starts_with("t.xml:"));
    }
}

/// No byte of a file that is lost or changed makes a reader panic.
#[test]
fn damaged_files_are_read_or_refused() {
    for text in [
        include_str!("trees/dgx-a100-4.nccl.xml"),
        include_str!("trees/amd-nps2.hwloc.xml"),
        include_str!("trees/dgx-a100.topo.txt"),
    ] {
        for at in (0..text.len()).step_by(97) {
            let _ = topology::read(&text[..at]).map(|host| draw::draw(&host));
            let mut changed = text.as_bytes().to_vec();
            changed[at] = b'9';
            let changed = String::from_utf8_lossy(&changed);
            if let Ok(host) = topology::read(&changed) {
                let _ = (draw::draw(&host), suspicions(&host));
            }
        }
    }
}
