//! Whether claims of uniformity hold in runs of the lane interpreter.

use cranelift_entity::SecondaryMap;
use warpline_interp::{Event, LaneSet, Observer, State};
use warpline_ir::{Block, Edge, Function, Inst, Op, Value};

/// What is claimed of a value among converged lanes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Claim {
    /// Nothing.
    #[default]
    Varying,
    /// All lanes have the same value.
    Uniform,
    /// Lane *k* has lane *j*'s integer or address plus (*k* − *j*) times this, modulo its width in bits.
    Strided {
        /// The difference between neighbours.
        stride: i128,
        /// The width.
        bits: u32,
    },
}

/// A claim that did not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Violation {
    /// A value, at its definition.
    Value {
        /// The value.
        value: Value,
        /// Two lanes that contradict the claim.
        lanes: (u32, u32),
    },
    /// An operand, where it is used.
    Use {
        /// The user.
        inst: Inst,
        /// The operand's position; for a φ, that of the edge's operand is not told apart.
        operand: usize,
        /// Two lanes that contradict the claim.
        lanes: (u32, u32),
    },
    /// The terminator of a block.
    Branch {
        /// The block.
        block: Block,
        /// Two lanes that took different edges.
        lanes: (u32, u32),
    },
}

/// Checks claims about one function during runs, and records what was seen to diverge.
///
/// A cell that is undef or poison contradicts no claim.
pub struct UniformityChecker<'f> {
    function: &'f Function,
    /// What is claimed of each value at its definition.
    pub values: SecondaryMap<Value, Claim>,
    /// What is claimed of operands at their uses, by instruction and position; for φs, the operand that came
    /// over an edge is held against `phi_uses`.
    pub uses: SecondaryMap<Inst, Vec<Claim>>,
    /// What is claimed of the φ operands of an edge, by their position.
    pub phi_uses: SecondaryMap<Edge, Vec<Claim>>,
    /// Blocks whose branch is claimed to be uniform.
    pub uniform_branches: SecondaryMap<Block, bool>,
    /// The claims that did not hold, each value, use or branch once.
    pub violations: Vec<Violation>,
    /// Values that were seen to differ between converged lanes.
    pub diverged: SecondaryMap<Value, bool>,
    /// Operands that were seen to differ between lanes that execute the user together.
    pub diverged_uses: SecondaryMap<Inst, u64>,
    /// Blocks at whose end converged lanes were seen to part.
    pub diverged_branches: SecondaryMap<Block, bool>,
    /// Values that two or more converged lanes were seen to compute.
    pub observed: SecondaryMap<Value, bool>,
}

