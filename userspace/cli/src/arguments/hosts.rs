//! Names of addresses in the output.

use clap::Args;
use rocescope_model::hosts::Hosts;
use std::sync::Arc;

/// Names of addresses in the output.
#[derive(Clone, Debug, Default, Args)]
pub struct HostsArguments {
    /// Show the names that FILE gives to addresses, in the format of `/etc/hosts`, as `name (address)`
    #[arg(long = "hosts", value_name = "FILE", env = "ROCESCOPE_HOSTS", hide_env = true, value_parser = read)]
    names: Option<Arc<Hosts>>,
}

impl HostsArguments {
    /// The names; none without a file.
    #[must_use]
    pub fn names(&self) -> Arc<Hosts> {
        self.names.clone().unwrap_or_default()
    }
}

fn read(path: &str) -> Result<Arc<Hosts>, String> {
    let text = rocescope_input::text(path.as_ref()).map_err(|error| error.to_string())?;
    Hosts::parse(&text).map(Arc::new).map_err(|error| error.to_string())
}
