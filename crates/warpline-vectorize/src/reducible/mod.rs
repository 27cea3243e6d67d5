//! Irreducible loops made reducible: a loop that is entered at several blocks gets a single header.
//!
//! There are two ways, and for each loop the one that adds fewer instructions is taken:
//!
//! * *Dispatch*: a new header, to which all edges lead that enter the loop, and which branches to where they led, by a
//!   φ of constants (Erosa and Hendren 1994, and LLVM's `FixIrreducible`). It adds that φ and the branch, and a φ for
//!   each φ of an entry. Where lanes enter the loop at different blocks, the branch is divergent.
//! * *Node splitting* (Cocke and Miller 1969; Janssen and Corporaal 1997 on how to keep it small). One entry stays
//!   the header; what can be reached from the others before it is copied for those who enter there. It adds the
//!   copies, and a φ for each value that is used behind both. It is tried on loops of few entries that have no
//!   irreducible loops inside, a few times in turn, and may copy no more in all than the function has instructions;
//!   so the exponential growth that node splitting is known for cannot happen.
//!
//! Where both add the same number, nodes are split: that leaves no branch behind.
//!
//! # Lanes
//!
//! Irreducible cycles have several hierarchies, and with each threads converge differently (paper 2). What is made
//! here converges as no hierarchy of the original does: lanes that enter at different blocks begin their first
//! iteration together. So nothing in an irreducible loop may ask which lanes are there: convergent operations in it
//! are refused. All other operations do not tell, but for the order of accesses to memory that several lanes share,
//! which no hierarchy promises.
//!
//! The uniformity analysis runs on the reducible form.

mod dispatch;
mod split;

use warpline_analysis::{CycleForest, CycleId};

use warpline_ir::{Block, Effects, Function};

use super::VectorizeError;

/// So often are small loops split; what is irreducible then is left to dispatch.
const ROUNDS: usize = 4;

/// Makes all loops of a function without unreachable blocks reducible; a function whose loops are reducible stays as
/// it is.
///
/// # Errors
/// If an irreducible loop contains a convergent operation.
pub(crate) fn make_reducible(func: &mut Function) -> Result<(), VectorizeError> {
    let mut budget = func.layout.iter().map(|&b| func.block_insts(b).count()).sum();
    for round in 0.. {
        let (graph, _) = func.graph();
        let cycles = CycleForest::compute(&graph);
        if cycles.cycles().all(|c| cycles.is_reducible(c)) {
            break;
        }
        if round == 0 {
            refuse_convergent(func, &cycles)?;
        }
        if round == ROUNDS || !split::split_nodes(func, &graph, &cycles, &mut budget) {
            dispatch::add_headers(func, &graph, &cycles);
            break;
        }
    }
    Ok(())
}

fn refuse_convergent(func: &Function, cycles: &CycleForest) -> Result<(), VectorizeError> {
    let outermost = |c: &CycleId| {
        let around = std::iter::successors(cycles.parent(*c), |&p| cycles.parent(p));
        !cycles.is_reducible(*c) && around.into_iter().all(|p| cycles.is_reducible(p))
    };
    for c in cycles.cycles().filter(outermost) {
        for &n in cycles.nodes(c) {
            for i in func.block_insts(Block::from(n)) {
                if func.insts[i].effects().contains(Effects::CONVERGENT) {
                    let reason = "a loop that is entered at several places must not ask about other lanes: \
                     which lanes are \
                                  together there is not defined; enter the loop at one place";
                    return Err(VectorizeError::at_inst(func, i, reason));
                }
            }
        }
    }
    Ok(())
}

/// The instructions that a new header adds: the φ that says where to go, the branch with its comparisons, and the
/// φs of the entries.
fn dispatch_cost(func: &Function, entries: &[Block]) -> usize {
    1 + entries.len() + entries.iter().map(|&e| func.blocks[e].phis.len()).sum::<usize>()
}
