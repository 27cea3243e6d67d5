//! Taint, null pointers and class inference: against runs, and sparse against dense.

use std::collections::{BTreeMap, BTreeSet};

use warpline_analysis::Node;
use warpline_analysis::dataflow::Instruction;
use warpline_analysis::ssi::{Strategy, ssify};
use warpline_dataflow::clients::null_pointers::{Known, NullPointers, STRATEGY};
use warpline_dataflow::clients::taint::{Spec, TaintReport, analyse as taint_of};
use warpline_dataflow::clients::{classes, null_pointers};
use warpline_dataflow::report::Solver;
use warpline_dataflow::{Code, Solved};
use warpline_interp::{Cell, Event, Observer};
use warpline_ir::text::parse_module;
use warpline_ir::{Edge, Effects, FuncId, Inst, Module, Op, Type};
use warpline_testkit::dataflow_agreement::{backward_agrees, forward_agrees};
use warpline_testkit::environment::number;
use warpline_testkit::pairs::run_mixed;
use warpline_testkit::programs::{Inputs, MemoryMode, ParamRole, Program, ProgramOptions, generate};
use warpline_testkit::rng::SplitMix64;

/// Runs `check` for many seeds; a failure prints the seed.
fn for_seeds(count: u64, mut check: impl FnMut(u64) -> Result<(), String>) {
    let first = number("WARPLINE_SEED", 1);
    for seed in first..first + number("WARPLINE_PROGRAMS", count) {
        if let Err(message) = check(seed) {
            panic!("seed {seed}: {message}");
        }
    }
}

/// What a run gives to functions that are not of the module, and the ways it takes.
struct Given<'m> {
    module: &'m Module,
    kernel: FuncId,
    seen: Vec<Seen>,
}

/// An executed instruction: what it gives away, argument by argument, and which way it takes.
type Seen = (FuncId, Inst, Vec<Vec<Cell>>, Option<Edge>);

impl Observer for Given<'_> {
    fn executed(&mut self, event: &Event<'_>) {
        let id = event.function().unwrap_or(self.kernel);
        let data = &self.module.functions[id].insts[event.inst];
        let args = match &data.op {
            Op::Call(call) => {
                let name = call.callee.map(|s| &*self.module.symbols[s].name).unwrap_or_default();
                let known = self.module.function(name).is_some() || name.starts_with("llvm.");
                let each = || data.args.iter().map(|&v| event.value(v, 0).to_vec()).collect();
                if known { Vec::new() } else { each() }
            }
            _ => Vec::new(),
        };
        let edge = event.edge(0).filter(|_| data.edges.len() > 1);
        if !args.is_empty() || edge.is_some() {
            self.seen.push((id, event.inst, args, edge));
        }
    }
}

/// The arguments that two runs give away differently, as far as they take the same way.
fn differences(a: &Given<'_>, b: &Given<'_>) -> BTreeSet<(FuncId, Inst, usize)> {
    let mut found = BTreeSet::new();
    for (x, y) in a.seen.iter().zip(&b.seen) {
        for (k, (p, q)) in x.2.iter().zip(&y.2).enumerate() {
            if !p.iter().chain(q).all(|c| c.is_defined()) {
                return found;
            }
            if p != q {
                found.insert((x.0, x.1, k));
            }
        }
        if (x.0, x.1, x.3) != (y.0, y.1, y.3) {
            return found;
        }
    }
    found
}

/// The sources that stand for parameters of the kernel: values, or what is in buffers.
fn sources(program: &Program, tainted: &[bool]) -> String {
    let name = &program.function().name;
    let star = |i: usize| if matches!(program.roles[i], ParamRole::Buffer { .. }) { "*" } else { "" };
    let list = (0..tainted.len()).filter(|&i| tainted[i]).map(|i| format!("{name}:{}{i}", star(i)));
    list.collect::<Vec<_>>().join(",")
}

fn found(reports: &BTreeMap<FuncId, TaintReport>) -> BTreeSet<(FuncId, Inst, usize)> {
    let each = reports.iter().flat_map(|(&id, r)| r.findings.iter().map(move |f| (id, f)));
    each.map(|(id, f)| (id, Inst::from_u32(f.inst), f.argument)).collect()
}

