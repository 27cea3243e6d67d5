//! The analysis on small programs: what is uniform, what is not, in which shape, and why.

use super::report::{FunctionReport, Report};
use super::*;
use warpline_ir::FuncId;
use warpline_ir::text::parse_module;

struct Analysed {
    module: Module,
    result: Uniformity,
}

impl Analysed {
    fn func(&self) -> &Function {
        &self.module.functions[FuncId::from_u32(0)]
    }

    fn value(&self, name: &str) -> Value {
        let mut all = self.func().values.iter();
        all.find(|(_, d)| &*d.name == name).unwrap_or_else(|| panic!("no value {name}")).0
    }

    fn block(&self, name: &str) -> Block {
        let mut all = self.func().blocks.iter();
        all.find(|(_, d)| &*d.name == name).unwrap_or_else(|| panic!("no block {name}")).0
    }

    fn divergent(&self, value: &str) -> bool {
        self.result.is_divergent(self.value(value))
    }

    fn shape(&self, value: &str) -> String {
        self.result.shape(self.value(value)).to_string()
    }

    fn branch(&self, block: &str) -> bool {
        self.result.is_divergent_branch(self.block(block))
    }

    fn report(&self) -> FunctionReport {
        FunctionReport::new(&self.module, self.func(), &self.result)
    }
}

fn analyse_for(text: &str, args: &str, target: Target) -> Analysed {
    let module = parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let func = &module.functions[FuncId::from_u32(0)];
    let args = crate::shape::parse_args(args, &module, func).expect("shapes");
    let args = args.into_iter().map(|a| a.unwrap_or(ArgShape::Varying)).collect();
    let result = Uniformity::compute(&module, func, &Options { args, target, ..Options::default() });
    Analysed { module, result }
}

fn analyse_with(text: &str, args: &str, strict_undef: bool) -> Analysed {
    let module = parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let func = &module.functions[FuncId::from_u32(0)];
    let args = crate::shape::parse_args(args, &module, func).expect("shapes");
    let args = args.into_iter().map(|a| a.unwrap_or(ArgShape::Varying)).collect();
    let result = Uniformity::compute(&module, func, &Options { args, strict_undef, ..Options::default() });
    Analysed { module, result }
}

fn analyse(text: &str, args: &str) -> Analysed {
    analyse_with(text, args, false)
}

const LOOP: &str = r#"
func @f(%i: i32, %n: i32, %p: ptr) -> void {
entry:
  br head(0, %i) !0
head:
  %k: i32 = phi
  %x: i32 = phi
  %k.next: i32 = add nuw nsw %k, 1
  %x.next: i32 = add nuw nsw %x, 8
  %q: ptr = getelementptr i32, %p, %x
  %v: i32 = load %q, align 4 !1
  %c: i1 = icmp slt %v, %n
  br %c, head(%k.next, %x.next), exit !2
exit:
  %y: i32 = add %k.next, 1
  store %y, %p, align 4
  ret
}

!0 = "src/k.c":10:1
!1 = "src/k.c":11:9
!2 = "src/k.c":12:5
"#;

#[test]
fn lanes_that_leave_a_loop_apart_see_a_uniform_counter_differ_outside() {
    let a = analyse(LOOP, "index,uniform,uniform");
    assert!(!a.divergent("k") && !a.divergent("k.next"));
    assert_eq!(a.shape("k.next"), "uniform");
    assert!(a.branch("head"));
    let (k, exit) = (a.value("k.next"), a.block("exit"));
    assert!(a.result.is_divergent_at(k, exit));
    assert!(!a.result.is_divergent_at(k, a.block("head")));
    assert_eq!(a.result.shape_at(k, exit), Shape::Varying);
    assert!(a.divergent("y"));
    let c = a.result.cycles().top_level()[0];
    assert!(a.result.has_divergent_exit(c) && !a.result.is_given_up(c));
    assert_eq!(a.result.left_apart().collect::<Vec<_>>(), [c]);
    let k = (k, a.func().def_inst(a.value("y")).expect("an instruction"), c);
    assert_eq!(a.result.temporal_uses(a.func()), [k]);
}

#[test]
fn a_strided_induction_variable_keeps_its_stride_in_a_divergent_loop_and_loses_it_outside() {
    let a = analyse(LOOP, "index,uniform,uniform");
    assert_eq!(a.shape("x"), "stride(1) nuw nsw");
    assert_eq!(a.shape("x.next"), "stride(1) nuw nsw");
    assert_eq!(a.shape("q"), "stride(4)");
    assert_eq!(a.result.shape_at(a.value("x.next"), a.block("exit")), Shape::Varying);
}

