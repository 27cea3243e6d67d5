//! What data-flow analyses know of a function, as the uniformity analysis uses it (paper 1, Section 6.2 and Figure
//! 3): edges that are never taken, values that are constant, equalities that hold on edges.
//!
//! Facts hold in every execution of its own. What a fact says of a value it says of executions in which the value is
//! not poison: where some lanes have poison, "uniform" is said of the others, as with
//! [`strict_undef`](super::Options::strict_undef) off; with it on, constants are not used.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use warpline_analysis::dataflow::{SparseForward, solve_forward, solve_forward_narrowing};
use warpline_analysis::ssi::{Version, ssify};
use warpline_analysis::uniformity::{Facts as EngineFacts, KnownFact, UniformBecause, Value as EngineValue};
use warpline_analysis::{EdgeId, Graph};

use super::congruence::Congruence;
use super::frozen::Frozen;
use super::launch::Surroundings;
use super::{Extra, Step, Uniformity, engine_value};
use warpline_dataflow::Code;
use warpline_dataflow::clients::constants::{Constants, Known as Constant};
use warpline_dataflow::clients::numbers::signed;
use warpline_dataflow::clients::ranges::Ranges;
use warpline_dataflow::conditions::{self, Holds};
use warpline_ir::{BinaryOp, Edge, FloatKind, Function, IntPred, Module, Op, Value};

/// Sweeps of narrowing for ranges.
const NARROWING: usize = 3;

/// What a value equals on an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Other {
    Value(Value),
    /// An integer, zero-extended.
    Number(u128),
}

/// Facts about a function, each with who says so.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// By edge, who says that it is never taken.
    dead: BTreeMap<Edge, &'static str>,
    /// By value, the number as it is shown, and who says so.
    constants: BTreeMap<Value, (String, &'static str)>,
    equal: Vec<(Edge, Value, Other)>,
}

impl Known {
    /// Nothing is known.
    pub fn none() -> Known {
        Known::default()
    }

    /// All that is known of a function: what its conditions say, and what is found by conditional constants and by
    /// ranges.
    pub fn of(surroundings: Surroundings<'_>) -> Known {
        let frozen = Frozen::of(surroundings.module, surroundings.func);
        let mut known = Known::of_constants_beside(surroundings, &frozen);
        if !surroundings.func.layout.is_empty() {
            known.add_ranges(surroundings, &Code::with_makers(surroundings.func), &frozen);
        }
        known
    }

    /// What conditions say, and what is found by conditional constants.
    pub fn of_constants(surroundings: Surroundings<'_>) -> Known {
        Known::of_constants_beside(surroundings, &Frozen::of(surroundings.module, surroundings.func))
    }

    fn of_constants_beside(surroundings: Surroundings<'_>, frozen: &Frozen) -> Known {
        let mut known = Known::of_conditions(surroundings.func);
        known.add_equal_operands(surroundings.func, frozen);
        if !surroundings.func.layout.is_empty() {
            known.add_conditional_constants(surroundings, &Code::of(surroundings.func), frozen);
        }
        known
    }

