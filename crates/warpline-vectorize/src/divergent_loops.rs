//! The divergent loop transform of paper 3, Sec. 5: divergent loops become uniform loops.
//!
//! A divergent loop gets a *pure latch*, to which its back edge and all its exits are rebound, and which goes on as
//! long as any lane does; behind it a *dispatch* sends the lanes to the exits they took. Where the paper adds
//! φs for live masks, exit masks and trackers of values that leave the loop, we note writes of variables on
//! the edges ([`Action`]): the masks of the edges are not known yet, and SSA construction finds the φs later.
//!
//! * `live`: false in every iteration, joined on the back edge. The branch of the latch is on it.
//! * `next` per header φ: what the φ gets in the next iteration.
//! * `exit` per exit block (if there are several): false at the preheader, joined on each exit edge.
//! * `out` per φ of an exit block: the tracker, poison at the preheader. It must survive later iterations.
//!
//! Each mask and tracker of an exit lives as long as the loop runs. Where there are many exits (`MANY`) that would be
//! quadratic, so there is one variable instead of the masks, the number of the exit that a lane took, and exits share
//! trackers of values of one type that vary anyway.
//!
//! A uniform exit of a divergent loop (a *kill exit*) stays a branch to the latch.
//!
//! Inner loops are transformed first; the dispatch of an inner loop may leave the outer one and is then an
//! exit of that like any other.

use warpline_ir::{Block, Constant, Edge, IntPred, LaneOp, Op, Type, Value, Var};

use super::linearize_state::{Action, Branch, Init, LinearizeState, LoopId};

/// Transforms all divergent loops, innermost first.
pub(crate) fn transform_divergent_loops(state: &mut LinearizeState) {
    let loops: Vec<LoopId> = state.loops.keys().collect();
    for &l in loops.iter().rev() {
        if state.loops[l].divergent {
            transform(state, l);
        }
        pass_exits_up(state, l);
    }
}

/// Edges that leave the parent loop too become exits of the parent.
fn pass_exits_up(state: &mut LinearizeState, l: LoopId) {
    let Some(parent) = state.loops[l].parent.expand() else { return };
    let leaving: Vec<Edge> = state.loops[l]
        .exits
        .iter()
        .copied()
        .filter(|&e| !state.contains(parent, state.func.edges[e].to))
        .collect();
    state.loops[parent].exits.extend(leaving);
}

fn transform(state: &mut LinearizeState, l: LoopId) {
    let data = state.loops[l].clone();
    let back = *state
        .func
        .out_edges(data.latch)
        .iter()
        .find(|&&e| state.func.edges[e].to == data.header)
        .expect("the latch of a loop has the back edge");
    let latch = state.add_block("latch", Some(l).into());
    state.loops[l].latch = latch;
    let live = state.func.add_var(Type::BOOL, "live");
    state.into_latch[latch].push((live, Init::False));
    state.actions[back].push(Action::Join(live));
    let next = rebind(state, back, latch, "next");
    for &var in &next {
        state.into_latch[latch].push((var, Init::Poison));
    }
    let first = rebind_exits(state, &data.exits, l, latch);

    let live_now = state.func.append_value(latch, Op::ReadVar(live), &[], Type::BOOL);
    let any = state.func.append_value(latch, Op::Lane(LaneOp::MaskAny), &[live_now], Type::BOOL);
    let term = state.func.set_terminator(latch, Op::CondBr, &[any], &[data.header, first]);
    state.branch[latch] = Branch::AnyLane;
    state.live[latch] = live.into();
    let back = state.func.insts[term].edges[0];
    read_into_phis(state, latch, back, &next);
}

/// Lets an edge lead to `to`; its φ operands are written to variables on the edge, which are returned.
fn rebind(state: &mut LinearizeState, e: Edge, to: Block, name: &str) -> Vec<Var> {
    let phis = phi_values(state, state.func.edges[e].to);
    let vars: Vec<Var> = phis.iter().map(|&phi| state.func.add_var(state.func.ty(phi), name)).collect();
    assign_phis(state, e, &phis, &vars, false);
    state.func.redirect_edge(e, to);
    vars
}

fn phi_values(state: &LinearizeState, b: Block) -> Vec<Value> {
    state.func.blocks[b].phis.iter().map(|&p| state.func.insts[p].results[0]).collect()
}

/// Notes on an edge that its φ operands are written to these variables.
fn assign_phis(state: &mut LinearizeState, e: Edge, phis: &[Value], vars: &[Var], keep: bool) {
    let args = state.func.edges[e].args.clone();
    for ((&value, &var), &phi) in args.iter().zip(vars).zip(phis) {
        let regular = state.is_regular(phi);
        state.actions[e].push(Action::Assign { var, value, regular, keep });
    }
}

/// Makes the φ operands of an edge reads of variables at the end of the block it leaves.
fn read_into_phis(state: &mut LinearizeState, block: Block, e: Edge, vars: &[Var]) {
    for (k, &var) in vars.iter().enumerate() {
        let ty = state.func.vars[var].ty;
        let value = state.func.append_value(block, Op::ReadVar(var), &[], ty);
        state.func.set_phi_arg(e, k, value);
    }
}

/// An exit block with the edges that lead to it, and the trackers of its φs.
struct Exit {
    to: Block,
    edges: Vec<Edge>,
    trackers: Vec<Var>,
}

/// From how many exit blocks on a lane's exit is a number.
const MANY: usize = 16;

/// How a lane notes which exit it took.
enum Took {
    /// By a mask for each exit; none if there is one exit.
    Masks(Vec<Var>),
    /// By the number of the exit.
    Number(Var),
}

