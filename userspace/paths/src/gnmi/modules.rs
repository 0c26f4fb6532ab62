//! Which port an optical module belongs to: models name modules as components of the switch, and ports name their module.

use super::source::Sample;
use rocescope_model::Text;
use std::collections::HashMap;

/// Values of modules that are kept until their ports are known, at most.
const MAX_EARLY: usize = 16_384;

/// The modules of a switch.
#[derive(Debug, Default)]
pub(super) struct Modules {
    ports: HashMap<String, Vec<Text>>,
    early: Vec<Sample>,
}

impl Modules {
    /// A port states its module, which was another one before or none; an empty name is none.
    pub(super) fn set(&mut self, module: &str, port: Text) {
        self.ports.retain(|_, ports| {
            ports.retain(|known| *known != port);
            !ports.is_empty()
        });
        if !module.is_empty() {
            self.ports.entry(module.to_owned()).or_default().push(port);
        }
    }

    /// The port of a module.
    pub(super) fn port(&self, module: &str) -> Result<Text, &'static str> {
        match self.ports.get(module).map_or(&[][..], Vec::as_slice) {
            [] => Err("no port has the component as its module"),
            [port] => Ok(port.clone()),
            _ => Err("several ports share the module"),
        }
    }

    /// Whether a further value can be kept.
    pub(super) const fn has_room(&self) -> bool {
        self.early.len() < MAX_EARLY
    }

    /// Keeps a value of a module whose port is not known yet.
    pub(super) fn keep(&mut self, sample: Sample) {
        self.early.push(sample);
    }

    /// The values that were kept.
    pub(super) fn take_early(&mut self) -> Vec<Sample> {
        std::mem::take(&mut self.early)
    }
}
