//! The verifier accepts what is right and names the rule that one edit breaks.

use warpline_ir::text::{parse_module, print_module};
use warpline_ir::verify::{Rule, verify, verify_module};
use warpline_ir::*;
use warpline_testkit::modules::{FunctionShape, module};
use warpline_testkit::rng::SplitMix64;

const BASE: &str = r#"
type %pair = { i32, float }
declare @callee(i32) -> i32
declare @printf(ptr, ...) -> i32
global @data: i32 align 4

func @f(%n: i32, %p: ptr, %s: %pair, %vec: <4 x i32>, %q: i1) -> i32 phase linearized {
  var $x: i32
entry:
  %one: i32 = add nuw %n, 1
  br head(0)
head mask %q:
  %i: i32 = phi
  %next: i32 = add %i, %one
  %c: i1 = icmp slt %next, %n
  %back: i32, %last: i32 = sigma %next
  br %c, head(%back), tail
tail:
  write $x, %last
  %r: i32 = read $x
  %f: float = fadd fast 1.0, 2.0
  %e: i32 = extractvalue %s [0]
  %sh: <2 x i32> = shufflevector %vec, %vec [0, 7]
  %call: i32 = call @callee(%r)
  %l: i32 = load %p, align 4
  %t: i16 = trunc %l
  %a: i32, %b: float = copy %r, %f
  %any: i1 = any %q
  switch %r, out [1: out, 2: dead]
dead:
  unreachable
out:
  ret %r
unreached:
  %u: i32 = add %w, 1
  br unreached2
unreached2:
  %w: i32 = add %u, 1
  br unreached
}
"#;

struct Case {
    m: Module,
}

impl Case {
    fn new() -> Case {
        Case { m: parse_module(BASE).expect("the base is well-formed") }
    }

    fn f(&mut self) -> &mut Function {
        &mut self.m.functions[FuncId::from_u32(0)]
    }

    fn value(&self, name: &str) -> Value {
        let f = &self.m.functions[FuncId::from_u32(0)];
        f.values.iter().find(|(_, d)| &*d.name == name).expect("the base has this value").0
    }

    fn inst(&self, name: &str) -> Inst {
        let f = &self.m.functions[FuncId::from_u32(0)];
        f.def_inst(self.value(name)).expect("the value is an instruction's")
    }

    fn block(&self, name: &str) -> Block {
        let f = &self.m.functions[FuncId::from_u32(0)];
        f.blocks.iter().find(|(_, d)| &*d.name == name).expect("the base has this block").0
    }

    fn arg(&mut self, inst: &str, index: usize, value: &str) {
        let (i, v) = (self.inst(inst), self.value(value));
        self.f().insts[i].args[index] = v;
    }
}

/// An edit of the base must break this rule, and the message must say so.
fn breaks(rule: Rule, edit: impl FnOnce(&mut Case)) {
    let mut case = Case::new();
    edit(&mut case);
    let f = &case.m.functions[FuncId::from_u32(0)];
    let errors = verify(&case.m, f).expect_err("the edit breaks a rule");
    assert!(errors.errors.iter().any(|e| e.rule == rule), "{rule:?} is not among the errors:\n{errors}");
    assert!(errors.to_string().contains(&format!("error: {rule:?}: ")), "{errors}");
}

#[test]
fn the_base_breaks_no_rule() {
    let m = parse_module(BASE).expect("the base is well-formed");
    if let Err(e) = verify_module(&m) {
        panic!("{e}");
    }
}

#[test]
fn random_modules_break_no_rule() {
    for seed in 0..400 {
        let m = module(&mut SplitMix64::new(seed), &FunctionShape::default());
        if let Err(e) = verify_module(&m) {
            panic!("seed {seed}: {e}");
        }
    }
}