impl<'f> UniformityChecker<'f> {
    /// A checker without claims for a function. It ignores calls: only the outermost activation is watched.
    pub fn new(function: &'f Function) -> UniformityChecker<'f> {
        UniformityChecker {
            function,
            values: SecondaryMap::new(),
            uses: SecondaryMap::new(),
            phi_uses: SecondaryMap::new(),
            uniform_branches: SecondaryMap::new(),
            violations: Vec::new(),
            diverged: SecondaryMap::new(),
            diverged_uses: SecondaryMap::new(),
            diverged_branches: SecondaryMap::new(),
            observed: SecondaryMap::new(),
        }
    }

    fn report(&mut self, v: Violation) {
        let same = |w: &Violation| match (w, &v) {
            (Violation::Value { value: a, .. }, Violation::Value { value: b, .. }) => a == b,
            (Violation::Use { inst: a, operand: k, .. }, Violation::Use { inst: b, operand: l, .. }) => {
                a == b && k == l
            }
            (Violation::Branch { block: a, .. }, Violation::Branch { block: b, .. }) => a == b,
            _ => false,
        };
        if !self.violations.iter().any(same) {
            self.violations.push(v);
        }
    }

    fn definition(&mut self, event: &Event<'_>, value: Value) {
        self.observed[value] |= event.lanes.len() > 1;
        if broken(event, value, event.lanes, Claim::Uniform).is_some() {
            self.diverged[value] = true;
        }
        if let Some(lanes) = broken(event, value, event.lanes, self.values[value]) {
            self.report(Violation::Value { value, lanes });
        }
    }

    fn phi_operand(&mut self, event: &Event<'_>, position: usize, value: Value) {
        let mut rest = event.lanes;
        while let Some(lane) = rest.lowest() {
            let edge = event.edge(lane);
            let mut together = LaneSet::default();
            rest.iter().filter(|&l| event.edge(l) == edge).for_each(|l| together.insert(l));
            rest = rest.minus(together);
            let Some(edge) = edge else { continue };
            let claim = self.phi_uses[edge].get(position).copied().unwrap_or_default();
            if let Some(lanes) = broken(event, value, together, claim) {
                self.report(Violation::Use { inst: event.inst, operand: position, lanes });
            }
        }
    }
}

/// Two lanes that contradict a claim.
fn broken(event: &Event<'_>, value: Value, lanes: LaneSet, claim: Claim) -> Option<(u32, u32)> {
    let (stride, bits) = match claim {
        Claim::Varying => return None,
        Claim::Uniform => (0, 128),
        Claim::Strided { stride, bits } => (stride, bits),
    };
    let cells = event.value(value, lanes.lowest()?).len();
    for i in 0..cells {
        let mut seen: Option<(u32, u128)> = None;
        for lane in lanes.iter() {
            let cell = event.value(value, lane)[i];
            if cell.state != State::Defined {
                continue;
            }
            match seen {
                None => seen = Some((lane, cell.bits)),
                Some((first, base)) => {
                    let steps = i128::from(lane) - i128::from(first);
                    let expected = base.wrapping_add(steps.wrapping_mul(stride) as u128);
                    let mask = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
                    if expected & mask != cell.bits {
                        return Some((first, lane));
                    }
                }
            }
        }
    }
    None
}

impl Observer for UniformityChecker<'_> {
    fn executed(&mut self, event: &Event<'_>) {
        if event.depth > 0 {
            return;
        }
        let function = self.function;
        let data = &function.insts[event.inst];
        if data.op == Op::Phi {
            if let (Some(position), [value]) = (function.phi_position(event.inst), &data.results[..]) {
                self.phi_operand(event, position, *value);
                self.definition(event, *value);
            }
            return;
        }
        for (k, &arg) in data.args.iter().enumerate() {
            if k < 64 && broken(event, arg, event.lanes, Claim::Uniform).is_some() {
                self.diverged_uses[event.inst] |= 1 << k;
            }
            let claim = self.uses[event.inst].get(k).copied().unwrap_or_default();
            if let Some(lanes) = broken(event, arg, event.lanes, claim) {
                self.report(Violation::Use { inst: event.inst, operand: k, lanes });
            }
        }
        for &r in &data.results {
            self.definition(event, r);
        }
        if data.op.is_terminator()
            && let Some(first) = event.lanes.lowest()
            && let Some(other) = event.lanes.iter().find(|&l| event.edge(l) != event.edge(first))
        {
            self.diverged_branches[data.block] = true;
            if self.uniform_branches[data.block] {
                self.report(Violation::Branch { block: data.block, lanes: (first, other) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_interp::{LaneArg, Machine, Val};
    use warpline_ir::FuncId;

    fn each(numbers: &[u128]) -> LaneArg {
        LaneArg::Each(numbers.iter().map(|&n| Val::int(n)).collect())
    }

    #[test]
    fn the_checker_finds_false_claims_and_what_diverges() {
        let text = "
func @f(%n: i32, %u: i32) -> i32 {
entry:
  br loop(0)
loop:
  %i: i32 = phi
  %i2: i32 = add %i, 1
  %w: i32 = add %i2, %u
  %c: i1 = icmp ult %i2, %n
  br %c, loop(%i2), done
done:
  %r: i32 = add %w, 0
  ret %r
}
";
        let module = warpline_ir::text::parse_module(text).expect("a module");
        let f = &module.functions[FuncId::from_u32(0)];
        let named =
            |name: &str| f.values.iter().find(|(_, d)| &*d.name == name).map(|(v, _)| v).expect("there");
        let mut checker = UniformityChecker::new(f);
        for v in ["i", "i2", "w", "r"] {
            checker.values[named(v)] = Claim::Uniform;
        }
        checker.values[named("c")] = Claim::Uniform;
        let add = f.def_inst(named("r")).expect("an instruction");
        checker.uses[add] = vec![Claim::Uniform];
        let mut machine = Machine::new(&module);
        let code = machine.prepare_id(FuncId::from_u32(0));
        let args = [each(&[1, 2, 2]), LaneArg::Same(Val::int(5))];
        machine.run_lockstep(&code, 3, LaneSet::first(3), &args, Some(&mut checker)).expect("no trap");
        // Inside the loop, w is uniform; its use outside is not (temporal divergence), nor is the condition.
        let broken: Vec<String> = checker
            .violations
            .iter()
            .map(|v| match v {
                Violation::Value { value, .. } => f.value_name(*value),
                Violation::Use { operand, .. } => format!("use {operand}"),
                Violation::Branch { .. } => "branch".into(),
            })
            .collect();
        assert_eq!(broken, ["%c", "use 0", "%r"]);
        assert!(!checker.diverged[named("w")] && checker.diverged[named("c")]);
        assert!(checker.diverged_branches[f.insts[f.def_inst(named("c")).expect("there")].block]);
        assert!(checker.observed[named("w")]);
        assert_eq!(checker.diverged_uses[add], 1);
    }

    #[test]
    fn strided_claims_are_checked_modulo_the_width() {
        let text = "
func @f(%i: i8) -> i8 {
entry:
  %a: i8 = add %i, 250
  %b: i8 = mul %a, 3
  ret %b
}
";
        let module = warpline_ir::text::parse_module(text).expect("a module");
        let f = &module.functions[FuncId::from_u32(0)];
        let values: Vec<_> = f.blocks[f.entry()].insts.iter().map(|&i| f.insts[i].results[0]).collect();
        for (stride, count) in [(1, 0), (2, 1)] {
            let mut checker = UniformityChecker::new(f);
            checker.values[values[0]] = Claim::Strided { stride, bits: 8 };
            checker.values[values[1]] = Claim::Strided { stride: 3, bits: 8 };
            let mut machine = Machine::new(&module);
            let code = machine.prepare_id(FuncId::from_u32(0));
            let args = [each(&std::array::from_fn::<u128, 16, _>(|i| i as u128 + 100))];
            machine.run_lockstep(&code, 16, LaneSet::first(16), &args, Some(&mut checker)).expect("no trap");
            assert_eq!(checker.violations.len(), count, "stride {stride}");
        }
    }
}
