//! The plan of recipes: what becomes of every instruction of a lane program, decided before anything is emitted.
//!
//! The planner looks at each instruction once, in the order in which lowering will, and writes down its [`Recipe`]:
//! once for all lanes, one vector instruction, a contiguous access, a gather, one call after the other, and so on.
//! [`lower`](crate::lower) executes recipes and decides nothing; the estimate of costs ([`crate::width`]) sums them,
//! for every width, with nothing emitted; reports count them. In debug builds the code that was emitted is counted and
//! compared with what the recipes promise (`emission`).
//!
//! * `reps`: how each value is represented: uniform, strided, varying;
//! * `memory`: loads, stores, private memory; `groups`: accesses that are made together, `interleaved`: the shuffles
//!   of those that are made as blocks, `group_copies`: those that nothing is computed with, `group_words`: those that
//!   are taken apart by shifts, `alike`: those whose elements stay in the order of memory;
//!   `addresses`: what gathers and scatters add to a scalar address; `lane_private`: loads from memory that is laid out
//!   for all lanes;
//!   `dereferenceable`: loads that need no mask; `exclusive`: loads and stores that need none by the user's promise;
//! * `known_offsets`: values of which the low bits of the lane say how far apart they are; `windows`: loads from such
//!   addresses;
//! * `overlapping`: words that begin less than a word apart;
//! * `tables`: loads from small tables of bytes, by shuffles;
//! * `calls`: calls, `simd`: vector variants that the user supplies; `stack`: which memory on the stack is given back;
//! * `operations`: arithmetic and all other elementwise instructions;
//! * `high_products`: upper halves of products of shorts;
//! * `sums`: sums of bytes and of products of shorts over all iterations of a loop;
//! * `unpacked`: bytes that become shorts and bytes again; `weighted`: sums of bytes by weights;
//! * `any`: masks of which one lane's comparison tells whether they have any lane.

mod addresses;
mod alike;
mod any;
mod calls;
mod counts;
mod dereferenceable;
mod emission;
mod exclusive;
mod group_copies;
mod group_words;
mod groups;
mod high_products;
mod interleaved;
pub(crate) mod known_offsets;
mod lane_private;
mod memory;
mod operations;
mod overlapping;
mod packed;
mod register_copies;
mod reps;
mod simd;
mod stack;
pub(crate) mod sums;
mod tables;
mod unpacked;
mod weighted;
mod windows;

use std::collections::HashMap;
use std::rc::Rc;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};

use warpline_analysis::DfsOrder;
use warpline_ir::{Atomic, Block, Effects, FuncId, Function, Inst, LaneOp, Module, Op, Symbol, Type, Value};
use warpline_uniformity::shape::Shape;

use crate::VectorizeError;
use crate::call_graph::bodies;
use crate::callees::{CalleeVariant, Wanted};
use crate::dereferenceable_loads::SafeLoads;
use crate::elementary::Elementary;
use crate::exact::Exact;
use crate::known_calls::{Fold, Form};
use crate::linearize_state::Always;
use crate::objects::SafeLoad;
use crate::options::Options;
use crate::subword_loads::Words;
use crate::vector_abi::Variant;

use groups::{Candidates, Groups};
use high_products::HighProducts;
use known_offsets::KnownOffsets;
use stack::StackUse;
use sums::Sums;
use unpacked::Unpacked;

pub(crate) use addresses::Split;
pub(crate) use alike::Pattern;
pub(crate) use any::OfOneLane;
pub(crate) use dereferenceable::Between;
pub(crate) use group_copies::{GroupCopy, Order, are_loaded_whole};
pub(crate) use groups::{Blocks, Group, GroupId, LoadedBlock, Member, ROOM, Row, Spread};
pub(crate) use high_products::HighProduct;
pub(crate) use interleaved::Network;
pub(crate) use lane_private::Own;
pub(crate) use memory::memory_element;
pub(crate) use operations::Division;
pub(crate) use overlapping::{Overlapping, StoredBytes};
pub(crate) use packed::Packed;
pub(crate) use reps::Rep;
pub(crate) use simd::{declaration, mask_element, mask_integer};
pub(crate) use sums::{Sum, Summand};
pub(crate) use tables::{BLOCK as TABLE_BLOCK, Table};
pub(crate) use weighted::Weighted;
pub(crate) use windows::{Ring, Window};

