//! `queue_pairs`: the queue pairs of a host, and whose they are.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each queue pair when it is first seen, whenever it changed, when it is gone, and periodically. Its
    /// traffic in `connections` has an address of `local_address` or `port_addresses` and `local_qpn` as `src` and `src_qpn`
    /// of what it sends, and as `dst` and `dst_qpn` of what it receives. Numbers are used again: the time decides.
    QueuePairRow = "queue_pairs" [kept] {
        /// Name of the host, or of the agent on it.
        observer: Text, None, [same], show "Host";
        /// Time of the read: the queue pair was last seen then, or is `gone` since.
        time: Time, None, [last], show "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [last], hide "Exact time";
        /// When the queue pair was first seen: at the start of the program it may be older.
        first_ns: i64, UnixNanoseconds, [min], hide "First seen";
        /// Name of the RDMA device.
        device: Text, None, [same], show "Device";
        /// Port of the device; null before the queue pair has one.
        port: Option<u16>, None, [last], show "Port";
        /// Its number.
        local_qpn: u32, None, [same], show "QPN";
        /// Number of the queue pair that it is connected to; null for unconnected ones.
        remote_qpn: Option<u32>, None, [last], show "Peer";
        /// Type: `RC`, `UC`, `UD`, `GSI` and so on.
        qp_type: Text, None, [same], show "Type";
        /// State at the read: `RESET`, `INIT`, `RTR`, `RTS`, `SQD`, `SQE` or `ERR`.
        state: Text, None, [last], show "State";
        /// Process that created it; null for the kernel.
        pid: Option<u32>, None, [last], show "PID";
        /// Name of that process, or of the kernel module; empty if it ended or may not be read.
        process: Text, None, [last], show "Process";
        /// Command line of the process: at most 1,024 bytes. Null if it may not be read or is not wanted
        /// (`--no-commands`), and for the kernel.
        command: Option<Text>, None, [last], hide "Command";
        /// User of the process: its name on this host, otherwise its number.
        user: Option<Text>, None, [last], show "User";
        /// Unit of systemd in which the process runs, such as `train.service`.
        unit: Option<Text>, None, [last], hide "Unit";
        /// ID of its container.
        container: Option<Text>, None, [last], hide "Container";
        /// Kubernetes pod of the process: its name, or its UID if the host does not tell the name.
        pod: Option<Text>, None, [last], show "Pod";
        /// Kubernetes namespace of that pod.
        namespace: Option<Text>, None, [last], hide "Namespace";
        /// Job of a scheduler to which the process belongs: the number of a Slurm job, or the ID of another scheduler's.
        job_id: Option<Text>, None, [last], show "Job";
        /// Step of a Slurm job: a number, `batch`, `extern` or `interactive`.
        job_step: Option<Text>, None, [last], hide "Step";
        /// Rank of the process in its job, as its environment names it: torchrun, MPI, PMI or Slurm.
        rank: Option<u32>, None, [last], show "Rank";
        /// What happened since the read before: `first` seen, `changed`, `gone`; null if nothing did.
        event: Option<Text>, None, [last], show "Event";
        /// Address from which the queue pair sends. Null if unknown: RDMA netlink does not report it, and the port has none
        /// or several.
        local_address: Option<IpAddr>, None, [last], show "Address";
        /// RoCEv2 addresses of its port, separated by commas: the queue pair has one of them. Null before it has a port.
        port_addresses: Option<Text>, None, [last], hide "Addresses of port";
        /// Address of the queue pair that it is connected to.
        remote_address: Option<IpAddr>, None, [last], show "Peer address";
        /// UDP source port of what it sends.
        udp_src_port: Option<u16>, None, [last], hide "UDP port";
        /// Traffic class of what it sends: DSCP and ECN.
        traffic_class: Option<u8>, None, [last], hide "Traffic class";
        /// Path MTU.
        path_mtu_bytes: Option<u32>, Bytes, [last], hide "MTU";
        /// Timeout for acknowledgements, as verbs have it: 4.096 us times two to the power of this; 0: none.
        timeout: Option<u8>, None, [last], hide "Timeout";
        /// How often it sends again after a timeout or a NAK before it fails.
        retries: Option<u8>, None, [last], hide "Retries";
        /// How often it sends again after an RNR NAK before it fails; 7: without end.
        rnr_retries: Option<u8>, None, [last], hide "RNR retries";
        /// PSN of its first packet.
        send_psn: Option<u32>, None, [last], hide "Send PSN";
        /// PSN of the first packet that it expects.
        receive_psn: Option<u32>, None, [last], hide "Receive PSN";
        /// Whether CM connected it.
        by_cm: Option<bool>, None, [last], hide "By CM";
        /// When it was created; null if unknown: it is older than the agent, or its source is `netlink`.
        created_ns: Option<i64>, UnixNanoseconds, [min], hide "Created";
        /// When it ended; null while it exists. From `netlink`, the time of the first read without it.
        ended_ns: Option<i64>, UnixNanoseconds, [max], hide "Ended";
        /// What reported it: `netlink`, which is asked at every read, or `kernel events`. Empty in rows of earlier versions.
        source: Text, None, [last], hide "Source";
    }
}
