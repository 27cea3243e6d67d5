//! How to go beyond one fact per scalar variable: packs of variables, predicated code, memory. There is nothing in
//! this module but examples: each is a matter of which variables and instructions the client's
//! [`Program`](super::Program) has, and splitting and solvers stay as they are (paper 4, Section 6).
//!
//! # Packs: relations between variables
//!
//! A relation between some variables is the fact of one more variable, their *pack*: an instruction that defines one
//! of them uses and defines the pack as well, and a test that tells something of the relation tests the pack. Here
//! the pack of `i` and `n` knows a bound of `i - n`, which is what a bounds check asks for:
//!
//! ```
//! use warpline_analysis::dataflow::*;
//! use warpline_analysis::ssi::{Strategy, ssify};
//! use warpline_analysis::{CsrGraph, EdgeId, Node};
//!
//! /// `i - n` is at most this; `None` if nothing is possible.
//! #[derive(Clone, PartialEq, Debug)]
//! struct AtMost(Option<i64>);
//!
//! impl Lattice for AtMost {
//!     fn top() -> Self {
//!         AtMost(None)
//!     }
//!     fn meet(&mut self, other: &Self) -> bool {
//!         let new = self.0.max(other.0);
//!         std::mem::replace(&mut self.0, new) != new
//!     }
//! }
//!
//! const UNKNOWN: AtMost = AtMost(Some(i64::MAX));
//! const START: Instruction = Instruction(0);
//! const STEP: Instruction = Instruction(2);
//!
//! struct Bounds;
//!
//! impl Forward for Bounds {
//!     type Fact = AtMost;
//!     fn on_entry(&self, _: Variable) -> AtMost {
//!         UNKNOWN
//!     }
//!     fn instruction(&self, at: Instruction, facts: &mut impl ForwardFacts<AtMost>) {
//!         match at {
//!             START => facts.define(0, UNKNOWN),
//!             STEP => {
//!                 let bound = facts.before(0).0.map(|b| b.saturating_add(1));
//!                 facts.define(0, AtMost(bound));
//!             }
//!             _ => {}
//!         }
//!     }
//!     fn edge(&self, edge: EdgeId, facts: &mut impl ForwardEdge<AtMost>) -> bool {
//!         if edge == EdgeId(1) {
//!             let bound = facts.before(0).0.map(|b| b.min(-1)); // i < n
//!             facts.refine(0, AtMost(bound));
//!         }
//!         true
//!     }
//! }
//!
//! // i = 0; while (i < n) { check i < n; i = i + 1; }
//! let edges = [(0, 1), (1, 2), (2, 1), (1, 3)].map(|(a, b)| (Node(a), Node(b)));
//! let mut program = ProgramBuilder::new(CsrGraph::new(4, Node(0), edges).unwrap(), 1);
//! let pack = Variable(0);
//! program.on_entry(pack);
//! program.begin(Node(0));
//! program.instruction([pack], [pack]); // i = 0
//! program.begin(Node(2));
//! let check = program.instruction([pack], []);
//! program.instruction([pack], [pack]); // i = i + 1
//! program.test(Node(1), pack, TestKind::Other);
//! let program = program.build().unwrap();
//!
//! let ssi = ssify(&program, &Strategy::E_SSA);
//! let solution = solve_forward(&program, &ssi, &Bounds);
//! let at_check = ssi.used(program.use_slots(check).start).unwrap();
//! assert_eq!(*solution.fact(at_check), AtMost(Some(-1)));
//! ```
//!
//! # Predicated code
//!
//! A ψ-function (de Ferrière, *Improvements to the ψ-SSA Representation*) merges guarded definitions:
//! `x = ψ(p ? a, q ? b)` is `b` if `q` holds, else `a`. It is an instruction that uses guards and values; its
//! transfer function goes through them in order: what a guard that certainly holds guards replaces what stood before,
//! what one that may hold guards is met with it.
//!
//! ```
//! use warpline_analysis::dataflow::*;
//! use warpline_analysis::ssi::Ssi;
//! use warpline_analysis::{CsrGraph, Node};
//!
//! /// Nothing, one number, any.
//! #[derive(Clone, Copy, PartialEq, Debug)]
//! enum Number {
//!     Nothing,
//!     One(u32),
//!     Any,
//! }
//!
//! impl Lattice for Number {
//!     fn top() -> Self {
//!         Number::Nothing
//!     }
//!     fn meet(&mut self, other: &Self) -> bool {
//!         let new = match (*self, *other) {
//!             (Number::Nothing, x) | (x, Number::Nothing) => x,
//!             (a, b) if a == b => a,
//!             _ => Number::Any,
//!         };
//!         std::mem::replace(self, new) != new
//!     }
//! }
//!
//! struct Predicated;
//!
//! impl Forward for Predicated {
//!     type Fact = Number;
//!     /// Variables: true, an unknown guard, the numbers 1, 2 and 2.
//!     fn on_entry(&self, variable: Variable) -> Number {
//!         [Number::One(1), Number::Any, Number::One(1), Number::One(2), Number::One(2)][variable.index()]
//!     }
//!     fn instruction(&self, at: Instruction, facts: &mut impl ForwardFacts<Number>) {
//!         let mut merged = Number::Nothing;
//!         let guarded = if at == Instruction(0) { 3 } else { 2 };
//!         for k in 0..guarded {
//!             let (guard, value) = (*facts.before(2 * k), *facts.before(2 * k + 1));
//!             match guard {
//!                 Number::Nothing => return facts.define(0, Number::Nothing),
//!                 Number::One(0) => {}
//!                 Number::One(_) => merged = value,
//!                 Number::Any => _ = merged.meet(&value),
//!             }
//!         }
//!         facts.define(0, merged);
//!     }
//! }
//!
//! let mut program = ProgramBuilder::new(CsrGraph::new(1, Node(0), []).unwrap(), 7);
//! let [yes, maybe, one, two, again, x, y] = std::array::from_fn(|v| Variable(v as u32));
//! [yes, maybe, one, two, again].into_iter().for_each(|v| program.fixed(v));
//! program.begin(Node(0));
//! program.instruction([yes, one, yes, two, maybe, again], [x]); // ψ(true ? 1, true ? 2, maybe ? 2)
//! program.instruction([yes, one, maybe, two], [y]); // ψ(true ? 1, maybe ? 2)
//! let program = program.build().unwrap();
//!
//! let ssi = Ssi::unsplit(&program);
//! let solution = solve_forward(&program, &ssi, &Predicated);
//! let fact = |at: u32| *solution.fact(ssi.defined(program.definition_slots(Instruction(at)).start));
//! assert_eq!((fact(0), fact(1)), (Number::One(2), Number::Any));
//! ```
//!
//! # Memory
//!
//! Memory, or each part of it that cannot overlap another, is a variable: a load uses it, a store uses and defines
//! it, and so does a call. Splitting puts φs where stores meet (memory SSA), and σs where a test tells of what is
//! stored. The fact says what the client knows of the contents, here of one cell:
//!
//! ```
//! use warpline_analysis::dataflow::*;
//! use warpline_analysis::ssi::{Strategy, ssify};
//! use warpline_analysis::{CsrGraph, Node};
//!
//! /// The numbers that the cell may hold, as bits.
//! #[derive(Clone, Copy, PartialEq, Debug)]
//! struct Numbers(u64);
//!
//! impl Lattice for Numbers {
//!     fn top() -> Self {
//!         Numbers(0)
//!     }
//!     fn meet(&mut self, other: &Self) -> bool {
//!         let new = self.0 | other.0;
//!         std::mem::replace(&mut self.0, new) != new
//!     }
//! }
//!
//! struct Cell;
//!
//! impl Forward for Cell {
//!     type Fact = Numbers;
//!     fn on_entry(&self, _: Variable) -> Numbers {
//!         Numbers(!0)
//!     }
//!     fn instruction(&self, at: Instruction, facts: &mut impl ForwardFacts<Numbers>) {
//!         match at.0 {
//!             0 => facts.define(0, Numbers(1 << 3)), // store 3
//!             1 => facts.define(0, Numbers(1 << 5)), // store 5
//!             _ => {
//!                 let held = *facts.before(0);
//!                 facts.define(0, held); // load
//!             }
//!         }
//!     }
//! }
//!
//! // if (…) *p = 3; else *p = 5; x = *p;
//! let edges = [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(a, b)| (Node(a), Node(b)));
//! let mut program = ProgramBuilder::new(CsrGraph::new(4, Node(0), edges).unwrap(), 2);
//! let (memory, x) = (Variable(0), Variable(1));
//! program.on_entry(memory);
//! program.begin(Node(1));
//! program.instruction([memory], [memory]);
//! program.begin(Node(2));
//! program.instruction([memory], [memory]);
//! program.begin(Node(3));
//! let load = program.instruction([memory], [x]);
//! let program = program.build().unwrap();
//!
//! let ssi = ssify(&program, &Strategy::SSA);
//! assert_eq!(ssi.phis_at(Node(3)).len(), 1);
//! let solution = solve_forward(&program, &ssi, &Cell);
//! let loaded = ssi.defined(program.definition_slots(load).start);
//! assert_eq!(*solution.fact(loaded), Numbers(1 << 3 | 1 << 5));
//! ```