/// A lane program with what is known of its values.
pub(crate) struct Input<'a> {
    /// The lane program.
    pub func: &'a Function,
    /// Shapes of the values that the analysis has seen; the parameters are among them.
    pub shapes: &'a SecondaryMap<Value, Shape>,
    /// Values that the analysis has seen.
    pub known: &'a EntitySet<Value>,
    /// Instructions that may be executed once for all lanes although they could do harm without an active
    /// lane: their blocks are reached with an active lane only.
    pub guarded: &'a EntitySet<Inst>,
    /// Loads from uniform addresses that need no active lane.
    pub safe_loads: &'a SafeLoads,
    /// Blocks that every lane comes to, whatever happens.
    pub always: &'a Always,
    /// Functions that [execute lane operations](super::call_graph::functions_with_cross_lane_operations).
    pub lane_callees: &'a EntitySet<Symbol>,
    /// Narrow loads that may be parts of loads of [words](super::subword_loads).
    pub words: &'a Words,
    /// Accesses that checks before the loop keep apart in all lanes of a group.
    pub apart: &'a [(Inst, Inst)],
}

/// What becomes of an instruction.
#[derive(Clone, Debug, Default)]
pub(crate) enum Recipe {
    /// Nothing is emitted: the instruction only informs the optimizer, or gives back memory that lives on.
    #[default]
    Nothing,
    /// Once, on scalars: for a uniform value, or lane 0's of a strided one.
    Once,
    /// A call that saves or restores the stack, once for all lanes.
    Stack,
    /// A load from a uniform address that needs no active lane, from a place that is known to be there.
    Speculated(SafeLoad),
    /// A call that is made once if any lane is active: a fill or copy of what is the same for all lanes.
    OnceIfAny,
    /// A call that is made by the first active lane alone.
    FirstLane,
    /// One vector instruction.
    Widen,
    /// One vector instruction for a uniform value, of which lane 0's is taken: a division that no lane may be active
    /// for.
    WidenThenFirst,
    /// An integer division by floating-point arithmetic.
    Divide(Division),
    /// The other result of a division that was made before by this instruction.
    Divided(Inst),
    /// A conversion of integers of 64 bits to floating point, by parts.
    LongConversion,
    /// Integers made narrower by instructions that take any parts of two registers.
    Truncate,
    /// Private memory: one object for all lanes, or as many as there are lanes.
    Private,
    /// A load or store of neighbouring elements.
    Contiguous(Contiguous),
    /// The accesses of a group with a fixed step between lanes, made here: a wide access and shuffles.
    Group(GroupId),
    /// The loads of a group whose lanes are anywhere, made here: a row of neighbours for each lane, and a transpose.
    /// The first address is taken apart, or stays a vector.
    Rows(GroupId, Option<Split>),
    /// An access that is made with its group, elsewhere.
    Elsewhere,
    /// A load or store of elements of which neighbouring lanes' overlap, by wide accesses and shuffles.
    Overlapping(Overlapping),
    /// A load from anywhere.
    Gather(Box<Gather>),
    /// A load from offsets that are known, in one stretch of memory.
    Window(Box<Window>),
    /// A load or store of neighbours in a ring.
    Ring(Box<Ring>),
    /// Nothing is emitted: each lane's value is known.
    Known(Box<[u64]>),
    /// A load of a byte from a small table, by shuffles for so many lanes at once.
    Table(Table, u32),
    /// A store to anywhere, in lane order.
    Scatter(Box<Scatter>),
    /// Once a lane, in lane order; behind a branch on the lane's bit of the mask, or for all lanes.
    Scalarize {
        /// Whether there are branches.
        branch: bool,
    },
    /// A call of the W-lane variant of a function.
    Variant(CalleeVariant),
    /// A call through a pointer: compared with functions, whose variants are called.
    Targets(Vec<CalleeVariant>),
    /// What a loop adds up, by instructions that add neighbouring lanes together.
    Sum(Sum),
    /// Bytes made shorts, by registers of so many bytes, in the order in which these unpack.
    UnpackBytes(u32),
    /// A sum of bytes by weights, in the order in which registers unpack twice.
    Weighted(Box<Weighted>),
    /// Bytes made of integers in these orders, of so many bits.
    Pack8 {
        /// The integers.
        of: Value,
        /// How many bits they have.
        from: u32,
        /// Whether the nearest bytes are made, of signed numbers, not the low bits.
        saturates: bool,
        /// The bytes of a register.
        register: u32,
    },
    /// The upper half of a product of shorts, by the instruction that there is for it.
    HighProduct(HighProduct),
    /// Calls of a vector variant that the user supplies.
    Simd(Variant),
    /// The vector form of an intrinsic of this base name.
    Intrinsic(Box<str>, Form),
    /// A reduction of a lane's vector.
    Fold(Fold),
    /// A mathematics function with one right result, expanded inline.
    Exact(Exact),
    /// A mathematics function of limited accuracy, expanded inline.
    Inline(Elementary),
    /// Calls of a vector mathematics library.
    Library {
        /// Its function.
        symbol: Box<str>,
        /// How many lanes that takes.
        lanes: u32,
    },
    /// An operation on masks or across lanes.
    CrossLane,
    /// A packed store.
    Pack(Packed),
    /// Whether a mask has any lane, which the comparisons of some lanes tell.
    AnyOfOne(Vec<OfOneLane>),
}

