//! A running fabric, and the file from which later commands load it.

use super::build::{self, build};
use super::fault::{self, Active, Fault};
use super::wiring::{Link, Wiring};
use anyhow::{Context, Result, ensure};
use rocescope_fabric::Rails;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use xtask::product::target;

/// [`Rails`] in the file of a fabric.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Rails")]
struct Size {
    hosts: u32,
    nics: u32,
    hosts_a_group: u32,
    uppers: u32,
    spines: u32,
    ipv6: bool,
}

#[derive(Debug)]
pub(crate) struct Fabric {
    pub(crate) name: String,
    pub(crate) size: Rails,
    pub(crate) wiring: Wiring,
    pub(crate) active: Vec<Active>,
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct Written<A> {
    #[serde(with = "Size")]
    size: Rails,
    active: A,
}

impl Fabric {
    /// Builds a fabric named after this process; a failure leaves nothing behind.
    pub(crate) fn up(size: Rails) -> Result<Self> {
        static BUILT: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), BUILT.fetch_add(1, Ordering::Relaxed));
        let fabric = Self {
            name: format!("rf{process}x{number}"),
            size,
            wiring: Wiring::of(&size.build()?),
            active: Vec::new(),
        };
        fabric.save()?;
        match build(&fabric.name, &fabric.wiring, process + number) {
            Ok(()) => {
                fs::write(fabric.directory()?.join("topology.toml"), size.build()?.to_toml())?;
                Ok(fabric)
            }
            Err(error) => {
                fabric.down()?;
                Err(error)
            }
        }
    }

    /// Loads a fabric by name; without a name, the only one.
    pub(crate) fn load(name: Option<&str>) -> Result<Self> {
        let names = names()?;
        let name = match name {
            Some(name) => name.to_owned(),
            None => {
                ensure!(names.len() == 1, "name a fabric; running: {}", names.join(" "));
                names.concat()
            }
        };
        let file = directory(&name)?.join("state.json");
        let read = fs::read(&file).with_context(|| format!("no fabric named {name}"))?;
        let written: Written<Vec<Active>> = serde_json::from_slice(&read)?;
        Ok(Self {
            name,
            size: written.size,
            wiring: Wiring::of(&written.size.build()?),
            active: written.active,
        })
    }

    fn save(&self) -> Result<()> {
        let directory = self.directory()?;
        fs::create_dir_all(&directory)?;
        let written = Written {
            size: self.size,
            active: &self.active,
        };
        let file = directory.join("state.json");
        Ok(fs::write(file, serde_json::to_vec_pretty(&written)?)?)
    }

    /// The directory with the files of this fabric.
    pub(crate) fn directory(&self) -> Result<PathBuf> {
        directory(&self.name)
    }

    /// The namespace of a node.
    pub(crate) fn namespace(&self, node: usize) -> String {
        build::namespace(&self.name, &self.wiring, node)
    }

    pub(crate) fn link(&self, name: &str) -> Result<&Link> {
        let link = self.wiring.links.iter().find(|link| link.name == name);
        link.with_context(|| format!("no link named {name}"))
    }

    pub(crate) fn node(&self, name: &str) -> Result<usize> {
        let mut nodes = self.wiring.nodes.iter();
        let node = nodes.position(|node| node.name == name);
        node.with_context(|| format!("no node named {name}"))
    }

    /// Injects a fault at a place.
    pub(crate) fn inject(&mut self, place: &str, fault: Fault) -> Result<()> {
        let active = fault::inject(self, place, fault)?;
        self.active.push(active);
        self.save()
    }

    /// Heals all faults of a place, or all faults; returns their number.
    pub(crate) fn heal(&mut self, place: Option<&str>) -> Result<usize> {
        let is_there = |active: &Active| place.is_none_or(|place| active.place == place);
        let (healed, stay) = std::mem::take(&mut self.active).into_iter().partition(is_there);
        self.active = stay;
        let healed: Vec<Active> = healed;
        let tried = healed.iter().enumerate().map(|(at, active)| {
            let others: Vec<&Active> = self.active.iter().chain(&healed[at + 1..]).collect();
            fault::heal(self, active, &others)
        });
        let tried: Vec<Result<()>> = tried.collect();
        self.save()?;
        tried.into_iter().collect::<Result<()>>()?;
        Ok(healed.len())
    }

    /// Removes the fabric.
    pub(crate) fn down(mut self) -> Result<()> {
        let healed = self.heal(None);
        build::remove(&self.name)?;
        fs::remove_dir_all(self.directory()?)?;
        healed.map(drop)
    }
}

fn fabrics() -> Result<PathBuf> {
    Ok(target()?.join("fabric"))
}

fn directory(name: &str) -> Result<PathBuf> {
    Ok(fabrics()?.join(name))
}

/// The running fabrics.
pub(crate) fn names() -> Result<Vec<String>> {
    let Ok(entries) = fs::read_dir(fabrics()?) else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// A fabric that is removed with its owner.
#[derive(Debug)]
pub(crate) struct Kept(Option<Fabric>);

impl Kept {
    pub(crate) fn up(size: Rails) -> Result<Self> {
        Fabric::up(size).map(|fabric| Self(Some(fabric)))
    }
}

impl std::ops::Deref for Kept {
    type Target = Fabric;
    #[expect(clippy::expect_used, reason = "only drop takes it")]
    fn deref(&self) -> &Fabric {
        self.0.as_ref().expect("until it is dropped")
    }
}

impl std::ops::DerefMut for Kept {
    #[expect(clippy::expect_used, reason = "only drop takes it")]
    fn deref_mut(&mut self) -> &mut Fabric {
        self.0.as_mut().expect("until it is dropped")
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.take().map(Fabric::down) {
            eprintln!("the fabric is not completely removed: {error:#}");
        }
    }
}