    /// What is the same whatever its operand is, since both operands are one value, or congruent ones (paper 1, Figure
    /// 3a as printed). Conditional constants do not say so: there undef is another number for each reader, while what
    /// is known here is used only where all readers may be taken to see one.
    fn add_equal_operands(&mut self, func: &Function, frozen: &Frozen) {
        let congruent = Congruence::of(func);
        for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
            let data = &func.insts[inst];
            if let ([a, b], [result]) = (&data.args[..], &data.results[..])
                && congruent.same(*a, *b)
                && let Some(shown) = with_itself(&data.op)
                && !frozen.contains(*result)
            {
                self.constants.insert(*result, (shown.to_owned(), "equal operands"));
            }
        }
    }

    fn add_conditional_constants(&mut self, surroundings: Surroundings<'_>, code: &Code, frozen: &Frozen) {
        let Surroundings { module, func, .. } = surroundings;
        let ssi = ssify(code.program(), &Constants::<()>::STRATEGY);
        let problem = Constants::with(module, func, code, surroundings);
        let found = solve_forward(code.program(), &ssi, &problem);
        let constant = |v: Version| Some(shown(module, found.fact(v).known()?));
        self.add_found((func, code, frozen), &found, constant, "conditional constants");
    }

    fn add_ranges(&mut self, surroundings: Surroundings<'_>, code: &Code, frozen: &Frozen) {
        let Surroundings { module, func, .. } = surroundings;
        let ssi = ssify(code.program(), &Ranges::<()>::STRATEGY);
        let problem = Ranges::with(module, func, code, surroundings);
        let found = solve_forward_narrowing(code.program(), &ssi, &problem, NARROWING);
        let constant = |v: Version| {
            let range = found.fact(v).range()?;
            Some(shown(module, Constant::int(range.bits(), range.only()?)))
        };
        self.add_found((func, code, frozen), &found, constant, "ranges");
    }

    /// What a client has found: edges that are never taken, values that are constant.
    fn add_found<F>(
        &mut self,
        (func, code, frozen): (&Function, &Code, &Frozen),
        found: &SparseForward<F>,
        constant: impl Fn(Version) -> Option<String>,
        source: &'static str,
    ) {
        let graph = code.program().graph();
        for e in graph.edges().filter(|&e| !found.is_taken(e) && found.is_reached(graph.source(e))) {
            self.dead.entry(code.edge(e)).or_insert(source);
        }
        for v in func.values.keys().filter(|&v| func.constant(v).is_none() && !frozen.contains(v)) {
            let reached = func.def_block(v).is_none_or(|b| found.is_reached(b.into()));
            if let (true, Some(shown)) = (reached, constant(Version(v.as_u32()))) {
                self.constants.entry(v).or_insert((shown, source));
            }
        }
    }

    /// What the conditions of branches say on the edges behind them: the values that they compare are equal where a
    /// test for equality succeeds.
    pub fn of_conditions(func: &Function) -> Known {
        let mut known = Known::default();
        for &b in &func.layout {
            if func.out_edges(b).len() < 2 {
                continue;
            }
            for &e in func.out_edges(b) {
                for holds in conditions::on_edge(func, e) {
                    match holds {
                        Holds::Compare(IntPred::Eq, a, b) if a != b => {
                            known.equal.push((e, a, Other::Value(b)));
                        }
                        Holds::Is(v, number) => known.equal.push((e, v, Other::Number(number))),
                        Holds::Compare(..) | Holds::IsNone(..) => {}
                    }
                }
            }
        }
        known
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.dead.is_empty() && self.constants.is_empty() && self.equal.is_empty()
    }

    /// The numbers that values equal on edges, each once: the engine gets a uniform argument for each.
    pub(super) fn numbers(&self) -> Vec<u128> {
        let number = |&(_, _, other): &(Edge, Value, Other)| match other {
            Other::Number(n) => Some(n),
            Other::Value(_) => None,
        };
        let mut numbers: Vec<u128> = self.equal.iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The facts in the engine's terms. `first_number` is the argument that stands for the first of
    /// [`numbers`](Self::numbers).
    pub(super) fn to_engine(
        &self,
        edge_ids: &SecondaryMap<Edge, Option<EdgeId>>,
        first_number: usize,
        with_constants: bool,
    ) -> EngineFacts {
        let numbers = self.numbers();
        let mut facts = EngineFacts::none();
        for &e in self.dead.keys() {
            if let Some(e) = edge_ids[e] {
                facts = facts.dead_edge(e);
            }
        }
        for &v in self.constants.keys().filter(|_| with_constants) {
            facts = facts.constant(engine_value(v));
        }
        for &(e, a, other) in &self.equal {
            let b = match other {
                Other::Value(b) => engine_value(b),
                Other::Number(n) => {
                    EngineValue::new(first_number + numbers.binary_search(&n).unwrap_or_default())
                }
            };
            if let Some(e) = edge_ids[e] {
                facts = facts.equal_on(e, engine_value(a), b);
            }
        }
        facts
    }
}

/// What an operation yields for a value and itself, if that does not depend on the value.
fn with_itself(op: &Op) -> Option<&'static str> {
    match op {
        Op::Binary(BinaryOp::Sub | BinaryOp::Xor | BinaryOp::URem | BinaryOp::SRem) => Some("0"),
        Op::Binary(BinaryOp::UDiv | BinaryOp::SDiv) => Some("1"),
        Op::ICmp(pred) => match pred {
            IntPred::Eq | IntPred::Uge | IntPred::Ule | IntPred::Sge | IntPred::Sle => Some("true"),
            IntPred::Ne | IntPred::Ugt | IntPred::Ult | IntPred::Sgt | IntPred::Slt => Some("false"),
        },
        _ => None,
    }
}