/// How neighbouring elements are accessed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Contiguous {
    /// All of them, for all lanes are active.
    Whole,
    /// All of them from a place that is known to be there whatever lanes are active.
    Speculated(SafeLoad),
    /// Under the mask, by an instruction, or by what LLVM makes of it.
    Masked,
    /// A store to each lane's own memory, which the other lanes get back as it is: a load, a blend, a store.
    Blended,
    /// One element after the other, inactive lanes' at a place that nobody looks at.
    ByLane,
    /// Those of active lanes: all at once if all are active, or if a load may read whatever else is there; else one
    /// after the other.
    Active,
}

/// How elements are loaded from anywhere.
#[derive(Clone, Debug)]
pub(crate) struct Gather {
    /// Where they are.
    pub place: Place,
    /// If words are loaded that elements are parts of: so many bytes before the elements.
    pub word: Option<u64>,
    /// By what instructions.
    pub how: How,
}

/// Where the elements are that lanes access anywhere.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// In private memory that is laid out for all lanes, so that no mask is needed.
    Own(Own),
    /// At a scalar address and a vector of indices.
    Indexed(Split),
    /// At a vector of addresses.
    Pointers,
}

/// By what instructions elements anywhere are accessed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum How {
    /// All elements that a lane may ask for are accessed, and each lane picks its own.
    Pick,
    /// All but one lane's in a wide access without a mask, since they are there; that lane's alone.
    Between(Between),
    /// AVX2's gathers, of so many lanes each.
    Avx2(u32),
    /// LLVM's masked gathers or scatters.
    Native,
    /// A scalar access for each lane, so many bytes behind the lane's before.
    Stepped(i64),
    /// One element after the other, inactive lanes' at a place that nobody looks at.
    ByLane,
}

/// How elements are stored anywhere.
#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    /// Where they go.
    pub place: Place,
    /// By what instructions.
    pub how: How,
}

/// What plans of one lane program have in common, for whatever number of lanes.
pub(crate) struct Prepared {
    reps: Rc<SecondaryMap<Value, Rep>>,
    candidates: Candidates,
    exclusive: EntitySet<Inst>,
    tables: SecondaryMap<Inst, Option<Table>>,
    stack: StackUse,
    bodies: Rc<HashMap<Symbol, FuncId>>,
    /// Blocks in the order of lowering: it is the order in which variants of callees are asked for.
    order: Vec<Block>,
}

