//! W-lane variants of functions that kernels call.
//!
//! A call of a function that the module defines becomes a call of its W-lane variant for the shapes of the arguments,
//! under the mask of the call. The variants are made after the caller, once for each list of shapes, masked or not; a
//! variant that calls itself, or one that is being made, finds its name in the module. They run in lockstep, as if the
//! body stood in the call's place: lane operations in them see the lanes that are active at the call, and a masked
//! variant returns at once if there are none, so recursion ends where the scalar program's does.
//!
//! A function that cannot be vectorized gets a variant too: one that calls it for one active lane after the other.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use cranelift_entity::{EntityRef as _, EntitySet};

use warpline_ir::{CallInfo, FuncId, Function, Module, Symbol, Type};
use warpline_uniformity::shape::ArgShape;

use super::call_graph::asking_among;
use super::choices::{Boscc, Coherence, Linearize};
use super::dependences::is_serial;
use super::embedder::Callees;
use super::options::Options;
use super::vector_abi::Variant;

/// So many variants of one function may tell the steps of their arguments; in further ones strided arguments are
/// varying. A function that calls itself with ever greater steps would have infinitely many.
const MAX_STRIDED_FORMS: usize = 8;

/// With so many functions a pointer is compared at a call; if it may point to more, the calls are made once for each
/// lane.
const MAX_TARGETS: usize = 8;

/// The functions that were there before any variant was made. A pointer leads to none of the variants, though some have
/// the types of a function that it may lead to; variants of variants would have no end.
pub(super) struct Originals<'a> {
    /// What is known of the functions.
    pub(super) of: &'a dyn Callees,
    /// How many there are.
    pub(super) count: usize,
}

impl Callees for Originals<'_> {
    fn may_be_vectorized(&self, module: &Module, function: FuncId) -> bool {
        function.index() < self.count && self.of.may_be_vectorized(module, function)
    }

    fn has_address_taken(&self, module: &Module, function: FuncId) -> bool {
        function.index() < self.count && self.of.has_address_taken(module, function)
    }

    fn variants(&self, function: &str) -> &[Variant] {
        self.of.variants(function)
    }
}

/// A W-lane variant that a call asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CalleeVariant {
    /// The scalar function.
    pub callee: FuncId,
    /// The shapes of the arguments.
    pub args: Vec<ArgShape>,
    /// Whether it takes a mask.
    pub masked: bool,
    /// The variant's name.
    pub name: String,
}

/// Whether this is the name of a variant of a function for calls by lanes.
pub fn is_variant(name: &str, function: &str) -> bool {
    name.strip_prefix(function).is_some_and(|rest| rest.starts_with(".x"))
}

impl CalleeVariant {
    /// The variant of a function for arguments of these shapes. The name tells everything on which the variant depends.
    pub(crate) fn new(
        callee: FuncId,
        function: &str,
        args: Vec<ArgShape>,
        masked: bool,
        options: &Options<'_>,
    ) -> CalleeVariant {
        let mut name = format!("{function}.x{}", options.width);
        for shape in &args {
            match shape {
                ArgShape::Uniform => name.push('u'),
                ArgShape::Varying => name.push('v'),
                ArgShape::Index => name.push('i'),
                ArgShape::Consecutive => name.push('c'),
                ArgShape::Stride(step) if *step < 0 => name.push_str(&format!("sn{}", step.unsigned_abs())),
                ArgShape::Stride(step) => name.push_str(&format!("s{step}")),
            }
        }
        name.push_str(if masked { ".m" } else { "." });
        name.push(match options.linearize {
            Linearize::Partial => 'p',
            Linearize::Full => 'f',
        });
        name.push(match options.boscc {
            Boscc::Off => '0',
            Boscc::On => '1',
            Boscc::Auto => 'a',
        });
        name.push_str(match options.coherence {
            Coherence::Off => "",
            Coherence::On => "t1",
            Coherence::Auto => "ta",
        });
        if options.count_lanes.is_some() {
            name.push('c');
        }
        CalleeVariant { callee, args, masked, name }
    }
}

/// Whether a function takes arguments of these types and returns `ret`.
fn fits(func: &Function, args: &[Type], ret: Type) -> bool {
    let types = func.params.iter().map(|&p| func.ty(p));
    !func.variadic && func.ret == ret && types.eq(args.iter().copied())
}

