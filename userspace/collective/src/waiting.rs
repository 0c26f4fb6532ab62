//! The waiting graph: what each step really waited for, and its longest path.
//!
//! A vertex is the start or the end of a step. An edge points from what waits to what it waits for: an end waits for
//! its start (weight: the time of the step), a start for the end of the awaited step or of its predecessor (weight 0; the
//! time between both where the source has all waits: it is then a part of the collective's time).
//! Because only actual waits count, every vertex waits for exactly one other: the graph is a tree towards the start of
//! the collective, and the longest path needs one pass over it. Vertices that nothing waits for are pruned: the only
//! other starts of paths are the ends of the last steps.

use crate::steps::Steps;
use alloc::vec;
use alloc::vec::Vec;

/// Whether a vertex is the start or the end of its step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    /// The start.
    Begin,
    /// The end.
    End,
}

impl Event {
    /// Its name in documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::End => "end",
        }
    }
}

/// The start or the end of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Vertex {
    /// Index of the step.
    pub step: usize,
    /// Which of the two.
    pub event: Event,
}

/// A step on the critical path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Index of the step.
    pub step: usize,
    /// Weight of its execution.
    pub ns: i64,
}

/// The critical path, from the end of the collective to its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// Sum of the weights.
    pub total_ns: i64,
    /// Its vertices, without the two of the collective itself.
    pub vertices: Vec<Vertex>,
    /// Its steps, in the same order.
    pub parts: Vec<Part>,
    /// Steps that wait for each other in a circle, which times make impossible; they are left out.
    pub circular: u64,
}

/// The end of everything: the start of the collective.
const SINK: u32 = 0;
const NONE: u32 = u32::MAX;

fn begin(step: usize) -> u32 {
    1 + 2 * step as u32
}

fn end(step: usize) -> u32 {
    2 + 2 * step as u32
}

fn vertex(id: u32) -> Vertex {
    let step = (id as usize - 1) / 2;
    let event = if id % 2 == 1 { Event::Begin } else { Event::End };
    Vertex { step, event }
}

/// What a vertex waits for: the other vertex, and the weight.
fn awaited(steps: &Steps, first_ns: i64, id: u32) -> (u32, i64) {
    let Vertex { step: index, event } = vertex(id);
    let step = &steps.steps[index];
    match event {
        Event::End => (begin(index), step.duration_ns),
        Event::Begin => {
            let earlier = || steps.predecessor(index).map_or(SINK, end);
            (step.awaited().map_or_else(earlier, end), steps.gap_ns(index, first_ns))
        }
    }
}

/// When an edge out of a vertex became known: edges of equal length are decided by it, the first wins.
fn known(steps: &Steps, id: u32) -> (i64, u32) {
    let Vertex { step, event } = vertex(id);
    // A wait is known when the step before it ends, an execution when the step itself does.
    let from = match event {
        Event::Begin => steps.before(step).unwrap_or(step),
        Event::End => step,
    };
    let from = &steps.steps[from];
    (from.end_ns(), from.order)
}

/// The critical path of the steps.
#[must_use]
pub fn critical_path(steps: &Steps) -> CriticalPath {
    let vertices = 1 + 2 * steps.steps.len();
    let first_ns = steps.span_ns().map_or(0, |(first_ns, _)| first_ns);
    let mut waiting = vec![0_u32; vertices];
    for id in 1..vertices as u32 {
        waiting[awaited(steps, first_ns, id).0 as usize] += 1;
    }
    // Length of the longest path from the end of the collective, and the vertex before; negative: none leads here.
    let mut longest = vec![-1_i64; vertices];
    let mut from = vec![NONE; vertices];
    let mut ready: Vec<u32> = Vec::new();
    for index in 0..steps.steps.len() {
        // Nothing else can follow the last step of a stream, but another stream may wait for it.
        if steps.is_last(index) {
            longest[end(index) as usize] = 0;
        }
        for id in [begin(index), end(index)] {
            if waiting[id as usize] == 0 {
                ready.push(id);
            }
        }
    }
    let mut done = 0_usize;
    while let Some(id) = ready.pop() {
        done += 1;
        let (next, weight) = awaited(steps, first_ns, id);
        if longest[id as usize] >= 0 {
            let length = longest[id as usize].saturating_add(weight);
            let better = match from[next as usize] {
                NONE => length >= longest[next as usize],
                other => {
                    length > longest[next as usize]
                        || (length == longest[next as usize] && known(steps, id) < known(steps, other))
                }
            };
            if better {
                longest[next as usize] = length;
                from[next as usize] = id;
            }
        }
        waiting[next as usize] -= 1;
        if waiting[next as usize] == 0 && next != SINK {
            ready.push(next);
        }
    }
    let mut path = CriticalPath {
        total_ns: longest[SINK as usize].max(0),
        circular: (vertices - 1 - done) as u64,
        ..CriticalPath::default()
    };
    let mut at = from[SINK as usize];
    while at != NONE {
        let here = vertex(at);
        if here.event == Event::End {
            path.parts.push(Part {
                step: here.step,
                ns: awaited(steps, first_ns, at).1,
            });
        }
        path.vertices.push(here);
        at = from[at as usize];
    }
    path.vertices.reverse();
    path.parts.reverse();
    path
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