#[test]
fn ids_that_do_not_exist() {
    breaks(Rule::Ids, |c| c.f().layout.push(Block::from_u32(99)));
    breaks(Rule::Ids, |c| {
        let i = c.inst("next");
        c.f().insts[i].args[0] = Value::from_u32(999);
    });
    breaks(Rule::Ids, |c| {
        let i = c.inst("r");
        c.f().insts[i].op = Op::ReadVar(Var::from_u32(7));
    });
    breaks(Rule::Ids, |c| {
        let i = c.inst("r");
        c.f().insts[i].loc = Some(Loc::from_u32(7)).into();
    });
    breaks(Rule::Ids, |c| {
        let b = c.block("head");
        c.f().blocks[b].mask = Some(Value::from_u32(999)).into();
    });
    breaks(Rule::Ids, |c| {
        let b = c.block("head");
        c.f().blocks[b].preds.push(Edge::from_u32(999));
    });
    breaks(Rule::Ids, |c| {
        let t = c.block("entry");
        let t = c.f().terminator(t);
        c.f().insts[t].edges[0] = Edge::from_u32(999);
    });
}

#[test]
fn layouts() {
    breaks(Rule::Layout, |c| c.f().layout.clear());
    breaks(Rule::Layout, |c| {
        let b = c.block("tail");
        c.f().layout.push(b);
    });
}

#[test]
fn order_in_blocks() {
    breaks(Rule::Order, |c| {
        let b = c.block("dead");
        c.f().clear_terminator(b);
    });
    breaks(Rule::Order, |c| {
        let (b, i) = (c.block("head"), c.inst("next"));
        c.f().blocks[b].insts.retain(|&k| k != i);
        c.f().blocks[b].phis.push(i);
    });
    breaks(Rule::Order, |c| {
        let (b, i) = (c.block("head"), c.inst("i"));
        c.f().blocks[b].insts.push(i);
    });
    breaks(Rule::Order, |c| {
        let (b, i) = (c.block("head"), c.inst("next"));
        c.f().blocks[b].insts.push(i);
    });
    breaks(Rule::Order, |c| {
        let (b, i) = (c.block("tail"), c.inst("next"));
        c.f().insts[i].block = b;
    });
    breaks(Rule::Order, |c| {
        let (b, i) = (c.block("dead"), c.inst("r"));
        c.f().clear_terminator(b);
        c.f().blocks[b].term = i.into();
    });
}

#[test]
fn edges_and_in_edges() {
    breaks(Rule::Edges, |c| {
        let b = c.block("head");
        let t = c.f().terminator(b);
        c.f().insts[t].edges.pop();
    });
    breaks(Rule::Edges, |c| {
        let (b, to) = (c.block("head"), c.block("tail"));
        let e = c.f().out_edges(b)[0];
        c.f().edges[e].from = to;
    });
    breaks(Rule::Edges, |c| {
        let b = c.block("dead");
        c.f().layout.retain(|&k| k != b);
    });
    breaks(Rule::Edges, |c| {
        let b = c.block("head");
        let t = c.f().terminator(b);
        let e = c.f().insts[t].edges[0];
        c.f().insts[t].edges[1] = e;
    });
    breaks(Rule::Preds, |c| {
        let b = c.block("head");
        c.f().blocks[b].preds.swap(0, 1);
    });
    breaks(Rule::Preds, |c| {
        let (b, to) = (c.block("head"), c.block("dead"));
        let e = c.f().out_edges(b)[1];
        c.f().edges[e].to = to;
    });
    breaks(Rule::Preds, |c| {
        let b = c.block("out");
        c.f().make_edge(b, b);
    });
    breaks(Rule::PhiOperands, |c| {
        let b = c.block("head");
        let e = c.f().out_edges(b)[0];
        c.f().edges[e].args.clear();
    });
}

#[test]
fn the_entry() {
    breaks(Rule::Entry, |c| {
        let (b, entry) = (c.block("dead"), c.block("entry"));
        c.f().set_terminator(b, Op::Br, &[], &[entry]);
    });
    breaks(Rule::Entry, |c| {
        let entry = c.block("entry");
        c.f().add_phi(entry, Type::PTR);
    });
}

