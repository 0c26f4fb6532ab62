//! `rocescope hostping` and `rocescope diagnose hostping`, over files and made trees of `/sys`.

use rocescope_testkit::{run, text};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../diagnose/tests/hostping/");

fn printed(arguments: &[&str]) -> String {
    text(&run(arguments))
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(&[arguments, &["-o", "json"]].concat())).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(!output.status.success() && output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

fn tree(name: &str) -> String {
    format!("{FILES}trees/{name}")
}

fn measured(name: &str) -> String {
    format!("{FILES}measured/{name}")
}

#[test]
fn the_plan_of_4_nics_and_10_endpoints_is_under_10_s() {
    let topology = tree("dgx-a100-4.nccl.xml");
    let with = ["hostping", "run", "--topology", &topology, "--plan"];
    let plan = json(&with);
    assert_eq!(plan["pairs"].as_array().unwrap().len(), 40);
    assert!(plan["seconds"].as_f64().unwrap() < 10.0, "{plan}");
    let text = printed(&with);
    assert!(text.ends_with("total      4.2 s, at most 105.0 GB\n"), "{text}");
    let text = printed(&[&with[..], &["--nic", "mlx5_1", "--endpoint", "mem0,GPU1"]].concat());
    assert!(text.starts_with("2 tests: 1 NICs to 2 endpoints"), "{text}");
    let refusal = refused(&[&with[..], &["--nic", "mlx9"]].concat());
    assert!(refusal.contains("mlx9 is no NIC of the topology"), "{refusal}");
}

#[test]
fn the_slides_second_matrix_gives_the_root_port_and_the_first_nothing() {
    let topology = tree("dgx-a100-4.nccl.xml");
    let with = ["hostping", "diagnose", "--topology", &topology, "--matrix"];
    let (healthy, sick) = (measured("slides-healthy.txt"), measured("slides-root-port.txt"));
    for baseline in [&[][..], &["--baseline", &healthy]] {
        let found = json(&[&with, &[sick.as_str()][..], baseline].concat());
        let expected = serde_json::json!([{"a": "PCIe switch 0", "b": "CPU root port 0", "kind": "root-port"}]);
        assert_eq!(found["abnormal_links"], expected);
        assert_eq!(found["ambiguous"], serde_json::json!([]));
        assert_eq!(found["causes"][0]["cause"], "CPU root port failure");
        assert!(found["causes"][0]["threshold"].as_str().unwrap().starts_with("80 %"));
        let found = json(&[&with, &[healthy.as_str()][..], baseline].concat());
        for key in ["abnormal_links", "ambiguous", "causes"] {
            assert_eq!(found[key], serde_json::json!([]), "{key}");
        }
    }
    let text = printed(&[&with, &[sick.as_str()][..]].concat());
    assert!(
        text.starts_with("abnormal   PCIe switch 0 <-> CPU root port 0\n"),
        "{text}"
    );
    assert!(text.contains("do: look for AER errors of the root port"), "{text}");
    assert!(text.contains("threshold  80 % of the baseline (seed)\n"), "{text}");
    assert!(text.contains("mlx5_0   12.928!   12.544!  194.636"), "{text}");
    let text = printed(&[&with, &[healthy.as_str()][..]].concat());
    assert!(text.starts_with("no abnormal links found\n"), "{text}");
}

#[test]
fn runs_in_a_dataset_give_the_same_diagnosis() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("d");
    let dataset = dataset.to_str().unwrap();
    let topology = tree("dgx-a100-4.nccl.xml");
    let with = [
        "hostping",
        "diagnose",
        "--topology",
        &topology,
        "--out",
        dataset,
        "--observer",
    ];
    for (host, file) in [
        ("h1", "slides-root-port.txt"),
        ("h1", "slides-healthy.txt"),
        ("h2", "slides-root-port.txt"),
    ] {
        printed(&[&with, &[host, "--matrix", &measured(file)][..]].concat());
    }
    let found = json(&["diagnose", "hostping", dataset]);
    let runs = found["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "the last run of each host");
    assert_eq!(
        (&runs[0]["observer"], &runs[0]["abnormal_links"]),
        (&"h1".into(), &serde_json::json!([]))
    );
    assert_eq!(runs[1]["abnormal_links"][0]["a"], "PCIe switch 0");
    let text = printed(&["diagnose", "hostping", dataset, "--observer", "h2"]);
    assert!(
        text.starts_with("h2, ") && text.contains("CPU root port failure (likely)"),
        "{text}"
    );
    assert!(refused(&["diagnose", "hostping", dataset, "--observer", "h3"]).contains("no rows in `loopback`"));
    printed(&["dataset", "verify", dataset]);

    let page = folder.path().join("r.html");
    let text = printed(&["report", dataset, "-o", "text", "--html", page.to_str().unwrap()]);
    assert!(
        text.contains("h2: CPU root port failure (likely) at PCIe switch 0 <-> CPU root port 0; "),
        "{text}"
    );
    assert!(text.contains("!12.9"), "{text}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("Inside hosts") && page.contains("heat bad"));
    let found: Value = serde_json::from_str(&printed(&["report", dataset, "-o", "json"])).unwrap();
    assert_eq!(
        found["loopback"].as_array().unwrap().len(),
        80,
        "40 tests of the last run of each host"
    );
}

#[test]
fn baselines_come_from_healthy_runs_and_from_superbench() {
    let folder = tempfile::tempdir().unwrap();
    let topology = tree("dgx-a100-4.nccl.xml");
    let healthy = measured("slides-healthy.txt");
    let latency = measured("slides-latency.txt");
    let text = printed(&[
        "hostping",
        "baseline",
        "--topology",
        &topology,
        "--matrix",
        &healthy,
        &healthy,
        &latency,
    ]);
    assert!(
        text.starts_with("# rocescope hostping baseline: medians of 3 runs\nBandwidth (Gbit/s)\n"),
        "{text}"
    );
    assert!(text.contains("Latency (us)\n"), "{text}");
    let file = folder.path().join("a100.txt");
    fs::write(&file, text).unwrap();
    let found = json(&[
        "hostping",
        "diagnose",
        "--topology",
        &topology,
        "--matrix",
        &measured("slides-root-port.txt"),
        "--baseline",
        file.to_str().unwrap(),
    ]);
    assert_eq!(found["abnormal_links"].as_array().unwrap().len(), 1);

    // SuperBench: the third NIC of the second host has half of its baseline.
    let results = measured("superbench.jsonl");
    let with = ["hostping", "diagnose", "--topology", &topology, "--matrix", &results];
    let refusal = refused(&with);
    assert!(
        refusal.contains("several hosts: choose one with --node: host-1, host-2"),
        "{refusal}"
    );
    let found = json(&[&with, &["--node", "host-2", "--rule", "superbench"][..]].concat());
    let set = found["ambiguous"][0].as_array().unwrap();
    assert!(set.iter().any(|link| link["a"] == "mlx5_2"), "{found}");
    assert!(found["threshold"].as_str().unwrap().contains("95 %"));
    let found = json(&[&with, &["--node", "host-1", "--rule", "azure-a100"][..]].concat());
    assert_eq!(found["causes"], serde_json::json!([]));
}

#[test]
fn perftest_of_many_sizes_prints_the_model() {
    let topology = tree("dgx-a100-4.nccl.xml");
    let file = format!("mlx5_3:GPU7={}", measured("ib_write_lat.txt"));
    let text = printed(&["hostping", "diagnose", "--topology", &topology, "--matrix", &file]);
    let line = text.lines().find(|line| line.starts_with("model")).unwrap();
    assert!(line.contains("mlx5_3 to GPU7: T_proc + Lat_host 2.5"), "{line}");
}

#[test]
fn broken_files_are_refused_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("topo.xml");
    fs::write(&file, "<system version=\"1\">\n<cpu numaid=\"x\"/>\n</system>").unwrap();
    let file = file.to_str().unwrap();
    let refusal = refused(&["hostping", "topology", "--topology", file]);
    assert!(refusal.contains(&format!("{file}:2: `numaid` is `x`")), "{refusal}");
    let matrix = folder.path().join("m.txt");
    fs::write(&matrix, "mem0 GPU0\nmlx5_0 1\n").unwrap();
    let matrix = matrix.to_str().unwrap();
    let topology = tree("dgx-a100-4.nccl.xml");
    let refusal = refused(&["hostping", "diagnose", "--topology", &topology, "--matrix", matrix]);
    assert!(
        refusal.contains(&format!("{matrix}:2: 1 values of mlx5_0: expected 2")),
        "{refusal}"
    );
    let refusal = refused(&["hostping", "topology", "--sysfs-root", folder.path().to_str().unwrap()]);
    assert!(refusal.contains("bus/pci/devices: No such file"), "{refusal}");
}

/// A made tree of `/sys`.
struct Sys<'a>(&'a Path);

