//! HTML: one self-contained page that opens from disk, and a [`page`] that a server keeps up to date.
//!
//! The first contains style, script and charts. Its content security policy forbids every request, and allows only this style
//! and script, by their hashes: if a name ever evaded the escaping (which the template does for every text), a browser
//! would not run it. The page is complete without the script, which adds faster tooltips and sorting.

pub mod page;
mod parts;

use crate::Report;
use crate::sections;
use maud::{DOCTYPE, PreEscaped, html};
use parts::{NoLinks, draw, figures, summary};
use rocescope_model::human::visible;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// SHA-256 of [`STYLE`], base64.
const STYLE_HASH: &str = "hPyVF1hXfBuruinPQ+ms9fyVv+fR9VYdS40PlvIcwoo=";
/// SHA-256 of [`SCRIPT`], base64.
const SCRIPT_HASH: &str = "4SRbxLDpn6fGZEk5AHw+InwkPoXEK3ovrRlzHFSiQvY=";

/// Returns the page.
#[must_use]
pub fn document(report: &Report) -> String {
    let sections = sections::all(report);
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; \
         base-uri 'none'; form-action 'none'"
    );
    let title = visible(&report.origin.dataset);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="rocescope";
                title { "rocescope report: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.product { "rocescope report" }
                    h1 { (title) }
                    @if let Some((start_ns, end_ns)) = report.span_ns() {
                        p.span {
                            (crate::words::instant(start_ns)) " – "
                            (crate::words::instant(end_ns)) ", "
                            (crate::words::length(end_ns.saturating_sub(start_ns)))
                        }
                        (figures(report))
                    }
                    (summary(&sections))
                    nav { @for section in &sections { a href=(format!("#{}", section.id)) { (section.title) } } }
                }
                main { @for section in &sections { (draw(section, &NoLinks)) } }
                footer {
                    p { "Times are UTC. " code { "rocescope dataset schema" } " describes the columns." }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

#[cfg(test)]
mod tests {
    use super::parts::prose;
    use super::{SCRIPT, SCRIPT_HASH, STYLE, STYLE_HASH};
    use sha2::{Digest, Sha256};

    /// RFC 4648 section 4.
    fn base64(bytes: &[u8]) -> String {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::new();
        for chunk in bytes.chunks(3) {
            let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
            let group = byte(0) << 16 | byte(1) << 8 | byte(2);
            for at in 0..4 {
                let letter = alphabet[(group >> (18 - 6 * at) & 63) as usize];
                out.push(if at <= chunk.len() { letter.into() } else { '=' });
            }
        }
        out
    }

    #[test]
    fn text_between_backticks_is_code() {
        for (text, markup) in [
            ("plain & <text>", "plain &amp; &lt;text&gt;"),
            ("a `b` c `<d>`", "a <code>b</code> c <code>&lt;d&gt;</code>"),
            ("`a` and `b", "<code>a</code> and `b"),
        ] {
            assert_eq!(prose(text).into_string(), markup);
        }
    }

    /// A browser rejects content that does not match the hash in the page.
    #[test]
    fn the_policy_has_the_hashes_of_style_and_script() {
        for (source, hash, name) in [(STYLE, STYLE_HASH, "STYLE_HASH"), (SCRIPT, SCRIPT_HASH, "SCRIPT_HASH")] {
            let found = base64(&Sha256::digest(source.as_bytes()));
            assert_eq!(found, hash, "{name} must follow its file");
            assert!(!source.contains("</"), "it would end its element");
        }
    }
}