#[test]
fn trap_13_a_plain_load_from_a_uniform_address_is_uniform_an_atomic_or_volatile_one_is_not() {
    let a = analyse(
        r#"
func @f(%p: ptr) -> void {
entry:
  %plain: i32 = load %p, align 4
  %volatile: i32 = load volatile %p, align 4
  %atomic: i32 = load monotonic %p, align 4
  ret
}
"#,
        "uniform",
    );
    assert!(!a.divergent("plain") && a.divergent("volatile") && a.divergent("atomic"));
}

#[test]
fn calls_are_uniform_only_if_their_effects_allow_it() {
    let a = analyse(
        r#"
declare @pure(i32) -> i32 []
declare @reads(i32) -> i32 [reads]
declare @writes(i32) -> i32 [writes]
declare @both(i32) -> i32 [reads writes]
declare @random() -> i32 [unknown_result]
declare @unknown(i32) -> i32 [unknown]
declare @crosslane(i32) -> i32 [convergent]
declare @warpline_lane_index() -> i32 []
declare @warpline_popcount(i1) -> i32 [convergent]
declare @_Z13get_global_idj(i32) -> i64 []

func @f(%u: i32, %i: i32) -> void {
entry:
  %pure: i32 = call @pure(%u)
  %pure.i: i32 = call @pure(%i)
  %reads: i32 = call @reads(%u)
  %writes: i32 = call @writes(%u)
  %both: i32 = call @both(%u)
  %random: i32 = call @random()
  %unknown: i32 = call @unknown(%u)
  %crosslane: i32 = call @crosslane(%u)
  %lane: i32 = call @warpline_lane_index()
  %c: i1 = icmp eq %i, 0
  %count: i32 = call @warpline_popcount(%c)
  %id: i64 = call @_Z13get_global_idj(0)
  %m: ptr = alloca i32, i32 1, align 4
  %any: i1 = any %c
  %lane2: i32 = lane_index
  ret
}
"#,
        "uniform,index",
    );
    for uniform in ["pure", "reads", "writes", "count", "any"] {
        assert!(!a.divergent(uniform), "{uniform}");
    }
    for divergent in ["pure.i", "both", "random", "unknown", "crosslane", "id", "m"] {
        assert_eq!(a.shape(divergent), "varying", "{divergent}");
    }
    assert_eq!(a.shape("lane"), "stride(1) nuw nsw");
    assert_eq!(a.shape("lane2"), "stride(1) nuw nsw");
}

#[test]
fn an_invoke_of_an_unknown_function_divides_the_lanes_and_its_result_is_not_forgotten() {
    let text = |effects: &str| {
        format!(
            r#"
func @f(%u: i32) -> i32 {{
entry:
  %r: i32 = opaque_term "invoke" %u {effects} -> normal, unwind
normal:
  %s: i32 = add %r, 1
  br end(%s)
unwind:
  %pad: ptr = opaque "landingpad" []
  br end(0)
end:
  %x: i32 = phi
  ret %x
}}
"#
        )
    };
    let a = analyse(&text("[unknown]"), "uniform");
    assert!(
        a.divergent("r") && a.divergent("s") && a.branch("entry") && a.divergent("pad") && a.divergent("x")
    );
    let reason = a.result.branch_reason(&a.module, a.func(), a.block("entry"));
    assert_eq!(reason, "invoke is the result of a call to an unknown function");
    let a = analyse(&text("[unwinds]"), "uniform");
    assert!(!a.divergent("r") && !a.branch("entry") && !a.divergent("x"), "a function of its operands");
    assert!(a.divergent("pad"));
}

#[test]
fn a_value_that_the_shapes_show_to_be_uniform_makes_its_branch_uniform() {
    let a = analyse(
        r#"
func @f(%i: i32, %u: i32) -> i32 {
entry:
  %j: i32 = add %i, %u
  %d: i32 = sub %j, %i
  %c: i1 = icmp slt %d, 7
  br %c, then, end(0)
then:
  br end(1)
end:
  %x: i32 = phi
  ret %x
}
"#,
        "index,uniform",
    );
    assert!(!a.divergent("d") && !a.divergent("c") && !a.branch("entry") && !a.divergent("x"));
    assert_eq!(a.shape("x"), "uniform");
}

