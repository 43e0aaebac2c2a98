//! Selects edges without a cycle that keep connected vertices connected (PBBS: spanningForest).

use crate::graph::Edges;
use crate::inputs;
use crate::program::{Program, equal, reads};
use crate::sets::{Sets, SharedSets};

pub(super) const PROGRAM: Program = Program {
    name: "spanning_forest",
    suite: "PBBS",
    what: "a spanning forest of a cubic grid, by disjoint sets",
    unit: "vertices",
    size: 1 << 22,
    quick: 1 << 19,
    schedule: "",
    why: "a tie: most of the time goes to one long even loop, which waits for memory",
    source: include_str!("spanning_forest.rs"),
    case: |size| {
        let edges = inputs::grid_edges(size);
        reads(edges, [sequential::run, rayon::run, furcate::run], check)
    },
};

/// Checks that the forest has no cycle, and is as large as the sequential one.
fn check(edges: &Edges, forest: &Vec<bool>) -> Result<(), String> {
    equal(&forest.len(), &edges.ends.len())?;
    let mut sets = Sets::new(edges.vertex_count);
    let mut selected = edges.ends.iter().zip(forest).filter(|(_, is_selected)| **is_selected);
    if let Some((edge, _)) = selected.find(|(edge, _)| !sets.unite(**edge)) {
        return Err(format!("{edge:?} closes a cycle"));
    }
    let size = |forest: &[bool]| forest.iter().filter(|is_selected| **is_selected).count();
    equal(&size(forest), &size(&sequential::run(edges)))
}

mod sequential {
    use super::{Edges, Sets};

    pub(super) fn run(edges: &Edges) -> Vec<bool> {
        let mut sets = Sets::new(edges.vertex_count);
        edges.ends.iter().map(|&edge| sets.unite(edge)).collect()
    }
}

mod rayon {
    use super::{Edges, SharedSets};
    use rayon::prelude::*;

    pub(super) fn run(edges: &Edges) -> Vec<bool> {
        let sets = SharedSets::new(edges.vertex_count);
        edges.ends.par_iter().map(|&edge| sets.unite(edge)).collect()
    }
}

mod furcate {
    use super::{Edges, SharedSets};
    use furcate::prelude::*;

    pub(super) fn run(edges: &Edges) -> Vec<bool> {
        let sets = SharedSets::new(edges.vertex_count);
        edges.ends.par_iter().map(|&edge| sets.unite(edge)).collect()
    }
}
