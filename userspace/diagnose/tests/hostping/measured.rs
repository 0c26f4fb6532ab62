//! What others measured: perftest and SuperBench.

use rocescope_diagnose::hostping::measured::{self, Nic, fit};
use rocescope_diagnose::hostping::{Matrix, topology};

#[test]
fn perftest_text_names_nic_gpu_and_unit() {
    let all = measured::read(include_str!("measured/ib_write_bw-gpu.txt")).unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(all[1].nic, Nic::Name("mlx5_1".into()));
    assert_eq!(all[1].endpoint.as_deref(), Some("GPU3"));
    assert_eq!(
        (all[1].size_bytes, all[1].bandwidth_gbps),
        (Some(8_388_608), Some(191.46))
    );
    // perftest's MB are 2^20 bytes; a loopback prints the lines of both ends.
    let all = measured::read(include_str!("measured/ib_write_bw-mib.txt")).unwrap();
    assert_eq!(all.len(), 2);
    let bandwidth = all[1].bandwidth_gbps.unwrap();
    assert!((bandwidth - 194.96).abs() < 0.01, "{bandwidth}");
}

#[test]
fn json_of_perftest_and_superbench_reads() {
    let all = measured::read(include_str!("measured/ib_write_bw.json")).unwrap();
    assert_eq!((all.len(), &all[0].nic), (1, &Nic::Name("mlx5_2".into())));
    let bandwidth = all[0].bandwidth_gbps.unwrap();
    assert!(
        (bandwidth - 187.0).abs() < 0.01,
        "from the rate of messages: {bandwidth}"
    );
    let all = measured::read(include_str!("measured/superbench.jsonl")).unwrap();
    assert_eq!(all.len(), 8);
    assert_eq!(
        Matrix::hosts(&all).into_iter().collect::<Vec<_>>(),
        ["host-1", "host-2"]
    );
    let topology = topology::read(include_str!("trees/dgx-a100-4.nccl.xml")).unwrap();
    let second: Vec<_> = all
        .into_iter()
        .filter(|one| one.host.as_deref() == Some("host-2"))
        .collect();
    let matrix = Matrix::of(&second, &topology).unwrap();
    let cell = matrix.cell("mlx5_2", "mem1").unwrap();
    assert!(
        (cell.bandwidth_gbps.unwrap() - 96.8).abs() < 1e-9,
        "GB/s, to the memory of the NIC's own socket"
    );
}

#[test]
fn latencies_of_many_sizes_give_the_model() {
    let topology = topology::read(include_str!("trees/dgx-a100-4.nccl.xml")).unwrap();
    let all = measured::read(include_str!("measured/ib_write_lat.txt")).unwrap();
    assert_eq!(all.len(), 23);
    let matrix = Matrix::of(&all, &topology).unwrap();
    let fit = fit(&matrix.cell("mlx5_0", "mem0").unwrap().by_size).unwrap();
    assert!(
        (fit.base_us - 2.5).abs() < 0.01 && (fit.bandwidth_gbps - 192.0).abs() < 1.0,
        "{}",
        fit.text()
    );
}

#[test]
fn broken_measurements_are_refused_with_the_line() {
    for (text, expected) in [
        ("", "line 1: no measurement"),
        ("mlx5_0 1 2 3\n", "line 1: numbers without a heading"),
        ("mem0 GPU0\nmlx5_0 1\n", "line 2: 1 values of mlx5_0: expected 2"),
        ("mem0 GPU0\nmlx5_0 1 x\n", "line 2: `x` at GPU0"),
        ("mem0 GPU0\nmlx5_0 1 -5\n", "line 2: `-5` at GPU0"),
        ("mem0 GPU0\nmlx5_0 1 inf\n", "line 2: `inf` at GPU0"),
        (
            "mem0 GPU0\nmlx5_0 1 2\nmlx5_0 1 2\n",
            "line 3: the row mlx5_0 is there twice",
        ),
        ("mem0 mem0\n", "line 1: the column mem0 is there twice"),
        ("mem0 GPUx\n", "line 1: `GPUx`"),
        ("{\n\"results\": {\n", "line 2: no JSON: EOF while parsing an object"),
        ("{\"results\": {}}", "line 1: perftest's JSON has no `MsgSize`"),
        ("#bytes #iterations\n", "line 1: neither"),
        (
            "#bytes #iterations BW average[Gb/sec]\n2 3\n",
            "line 2: expected 3 numbers",
        ),
        ("#bytes BW average[furlongs]\n", "line 1: `BW_average[furlongs]`"),
    ] {
        let refusal = measured::read(text).unwrap_err().to_string();
        assert!(refusal.starts_with(expected), "{text:?}: {refusal}");
    }
    let topology = topology::read(include_str!("trees/dgx-a100-4.nccl.xml")).unwrap();
    for (text, expected) in [
        (
            "mem0\nmlx9 1\n",
            "mlx9 is no NIC of the topology: the topology has mlx5_0, mlx5_1",
        ),
        (
            "GPU9\nmlx5_0 1\n",
            "GPU9 is no endpoint of the topology: it has mem0, mem1, GPU0",
        ),
    ] {
        let refusal = Matrix::of(&measured::read(text).unwrap(), &topology).unwrap_err();
        assert!(refusal.starts_with(expected), "{refusal}");
    }
}