#[test]
fn a_phi_in_a_join_of_a_divergent_branch_varies_whatever_it_merges() {
    let a = analyse(
        r#"
func @f(%i: i32, %u: i32) -> i32 {
entry:
  %c: i1 = icmp slt %i, %u
  br %c, then, end(%i, 0, %u)
then:
  %j: i32 = add %i, 1
  br end(%j, 1, %u)
end:
  %x: i32 = phi
  %y: i32 = phi
  %same: i32 = phi
  ret %x
}
"#,
        "index,uniform",
    );
    assert_eq!(a.shape("x"), "varying");
    assert_eq!(a.shape("y"), "varying");
    assert_eq!(a.shape("same"), "uniform");
    let steps = a.result.explain(&a.module, a.func(), a.value("y"));
    let texts: Vec<&str> = steps.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "%y = phi merges, in block end, values of lanes that diverge at the branch of block entry",
            "the branch of block entry depends on %c",
            "%c = icmp depends on %i",
            "%i is an argument of the shape index",
        ]
    );
}

#[test]
fn a_strided_phi_of_a_loop_with_a_divergent_continue_keeps_its_stride() {
    let a = analyse(
        r#"
func @f(%i: i32, %n: i32, %u: i32) -> void {
entry:
  br head(%i, 0)
head:
  %x: i32 = phi
  %k: i32 = phi
  %x.next: i32 = add nsw %x, 8
  %k.next: i32 = add nsw %k, 1
  %c: i1 = icmp slt %x, %u
  br %c, body, head(%x.next, %k.next)
body:
  %d: i1 = icmp slt %k.next, %n
  br %d, head(%x.next, %k.next), exit
exit:
  ret
}
"#,
        "index,uniform,uniform",
    );
    assert!(a.branch("head"));
    assert!(!a.divergent("k"));
    assert_eq!(a.shape("x"), "stride(1) nsw", "both ways round bring the same value");
}

#[test]
fn undef_on_one_side_of_a_join_is_taken_for_the_other_unless_strict() {
    let text = r#"
func @f(%i: i32, %u: i32) -> i32 {
entry:
  %c: i1 = icmp slt %i, %u
  br %c, then, end(undef)
then:
  br end(%u)
end:
  %x: i32 = phi
  ret %x
}
"#;
    assert!(!analyse_with(text, "index,uniform", false).divergent("x"));
    assert!(analyse_with(text, "index,uniform", true).divergent("x"));
}

#[test]
fn an_irreducible_cycle_that_lanes_enter_apart_is_given_up() {
    let a = analyse(
        r#"
func @f(%i: i32, %n: i32) -> void {
entry:
  %c: i1 = icmp slt %i, %n
  br %c, left(0), right(0)
left:
  %a: i32 = phi
  %a.next: i32 = add %a, 1
  br right(%a.next)
right:
  %b: i32 = phi
  %d: i1 = icmp slt %b, %n
  br %d, left(%b), exit
exit:
  ret
}
"#,
        "index,uniform",
    );
    assert!(a.divergent("a") && a.divergent("b") && a.branch("right"));
    let c = a.result.cycles().top_level()[0];
    assert!(a.result.is_given_up(c) && !a.result.cycles().is_reducible(c));
    let report = a.report();
    assert!(report.cycles[0].assumed_divergent && !report.cycles[0].reducible);
    let reason = report.reasons.iter().find(|r| r.kind == "loop").expect("a reason");
    assert_eq!(
        reason.text,
        "the irreducible cycle at block left is conservatively treated as divergent: lanes that diverge at the \
         branch of block entry enter it at different blocks"
    );
}

#[test]
fn a_stride_is_lost_where_lanes_part_inside_an_irreducible_cycle() {
    let a = analyse(
        r#"
func @f(%i: i32, %u: i32, %d: i1) -> void {
entry:
  %c: i1 = icmp slt %u, 0
  br %c, left, right
left:
  br %d, one, two
one:
  %a: i32 = add %i, 1
  br join(%a)
two:
  %b: i32 = add %i, 2
  br join(%b)
join:
  %x: i32 = phi
  br right
right:
  br %c, left, exit
exit:
  ret
}
"#,
        "index,uniform,varying",
    );
    assert_eq!(a.shape("x"), "varying");
}

