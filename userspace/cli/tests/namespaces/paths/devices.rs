//! Devices: a real OpenSSH server each, whose shell is a script.

use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

/// A device with two hosts, `NAME-a` at `Ethernet1` and `NAME-b` at `Ethernet2`.
#[derive(Clone, Copy)]
pub(crate) struct Device {
    /// Name of its node.
    pub(crate) name: &'static str,
    pub(crate) driver: &'static str,
    pub(crate) prints: Prints,
    /// More lines of its server's configuration.
    pub(crate) server: &'static str,
}

/// What a device does with a command.
#[derive(Clone, Copy)]
pub(crate) enum Prints {
    /// A command line: prints what it hashes, a 5-tuple, and runs this script for every other command.
    Script(&'static str),
    /// A command line that runs this script for every command.
    Raw(&'static str),
    /// A shell with these programs, by name and script.
    Programs(&'static [(&'static str, &'static str)]),
}

/// What EOS and NX-OS print of a 5-tuple.
const HASHES: &str = "\
case $SSH_ORIGINAL_COMMAND in
'show load-balance profile') printf '   Source IPv4 Address is ON\\n   Destination Port is ON\\n'; exit;;
'show ip load-sharing') echo 'Load-share mode : address source-destination port source-destination'; exit;;
esac
";

impl Device {
    pub(crate) const fn new(name: &'static str, driver: &'static str, prints: Prints) -> Self {
        Self {
            name,
            driver,
            prints,
            server: "",
        }
    }

    /// Writes the shell of its server.
    fn write(&self, folder: &Path) {
        let (name, place) = (self.name, folder.display());
        let log = format!("#!/bin/sh\necho \"$SSH_ORIGINAL_COMMAND\" >> {place}/{name}.log\n");
        let shell = match self.prints {
            Prints::Script(script) => format!("{log}{HASHES}{script}\n"),
            Prints::Raw(script) => format!("{log}{script}\n"),
            Prints::Programs(programs) => {
                let own = folder.join(format!("{name}.bin"));
                fs::create_dir_all(&own).unwrap();
                for (program, script) in programs {
                    executable(&own.join(program), &format!("#!/bin/sh\n{script}\n"));
                }
                format!("#!/bin/sh\nPATH={place}/{name}.bin:$PATH exec sh\n")
            }
        };
        executable(&folder.join(format!("{name}.sh")), &shell);
        let server = format!(
            "HostKey {place}/host\nAuthorizedKeysFile {place}/user.pub\nPermitRootLogin yes\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nPidFile none\nLogLevel QUIET\nBanner {place}/banner\n\
             ForceCommand {place}/{name}.sh\nSetEnv HOME={place}\n{}",
            self.server
        );
        fs::write(folder.join(format!("{name}.conf")), server).unwrap();
    }
}

fn executable(file: &Path, text: &str) {
    fs::write(file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Writes `fabric.toml`, `flows.json` with `flows` flows over each device in turn, and a server for each device, which the
/// client starts when it connects; `false` where this machine cannot.
pub(crate) fn prepare(folder: &Path, devices: &[Device], flows: usize) -> bool {
    let key = |name: &str| {
        let file = folder.join(name);
        let mut command = Command::new("ssh-keygen");
        let command = command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(file);
        command.status().is_ok_and(|status| status.success())
    };
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if !is_root || !Path::new("/usr/sbin/sshd").exists() || !key("host") || !key("user") {
        assert!(std::env::var_os("CI").is_none(), "not root, or no sshd");
        eprintln!("skipped: it takes root and /usr/sbin/sshd");
        return false;
    }
    fs::create_dir_all("/run/sshd").unwrap();
    let banner = "*** Authorized access only ***\nOutput Interface: Ethernet9\n";
    fs::write(folder.join("banner"), banner).unwrap();
    let place = folder.display();
    let client = format!(
        "Host *\n  User root\n  IdentityFile {place}/user\n  IdentitiesOnly yes\n  UserKnownHostsFile {place}/known\n  \
         ProxyCommand /usr/sbin/sshd -i -f {place}/%h.conf\n\n"
    );
    fs::write(folder.join("ssh"), client).unwrap();
    let host = fs::read_to_string(folder.join("host.pub")).unwrap();
    let names: Vec<&str> = devices.iter().map(|device| device.name).collect();
    fs::write(folder.join("known"), format!("{} {host}", names.join(","))).unwrap();
    devices.iter().for_each(|device| device.write(folder));
    fs::write(folder.join("fabric.toml"), topology(devices)).unwrap();
    let list = (0..flows * devices.len()).map(|flow| {
        let (device, port) = (flow % devices.len(), 49_152 + flow);
        json!(format!("10.0.{device}.1:{port}>10.0.{device}.2:4791"))
    });
    fs::write(folder.join("flows.json"), Value::from_iter(list).to_string()).unwrap();
    true
}

fn topology(devices: &[Device]) -> String {
    let mut toml = String::new();
    for (number, Device { name, driver, .. }) in devices.iter().enumerate() {
        let node = format!("[[node]]\nname = \"{name}\"\nkind = \"switch\"\nmanagement = \"{name}\"");
        writeln!(toml, "{node}\ndriver = \"{driver}\"").unwrap();
        for (host, port) in [("a", 1), ("b", 2)] {
            let node = format!("[[node]]\nname = \"{name}-{host}\"\nkind = \"host\"");
            writeln!(toml, "{node}\naddresses = [\"10.0.{number}.{port}\"]").unwrap();
            let prefix = if *driver == "cumulus" { "swp" } else { "Ethernet" };
            let end = format!("{name}:{prefix}{port}");
            writeln!(toml, "[[link]]\nends = [\"{end}\", \"{name}-{host}:eth0\"]").unwrap();
        }
    }
    toml
}