#[test]
fn what_depends_on_sources_and_is_given_away_is_found() {
    let (mut given, mut clean, mut differ) = (0, 0, 0);
    for_seeds(250, |seed| {
        let memory = if seed % 2 == 0 { MemoryMode::Private } else { MemoryMode::Racy };
        // What is given to an unknown function is found at its calls by name.
        let options =
            ProgramOptions { poison: false, memory, function_pointers: false, ..ProgramOptions::default() };
        let mut program = generate(seed, &options);
        // So that it can be said that nothing else calls it.
        program.module.function_symbol("kernel", &[], Type::Void, Effects::UNKNOWN);
        let mut rng = SplitMix64::new(seed ^ 0x7a17);
        let mut tainted = vec![false; program.roles.len()];
        let i = rng.below(tainted.len());
        tainted[i] = true;
        let spec = Spec::new(Some(&sources(&program, &tainted)), Some("effect"), None);
        let spec = spec.map_err(|e| e.to_string())?;
        let closed = program.module.symbols.keys().collect();
        let (reports, _) = taint_of(&program.module, &spec, &closed, Solver::Sparse);
        let (dense, _) = taint_of(&program.module, &spec, &closed, Solver::Dense);
        if reports != dense {
            return Err(format!("sparse {reports:?}, dense {dense:?}\n{}", program.text()));
        }
        let found = found(&reports);
        for f in reports.values().flat_map(|r| &r.findings) {
            let last = f.chain.last().map(|s| s.text.as_str()).unwrap_or_default();
            if !last.contains("from outside") {
                return Err(format!("the chain of `{}` ends at `{last}`\n{}", f.text, program.text()));
            }
        }
        clean += usize::from(found.is_empty());
        let public = Inputs::random(&program, 1, seed);
        for run in 1..=3 {
            let runs = [1, 2].map(|k| {
                let other = Inputs::random(&program, 1, seed.wrapping_mul(31).wrapping_add(run * 2 + k));
                let mut trace = Given { module: &program.module, kernel: program.kernel, seen: Vec::new() };
                run_mixed(&program, [&public, &other], &tainted, &mut trace);
                trace
            });
            given += usize::from(runs[0].seen.iter().any(|s| !s.2.is_empty()));
            let all = differences(&runs[0], &runs[1]);
            differ += usize::from(!all.is_empty());
            if let Some(missed) = all.difference(&found).next() {
                return Err(format!("{missed:?} differs and is not found; {tainted:?}\n{}", program.text()));
            }
        }
        Ok(())
    });
    println!("calls in {given} pairs, different ones in {differ}; clean programs: {clean}");
    assert!(differ * 30 > given && clean > 20, "calls in {given} pairs, {differ} differ, {clean} clean");
}

/// Looks whether values are what they are said to be.
struct Judge<'a> {
    program: &'a Program,
    code: &'a Code,
    solved: &'a Solved<null_pointers::Nullness>,
    positions: BTreeMap<Inst, Instruction>,
    decided: usize,
    wrong: Option<String>,
}

impl Observer for Judge<'_> {
    fn executed(&mut self, event: &Event<'_>) {
        let func = self.program.function();
        if event.function().unwrap_or(self.program.kernel) != self.program.kernel {
            return;
        }
        let Some(&at) = self.positions.get(&event.inst) else { return };
        let data = &func.insts[event.inst];
        if !self.solved.is_reached(Node::from(data.block)) {
            self.wrong.get_or_insert(format!("{} is executed", event.inst));
        }
        for (k, &v) in data.args.iter().enumerate() {
            let is_scalar = matches!(func.ty(v), Type::Int(_) | Type::Ptr(_)) && func.constant(v).is_none();
            let [cell] = event.value(v, 0) else { continue };
            if !is_scalar || !cell.is_defined() || data.results.contains(&v) {
                continue;
            }
            let fact = *self.solved.used(self.code.program(), at, k);
            let allowed = if cell.defined() == Some(0) { fact.may_be_null() } else { fact.may_be_other() };
            self.decided += usize::from(fact.may_be_null() != fact.may_be_other());
            if !allowed {
                self.wrong.get_or_insert(format!(
                    "{} of {} is {cell:?}: {fact:?}",
                    func.value_name(v),
                    event.inst
                ));
            }
        }
    }
}