#[test]
fn arguments_that_are_not_mentioned_vary() {
    let a = analyse(LOOP, "");
    for v in ["i", "n", "p"] {
        assert_eq!(a.shape(v), "varying");
    }
}

#[test]
fn a_function_without_blocks_has_a_result() {
    let mut module = Module::new("m");
    let mut func = Function::new("f", warpline_ir::Type::Void);
    let p = func.add_param(warpline_ir::Type::Int(32), "p");
    module.functions.push(func.clone());
    let result = Uniformity::compute(&module, &func, &Options::default());
    assert!(result.is_divergent(p));
    assert_eq!(FunctionReport::new(&module, &func, &result).blocks, 0);
}

#[test]
fn unreachable_blocks_and_variables_do_no_harm() {
    let a = analyse(
        r#"
func @f(%i: i32) -> void {
  var $x: i32
entry:
  write $x, 1
  %r: i32 = read $x
  ret
dead:
  %c: i1 = icmp eq %i, %d
  %d: i32 = add %d, %i
  br %c, dead, dead
}
"#,
        "index",
    );
    assert!(!a.divergent("r"));
    assert!(!a.branch("dead"));
}

#[test]
fn the_text_report_says_what_diverges_and_why() {
    let a = analyse(LOOP, "index,uniform,uniform");
    let text = Report { functions: vec![a.report()], ..Report::default() }.text();
    let expected = "\
function f: 3 blocks, 12 instructions
  arguments: %i index, %n uniform, %p uniform
  divergent: 6 of 8 values (3 strided), 1 of 1 branch, 1 of 1 loop
  divergent branch head (k.c:12): depends on %v = load (k.c:11), which depends on the argument %i (index)
  divergent loop head (k.c:11): lanes leave the loop at block head in different iterations by the edge head → \
   exit: they diverge at the branch of block head (k.c:12)
  temporal: %k.next used by %y outside the loop head
";
    assert_eq!(text, expected);
}

#[test]
fn the_report_lists_names_in_the_order_of_the_program() {
    let report = analyse(LOOP, "index,uniform,uniform").report();
    assert_eq!(report.divergent.arguments, ["%i"]);
    assert_eq!(report.divergent.values, ["%x", "%x.next", "%q", "%v", "%c", "%y"]);
    assert_eq!(report.divergent.branches, ["head"]);
    assert_eq!(report.cycles.len(), 1);
    assert!(report.cycles[0].divergent_exit && report.cycles[0].reducible);
    assert_eq!((&*report.cycles[0].header, &report.cycles[0].blocks[..]), ("head", &["head".to_owned()][..]));
}

