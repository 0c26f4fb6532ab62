//! The words without an option: more inputs, as the shell expands `-r cap_*.pcap`, and a filter, as for tcpdump.

use super::Command;
use crate::filters::run_filter;
use rocescope_host::interface::Interface;
use rocescope_model::filter::FilterError;
use rocescope_pipeline::filter::RunFilter;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Where the words of a command go.
struct Inputs<'a> {
    words: &'a mut Vec<String>,
    read: &'a mut Vec<PathBuf>,
    interfaces: Option<&'a mut Vec<String>>,
    filter: &'a mut Option<RunFilter>,
}

/// Moves the words of a command to its inputs and its filter. `has_filter`: `--filter` is on the command line.
///
/// # Errors
/// The words are no filter, or there are two.
pub(crate) fn settle(command: &mut Command, has_filter: bool) -> Result<(), String> {
    let inputs = match command {
        Command::Capture(capture) => Inputs {
            words: &mut capture.words,
            read: &mut capture.read,
            interfaces: Some(&mut capture.live.interfaces),
            filter: &mut capture.filter,
        },
        Command::Extract(extract) => Inputs {
            words: &mut extract.words,
            read: &mut extract.read,
            interfaces: None,
            filter: &mut extract.filter,
        },
        _ => return Ok(()),
    };
    inputs.settle(has_filter)
}

impl Inputs<'_> {
    fn settle(self, has_filter: bool) -> Result<(), String> {
        let Self {
            words,
            read,
            interfaces,
            filter,
        } = self;
        let mut words = VecDeque::from(std::mem::take(words));
        let mut interfaces = interfaces.filter(|interfaces| !interfaces.is_empty());
        while let Some(word) = words.front() {
            let rest: Vec<&str> = words.iter().map(String::as_str).collect();
            let rest = rest.join(" ");
            match run_filter(&rest) {
                Ok(_) if has_filter => {
                    return Err(format!("two filters, --filter and `{rest}`: join them with `and`"));
                }
                Ok(wanted) => {
                    *filter = Some(wanted);
                    return Ok(());
                }
                Err(error) => match &mut interfaces {
                    Some(interfaces) if Interface::find(word).is_ok() => interfaces.extend(words.pop_front()),
                    None if Path::new(word).exists() => read.extend(words.pop_front().map(PathBuf::from)),
                    interfaces => return Err(neither(word, interfaces.is_some(), &error)),
                },
            }
        }
        Ok(())
    }
}

/// The message for a word that is no input, and does not begin a filter.
fn neither(word: &str, is_live: bool, error: &FilterError) -> String {
    let is_path = word.contains(['/', '.']) && !is_live;
    match (is_path, is_live) {
        (true, _) => format!("{word}: no such file"),
        (false, true) => format!("`{word}` is no interface (`ip link` lists them), and this is no filter: {error}"),
        (false, false) => format!("`{word}` is no file, and this is no filter: {error}"),
    }
}
