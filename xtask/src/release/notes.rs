//! The notes of a version, cut from the CHANGELOG.

use anyhow::{Context, Result, ensure};

/// The section of a version, without its heading.
pub(super) fn of(changelog: &str, version: &str) -> Result<String> {
    let section = section(changelog, version)
        .with_context(|| format!("CHANGELOG.md has no section `## [{version}]`: cut it from [Unreleased]"))?;
    ensure!(!section.is_empty(), "CHANGELOG.md: the section [{version}] is empty");
    Ok(format!("# rocescope {version}\n\n{section}\n"))
}

/// Whether there are entries that no version has.
pub(super) fn unreleased(changelog: &str) -> bool {
    section(changelog, "Unreleased").is_some_and(|section| section.contains("\n- ") || section.starts_with("- "))
}

fn section(changelog: &str, name: &str) -> Option<String> {
    let heading = format!("## [{name}]");
    let mut lines = changelog.lines().skip_while(|line| !line.starts_with(&heading));
    lines.next()?;
    let section: Vec<&str> = lines.take_while(|line| !line.starts_with("## ")).collect();
    Some(section.join("\n").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{of, unreleased};
    use crate::process::root;
    use crate::release::facts::version;
    use std::fs;

    const CHANGELOG: &str = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-29\n\n### Added\n\n- a\n  b\n\n\
                             ## [0.1.0] - 2026-11-22\n\n- c\n";

    #[test]
    fn notes_are_the_section_of_their_version() {
        assert_eq!(
            of(CHANGELOG, "0.2.0").unwrap(),
            "# rocescope 0.2.0\n\n### Added\n\n- a\n  b\n"
        );
        assert_eq!(of(CHANGELOG, "0.1.0").unwrap(), "# rocescope 0.1.0\n\n- c\n");
        assert!(of(CHANGELOG, "0.3.0").unwrap_err().to_string().contains("[Unreleased]"));
        assert!(of("## [0.3.0]\n\n## [0.2.0]\n- a\n", "0.3.0").is_err());
    }

    #[test]
    fn entries_of_no_version_are_noticed() {
        assert!(!unreleased(CHANGELOG));
        assert!(unreleased("## [Unreleased]\n\n### Fixed\n\n- a\n\n## [0.2.0]\n"));
    }

    /// A release of this tree would have notes.
    #[test]
    fn the_changelog_has_the_version_of_the_workspace() {
        let changelog = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
        of(&changelog, &version().unwrap()).unwrap();
    }
}
