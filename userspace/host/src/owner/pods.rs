//! Names of Kubernetes pods, from the directories of their logs.
//!
//! The kubelet makes `NAMESPACE_NAME_UID` in `/var/log/pods` for each pod, whatever the runtime is, and nothing must be
//! asked for it. Names of the environment say less: `HOSTNAME` is that of the node for pods on its network, as most with
//! RDMA are.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// More directories than any node has pods: those of old ones may stay.
const MAX_PODS: usize = 65_536;

/// Name and namespace of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pod {
    pub(super) namespace: String,
    pub(super) name: String,
}

/// The pods of a host.
#[derive(Debug)]
pub(super) struct Pods {
    directory: PathBuf,
    known: HashMap<String, Pod>,
    is_new: bool,
}

impl Pods {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            known: HashMap::new(),
            is_new: false,
        }
    }

    /// From now on a pod that is not known is looked for again, once.
    pub(super) const fn refresh(&mut self) {
        self.is_new = false;
    }

    /// The pod of a UID.
    pub(super) fn find(&mut self, uid: &str) -> Option<&Pod> {
        if !self.known.contains_key(uid) && !self.is_new {
            self.known = read(&self.directory);
            self.is_new = true;
        }
        self.known.get(uid)
    }
}

fn read(directory: &Path) -> HashMap<String, Pod> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries
        .take(MAX_PODS)
        .filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| parse(&name)).collect()
}

/// Neither part has an underscore.
fn parse(name: &str) -> Option<(String, Pod)> {
    let mut parts = name.split('_');
    let (namespace, name, uid) = (parts.next()?, parts.next()?, parts.next()?);
    let is_whole = parts.next().is_none() && ![namespace, name, uid].contains(&"");
    let pod = Pod {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    is_whole.then(|| (uid.to_owned(), pod))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_are_found_by_their_uid_also_when_they_come_later() {
        let logs = tempfile::tempdir().unwrap();
        let make = |name: &str| fs::create_dir(logs.path().join(name)).unwrap();
        make("training_llama-0_uid-1");
        make("uid-of-an-old-kubelet");
        make("a_b_c_d");
        let mut pods = Pods::new(logs.path().to_owned());
        let found = pods.find("uid-1").unwrap();
        assert_eq!((&*found.namespace, &*found.name), ("training", "llama-0"));
        assert_eq!(pods.find("uid-2"), None);
        make("training_llama-1_uid-2");
        assert_eq!(pods.find("uid-2"), None, "within one read");
        pods.refresh();
        assert_eq!(pods.find("uid-2").unwrap().name, "llama-1");
        assert_eq!(pods.find("c"), None);
        assert_eq!(Pods::new("/nowhere".into()).find("uid-1"), None);
    }
}
