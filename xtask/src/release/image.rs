//! The container image, as an archive of the OCI's image layout: a few JSON documents and one layer, each named by its
//! SHA-256. No engine is needed to make it; `skopeo`, `podman load` and `ctr image import` read it.

use super::tree::{Tree, gzip};
use anyhow::Result;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::time::{Duration, SystemTime};

const LAYOUT: &str = "{\"imageLayoutVersion\":\"1.0.0\"}";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIGURATION: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// What the image is, whatever the processor.
pub(super) struct About<'a> {
    pub(super) version: &'a str,
    pub(super) commit: &'a str,
    pub(super) epoch: u64,
}

/// The archive of an image for each architecture, as the OCI names these, with the files of each.
pub(super) fn archive(about: &About<'_>, platforms: &[(&str, Tree)]) -> Result<Vec<u8>> {
    let mut layout = Tree::default();
    let mut manifests = Vec::new();
    for (architecture, files) in platforms {
        let mut descriptor = manifest(about, architecture, files, &mut layout)?;
        descriptor["platform"] = json!({"architecture": architecture, "os": "linux"});
        manifests.push(descriptor);
    }
    // An image of one architecture is named directly: not every reader follows an index in an index.
    let mut named = match <[Value; 1]>::try_from(manifests) {
        Ok([manifest]) => manifest,
        Err(manifests) => blob(
            INDEX,
            json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests})
                .to_string()
                .into_bytes(),
            &mut layout,
        ),
    };
    named["annotations"] = json!({"org.opencontainers.image.ref.name": about.version});
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [named]});
    layout.file("index.json", 0o644, index.to_string());
    layout.file("oci-layout", 0o644, LAYOUT);
    layout.tar(about.epoch)
}

/// Adds the manifest of one architecture, its configuration and its layer; returns what names it.
fn manifest(about: &About<'_>, architecture: &str, files: &Tree, layout: &mut Tree) -> Result<Value> {
    let created = time(about.epoch);
    let tar = files.tar(about.epoch)?;
    let configuration = json!({
        "architecture": architecture,
        "os": "linux",
        "created": created,
        "config": {
            "Entrypoint": ["/rocescope"],
            // Work files of a dataset need a directory that exists.
            "WorkingDir": "/tmp",
            "Labels": {
                "org.opencontainers.image.title": "rocescope",
                "org.opencontainers.image.version": about.version,
                "org.opencontainers.image.revision": about.commit,
                "org.opencontainers.image.created": created,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [digest(&tar)]},
        "history": [{"created": created, "created_by": "cargo xtask release"}],
    });
    let configuration = blob(CONFIGURATION, configuration.to_string().into_bytes(), layout);
    let layer = blob(LAYER, gzip(&tar)?, layout);
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": configuration,
        "layers": [layer],
    });
    Ok(blob(MANIFEST, manifest.to_string().into_bytes(), layout))
}

/// Adds content under its digest; returns what names it.
fn blob(media_type: &str, content: Vec<u8>, layout: &mut Tree) -> Value {
    let digest = digest(&content);
    let descriptor = json!({"mediaType": media_type, "digest": digest, "size": content.len()});
    layout.file(&format!("blobs/{}", digest.replace(':', "/")), 0o644, content);
    descriptor
}

fn digest(content: &[u8]) -> String {
    format!("sha256:{}", sha256(content))
}

pub(super) fn sha256(content: &[u8]) -> String {
    let hash = Sha256::digest(content);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// As RFC 3339 writes it.
pub(super) fn time(epoch: u64) -> String {
    humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + Duration::from_secs(epoch)).to_string()
}

#[cfg(test)]
mod tests {
    use super::{About, Tree, archive, digest};
    use flate2::read::GzDecoder;
    use serde_json::Value;
    use std::collections::BTreeMap;
    use std::io::Read;

    const ABOUT: About<'_> = About {
        version: "1.2.3",
        commit: "abc",
        epoch: 1_700_000_000,
    };

    type Files = BTreeMap<String, Vec<u8>>;

    fn unpack(bytes: &[u8]) -> Files {
        let mut archive = tar::Archive::new(bytes);
        let entries = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            (entry.path().unwrap().display().to_string(), content)
        });
        entries.collect()
    }

    /// The content that a descriptor names: what is stored under its digest must have that digest and that size.
    fn named<'a>(files: &'a Files, descriptor: &Value) -> &'a [u8] {
        let name = descriptor["digest"].as_str().unwrap();
        let content = &files[&format!("blobs/{}", name.replace(':', "/"))];
        assert_eq!(digest(content), name);
        assert_eq!(descriptor["size"], content.len());
        content
    }

    fn document(content: &[u8]) -> Value {
        serde_json::from_slice(content).unwrap()
    }

    fn files_of(program: &str) -> Tree {
        let mut files = Tree::default();
        files.file("rocescope", 0o755, program);
        files.folder("tmp", 0o1777);
        files
    }

    /// Follows a manifest to the files of its layer, and checks each digest on the way.
    fn program(files: &Files, manifest: &Value, architecture: &str) -> Vec<u8> {
        let manifest = document(named(files, manifest));
        let configuration = document(named(files, &manifest["config"]));
        assert_eq!(configuration["architecture"], architecture);
        assert_eq!(configuration["created"], "2023-11-14T22:13:20Z");
        let mut layer = Vec::new();
        let packed = named(files, &manifest["layers"][0]);
        GzDecoder::new(packed).read_to_end(&mut layer).unwrap();
        assert_eq!(configuration["rootfs"]["diff_ids"][0], digest(&layer));
        unpack(&layer).remove("rocescope").unwrap()
    }

    #[test]
    fn every_digest_leads_to_its_content() {
        let files = unpack(&archive(&ABOUT, &[("amd64", files_of("one"))]).unwrap());
        assert_eq!(document(&files["oci-layout"])["imageLayoutVersion"], "1.0.0");
        let index = document(&files["index.json"]);
        let manifest = &index["manifests"][0];
        assert_eq!(manifest["annotations"]["org.opencontainers.image.ref.name"], "1.2.3");
        assert_eq!(program(&files, manifest, "amd64"), b"one");
    }

    #[test]
    fn two_architectures_have_an_index_of_their_own() {
        let platforms = [("amd64", files_of("one")), ("arm64", files_of("two"))];
        let files = unpack(&archive(&ABOUT, &platforms).unwrap());
        let index = document(&files["index.json"]);
        assert_eq!(index["manifests"].as_array().unwrap().len(), 1);
        let both = document(named(&files, &index["manifests"][0]));
        for (at, (architecture, expected)) in [("amd64", "one"), ("arm64", "two")].into_iter().enumerate() {
            let manifest = &both["manifests"][at];
            assert_eq!(manifest["platform"]["architecture"], architecture);
            assert_eq!(program(&files, manifest, architecture), expected.as_bytes());
        }
    }

    #[test]
    fn the_same_files_give_the_same_bytes() {
        let make = || archive(&ABOUT, &[("amd64", files_of("one"))]).unwrap();
        assert_eq!(make(), make());
    }
}