#[test]
fn what_is_said_to_be_zero_or_not_is_so_in_runs() {
    let (mut decided, mut runs) = (0, 0);
    for_seeds(250, |seed| {
        let program = generate(seed, &ProgramOptions { poison: seed % 2 == 0, ..ProgramOptions::default() });
        let known = Known::default();
        let code = NullPointers::code(program.function(), &known);
        let problem = NullPointers::new(&program.module, program.function(), &code, &known);
        let ssi = ssify(code.program(), &STRATEGY);
        forward_agrees(code.program(), &ssi, &problem).map_err(|e| format!("{e}\n{}", program.text()))?;
        forward_agrees(code.program(), &problem.split(), &problem)
            .map_err(|e| format!("{e}, split at dereferences only\n{}", program.text()))?;
        let solved = Solved::forward(code.program(), |_| problem.split(), &problem, Solver::Sparse);
        let all = (0..code.program().instructions() as u32).map(Instruction);
        let positions = all.map(|at| (code.inst(at), at)).collect();
        let mut judge =
            Judge { program: &program, code: &code, solved: &solved, positions, decided: 0, wrong: None };
        for run in 0..4 {
            let inputs = Inputs::random(&program, 1, seed.wrapping_mul(17).wrapping_add(run));
            run_mixed(&program, [&inputs, &inputs], &vec![false; program.roles.len()], &mut judge);
            runs += 1;
        }
        decided += judge.decided;
        judge.wrong.map_or(Ok(()), |wrong| Err(format!("{wrong}\n{}", program.text())))
    });
    println!("{decided} decided uses in {runs} runs");
    assert!(decided > runs, "{decided} decided uses in {runs} runs");
}

/// A random program of the language of objects: two parameters and a new object, whose methods are called in blocks
/// that also ask for classes.
fn objects(seed: u64) -> String {
    let mut rng = SplitMix64::new(seed);
    let mut text = String::new();
    for class in ["A", "B", "C"] {
        text += &format!("declare @object.new.{class}() -> ptr\ndeclare @object.is.{class}(ptr) -> i1\n");
    }
    for method in 0..4 {
        text += &format!("declare @method.m{method}(ptr)\n");
        for class in ["A", "B", "C"] {
            if rng.chance(2, 3) {
                text += &format!("declare @class.{class}.m{method}(ptr)\n");
            }
        }
    }
    text += "func @f(%p: ptr, %q: ptr, %c: i1) {\nentry:\n  %n: ptr = call @object.new.A()\n  br b0(%p)\n";
    let count = rng.between(2, 7);
    for k in 0..count {
        text += &format!("b{k}:\n  %x{k}: ptr = phi\n");
        let object = |rng: &mut SplitMix64| match rng.below(4) {
            0 => "%p".to_owned(),
            1 => "%q".to_owned(),
            2 => "%n".to_owned(),
            _ => format!("%x{k}"),
        };
        for _ in 0..rng.below(3) {
            let (receiver, method) = (object(&mut rng), rng.below(4));
            text += &format!("  call @method.m{method}({receiver})\n");
        }
        let target = |rng: &mut SplitMix64| format!("b{}({})", rng.below(count), object(rng));
        match rng.below(4) {
            0 => text += "  ret\n",
            1 => text += &format!("  br {}\n", target(&mut rng)),
            2 => text += &format!("  br %c, {}, {}\n", target(&mut rng), target(&mut rng)),
            _ => {
                let class = *rng.pick(&["A", "B", "C"]);
                let asked = *rng.pick(&["%p", "%q", "%n"]);
                text += &format!("  %is{k}: i1 = call @object.is.{class}({asked})\n");
                text += &format!("  br %is{k}, {}, {}\n", target(&mut rng), target(&mut rng));
            }
        }
    }
    text + "}\n"
}

