//! How deep the stack gets, read from the object.
//!
//! The kernel gives a program and the subprograms it is in at one time 512 bytes together.

use super::Error;
use aya_obj::Object;
use std::collections::{BTreeMap, BTreeSet};

/// Register that holds the end of the frame.
const FRAME: u8 = 10;
const MOVE: u8 = 0xbf;
const ADD: u8 = 0x07;
const CALL: u8 = 0x85;
const PSEUDO_CALL: u8 = 1;
/// The classes whose destination, and whose source, is an address.
const LOAD: u8 = 0x01;
const STORE_IMMEDIATE: u8 = 0x02;
const STORE: u8 = 0x03;
/// The kernel rounds every frame up to this.
const ROUND: u32 = 32;

/// Bytes of stack by program, its deepest chain of calls.
///
/// The program itself calls every function in `.text` that is not inlined, and those call no other:
/// so the depth is its own frame and the largest of theirs.
pub(super) fn depths(object: &[u8]) -> Result<BTreeMap<String, u32>, Error> {
    let object = Object::parse(object).map_err(aya::EbpfError::from)?;
    let programs: BTreeSet<_> = object
        .programs
        .values()
        .map(aya_obj::Program::function_key)
        .collect();
    let subprograms = object
        .functions
        .iter()
        .filter(|(key, _)| !programs.contains(key));
    let deepest = subprograms
        .map(|(_, function)| frame_bytes(&function.instructions))
        .max();
    let mut depths = BTreeMap::new();
    for (name, program) in &object.programs {
        let Some(function) = object.functions.get(&program.function_key()) else {
            continue;
        };
        let calls = function
            .instructions
            .iter()
            .any(|ins| ins.code == CALL && ins.src_reg() == PSEUDO_CALL);
        let below = if calls { deepest.unwrap_or(0) } else { 0 };
        depths.insert(name.clone(), frame_bytes(&function.instructions) + below);
    }
    Ok(depths)
}

/// The lowest address below the frame pointer that a function uses.
fn frame_bytes(instructions: &[aya_obj::generated::bpf_insn]) -> u32 {
    let mut lowest = 0i32;
    for (at, ins) in instructions.iter().enumerate() {
        let direct = match ins.code & 0x07 {
            LOAD => ins.src_reg() == FRAME,
            STORE | STORE_IMMEDIATE => ins.dst_reg() == FRAME,
            _ => false,
        };
        if direct {
            lowest = lowest.min(i32::from(ins.off));
        }
        if ins.code == MOVE
            && ins.src_reg() == FRAME
            && let Some(next) = instructions.get(at + 1)
            && next.code == ADD
            && next.dst_reg() == ins.dst_reg()
        {
            lowest = lowest.min(next.imm);
        }
    }
    lowest.unsigned_abs().next_multiple_of(ROUND)
}
