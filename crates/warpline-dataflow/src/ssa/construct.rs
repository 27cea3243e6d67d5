//! SSA construction: variables become values and φ-functions.
//!
//! φs stand where different writes of a variable meet (paper 5, Section 2): the join set of the blocks that write it,
//! found by [`warpline_analysis::phi_placement`]. What else counts as a write is [`Entry`]. Renaming is one
//! depth-first walk over the control-flow graph for all variables, without recursion: where a variable has no φ it
//! holds the same on all ways that lead there, so any of them will do, and no dominator tree is needed besides what
//! placement needs.
//!
//! # Strict and other forms
//!
//! In a *strict* form every definition dominates its uses. Where a variable may be read unwritten, the φ has an
//! operand that says so: poison, or undef if that is what the variable holds until it is written ([`Unwritten`]; read
//! "poison" so in all that follows). A read that no write reaches is poison. Placement by dominance frontiers makes
//! only strict forms, as every variable counts as written on entry. So does [`ConstructOptions::strict`], which adds
//! to the joins of the writes those φs that join a write with "unwritten" and that some read or other φ needs:
//! exactly the φs of pruned placement with these needs. Pruned and strict placement are therefore the same for every
//! method and both entries.
//!
//! Otherwise there are φs at the joins of writes alone, which is what paper 5 counts. A use is given the one
//! definition that reaches it, whether that dominates the use or not: where placement by dominance frontiers has a φ
//! for a definition and "unwritten", the variable simply holds that definition. Such definitions and uses stay as
//! copies. A write cannot give way to the value that it writes there, since that may be computed again on a way to
//! the use that does not pass the write, nor can a read to the definition, which may be passed again before the
//! result of the read is used. (In strict forms dominance excludes both.) Control can arrive at such a use without
//! having passed the definition; the value means poison there. Such a function passes
//! [`verify_non_strict`](warpline_ir::verify::verify_non_strict). It is a form for analyses, and for programs that
//! are known to write before they read: where undef is read, poison would be more undefined than the program was. Its
//! copies must not be dissolved.
//!
//! [`Unwritten`]: warpline_ir::Unwritten

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use warpline_analysis::DfsOrder;
use warpline_analysis::phi_placement::Pruning;

use super::access_list::{AccessList, Slots};
use super::place::place;
use super::rename::{Held, Renaming};
use warpline_ir::{Function, Value, Var};

/// How to find the φs.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Placement {
    /// The joins of definitions, at the price of dominance frontiers.
    #[default]
    Precise,
    /// The same by paper 5's reaching definitions: the reference.
    ReachingDefinitions,
    /// Iterated dominance frontiers (Cytron et al. 1991): all variables count as written on entry.
    DominanceFrontier,
}

/// Which variables count as written when control enters.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Entry {
    /// All, as for dominance frontiers.
    All,
    /// Those that hold a value then: parameters and globals, in a front end's terms. The variables of this IR hold
    /// nothing, and a parameter that lives in a variable is written in the entry block, as compilers do it. So: none.
    #[default]
    Parameters,
}

/// What form to construct.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConstructOptions {
    /// How to find the φs.
    pub placement: Placement,
    /// Which variables count as written on entry.
    pub entry: Entry,
    /// Which of the φs are wanted.
    pub pruning: Pruning,
    /// Whether every definition must dominate its uses.
    pub strict: bool,
}

impl Default for ConstructOptions {
    /// Strict and pruned: a form without superfluous φs that every pass can work on.
    fn default() -> Self {
        ConstructOptions {
            placement: Placement::Precise,
            entry: Entry::Parameters,
            pruning: Pruning::Pruned,
            strict: true,
        }
    }
}

impl ConstructOptions {
    /// Whether every variable counts as written on entry.
    pub(super) fn writes_all_on_entry(&self) -> bool {
        self.entry == Entry::All || self.placement == Placement::DominanceFrontier
    }
}

/// What a construction did.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct SsaStats {
    /// Variables that were replaced.
    pub variables: usize,
    /// φ-functions that were placed.
    pub phis: usize,
    /// Reads that were replaced.
    pub reads: usize,
    /// Writes that were removed.
    pub writes: usize,
}

/// The outcome of a construction.
#[derive(Clone, Debug)]
pub struct Construction {
    /// Counts.
    pub stats: SsaStats,
    pub(super) placed: Vec<(Value, Var)>,
    pub(super) replaced: SecondaryMap<Value, PackedOption<Value>>,
}

impl Construction {
    /// The results of the φs that were placed, each with its variable, in the order of the program.
    pub fn placed(&self) -> &[(Value, Var)] {
        &self.placed
    }

    /// The value that now stands for the result of a read that was removed.
    pub fn value_of(&self, read: Value) -> Option<Value> {
        self.replaced[read].expand()
    }
}

/// Replaces the variables for which `which` holds; see [`construct_vars`].
pub fn construct(func: &mut Function, which: impl Fn(Var) -> bool) -> Construction {
    let vars: Vec<Var> = func.vars.keys().filter(|&v| which(v)).collect();
    construct_vars(func, &vars)
}

/// Replaces these variables by values, in strict and pruned form; see [`construct_with`].
pub fn construct_vars(func: &mut Function, vars: &[Var]) -> Construction {
    construct_with(func, vars, &ConstructOptions::default())
}

/// Replaces these variables (each at most once in the list) by values: their reads and writes disappear, φs are added
/// where definitions meet, behind the φs that are there. Operands everywhere (φ operands and block masks included) are
/// rewritten. In unreachable blocks every read is poison. The control-flow graph stays as it is.
///
/// The other values of the function must be in strict form if a strict form is asked for.
pub fn construct_with(func: &mut Function, vars: &[Var], options: &ConstructOptions) -> Construction {
    let (graph, edges) = func.graph();
    let dfs = DfsOrder::compute(&graph);
    let slots = Slots::new(vars);
    let accesses = AccessList::collect(func, |n| dfs.is_reachable(n), &slots);
    let placed = place(&graph, &dfs, &accesses, options);
    let mut held = Held::by_phis(func, &slots, &placed.phis);
    held.by_aliases(func, &accesses, &placed.aliases);
    let mut renaming = Renaming::new(func, &slots, held);
    renaming.run(func, &graph, &dfs, &edges);
    renaming.finish(func)
}