/// A constant in explanations.
fn shown(module: &Module, known: Constant) -> String {
    match known {
        Constant::Int { bits: 1, value } => if value == 1 { "true" } else { "false" }.into(),
        Constant::Int { bits, value } => signed(value, bits).to_string(),
        Constant::Float { kind: FloatKind::Float, bits } => f32::from_bits(bits as u32).to_string(),
        Constant::Float { kind: FloatKind::Double, bits } => f64::from_bits(bits as u64).to_string(),
        Constant::Null(_) => "null".into(),
        Constant::Address { symbol, offset: 0, .. } => format!("@{}", module.symbols[symbol].name),
        Constant::Address { symbol, offset, .. } => format!("@{} + {offset}", module.symbols[symbol].name),
        Constant::Float { .. } | Constant::Overflow { .. } => "the same".into(),
    }
}

/// Why something is uniform that would be divergent without what other analyses know.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BecauseKnown {
    /// The facts, as clauses: `%c is always 0 (conditional constants)`.
    pub facts: Vec<String>,
    /// What would be divergent without them: from the thing itself to what a fact refutes.
    pub without: Vec<Step>,
}

impl Uniformity {
    /// What other analyses know that made a difference, as clauses.
    pub fn used_facts(&self, func: &Function) -> Vec<String> {
        self.engine.used_facts().iter().map(|&f| self.known_clause(func, f)).collect()
    }

    /// Why a value is uniform that is divergent in `without`, the result for the same question without
    /// [`known`](super::Options::known) facts. None if it is divergent here or uniform there, or if its shape alone
    /// says so.
    pub fn why_known(
        &self,
        module: &Module,
        func: &Function,
        without: &Uniformity,
        v: Value,
    ) -> Option<BecauseKnown> {
        let mut because = self.engine.why_uniform(&without.engine, engine_value(v))?;
        // That it is constant itself says more than what it is made of.
        let own = KnownFact::Constant(engine_value(v));
        if self.engine.used_facts().contains(&own) {
            because.by = vec![own];
            because.gone.truncate(1);
        }
        (!self.is_divergent(v)).then(|| self.because(module, func, without, &because))
    }

    /// The same for the branch of a block.
    pub fn why_branch_known(
        &self,
        module: &Module,
        func: &Function,
        without: &Uniformity,
        b: warpline_ir::Block,
    ) -> Option<BecauseKnown> {
        let because = self.engine.why_uniform_branch(&without.engine, b.into())?;
        Some(self.because(module, func, without, &because))
    }

    fn because(
        &self,
        module: &Module,
        func: &Function,
        without: &Uniformity,
        because: &UniformBecause,
    ) -> BecauseKnown {
        let mut facts: Vec<String> = because.by.iter().map(|&f| self.known_clause(func, f)).collect();
        if facts.is_empty() {
            facts.push("what is selected is equal either way".to_owned());
        }
        BecauseKnown { facts, without: because.gone.iter().map(|&f| without.step(module, func, f)).collect() }
    }

    fn known_clause(&self, func: &Function, fact: KnownFact) -> String {
        let by = |source: Option<&str>| source.map(|s| format!(" ({s})")).unwrap_or_default();
        let known = self.options.known.as_deref();
        match fact {
            KnownFact::DeadEdge(e) => {
                let mut dead = known.iter().flat_map(|k| &k.dead);
                let source = dead.find(|d| self.edge_ids[*d.0] == Some(e)).map(|d| *d.1);
                format!("{} is never taken{}", self.edge_name(func, e), by(source))
            }
            KnownFact::Constant(v) => {
                let name = self.known_name(func, v);
                let found = known.and_then(|k| k.constants.get(&self.value(func, v)?));
                match found {
                    Some((shown, source)) => format!("{name} is always {shown} ({source})"),
                    None => format!("{name} is always the same"),
                }
            }
            KnownFact::EqualOn(e, a, b) => format!(
                "{} equals {} on {}",
                self.known_name(func, a),
                self.known_name(func, b),
                self.edge_name(func, e)
            ),
        }
    }

    /// What a value of the engine, of which a fact speaks, is called.
    fn known_name(&self, func: &Function, v: EngineValue) -> String {
        match self.value(func, v) {
            Some(v) => self.names(func).value(func, v),
            None => match self.extra.get(v.index() - func.values.len()) {
                Some(Extra::Number(n)) => n.to_string(),
                _ => "another value".into(),
            },
        }
    }
}