impl Sys<'_> {
    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A device at this place below `devices`: class, vendor, speed and width now and at most.
    fn device(&self, place: &str, class: &str, vendor: &str, link: [&str; 4]) {
        let folder = format!("devices/{place}");
        let address = place.rsplit('/').next().unwrap();
        self.write(&format!("{folder}/class"), class);
        self.write(&format!("{folder}/vendor"), vendor);
        for (name, value) in [
            "current_link_speed",
            "current_link_width",
            "max_link_speed",
            "max_link_width",
        ]
        .iter()
        .zip(link)
        {
            self.write(&format!("{folder}/{name}"), value);
        }
        fs::create_dir_all(self.0.join("bus/pci/devices")).unwrap();
        symlink(
            format!("../../../{folder}"),
            self.0.join("bus/pci/devices").join(address),
        )
        .unwrap();
    }

    fn node(&self, number: u32, cpus: &str, distance: &str) {
        self.write(&format!("devices/system/node/node{number}/cpulist"), cpus);
        self.write(&format!("devices/system/node/node{number}/distance"), distance);
    }

    /// The extended configuration space with one capability.
    fn capability(&self, place: &str, kind: u16, control: u16) {
        let mut bytes = vec![0; 4_096];
        bytes[0x100..0x104].copy_from_slice(&(u32::from(kind) | 1 << 16).to_le_bytes());
        bytes[0x106..0x108].copy_from_slice(&control.to_le_bytes());
        self.write(&format!("devices/{place}/config"), bytes);
    }
}

