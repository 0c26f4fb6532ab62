//! A test double of libibverbs: two RDMA devices with three ports, on the thread of the test.
//!
//! | module | contents |
//! |---|---|
//! | `double` | the devices, their state and their failures |
//! | `calls` | the functions for devices and completions |
//! | `queue_pairs` | the functions for queue pairs, sends and receives |
//! | `connected` | operations of RC queue pairs |
//! | `sniffer` | flows that copy all frames of a port |

mod calls;
mod connected;
mod double;
mod queue_pairs;
mod sniffer;

pub use double::*;

use rocescope_ibverbs as ib;

/// Makes this double the libibverbs of the process. Called before the product opens anything.
pub fn load() {
    ib::provide(ib::Library {
        ibv_get_device_list: calls::ibv_get_device_list,
        ibv_free_device_list: calls::ibv_free_device_list,
        ibv_get_device_name: calls::ibv_get_device_name,
        ibv_open_device: calls::ibv_open_device,
        ibv_close_device: calls::ibv_close_device,
        ibv_wc_status_str: calls::ibv_wc_status_str,
        _ibv_query_gid_table: calls::_ibv_query_gid_table,
        ibv_create_comp_channel: calls::ibv_create_comp_channel,
        ibv_destroy_comp_channel: calls::ibv_destroy_comp_channel,
        ibv_create_cq: calls::ibv_create_cq,
        ibv_destroy_cq: calls::ibv_destroy_cq,
        ibv_get_cq_event: calls::ibv_get_cq_event,
        ibv_ack_cq_events: calls::ibv_ack_cq_events,
        ibv_alloc_pd: queue_pairs::ibv_alloc_pd,
        ibv_dealloc_pd: queue_pairs::ibv_dealloc_pd,
        ibv_reg_mr: queue_pairs::ibv_reg_mr,
        ibv_dereg_mr: queue_pairs::ibv_dereg_mr,
        ibv_create_qp: queue_pairs::ibv_create_qp,
        ibv_destroy_qp: queue_pairs::ibv_destroy_qp,
        ibv_modify_qp: queue_pairs::ibv_modify_qp,
        ibv_create_ah: queue_pairs::ibv_create_ah,
        ibv_destroy_ah: queue_pairs::ibv_destroy_ah,
    });
}