impl Prepared {
    /// Looks at a lane program. Of the options only the region counts.
    pub(crate) fn of(module: &Module, input: &Input<'_>, options: &Options<'_>) -> Prepared {
        let (func, reps) = (input.func, reps::assign(input));
        let (graph, _) = func.graph();
        Prepared {
            candidates: Candidates::find(module, input, &reps, options.region),
            exclusive: exclusive::find(module, func, &reps, options.region),
            tables: tables::find(module, func, &reps),
            stack: StackUse::compute(module, func),
            bodies: Rc::new(bodies(module)),
            order: DfsOrder::compute(&graph).reverse_post_order().map(Block::from).collect(),
            reps: Rc::new(reps),
        }
    }
}

/// What becomes of a lane program on so many lanes.
pub(crate) struct Plan {
    /// How many lanes.
    pub width: u32,
    /// How values are represented.
    pub reps: Rc<SecondaryMap<Value, Rep>>,
    /// What becomes of each instruction but φs and terminators.
    recipes: SecondaryMap<Inst, Recipe>,
    groups: Groups,
    /// Whether multiplication and addition fuse in an instruction.
    pub fused: bool,
    /// The variants of functions that are called.
    pub callees: Vec<CalleeVariant>,
}

impl Plan {
    /// Plans a lane program for the options' number of lanes.
    ///
    /// # Errors
    /// If an instruction has no recipe.
    pub(crate) fn make(
        module: &Module,
        input: &Input<'_>,
        prepared: &Prepared,
        options: &Options<'_>,
    ) -> Result<Plan, VectorizeError> {
        let (func, width, reps) = (input.func, options.width, &*prepared.reps);
        let is_uniform = |v: Value| reps[v] == Rep::Uniform;
        let offsets = KnownOffsets::compute(module, func, width, options.origins, is_uniform);
        let mut groups = prepared.candidates.worthwhile(func, &offsets, width, &options.machine);
        groups.find_alike(module, func, reps, &options.machine);
        groups.find_copies(func, reps, &options.machine);
        let sums = Sums::find(module, input, options, |v| reps[v]);
        let high_products = HighProducts::find(input, options, |v| reps[v]);
        groups.find_words(func, reps, &options.machine, |i| sums.recipe(i).is_some());
        let others = (&groups, &sums, &high_products);
        let unpacked = Unpacked::find(module, input, options, reps, others);
        let planner = Planner {
            module,
            func,
            input,
            options,
            width,
            reps,
            groups,
            covered: dereferenceable::Covered::compute(module, func, reps, width),
            exclusive: &prepared.exclusive,
            tables: &prepared.tables,
            stack: &prepared.stack,
            sums,
            high_products,
            offsets,
            unpacked,
            wanted: Wanted::new(prepared.bodies.clone(), options),
            divisions: HashMap::new(),
        };
        planner.plan(prepared)
    }

    /// The recipe of an instruction.
    pub(crate) fn recipe(&self, i: Inst) -> &Recipe {
        &self.recipes[i]
    }

    /// A group of accesses.
    pub(crate) fn group(&self, id: GroupId) -> &Group {
        self.groups.get(id)
    }

    /// An operand of an instruction, if it differs between members that are computed alike.
    pub(crate) fn pattern(&self, i: Inst, operand: usize) -> Option<&Pattern> {
        self.groups.pattern(i, operand)
    }
}

/// The state of planning one function.
struct Planner<'a> {
    module: &'a Module,
    func: &'a Function,
    input: &'a Input<'a>,
    options: &'a Options<'a>,
    width: u32,
    reps: &'a SecondaryMap<Value, Rep>,
    groups: Groups,
    covered: dereferenceable::Covered,
    exclusive: &'a EntitySet<Inst>,
    tables: &'a SecondaryMap<Inst, Option<Table>>,
    stack: &'a StackUse,
    sums: Sums,
    high_products: HighProducts,
    offsets: KnownOffsets,
    unpacked: Unpacked,
    wanted: Wanted<'a>,
    /// The divisions that have been planned: of a block, two values, and a signedness.
    divisions: HashMap<(Block, Value, Value, bool), Inst>,
}

