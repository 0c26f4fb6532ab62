//! HELP texts of metrics.

/// Panics unless each text is one phrase about a metric, and not about a column or a window.
pub fn assert_help_texts(table: &[(&str, &str)]) {
    for (name, help) in table {
        let begins = help.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit());
        assert!(
            begins && !help.ends_with('.') && !help.contains(['`', '\n']),
            "{name}: {help}"
        );
        for word in [" null", "column", "this window", "in the window"] {
            assert!(!help.contains(word), "{name}: {help}");
        }
    }
}