/// Walks at random, with objects of these classes for the parameters; which parameter first had a method called of it
/// that its class does not have.
fn walk(module: &Module, classes: [&str; 2], rng: &mut SplitMix64) -> Option<usize> {
    let func = module.functions.values().next()?;
    let mut objects = BTreeMap::new();
    let made = func.block_insts(func.entry()).next().map(|i| func.insts[i].results[0])?;
    let all = [(func.params[0], (0, classes[0])), (func.params[1], (1, classes[1])), (made, (2, "A"))];
    objects.extend(all);
    let mut block = func.entry();
    for _ in 0..40 {
        let mut asked = None;
        for inst in func.blocks[block].insts.iter().copied() {
            let Op::Call(call) = &func.insts[inst].op else { continue };
            let name = call.callee.map(|s| &*module.symbols[s].name).unwrap_or_default();
            let Some(&v) = func.insts[inst].args.first() else { continue };
            let (which, class) = *objects.get(&v)?;
            if let Some(method) = name.strip_prefix("method.")
                && module.symbol(&format!("class.{class}.{method}")).is_none()
            {
                return Some(which);
            }
            asked = name.strip_prefix("object.is.").map(|c| c == class);
        }
        let edges = func.out_edges(block);
        if edges.is_empty() {
            return None;
        }
        let edge = match asked {
            Some(is) if edges.len() == 2 => edges[usize::from(!is)],
            _ => edges[rng.below(edges.len())],
        };
        let data = &func.edges[edge];
        block = data.to;
        for (&phi, v) in func.blocks[block].phis.iter().zip(&data.args) {
            let object = *objects.get(v)?;
            objects.insert(func.insts[phi].results[0], object);
        }
    }
    None
}

#[test]
fn objects_of_classes_that_fit_have_every_method_that_is_called() {
    let (mut fitting, mut failing) = (0, 0);
    for_seeds(400, |seed| {
        let text = objects(seed);
        let module = parse_module(&text).map_err(|e| format!("{e}\n{text}"))?;
        let (id, func) = module.functions.iter().next().ok_or("no function")?;
        let all = classes::Classes::new(&module);
        for tests in [false, true] {
            let code = classes::program(&module, func, &all, tests);
            let problem = classes::ClassInference::new(&module, func, &code, &all);
            let strategy = if tests { Strategy::HOCHSTADT } else { Strategy::SSU };
            let ssi = ssify(code.program(), &strategy);
            backward_agrees(code.program(), &ssi, &problem, true).map_err(|e| format!("{e}\n{text}"))?;
            let [sparse, dense] =
                [Solver::Sparse, Solver::Dense].map(|s| classes::analyse(&module, id, tests, s).0);
            if sparse != dense {
                return Err(format!("sparse {sparse:?}, dense {dense:?}\n{text}"));
            }
            let fits = |name: &str| match sparse.objects.iter().find(|o| o.value == name) {
                Some(object) => object.fits.clone(),
                None => ["A", "B", "C"].map(str::to_owned).to_vec(),
            };
            let (p, q) = (fits("%p"), fits("%q"));
            let mut rng = SplitMix64::new(seed ^ 0xc1a55);
            for _ in 0..20 {
                let chosen = [*rng.pick(&["A", "B", "C"]), *rng.pick(&["A", "B", "C"])];
                let fit = [p.iter().any(|c| c == chosen[0]), q.iter().any(|c| c == chosen[1])];
                match walk(&module, chosen, &mut rng) {
                    Some(which) if which < 2 && fit[which] => {
                        return Err(format!(
                            "{chosen:?} fit and object {which} lacks a method, tests: {tests}\n{text}"
                        ));
                    }
                    failed => {
                        failing += usize::from(failed.is_some_and(|w| w < 2));
                        fitting += usize::from(fit == [true, true]);
                    }
                }
            }
        }
        Ok(())
    });
    println!("{fitting} walks with classes that fit, {failing} that failed");
    assert!(fitting > 500 && failing > 500, "{fitting} fitting, {failing} failing");
}