const GEN4: [&str; 4] = ["16.0 GT/s PCIe", "16", "16.0 GT/s PCIe", "16"];
const HALF: [&str; 4] = ["8.0 GT/s PCIe", "16", "16.0 GT/s PCIe", "16"];

#[test]
fn sysfs_of_bare_metal_shows_acs_a_slow_link_and_the_tree() {
    let folder = tempfile::tempdir().unwrap();
    let sys = Sys(folder.path());
    sys.node(0, "0-15\n", "10 21\n");
    sys.node(1, "16-31\n", "21 10\n");
    sys.write("class/dmi/id/sys_vendor", "Supermicro\n");
    let (root, up) = ("pci0000:00/0000:00:01.0", "pci0000:00/0000:00:01.0/0000:01:00.0");
    let (gpu_port, nic_port) = (format!("{up}/0000:02:00.0"), format!("{up}/0000:02:01.0"));
    let (gpu, nic) = (format!("{gpu_port}/0000:03:00.0"), format!("{nic_port}/0000:04:00.0"));
    for port in [root, up, &gpu_port, &nic_port] {
        sys.device(port, "0x060400", "0x1000", GEN4);
        sys.write(&format!("devices/{port}/numa_node"), "0");
    }
    sys.capability(&nic_port, 0x0d, 0x1d);
    sys.device(&gpu, "0x030200", "0x10de", HALF);
    sys.device(&nic, "0x020000", "0x15b3", GEN4);
    sys.device(&format!("{nic_port}/0000:04:00.1"), "0x020000", "0x15b3", GEN4);
    for (function, name) in [(0, "mlx5_0"), (1, "mlx5_1")] {
        sys.write(
            &format!("devices/{nic_port}/0000:04:00.{function}/infiniband/{name}/ports/1/rate"),
            "100 Gb/sec (4X EDR)\n",
        );
    }
    // A NIC whose NUMA node the kernel does not know, but its local processors.
    let other = "pci0000:80/0000:80:01.0";
    sys.device(other, "0x060400", "0x8086", GEN4);
    sys.write(&format!("devices/{other}/numa_node"), "-1");
    sys.device(&format!("{other}/0000:81:00.0"), "0x020700", "0x15b3", GEN4);
    sys.write(&format!("devices/{other}/0000:81:00.0/numa_node"), "-1");
    sys.write(&format!("devices/{other}/0000:81:00.0/local_cpulist"), "16-31");
    sys.write(
        &format!("devices/{other}/0000:81:00.0/infiniband/mlx5_2/ports/1/rate"),
        "200 Gb/sec (4X HDR)\n",
    );

    let text = printed(&["hostping", "topology", "--sysfs-root", folder.path().to_str().unwrap()]);
    let tree = "CPU 0\n├─ mem0\n└─ CPU root port 0  0000:00:01.0\n   └─ PCIe switch 0  0000:01:00.0  PCIe 16 GT/s x16 (252 Gbit/s)\n      ├─ GPU0  0000:03:00.0  PCIe 8 GT/s x16 (126 Gbit/s), below its maximum of 16 GT/s x16 (252 Gbit/s)\n      └─ mlx5_0, mlx5_1  0000:04:00.0  port 100 Gbit/s  PCIe 16 GT/s x16 (252 Gbit/s)\nCPU 1\n├─ mem1\n└─ CPU root port 1  0000:80:01.0\n   └─ mlx5_2  0000:81:00.0  port 200 Gbit/s";
    assert!(text.starts_with(tree), "{text}");
    let found = json(&["hostping", "topology", "--sysfs-root", folder.path().to_str().unwrap()]);
    let kinds: Vec<_> = found["suspicions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["link-below-maximum", "acs-on-bare-metal"]);
    assert_eq!(found["virtual_machine"], false);
}

#[test]
fn sysfs_of_a_virtual_machine_shows_that_ats_is_off() {
    let folder = tempfile::tempdir().unwrap();
    let sys = Sys(folder.path());
    sys.write("class/dmi/id/sys_vendor", "QEMU\n");
    let (nic, gpu) = ("pci0000:00/0000:00:05.0", "pci0000:00/0000:00:06.0");
    let unknown = ["Unknown", "0", "Unknown", "255"];
    sys.device(nic, "0x020700", "0x15b3", unknown);
    sys.device(gpu, "0x030200", "0x10de", unknown);
    sys.write(
        &format!("devices/{nic}/infiniband/mlx5_0/ports/1/rate"),
        "200 Gb/sec (4X HDR)\n",
    );
    sys.capability(nic, 0x0f, 0x001f);
    sys.capability(gpu, 0x0f, 0x8000);
    let found = json(&["hostping", "topology", "--sysfs-root", folder.path().to_str().unwrap()]);
    let found = found["suspicions"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&found[0]["kind"], &found[0]["place"]),
        (&"ats-off-in-vm".into(), &"mlx5_0".into())
    );
    // A file that is not as expected is named.
    sys.write(&format!("devices/{nic}/class"), "network");
    let refusal = refused(&["hostping", "topology", "--sysfs-root", folder.path().to_str().unwrap()]);
    assert!(
        refusal.contains("0000:00:05.0/class: `network`: expected hexadecimal digits"),
        "{refusal}"
    );
}