impl Planner<'_> {
    fn plan(mut self, prepared: &Prepared) -> Result<Plan, VectorizeError> {
        let mut recipes = SecondaryMap::new();
        for &b in &prepared.order {
            for &i in &self.func.blocks[b].insts {
                recipes[i] = self.recipe(i)?;
            }
        }
        Ok(Plan {
            width: self.width,
            recipes,
            groups: self.groups,
            fused: self.options.math.fused(),
            callees: self.wanted.into_variants(),
            reps: prepared.reps.clone(),
        })
    }

    fn recipe(&mut self, i: Inst) -> Result<Recipe, VectorizeError> {
        if let Some(recipe) = self.sums.recipe(i).or_else(|| self.high_products.recipe(i)) {
            return Ok(recipe);
        }
        if let Some(recipe) = self.unpacked.recipe(i) {
            return Ok(recipe);
        }
        match &self.func.insts[i].op {
            Op::Load(m) => Ok(self.load(i, *m)),
            Op::Store(m) => Ok(self.store(i, *m)),
            Op::Alloca { .. } => self.private(i),
            Op::Call(_) => self.call(i),
            Op::Lane(LaneOp::MaskAny | LaneOp::BlendAny) => Ok(self.mask_any(i)),
            Op::Lane(LaneOp::Any) if !self.is_masked(i) => Ok(self.mask_any(i)),
            Op::Lane(LaneOp::Compact) => Ok(Recipe::Pack(self.packed(i))),
            Op::Lane(_) => Ok(Recipe::CrossLane),
            // One fence is as good as one for each lane. Without an active lane it orders more than it must.
            Op::Opaque(info) if matches!(info.atomic, Some(Atomic::Fence(_))) => Ok(Recipe::Once),
            Op::Opaque(_) => self.opaque(i),
            Op::ReadVar(_) | Op::WriteVar(_) | Op::ParallelCopy | Op::Sigma => {
                Err(self.error(i, "a variable is left after SSA construction").internal())
            }
            _ => self.operation(i),
        }
    }

    fn error(&self, inst: Inst, reason: impl Into<String>) -> VectorizeError {
        VectorizeError::at_inst(self.func, inst, reason)
    }

    fn rep(&self, v: Value) -> Rep {
        self.reps[v]
    }

    fn is_uniform(&self, v: Value) -> bool {
        self.reps[v] == Rep::Uniform
    }

    /// The mask of an instruction's block.
    fn block_mask(&self, i: Inst) -> PackedOption<Value> {
        self.func.blocks[self.func.insts[i].block].mask
    }

    /// Whether an instruction is in a block with a mask that is not known to be full.
    fn is_masked(&self, i: Inst) -> bool {
        self.block_mask(i).expand().is_some_and(|m| self.func.as_int(m) != Some(1))
    }

    /// Whether an access under a mask may be made for all lanes, by the user's promise. In a masked function that is
    /// not so, since some lanes are none of the loop's.
    fn is_exclusive(&self, i: Inst) -> bool {
        self.exclusive.contains(i) && !self.options.masked && self.is_masked(i)
    }

    /// Once a lane; under the mask, if without an active lane it could do harm.
    fn scalarize(&self, i: Inst) -> Recipe {
        let branch = !self.func.insts[i].effects().speculatable() && self.is_masked(i);
        Recipe::Scalarize { branch }
    }

    /// The types of some values.
    fn types_of(&self, values: &[Value]) -> Vec<Type> {
        values.iter().map(|&v| self.func.ty(v)).collect()
    }

    /// The type of an instruction's result.
    fn result_type(&self, i: Inst) -> Type {
        self.func.insts[i].result().map_or(Type::Void, |v| self.func.ty(v))
    }

    /// Whether effects may happen although no lane is active.
    fn is_harmless(&self, i: Inst, effects: Effects) -> bool {
        effects.speculatable() || self.input.guarded.contains(i) || self.block_mask(i).is_none()
    }
}