/// The variants that calls in one function ask for.
pub(super) struct Wanted<'a> {
    bodies: Rc<HashMap<Symbol, FuncId>>,
    /// Those among them that ask about lanes, once somebody wants to know.
    asking: OnceCell<EntitySet<Symbol>>,
    options: &'a Options<'a>,
    variants: Vec<CalleeVariant>,
}

impl<'a> Wanted<'a> {
    /// None yet, of a module in which these functions have bodies.
    pub(super) fn new(bodies: Rc<HashMap<Symbol, FuncId>>, options: &'a Options<'a>) -> Wanted<'a> {
        Wanted { bodies, asking: OnceCell::new(), options, variants: Vec::new() }
    }

    /// The function that a call runs, if a variant of it can take its place: one of these types, with a body.
    pub(super) fn callee(
        &self,
        module: &Module,
        call: &CallInfo,
        args: &[Type],
        ret: Type,
    ) -> Option<FuncId> {
        let &id = self.bodies.get(&call.callee?)?;
        let may_be = fits(&module.functions[id], args, ret)
            && self.options.callees.may_be_vectorized(module, id)
            && !is_serial(module, &self.options.of_memory(), call.callee?, call.effects);
        may_be.then_some(id)
    }

    pub(super) fn callees(&self) -> &'a dyn Callees {
        self.options.callees
    }

    /// The functions that a call through a pointer may run, as far as variants of them can take their place; none if
    /// there are too many to compare with.
    pub(super) fn targets(&self, module: &Module, args: &[Type], ret: Type) -> Vec<FuncId> {
        let may_be = |&(id, f): &(FuncId, &Function)| {
            let callees = self.options.callees;
            fits(f, args, ret)
                && callees.has_address_taken(module, id)
                && callees.may_be_vectorized(module, id)
        };
        let mut targets: Vec<FuncId> = module.functions.iter().filter(may_be).map(|(id, _)| id).collect();
        if targets.len() > MAX_TARGETS {
            targets.clear();
        }
        targets
    }

    /// A function that a call through a pointer may run, is none of its `targets`, and uses cross-lane operations:
    /// calls for one lane after the other would not do.
    pub(super) fn asking_target<'m>(
        &self,
        module: &'m Module,
        args: &[Type],
        ret: Type,
        targets: &[FuncId],
    ) -> Option<&'m str> {
        let asking = self
            .asking
            .get_or_init(|| asking_among(module, &self.bodies, self.bodies.keys().copied().collect()));
        let asks = |&(id, f): &(FuncId, &Function)| {
            fits(f, args, ret)
                && !targets.contains(&id)
                && self.options.callees.has_address_taken(module, id)
                && module.symbol(&f.name).is_some_and(|s| asking.contains(s))
        };
        module.functions.iter().find(asks).map(|(_, f)| &*f.name)
    }

    /// Asks for a variant, and says what it is.
    pub(super) fn variant(
        &mut self,
        module: &Module,
        callee: FuncId,
        mut args: Vec<ArgShape>,
        masked: bool,
    ) -> CalleeVariant {
        let function = &module.functions[callee].name;
        let variant = CalleeVariant::new(callee, function, args.clone(), masked, self.options);
        let strided = args.iter().any(|a| matches!(a, ArgShape::Stride(_)));
        let variant = if strided
            && !self.exists(module, &variant)
            && self.strided_forms(module, function) >= MAX_STRIDED_FORMS
        {
            for a in &mut args {
                if let ArgShape::Stride(_) = a {
                    *a = ArgShape::Varying;
                }
            }
            CalleeVariant::new(callee, function, args, masked, self.options)
        } else {
            variant
        };
        if !self.variants.contains(&variant) {
            self.variants.push(variant.clone());
        }
        variant
    }

    fn exists(&self, module: &Module, variant: &CalleeVariant) -> bool {
        module.symbol(&variant.name).is_some() || self.variants.contains(variant)
    }

    /// How many variants of a function there are or are asked for.
    fn strided_forms(&self, module: &Module, function: &str) -> usize {
        let start = format!("{function}.x{}", self.options.width);
        let made = module.functions.values().filter(|f| f.name.starts_with(&start)).count();
        made + self.variants.iter().filter(|f| f.name.starts_with(&start)).count()
    }

    pub(super) fn into_variants(self) -> Vec<CalleeVariant> {
        self.variants
    }
}