#[test]
fn definitions_results_and_operands() {
    breaks(Rule::Definitions, |c| {
        let v = c.value("next");
        c.f().values[v].def = ValueDef::Param(0);
    });
    breaks(Rule::Definitions, |c| c.f().params.swap(0, 1));
    breaks(Rule::Definitions, |c| {
        let v = c.f().int_const(32, 77);
        c.f().values[v].ty = Type::PTR;
    });
    breaks(Rule::Results, |c| {
        let i = c.inst("next");
        c.f().insts[i].results.clear();
    });
    breaks(Rule::Results, |c| {
        let v = c.value("call");
        c.f().values[v].ty = Type::Void;
    });
    breaks(Rule::Operands, |c| {
        let i = c.inst("next");
        c.f().insts[i].args.pop();
    });
    breaks(Rule::Operands, |c| {
        let (b, v) = (c.block("out"), c.value("r"));
        let t = c.f().terminator(b);
        c.f().insts[t].args.push(v);
    });
}

#[test]
fn types() {
    for (inst, index, value) in [
        ("next", 0, "p"),
        ("c", 1, "p"),
        ("f", 0, "n"),
        ("e", 0, "n"),
        ("sh", 1, "n"),
        ("l", 0, "n"),
        ("t", 0, "t"),
        ("a", 0, "p"),
        ("any", 0, "n"),
    ] {
        breaks(Rule::Types, |c| c.arg(inst, index, value));
    }
    breaks(Rule::Types, |c| {
        let v = c.value("next");
        c.f().values[v].ty = Type::F32;
    });
    breaks(Rule::Types, |c| {
        let (b, p) = (c.block("head"), c.value("p"));
        let e = c.f().out_edges(b)[0];
        c.f().set_phi_arg(e, 0, p);
    });
    breaks(Rule::Types, |c| {
        let (b, p) = (c.block("head"), c.value("n"));
        let t = c.f().terminator(b);
        c.f().insts[t].args[0] = p;
    });
    breaks(Rule::Types, |c| {
        let (b, p) = (c.block("out"), c.value("p"));
        let t = c.f().terminator(b);
        c.f().insts[t].args[0] = p;
    });
    breaks(Rule::Types, |c| {
        let b = c.block("tail");
        let t = c.f().terminator(b);
        c.f().insts[t].op = Op::Switch([1, 1].into());
    });
    breaks(Rule::Types, |c| {
        let b = c.block("tail");
        let t = c.f().terminator(b);
        c.f().insts[t].op = Op::Switch([1, 1 << 32].into());
    });
    for op in [Op::ExtractValue([2].into()), Op::ExtractValue([1].into()), Op::ExtractValue([].into())] {
        breaks(Rule::Types, |c| {
            let i = c.inst("e");
            c.f().insts[i].op = op;
        });
    }
    breaks(Rule::Types, |c| {
        let i = c.inst("sh");
        c.f().insts[i].op = Op::Shuffle([0, 8].into());
    });
    breaks(Rule::Types, |c| {
        let i = c.inst("l");
        c.f().insts[i].op = Op::Load(MemAccess::plain(3));
    });
    breaks(Rule::Types, |c| {
        let i = c.inst("t");
        c.f().insts[i].op = Op::Cast(CastOp::ZExt);
    });
}

#[test]
fn flags_and_calls() {
    for (inst, flag) in [("next", InstFlags::EXACT), ("f", InstFlags::NSW), ("c", InstFlags::NNAN)] {
        breaks(Rule::Flags, |c| {
            let i = c.inst(inst);
            c.f().insts[i].flags = flag;
        });
    }
    for (callee, fixed) in [("data", None), ("printf", Some(1)), ("callee", Some(1))] {
        breaks(Rule::Calls, |c| {
            let info =
                CallInfo { callee: c.m.symbol(callee), effects: Effects::UNKNOWN, variadic_fixed: fixed };
            let i = c.inst("call");
            c.f().insts[i].op = Op::Call(Box::new(info));
        });
    }
    breaks(Rule::Calls, |c| c.arg("call", 0, "f"));
    breaks(Rule::Calls, |c| {
        let i = c.inst("call");
        let n = c.value("n");
        c.f().insts[i].args.push(n);
    });
}

