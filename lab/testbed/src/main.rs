//! The tasks of `cargo xtask` that require crates of the product, its kernel programs or network namespaces.
//!
//! | module | what it does |
//! |---|---|
//! | `bench` | benchmarks, one file each |
//! | `fabric` | a rail fabric of network namespaces, its faults, and whether the product names them |
//! | `object` | loads an XDP object, and compares its records with those of user space |
//! | `picture` | `docs/top.svg`, from the screen of a test |
//! | `service` | the Debian package on a machine of its own |
//! | `softroce` | the product in two guests with soft-RoCE |
//! | `certificates` | certificates, made with the commands of `docs/hostmesh.md` |

mod bench;
mod certificates;
mod fabric;
mod object;
mod picture;
mod service;
mod softroce;

use anyhow::{Result, bail};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("testbed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["fabric", rest @ ..] if xtask::asks_for_help(rest) => {
            print!("{}", fabric::USAGE);
            Ok(())
        }
        [_, rest @ ..] if xtask::asks_for_help(rest) => {
            print!("{}", xtask::USAGE);
            Ok(())
        }
        ["bench", rest @ ..] => bench::run(rest),
        ["fabric", rest @ ..] => fabric::run(rest),
        ["object", rest @ ..] => object::run(rest),
        ["picture", rest @ ..] => picture::run(rest),
        ["service", rest @ ..] => service::run(rest),
        ["softroce", rest @ ..] => softroce::run(rest),
        _ => bail!("expected bench, fabric, object, picture, service or softroce: `cargo xtask help` lists the tasks"),
    }
}
