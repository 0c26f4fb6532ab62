//! The software bill of materials: what is linked, as a document of `CycloneDX` 1.5.

use super::crates::{Crate, Id};
use super::facts::Facts;
use super::image::time;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) fn document(facts: &Facts, crates: &BTreeMap<Id, Crate>) -> String {
    let product = crates.iter().find(|((name, _), _)| name == "rocescope");
    let main = product.map(|(id, one)| component(id, one, "application"));
    let others = crates.iter().filter(|((name, _), _)| name != "rocescope");
    let components: Vec<Value> = others.map(|(id, one)| component(id, one, "library")).collect();
    let dependencies = crates.iter().map(|(id, one)| {
        let on: Vec<String> = one
            .depends_on
            .iter()
            .filter_map(|id| Some(name(id, crates.get(id)?)))
            .collect();
        json!({"ref": name(id, one), "dependsOn": on})
    });
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time(facts.epoch),
            "component": main,
            "properties": [{"name": "commit", "value": facts.commit}],
        },
        "components": components,
        "dependencies": dependencies.collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

fn component(id: &Id, one: &Crate, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": name(id, one),
        "name": id.0,
        "version": id.1,
        "licenses": [{"expression": one.licence}],
    });
    if let Some(checksum) = &one.checksum {
        component["purl"] = json!(name(id, one));
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    if let Some(repository) = &one.repository {
        component["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
    }
    component
}

/// A package URL, or of packages that no registry has, name and version.
fn name((name, version): &Id, one: &Crate) -> String {
    match one.checksum {
        Some(_) => format!("pkg:cargo/{name}@{}", version.replace('+', "%2B")),
        None => format!("{name}@{version}"),
    }
}

#[cfg(test)]
mod tests {
    use super::document;
    use crate::release::crates::Crate;
    use crate::release::facts::Facts;
    use serde_json::Value;
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::PathBuf;

    #[test]
    fn packages_of_the_registry_have_their_address_and_checksum() {
        let id = |name: &str| (name.to_owned(), "1.0.0+x".to_owned());
        let one = |checksum: Option<&str>, depends_on: &[&str]| Crate {
            licence: "MIT".into(),
            repository: Some("https://example.com".into()),
            checksum: checksum.map(str::to_owned),
            folder: PathBuf::new(),
            depends_on: depends_on.iter().map(|name| id(name)).collect::<BTreeSet<_>>(),
        };
        let crates = BTreeMap::from([
            (id("rocescope"), one(None, &["zstd"])),
            (id("zstd"), one(Some("12ab"), &[])),
        ]);
        let facts = Facts {
            version: "1.0.0".into(),
            commit: "abc".into(),
            epoch: 0,
        };
        let document: Value = serde_json::from_str(&document(&facts, &crates)).unwrap();
        assert_eq!(document["metadata"]["component"]["bom-ref"], "rocescope@1.0.0+x");
        assert_eq!(document["metadata"]["timestamp"], "1970-01-01T00:00:00Z");
        assert_eq!(document["components"].as_array().unwrap().len(), 1);
        let library = &document["components"][0];
        assert_eq!(library["purl"], "pkg:cargo/zstd@1.0.0%2Bx");
        assert_eq!(library["hashes"][0]["content"], "12ab");
        assert_eq!(document["dependencies"][0]["dependsOn"][0], library["bom-ref"]);
    }
}
