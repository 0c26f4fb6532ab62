//! When a problem began, and how often it stopped and returned.

use super::place::{FaultLocation, rank};
use super::shape::Shape;
use super::suspects::Symptom;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// The history of a place.
#[derive(Debug, Clone)]
struct Track {
    /// The place as it was last.
    place: FaultLocation,
    since_ns: i64,
    /// The end of the last window in which it was a suspect.
    end_ns: i64,
    /// Start of a window and the shape of the drops in it.
    shapes: Vec<(i64, Shape)>,
    /// The starts of windows in which it was no suspect, and probes crossed it.
    alive: Vec<i64>,
}

/// All recent suspects.
#[derive(Debug, Default)]
pub(crate) struct History {
    tracks: HashMap<(Symptom, FaultLocation), Track>,
}

/// The number of windows over which episodes are counted: two minutes.
const WINDOWS: i64 = 6;

impl History {
    /// Records a suspect of a window; returns when the problem began, and its recent episodes.
    ///
    /// A problem that was absent for a single window is the same problem: it flaps.
    pub(crate) fn note(
        &mut self,
        symptom: Symptom,
        place: FaultLocation,
        window: (i64, i64),
        first_ns: i64,
        shape: Shape,
    ) -> (i64, u32) {
        let (start_ns, end_ns) = window;
        let length = end_ns - start_ns;
        // The direction of a NIC's problem may change with its phases.
        let known = match place {
            FaultLocation::ToNic(nic) | FaultLocation::FromNic(nic) => FaultLocation::Nic(nic),
            place => place,
        };
        let track = self.tracks.entry((symptom, known)).or_insert(Track {
            place,
            since_ns: first_ns,
            end_ns: start_ns,
            shapes: Vec::new(),
            alive: Vec::new(),
        });
        if start_ns > track.end_ns.saturating_add(length) {
            track.since_ns = first_ns;
        }
        (track.place, track.end_ns) = (place, end_ns);
        track.shapes.push((start_ns, shape));
        let oldest = start_ns.saturating_sub(WINDOWS * length);
        track.shapes.retain(|(start, _)| *start > oldest);
        track.alive.retain(|start| *start > oldest && *start != start_ns);
        let mut episodes = 0;
        let mut dead_at: Option<i64> = None;
        for (start, shape) in track.shapes.iter().filter(|(_, shape)| shape.is_clear) {
            // Where nothing crossed it in between, it was not seen to work.
            let was_alive = |from: i64| track.alive.iter().any(|alive| (from..*start).contains(alive));
            let goes_on = shape.begins_dead && dead_at.is_some_and(|dead_at| !was_alive(dead_at));
            episodes += shape.episodes - u32::from(goes_on).min(shape.episodes);
            dead_at = shape.ends_dead.then_some(start + length);
        }
        (track.since_ns, episodes)
    }

    /// Notes for each place that lost packets lately whether probes of a window cross it and arrive.
    pub(crate) fn see(&mut self, start_ns: i64, arrives: impl Fn(FaultLocation) -> bool) {
        let lost = self
            .tracks
            .iter_mut()
            .filter(|((symptom, _), _)| *symptom == Symptom::Loss);
        for (_, track) in lost.filter(|(_, track)| arrives(track.place)) {
            track.alive.push(start_ns);
        }
    }

    /// The places that lost packets in the window that ended at a time; that on the mesh is none.
    pub(crate) fn losing(&self, end_ns: i64) -> Vec<FaultLocation> {
        let tracks = self.tracks.iter().filter(|((symptom, place), track)| {
            *symptom == Symptom::Loss && *place != FaultLocation::Mesh && track.end_ns == end_ns
        });
        let mut places: Vec<FaultLocation> = tracks.map(|(_, track)| track.place).collect();
        places.sort_by_key(|place| (rank(*place), *place));
        places
    }

    /// Forgets problems that ended long before a time.
    pub(crate) fn forget(&mut self, start_ns: i64, window_ns: i64) {
        let limit = start_ns.saturating_sub(WINDOWS * window_ns);
        self.tracks.retain(|_, track| track.end_ns > limit);
    }
}

#[cfg(test)]
mod tests {
    use super::History;
    use crate::hostmesh::place::FaultLocation;
    use crate::hostmesh::shape::Shape;
    use crate::hostmesh::suspects::Symptom;

    #[test]
    fn an_outage_over_several_windows_is_one_episode_and_a_new_one_another() {
        let mut history = History::default();
        let mut note = |place, window: i64, shape| {
            let span = (window * 20, window * 20 + 20);
            history.note(Symptom::Loss, place, span, window * 20 + 5, shape)
        };
        let begins = Shape {
            episodes: 1,
            begins_dead: false,
            ends_dead: true,
            is_clear: true,
        };
        let lasts = Shape {
            begins_dead: true,
            ..begins
        };
        assert_eq!(note(FaultLocation::ToNic(1), 0, begins), (5, 1));
        assert_eq!(note(FaultLocation::Nic(1), 1, lasts), (5, 1));
        assert_eq!(note(FaultLocation::Nic(1), 3, begins), (5, 2));
        // Nothing crossed it in window 4, and it worked in window 6.
        assert_eq!(note(FaultLocation::Nic(1), 5, lasts), (5, 2));
        history.see(120, |place| place == FaultLocation::Nic(1));
        let span = (140, 160);
        let found = history.note(Symptom::Loss, FaultLocation::Nic(1), span, 140, lasts);
        assert_eq!(found, (5, 2), "the first is forgotten");
        let mut note = |place, window: i64, shape| {
            let span = (window * 20, window * 20 + 20);
            history.note(Symptom::Loss, place, span, window * 20 + 5, shape)
        };
        assert_eq!(note(FaultLocation::Nic(2), 3, begins), (65, 1));
        // Much later it is a new problem.
        assert_eq!(note(FaultLocation::Nic(1), 30, begins), (605, 1));
    }
}
