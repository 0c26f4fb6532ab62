//! Theme, characters and keys from arguments and environment.

use crate::arguments::{AppearanceArguments, ThemeName};
use rocescope_host::local_time::ahead_s;
use rocescope_model::human::Rates;
use rocescope_model::time::SECOND_NS;
use rocescope_view::zone::Zone;
use rocescope_view::{Glyphs, Keys, Options, Theme};

pub(super) fn options(appearance: &AppearanceArguments, seekable: bool) -> Options {
    let mut keys = Keys::default();
    for (action, key) in &appearance.bindings {
        keys.bind(*action, *key);
    }
    let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    Options {
        theme: match appearance.theme {
            Some(ThemeName::Dark) => Theme::Dark,
            Some(ThemeName::Light) => Theme::Light,
            Some(ThemeName::None) => Theme::Plain,
            // https://no-color.org: set and not empty.
            None if environment("NO_COLOR").is_some() => Theme::Plain,
            None => Theme::Dark,
        },
        glyphs: if appearance.ascii || !is_utf8(environment) {
            Glyphs::Ascii
        } else {
            Glyphs::Unicode
        },
        keys,
        rates: rates(appearance),
        zone: match appearance.local_time {
            true => Zone::local(|time| ahead_s(time.0.div_euclid(SECOND_NS)).saturating_mul(SECOND_NS)),
            false => Zone::default(),
        },
        hosts: appearance.hosts.names(),
        seekable,
    }
}

/// The unit of rates.
pub(super) const fn rates(appearance: &AppearanceArguments) -> Rates {
    if appearance.bytes { Rates::Bytes } else { Rates::Bits }
}

/// Whether the locale is UTF-8: the first of these variables that is set decides.
fn is_utf8(environment: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(environment)
        .unwrap_or_default()
        .to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::is_utf8;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let with = |pairs: &'static [(&str, &str)]| {
            is_utf8(|name| {
                let pair = pairs.iter().find(|(key, _)| *key == name)?;
                Some(pair.1.to_owned())
            })
        };
        assert!(with(&[("LANG", "en_GB.UTF-8")]));
        assert!(with(&[("LC_ALL", "C.utf8"), ("LANG", "C")]));
        assert!(!with(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")]));
        assert!(!with(&[]));
    }
}
