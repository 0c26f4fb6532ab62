//! `queue_pairs`: the queue pairs of a host, and whose they are.

use crate::row::table;
use crate::{Text, Time};

table! {
    /// One row for each queue pair when it is first seen, whenever it changed, when it is gone, and periodically. The kernel
    /// does not tell addresses: together, `local_qpn` and `remote_qpn` are the `src_qpn` and `dst_qpn` of its direction in
    /// `connections`.
    QueuePairRow = "queue_pairs" {
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
        /// What happened since the read before: `first` seen, `changed`, `gone`; null if nothing did.
        event: Option<Text>, None, [last], show "Event";
    }
}
