//! The stack depth of the programs, read from the object.
//!
//! The kernel gives a program and the subprograms that it is in 512 bytes together.

use super::error::Error;
use aya_obj::Object;
use aya_obj::generated::bpf_insn;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Register that holds the end of the frame.
const FRAME: u8 = 10;
const MOVE: u8 = 0xbf;
const ADD: u8 = 0x07;
const CALL: u8 = 0x85;
const PSEUDO_CALL: u8 = 1;
/// The instruction classes whose destination, and whose source, is an address.
const LOAD: u8 = 0x01;
const STORE_IMMEDIATE: u8 = 0x02;
const STORE: u8 = 0x03;
/// The kernel rounds every frame up to this.
const ROUND: u32 = 32;

/// Bytes of stack by program, its deepest chain of calls.
pub(super) fn depths(object: &[u8]) -> Result<BTreeMap<String, u32>, Error> {
    let mut object = Object::parse(object).map_err(aya::EbpfError::from)?;
    let sections: HashSet<usize> = object.functions.keys().map(|(section, _)| *section).collect();
    // Now every program is followed by the functions that it calls.
    object
        .relocate_calls(&sections)
        .map_err(aya::EbpfError::RelocationError)?;
    let mut depths = BTreeMap::new();
    for (name, program) in &object.programs {
        if let Some(function) = object.functions.get(&program.function_key()) {
            depths.insert(name.clone(), depth(&function.instructions));
        }
    }
    Ok(depths)
}

/// The deepest call chain from the first instruction. No function calls itself: the kernel
/// forbids it.
fn depth(instructions: &[bpf_insn]) -> u32 {
    let calls: Vec<(usize, usize)> = instructions
        .iter()
        .enumerate()
        .filter(|(_, ins)| ins.code == CALL && ins.src_reg() == PSEUDO_CALL)
        .filter_map(|(at, ins)| Some((at, (at + 1).checked_add_signed(ins.imm as isize)?)))
        .collect();
    let mut starts: BTreeSet<usize> = calls.iter().map(|(_, target)| *target).collect();
    starts.insert(0);
    below(0, instructions, &starts, &calls)
}

/// The frame of the function at `start` plus the deepest of the functions that it calls.
fn below(start: usize, instructions: &[bpf_insn], starts: &BTreeSet<usize>, calls: &[(usize, usize)]) -> u32 {
    let end = starts
        .range(start + 1..)
        .next()
        .map_or(instructions.len(), |next| *next);
    let own = instructions.get(start..end).map_or(0, frame_bytes);
    let called: BTreeSet<usize> = calls
        .iter()
        .filter(|(at, target)| (start..end).contains(at) && *target != start)
        .map(|(_, target)| *target)
        .collect();
    let deepest = called
        .into_iter()
        .map(|target| below(target, instructions, starts, calls))
        .max();
    own + deepest.unwrap_or(0)
}

/// The lowest address below the frame pointer that a function uses.
fn frame_bytes(instructions: &[bpf_insn]) -> u32 {
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