impl Took {
    /// Makes the variables for so many exits of a loop.
    fn new(state: &mut LinearizeState, preheader: Block, exits: usize) -> Took {
        if exits > MANY {
            let number = state.func.add_var(Type::Int(32), "exit");
            state.end[preheader].push((number, Init::Poison));
            return Took::Number(number);
        }
        let masks = if exits > 1 { exits } else { 0 };
        let masks: Vec<Var> = (0..masks).map(|_| state.func.add_var(Type::BOOL, "exit")).collect();
        state.end[preheader].extend(masks.iter().map(|&mask| (mask, Init::False)));
        Took::Masks(masks)
    }

    /// Notes on an edge that its lanes take exit `k`.
    fn note(&self, state: &mut LinearizeState, e: Edge, k: usize) {
        match self {
            Took::Masks(masks) => state.actions[e].extend(masks.get(k).map(|&mask| Action::Join(mask))),
            &Took::Number(var) => {
                let value = state.func.constant_value(Constant::int(32, k as u128));
                state.actions[e].push(Action::Assign { var, value, regular: false, keep: true });
            }
        }
    }

    /// Appends the question whether a lane took exit `k`.
    fn ask(&self, state: &mut LinearizeState, block: Block, k: usize) -> Value {
        match self {
            Took::Masks(masks) => state.func.append_value(block, Op::ReadVar(masks[k]), &[], Type::BOOL),
            &Took::Number(var) => {
                let number = state.func.append_value(block, Op::ReadVar(var), &[], Type::Int(32));
                let own = state.func.constant_value(Constant::int(32, k as u128));
                state.func.append_value(block, Op::ICmp(IntPred::Eq), &[number, own], Type::BOOL)
            }
        }
    }
}

/// The trackers of the φs of one exit block after the other.
struct Trackers {
    preheader: Block,
    /// The variables that all exits share, if they do.
    shared: Option<Vec<Var>>,
}

impl Trackers {
    fn of(&mut self, state: &mut LinearizeState, phis: &[Value]) -> Vec<Var> {
        let mut taken: Vec<Var> = Vec::new();
        for &phi in phis {
            let ty = state.func.ty(phi);
            // What one lane decides for all must not meet another exit's values.
            let share = self.shared.as_ref().filter(|_| !state.is_regular(phi));
            let free = |x: &&Var| state.func.vars[**x].ty == ty && !taken.contains(x);
            let tracker = match share.and_then(|shared| shared.iter().find(free)) {
                Some(&tracker) => tracker,
                None => {
                    let tracker = state.func.add_var(ty, "out");
                    state.end[self.preheader].push((tracker, Init::Poison));
                    if let Some(shared) = self.shared.as_mut().filter(|_| !state.is_regular(phi)) {
                        shared.push(tracker);
                    }
                    tracker
                }
            };
            taken.push(tracker);
        }
        taken
    }
}

/// Rebinds the exit edges to the latch and builds the dispatch; returns its first block.
fn rebind_exits(state: &mut LinearizeState, edges: &[Edge], l: LoopId, latch: Block) -> Block {
    let mut sorted: Vec<(Block, usize)> =
        edges.iter().enumerate().map(|(k, &e)| (state.func.edges[e].to, k)).collect();
    sorted.sort_unstable();
    // In the order of the first edge to each.
    let mut groups: Vec<&[(Block, usize)]> = sorted.chunk_by(|a, b| a.0 == b.0).collect();
    groups.sort_unstable_by_key(|g| g[0].1);
    let mut exits: Vec<Exit> = Vec::new();
    for group in groups {
        let edges = group.iter().map(|&(_, k)| edges[k]).collect();
        exits.push(Exit { to: group[0].0, edges, trackers: Vec::new() });
    }
    let preheader = state.loops[l].preheader;
    let took = Took::new(state, preheader, exits.len());
    let mut trackers = Trackers { preheader, shared: (exits.len() > MANY).then(Vec::new) };
    for (k, x) in exits.iter_mut().enumerate() {
        let phis = phi_values(state, x.to);
        x.trackers = trackers.of(state, &phis);
        for &e in &x.edges {
            assign_phis(state, e, &phis, &x.trackers, true);
            took.note(state, e, k);
            state.func.redirect_edge(e, latch);
        }
    }
    state.loops[l].exits.clear();
    dispatch(state, l, &exits, &took)
}

/// Blocks behind the loop that send each lane to the exit it took.
fn dispatch(state: &mut LinearizeState, l: LoopId, exits: &[Exit], took: &Took) -> Block {
    let outside = state.loops[l].parent;
    let preheader = state.loops[l].preheader;
    let first = state.add_block("dispatch", outside);
    state.resumes[first] = preheader.into();
    state.loops[l].dispatch = first.into();
    let mut block = first;
    for (k, x) in exits.iter().enumerate() {
        let term = if k + 1 == exits.len() {
            state.func.set_terminator(block, Op::Br, &[], &[x.to])
        } else {
            let rest = state.add_block("dispatch", outside);
            let took = took.ask(state, block, k);
            state.branch[block] = Branch::Divergent;
            state.func.set_terminator(block, Op::CondBr, &[took], &[x.to, rest])
        };
        let e = state.func.insts[term].edges[0];
        read_into_phis(state, block, e, &x.trackers);
        state.loops[l].exits.push(e);
        block = state.func.out_edges(block).last().map_or(block, |&e| state.func.edges[e].to);
    }
    first
}