/// Which of the named results are divergent, on a target.
fn divergent_on(text: &str, target: Target, names: &[&'static str]) -> Vec<&'static str> {
    let a = analyse_for(text, "uniform,uniform,uniform", target);
    names.iter().copied().filter(|n| a.divergent(n)).collect()
}

#[test]
fn gpus_have_intrinsics_of_their_own() {
    let text = r#"
declare @llvm.amdgcn.workitem.id.x() -> i32 []
declare @llvm.amdgcn.workgroup.id.x() -> i32 []
declare @llvm.amdgcn.readfirstlane.i32(i32) -> i32 [convergent]
declare @llvm.amdgcn.ds.bpermute(i32, i32) -> i32 [convergent]
declare @llvm.amdgcn.if.break.i64(i1, i64) -> i64 [convergent]
declare @llvm.amdgcn.if.i64(i1) -> { i1, i64 } [convergent unknown_result]
declare @llvm.smax.i32(i32, i32) -> i32 []
declare @helper(i32) -> i32 []

func @f(%u: i32, %g: ptr, %c: i1) -> void {
entry:
  %id: i32 = call @llvm.amdgcn.workitem.id.x()
  %group: i32 = call @llvm.amdgcn.workgroup.id.x()
  %first: i32 = call @llvm.amdgcn.readfirstlane.i32(%id)
  %permuted: i32 = call @llvm.amdgcn.ds.bpermute(%u, %group)
  %max: i32 = call @llvm.smax.i32(%u, %group)
  %max.id: i32 = call @llvm.smax.i32(%u, %id)
  %called: i32 = call @helper(%u)
  %if: { i1, i64 } = call @llvm.amdgcn.if.i64(%c)
  %cond: i1 = extractvalue %if [0]
  %mask: i64 = extractvalue %if [1]
  %broken: i64 = call @llvm.amdgcn.if.break.i64(%cond, %mask)
  ret
}
"#;
    let names =
        ["id", "group", "first", "permuted", "max", "max.id", "called", "if", "cond", "mask", "broken"];
    assert_eq!(divergent_on(text, Target::Amdgcn, &names), ["id", "max.id", "called", "if", "cond"]);
}

#[test]
fn loads_on_gpus_are_sources_where_lanes_may_have_their_own_memory() {
    let text = r#"
func @f(%p: ptr, %a: ptr addrspace(1), %b: ptr addrspace(5)) -> void {
entry:
  %generic: i32 = load %p, align 4
  %global: i32 = load %a, align 4
  %private: i32 = load %b, align 4
  %atomic: i32 = load monotonic %a, align 4
  %m: ptr addrspace(5) = alloca i32, i32 1, align 4
  ret
}
"#;
    let names = ["generic", "global", "private", "atomic", "m"];
    assert_eq!(divergent_on(text, Target::Amdgcn, &names), ["generic", "private", "atomic"]);
    assert_eq!(divergent_on(text, Target::Nvptx, &names), ["generic", "private", "atomic"]);
    assert_eq!(
        divergent_on(text, Target::Spirv, &names),
        ["generic", "atomic"],
        "5 is no private memory there"
    );
    assert_eq!(divergent_on(text, Target::Simd, &names), ["atomic", "m"]);
}

#[test]
fn work_item_functions_of_opencl_and_registers_of_ptx_are_known() {
    let text = r#"
global @__spirv_BuiltInGlobalInvocationId: i64 align 8
declare @_Z13get_global_idj(i32) -> i64 [convergent]
declare @_Z12get_group_idj(i32) -> i64 [convergent]
declare @_Z3fooj(i32) -> i64 []
declare @llvm.nvvm.read.ptx.sreg.tid.x() -> i32 []
declare @llvm.nvvm.read.ptx.sreg.ctaid.x() -> i32 []

func @f(%u: i32, %p: ptr, %q: ptr) -> void {
entry:
  %id: i64 = call @_Z13get_global_idj(%u)
  %group: i64 = call @_Z12get_group_idj(%u)
  %foo: i64 = call @_Z3fooj(%u)
  %tid: i32 = call @llvm.nvvm.read.ptx.sreg.tid.x()
  %ctaid: i32 = call @llvm.nvvm.read.ptx.sreg.ctaid.x()
  ret
}
"#;
    let names = ["id", "group", "foo", "tid", "ctaid"];
    assert_eq!(divergent_on(text, Target::Nvptx, &names), ["id", "foo", "tid"]);
    assert_eq!(divergent_on(text, Target::Spirv, &names), ["id", "foo", "tid"]);
    assert_eq!(divergent_on(text, Target::Simd, &names), ["id", "group", "tid"]);
}

const WRITTEN_IN_ARMS: &str = r#"
func @f(%i: i32, %n: i32) -> i32 {
  var $x: i1
entry:
  %c: i1 = icmp slt %i, %n
  br %c, left, right
left:
  write $x, true
  br join
right:
  br join
join:
  %x: i1 = read $x
  br %x, a, b
a:
  br b
b:
  ret 0
}
"#;

#[test]
fn a_read_of_what_some_lanes_wrote_is_uniform_unless_undefined_values_count() {
    let module = parse_module(WRITTEN_IN_ARMS).expect("a well-formed module");
    let func = module.functions.values().next().expect("a function");
    let args = vec![ArgShape::Varying, ArgShape::Uniform];
    for strict_undef in [false, true] {
        let options = Options { strict_undef, ..Options::with_args(args.clone()) };
        let result = Uniformity::compute(&module, func, &options);
        let join = func.layout[3];
        assert_eq!(result.is_divergent_branch(join), strict_undef);
        let steps = result.explain_branch(&module, func, join);
        let texts: Vec<String> = steps.into_iter().map(|step| step.text).collect();
        let expected = [
            "the branch of block join depends on %x",
            "%x = read depends on the variable $x at the start of block join",
            "the variable $x at the start of block join merges lanes that diverge at the branch of block entry",
            "the branch of block entry depends on %c",
            "%c = icmp depends on %i",
            "%i is an argument of the shape varying",
        ];
        assert_eq!(texts, if strict_undef { &expected[..] } else { &[] });
    }
}
