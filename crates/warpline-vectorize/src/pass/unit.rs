//! What passes work on, and what they may ask.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use cranelift_entity::{EntitySet, SecondaryMap};

use crate::counts::Counts;
use crate::dereferenceable_loads::SafeLoads;
use crate::instrument::Instrument;
use crate::linearize::Linearization;
use crate::linearize_state::Always;
use crate::options::{Form, Options};
use crate::private_memory::Interleaved;
use crate::subword_loads::Words;
use crate::uniform_allocas;
use warpline_ir::{Function, Inst, Module, Symbol, Value};
use warpline_uniformity::shape::Shape;
use warpline_uniformity::{Uniformity, Workspace};

/// A function on its way from one lane to several.
pub(crate) struct Unit {
    pub(crate) func: Function,
    /// Once it is linearized, the same function under the other masks that are wanted.
    pub(crate) more: Vec<Function>,
    /// How many loops have their bodies twice.
    pub(crate) coherent: usize,
    /// How many guards have what they guard twice, for when all lanes pass.
    pub(crate) guards: usize,
    /// Private arrays that have been laid out for all lanes.
    pub(crate) laid_out: Vec<Interleaved>,
    /// What is known since the function was linearized.
    pub(crate) lanes: Option<LaneFacts>,
    /// The analysis of the function as it is, once somebody has asked.
    uniformity: RefCell<Option<Rc<Uniformity>>>,
    /// The private memory that the last analysis found to be shared by all lanes. Passes keep that so.
    shared: RefCell<Option<Vec<Value>>>,
}

/// What is known of a linearized function.
pub(crate) struct LaneFacts {
    /// The function that it was made from, in normal form, and its analysis. Shapes are frozen: what has been made
    /// since has none of its own.
    pub(crate) canonical: Function,
    pub(crate) uniformity: Rc<Uniformity>,
    pub(crate) shapes: SecondaryMap<Value, Shape>,
    pub(crate) known: EntitySet<Value>,
    pub(crate) words: Words,
    pub(crate) guarded: EntitySet<Inst>,
    pub(crate) safe_loads: SafeLoads,
    pub(crate) counts: Counts,
    pub(crate) always: Always,
    pub(crate) linearization: Linearization,
}

impl Unit {
    /// A function as it was given.
    pub(crate) fn new(func: Function) -> Unit {
        let uniformity = RefCell::new(None);
        Unit {
            func,
            more: Vec::new(),
            coherent: 0,
            guards: 0,
            laid_out: Vec::new(),
            lanes: None,
            uniformity,
            shared: RefCell::new(None),
        }
    }

    /// Forgets what was found out about the function as it was.
    pub(super) fn forget(&mut self) {
        self.uniformity.replace(None);
    }
}

/// What passes may ask.
pub(crate) struct Context<'a> {
    pub(crate) module: &'a Module,
    pub(crate) options: &'a Options<'a>,
    /// Whether the function is called by a kernel, not one itself.
    pub(crate) is_callee: bool,
    /// Whether the function gets a mask: for each of the forms that are wanted, at least one.
    pub(crate) forms: &'a [Form],
    /// The functions that ask about other lanes.
    pub(crate) lane_callees: Arc<EntitySet<Symbol>>,
    /// What analyses use while they run.
    pub(crate) workspace: RefCell<Workspace>,
}

impl<'a> Context<'a> {
    /// What passes may ask of a kernel that gets no mask.
    pub(crate) fn new(
        module: &'a Module,
        options: &'a Options<'a>,
        lane_callees: Arc<EntitySet<Symbol>>,
    ) -> Context<'a> {
        let workspace = RefCell::default();
        Context { module, options, is_callee: false, forms: &[Form::Whole], lane_callees, workspace }
    }

    /// Who is told of passes.
    pub(crate) fn instrument(&self) -> &dyn Instrument {
        self.options.instrument
    }

    /// What differs between lanes in the function as it is. It is computed again only if the function has changed
    /// since.
    pub(crate) fn uniformity(&self, unit: &Unit) -> Rc<Uniformity> {
        if let Some(known) = &*unit.uniformity.borrow() {
            return known.clone();
        }
        let shared = unit.shared.borrow().clone();
        let asked = uniform_allocas::Asked {
            module: self.module,
            func: &unit.func,
            args: &self.options.args,
            laid_out: &unit.laid_out,
            lane_callees: &self.lane_callees,
            among: shared.as_deref(),
        };
        let workspace = &mut *self.workspace.borrow_mut();
        let found = uniform_allocas::analyse(&asked, |options| {
            self.part("uniformity", || Uniformity::compute_in(self.module, &unit.func, options, workspace))
        });
        unit.shared.replace(Some(found.shared().to_vec()));
        let found = Rc::new(found);
        unit.uniformity.replace(Some(found.clone()));
        found
    }

    /// Does something that is told apart from the pass that it is part of.
    pub(crate) fn part<T>(&self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let result = work();
        self.instrument().part(name, begun.elapsed());
        result
    }
}