#[test]
fn masks_and_dominance() {
    breaks(Rule::Masks, |c| {
        let (b, n) = (c.block("head"), c.value("n"));
        c.f().blocks[b].mask = n.into();
    });
    breaks(Rule::Masks, |c| {
        let (b, any) = (c.block("head"), c.value("any"));
        c.f().blocks[b].mask = any.into();
    });
    breaks(Rule::Dominance, |c| c.arg("one", 0, "r"));
    breaks(Rule::Dominance, |c| c.arg("next", 1, "next"));
    breaks(Rule::Dominance, |c| {
        let (b, v) = (c.block("entry"), c.value("next"));
        let e = c.f().out_edges(b)[0];
        c.f().set_phi_arg(e, 0, v);
    });
    breaks(Rule::Dominance, |c| c.arg("call", 0, "w"));
    breaks(Rule::Dominance, |c| {
        let (b, i) = (c.block("tail"), c.inst("r"));
        c.f().blocks[b].insts.retain(|&k| k != i);
    });
}

#[test]
fn sigmas() {
    breaks(Rule::Sigmas, |c| {
        let (b, i) = (c.block("head"), c.inst("next"));
        c.f().blocks[b].insts.retain(|&k| k != i);
        c.f().blocks[b].insts.push(i);
    });
    breaks(Rule::Sigmas, |c| {
        let i = c.inst("back");
        c.f().insts[i].results.pop();
    });
    breaks(Rule::Sigmas, |c| {
        let (b, tail) = (c.block("head"), c.block("tail"));
        c.f().set_terminator(b, Op::Br, &[], &[tail]);
    });
    breaks(Rule::Types, |c| c.arg("back", 0, "c"));
    breaks(Rule::Operands, |c| {
        let i = c.inst("back");
        c.f().insts[i].args.clear();
    });
}

#[test]
fn results_of_sigmas_are_defined_on_their_edges_alone() {
    breaks(Rule::Dominance, |c| c.arg("call", 0, "back"));
    breaks(Rule::Dominance, |c| c.arg("back", 0, "last"));
    breaks(Rule::Dominance, |c| {
        let (b, v) = (c.block("head"), c.value("last"));
        let e = c.f().out_edges(b)[0];
        c.f().set_phi_arg(e, 0, v);
    });
    breaks(Rule::Dominance, |c| {
        let (b, last) = (c.block("head"), c.value("last"));
        let c_of_last = c.f().append_value(b, Op::ICmp(IntPred::Eq), &[last, last], Type::BOOL);
        let t = c.f().terminator(b);
        c.f().insts[t].args[0] = c_of_last;
    });
    // The loop is entered by one edge and again by its own.
    let mut c = Case::new();
    let (entry, one) = (c.block("entry"), c.value("one"));
    let sigma = c.f().add_sigma(entry, one);
    let result = c.f().insts[sigma].results[0];
    let next = c.inst("next");
    c.f().insts[next].args[1] = result;
    verify_module(&c.m).expect("control must have passed the edge into the loop");
    let i = c.value("i");
    c.f().insts[sigma].args[0] = i;
    assert!(verify_module(&c.m).is_err(), "the operand is used at the end of the entry");
}

#[test]
fn sigmas_stay_with_their_edges() {
    let mut c = Case::new();
    let head = c.block("head");
    let (back, leaving) = (c.f().out_edges(head)[0], c.f().out_edges(head)[1]);
    c.f().split_edge(back, "");
    c.f().split_edge(leaving, "");
    let (end, value) = (c.f().blocks[head].insts.len(), c.value("next"));
    let rest = c.f().split_block(head, end, "rest");
    c.f().append_value(rest, Op::Freeze, &[value], Type::Int(32));
    verify_module(&c.m).expect("σs are kept at the end of the block with their edges");
    let sigma = c.inst("back");
    assert_eq!(c.f().insts[sigma].block, rest);
}

#[test]
fn errors_stand_in_the_listing_behind_what_is_wrong() {
    let mut c = Case::new();
    c.arg("next", 1, "next");
    let text = verify(&c.m, &c.m.functions[FuncId::from_u32(0)]).expect_err("broken").to_string();
    assert!(
        text.contains(
            "  %next: i32 = add %i, %next\n    ; error: Dominance: %next is used before its definition\n"
        ),
        "{text}"
    );
    assert!(text.starts_with("function @f breaks the rules of the IR:\nfunc @f("), "{text}");
    assert!(print_module(&c.m).contains("%next: i32 = add %i, %next\n"));
}
