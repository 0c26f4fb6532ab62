//! What the programs and the reader of their events must know of the running kernel.

use super::btf::{Btf, Field};
use super::error::Error;
use rocescope_record::queue_pair::{ATTRIBUTE_BYTES, DEVICE_BYTES, OWNER_BYTES, VerbsLayout};
use std::path::Path;

/// Where the kernel describes itself.
pub(super) const DIRECTORY: &str = "/sys/kernel/btf";
/// Modules whose types are read.
const MODULES: [&str; 2] = ["ib_core", "ib_cm"];

/// The layout of the running kernel.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// What the programs read.
    pub(super) program: VerbsLayout,
    /// What is read of the attributes that they copy.
    pub(super) attributes: AttributeLayout,
    /// Whether the kernel describes CM.
    pub(super) has_cm: bool,
    /// `IB_GID_TYPE_ROCE_UDP_ENCAP`.
    pub(super) roce_v2: u32,
    /// Drivers that compute the UDP source port in the kernel.
    pub(super) port_drivers: Vec<u32>,
}

/// Fields of `struct ib_qp_attr`.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttributeLayout {
    pub(super) state: Field,
    pub(super) path_mtu: Field,
    pub(super) receive_psn: Field,
    pub(super) send_psn: Field,
    pub(super) remote_qpn: Field,
    pub(super) remote_gid: Field,
    pub(super) flow_label: Field,
    pub(super) traffic_class: Field,
    pub(super) port: Field,
    pub(super) timeout: Field,
    pub(super) retries: Field,
    pub(super) rnr_retries: Field,
}

/// Those whose port is `rdma_get_udp_sport` of the flow label and both numbers: the drivers mlx5, hns, irdma, mana, ionic,
/// and rxe since Linux 5.17.
const PORT_DRIVERS: [&str; 6] = ["MLX5", "HNS", "IRDMA", "MANA", "IONIC", "RXE"];

impl Layout {
    /// That of this kernel.
    pub(super) fn of_this_kernel() -> Result<Self, Error> {
        Self::new(&Btf::of_this_kernel(Path::new(DIRECTORY), &MODULES)?)
    }

    /// The layout that types describe.
    pub(super) fn new(btf: &Btf) -> Result<Self, Error> {
        let at = |structure: &str, path: &str, expected: u32| {
            let Field { offset, bytes } = btf.field(structure, path)?;
            match bytes == expected {
                true => Ok(offset),
                false => Err(Error::Size {
                    field: format!("{structure}.{path}"),
                    bytes,
                    expected,
                }),
            }
        };
        let (arguments, result) = registers(btf)?;
        let program = VerbsLayout {
            arguments,
            result,
            resource_type: at("rdma_restrack_entry", "type", 4)?,
            resource_is_queue_pair: btf.constant("rdma_restrack_type", "RDMA_RESTRACK_QP")?,
            resource_task: at("rdma_restrack_entry", "task", 8)?,
            resource_kernel_name: at("rdma_restrack_entry", "kern_name", 8)?,
            pair_resource: btf.field("ib_qp", "res")?.offset,
            pair_device: at("ib_qp", "device", 8)?,
            pair_number: at("ib_qp", "qp_num", 4)?,
            pair_kind: at("ib_qp", "qp_type", 4)?,
            pair_port: at("ib_qp", "port", 4)?,
            pair_gid: at("ib_qp", "av_sgid_attr", 8)?,
            gid: at("ib_gid_attr", "gid", 16)?,
            gid_type: at("ib_gid_attr", "gid_type", 4)?,
            device_name: at("ib_device", "name", DEVICE_BYTES as u32)?,
            device_driver: at("ib_device", "ops.driver_id", 4)?,
            task_leader: at("task_struct", "group_leader", 8)?,
            task_process: at("task_struct", "tgid", 4)?,
            task_name: at("task_struct", "comm", OWNER_BYTES as u32)?,
            attribute_bytes: btf.bytes("ib_qp_attr")?.min(ATTRIBUTE_BYTES as u32),
            ..VerbsLayout::default()
        };
        let connection = at("ib_cm_id", "device", 8);
        let request = at("ib_cm_req_param", "qp_num", 4);
        let reply = at("ib_cm_rep_param", "qp_num", 4);
        let (program, has_cm) = match (connection, request, reply) {
            (Ok(connection_device), Ok(request_number), Ok(reply_number)) => {
                let program = VerbsLayout {
                    connection_device,
                    request_number,
                    reply_number,
                    ..program
                };
                (program, true)
            }
            _ => (program, false),
        };
        let drivers = PORT_DRIVERS.iter();
        let drivers = drivers.filter_map(|name| btf.constant("rdma_driver_id", &format!("RDMA_DRIVER_{name}")).ok());
        Ok(Self {
            program,
            attributes: AttributeLayout::new(btf)?,
            has_cm,
            roce_v2: btf.constant("ib_gid_type", "IB_GID_TYPE_ROCE_UDP_ENCAP")?,
            port_drivers: drivers.collect(),
        })
    }
}

impl AttributeLayout {
    fn new(btf: &Btf) -> Result<Self, Error> {
        let field = |path: &str| {
            let field = btf.field("ib_qp_attr", path)?;
            match field.offset + field.bytes <= ATTRIBUTE_BYTES as u32 {
                true => Ok(field),
                false => Err(Error::Field(format!(
                    "ib_qp_attr.{path} in its first {ATTRIBUTE_BYTES} bytes"
                ))),
            }
        };
        Ok(Self {
            state: field("qp_state")?,
            path_mtu: field("path_mtu")?,
            receive_psn: field("rq_psn")?,
            send_psn: field("sq_psn")?,
            remote_qpn: field("dest_qp_num")?,
            remote_gid: field("ah_attr.grh.dgid")?,
            flow_label: field("ah_attr.grh.flow_label")?,
            traffic_class: field("ah_attr.grh.traffic_class")?,
            port: field("port_num")?,
            timeout: field("timeout")?,
            retries: field("retry_cnt")?,
            rnr_retries: field("rnr_retry")?,
        })
    }
}

/// The registers of the first three arguments of a function, and of its result.
fn registers(btf: &Btf) -> Result<([u32; 3], u32), Error> {
    let register = |name: &str| Ok::<u32, Error>(btf.field("pt_regs", name)?.offset);
    if cfg!(target_arch = "x86_64") {
        return Ok(([register("di")?, register("si")?, register("dx")?], register("ax")?));
    }
    // On 64-bit Arm, the first argument and the result are in the first register.
    let first = register("regs")?;
    Ok(([first, first + 8, first + 16], first))
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
