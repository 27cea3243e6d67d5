//! Walks through trees and lists, for which code is made for iterations in which lanes agree, against lanes one by one.

use std::fmt::Write as _;

use warpline_interp::LaneSet;
use warpline_ir::Type;
use warpline_testkit::differential::{Form, Outcome, Setup, compare_all};
use warpline_testkit::programs::{Inputs, ParamRole, Program};
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::Coherence;

/// What a walk does.
#[derive(Copy, Clone, Debug)]
struct Walk {
    /// Nodes are pointed to, instead of numbered.
    pointers: bool,
    /// What is left to do is on a stack; else each node says which is next.
    stack: bool,
    /// Some lanes do not walk at all.
    conditional: bool,
    /// Leaves have lists of their own.
    leaves: bool,
    /// The walk ends early where enough is found.
    early: bool,
    /// Lanes begin at a node of their own.
    scattered: bool,
    /// The next node is taken from the stack at the start of an iteration.
    pops_first: bool,
    /// There are two walks, one after the other.
    again: bool,
    /// The second begins where the first ends.
    at_once: bool,
}

impl Walk {
    fn random(rng: &mut SplitMix64) -> Walk {
        let [pointers, conditional, leaves, early, again, at_once] = [(); 6].map(|()| rng.chance(1, 2));
        let [stack, pops] = [(); 2].map(|()| rng.chance(3, 4));
        let scattered = rng.chance(1, 8);
        let (pops_first, at_once) = (stack && pops, again && at_once);
        Walk { pointers, stack, conditional, leaves, early, scattered, pops_first, again, at_once }
    }

    /// The text of a kernel. A node is four numbers; its children are further on, and none is further on than all data.
    fn text(self) -> String {
        let mut t = String::from(
            "module \"walk\"\n\nfunc @kernel(%i: i64, %q: i32, %u: i32, %nodes: ptr) -> i32 {\nentry:\n",
        );
        let stack = if self.pointers { "ptr" } else { "i32" };
        if self.stack {
            let _ = writeln!(t, "  %stack: ptr = alloca [40 x {stack}], i32 1, align 8");
        }
        t += "  %begin: i32 = and %u, 3\n  %own: i32 = and %q, 7\n";
        let begin = if self.scattered { "%own" } else { "%begin" };
        let _ = writeln!(t, "  %wide.begin: i64 = zext {begin}");
        t += "  %begin.p: ptr = getelementptr [4 x i32], %nodes, %wide.begin\n";
        t += "  %bit: i32 = and %q, 8\n  %c: i1 = icmp ne %bit, 0\n";
        let start = if self.pointers { "%begin.p" } else { begin };
        if self.pops_first {
            let _ = writeln!(t, "  store {start}, %stack, align 4");
        }
        // Where a walk begins, with this sum.
        let start = |sum: &str| match self.pops_first {
            true => format!("1, {sum}"),
            false => format!("{start}, 0, {sum}"),
        };
        if self.conditional {
            let _ = writeln!(t, "  br %c, head1({}), done1(7)", start("0"));
        } else {
            let _ = writeln!(t, "  br head1({})", start("0"));
        }
        let leave =
            if self.at_once { format!("head2({})", start("{sum}")) } else { "done1({sum})".to_owned() };
        self.walk(&mut t, 1, &leave);
        if self.again {
            t += "done1:\n  %res1: i32 = phi\n";
            let _ = writeln!(t, "  br head2({})", start("%res1"));
            self.walk(&mut t, 2, "done2({sum})");
            t += "done2:\n  %res2: i32 = phi\n  ret %res2\n}\n";
        } else {
            t += "done1:\n  %res1: i32 = phi\n  ret %res1\n}\n";
        }
        t
    }

    /// The n-th walk, which is left to a block; that may get the sum as `{sum}`.
    fn walk(self, t: &mut String, n: u32, leave: &str) {
        let [empty, leave] = [format!("%sum{n}"), format!("%w{n}")].map(|sum| leave.replace("{sum}", &sum));
        let node_ty = if self.pointers { "ptr" } else { "i32" };
        if self.pops_first {
            let _ = writeln!(
                t,
                "head{n}:\n  %height{n}: i32 = phi\n  %sum{n}: i32 = phi\n  %none{n}: i1 = icmp eq %height{n}, 0\n  \
                 br %none{n}, {empty}, step{n}\nstep{n}:\n  %top{n}: i32 = add %height{n}, -1\n  %top.wide{n}: \
                  i64 = zext %top{n}\n  \
                 %slot{n}: ptr = getelementptr {node_ty}, %stack, %top.wide{n}\n  %node{n}: {node_ty} = load \
                  %slot{n}, align 4"
            );
        } else {
            let _ = writeln!(
                t,
                "head{n}:\n  %node{n}: {node_ty} = phi\n  %top{n}: i32 = phi\n  %sum{n}: i32 = phi"
            );
        }
        if self.pointers {
            let _ = writeln!(t, "  %p{n}: ptr = getelementptr i8, %node{n}, i64 0");
        } else {
            let _ = writeln!(
                t,
                "  %wide{n}: i64 = zext %node{n}\n  %p{n}: ptr = getelementptr [4 x i32], %nodes, %wide{n}"
            );
        }
        for (k, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
            let _ = writeln!(t, "  %{name}{n}.p: ptr = getelementptr i8, %p{n}, i64 {}", 4 * k);
            let _ = writeln!(t, "  %{name}{n}: i32 = load %{name}{n}.p, align 4");
        }
        let _ = writeln!(
            t,
            "  %mixed{n}: i32 = xor %a{n}, %q\n  %scaled{n}: i32 = mul %sum{n}, 3\n  %s{n}: i32 = add \
             %scaled{n}, %mixed{n}"
        );
        // The number of a node, whose address may be all that is known.
        if self.pointers {
            let _ = writeln!(
                t,
                "  %at{n}: i64 = ptrtoint %node{n}\n  %base{n}: i64 = ptrtoint %nodes\n  %bytes{n}: i64 = sub \
                 %at{n}, %base{n}\n  \
                 %k{n}: i64 = lshr %bytes{n}, 4\n  %number{n}: i32 = trunc %k{n}"
            );
        } else {
            let _ = writeln!(t, "  %number{n}: i32 = or %node{n}, 0");
        }
        let _ = writeln!(
            t,
            "  %late{n}: i1 = icmp uge %number{n}, 20\n  %kind{n}: i32 = and %a{n}, 3\n  %empty{n}: i1 = icmp \
             eq %kind{n}, 0\n  %leaf{n}: i1 = or %late{n}, %empty{n}"
        );
        let leaf = if self.leaves { format!("list{n}(0, %s{n})") } else { format!("pop{n}(%s{n})") };
        let _ = writeln!(t, "  br %leaf{n}, {leaf}, inner{n}\ninner{n}:");
        let _ = writeln!(
            t,
            "  %l.bits{n}: i32 = and %b{n}, 3\n  %l.step{n}: i32 = add %l.bits{n}, 1\n  %l{n}: i32 = add \
             %number{n}, %l.step{n}"
        );
        let _ = writeln!(
            t,
            "  %r.bits{n}: i32 = and %c{n}, 7\n  %r.step{n}: i32 = add %r.bits{n}, 2\n  %r{n}: i32 = add \
             %number{n}, %r.step{n}"
        );
        let _ = writeln!(
            t,
            "  %left{n}: i1 = icmp slt %q, %d{n}\n  %near{n}: i32 = select %left{n}, %l{n}, %r{n}\n  %far{n}: \
             i32 = select %left{n}, %r{n}, %l{n}"
        );
        for child in ["near", "far"] {
            if self.pointers {
                let _ = writeln!(
                    t,
                    "  %{child}.wide{n}: i64 = zext %{child}{n}\n  %{child}.n{n}: ptr = getelementptr [4 x \
                     i32], %nodes, %{child}.wide{n}"
                );
            } else {
                let _ = writeln!(t, "  %{child}.n{n}: i32 = or %{child}{n}, 0");
            }
        }
        if self.pops_first {
            let _ = writeln!(
                t,
                "  store %far.n{n}, %slot{n}, align 4\n  %second{n}: ptr = getelementptr {node_ty}, %slot{n}, i64 1\n  \
                 store %near.n{n}, %second{n}, align 4\n  %up{n}: i32 = add %top{n}, 2\n  br head{n}(%up{n}, %s{n})"
            );
        } else if self.stack {
            let _ = writeln!(
                t,
                "  %top.wide{n}: i64 = zext %top{n}\n  %slot{n}: ptr = getelementptr {node_ty}, %stack, \
                 %top.wide{n}\n  \
                 store %far.n{n}, %slot{n}, align 4\n  %up{n}: i32 = add %top{n}, 1\n  br head{n}(%near.n{n}, \
                  %up{n}, %s{n})"
            );
        } else {
            let _ = writeln!(t, "  br head{n}(%near.n{n}, 0, %s{n})");
        }
        if self.leaves {
            let _ = writeln!(
                t,
                "list{n}:\n  %j{n}: i32 = phi\n  %t{n}: i32 = phi\n  %count{n}: i32 = and %b{n}, 3\n  %more{n}: \
                 i1 = icmp ult %j{n}, %count{n}\n  \
                 br %more{n}, item{n}, pop{n}(%t{n})\nitem{n}:\n  %from{n}: i32 = and %c{n}, 63\n  %place{n}: \
                  i32 = add %from{n}, %j{n}\n  \
                 %place.wide{n}: i64 = zext %place{n}\n  %item.p{n}: ptr = getelementptr i32, %nodes, \
                  %place.wide{n}\n  \
                 %x{n}: i32 = load %item.p{n}, align 4\n  %t.new{n}: i32 = add %t{n}, %x{n}\n  %j.new{n}: i32 = \
                  add %j{n}, 1\n  \
                 br list{n}(%j.new{n}, %t.new{n})"
            );
        }
        let _ = writeln!(t, "pop{n}:\n  %w{n}: i32 = phi");
        let pop = match (self.pops_first, self.stack) {
            (true, _) => format!("head{n}(%top{n}, %w{n})"),
            (_, true) => format!("rest{n}"),
            _ => leave.clone(),
        };
        if self.early {
            let _ = writeln!(
                t,
                "  %low{n}: i32 = and %w{n}, 15\n  %found{n}: i1 = icmp eq %low{n}, 5\n  br %found{n}, {leave}, {pop}"
            );
        } else {
            let _ = writeln!(t, "  br {pop}");
        }
        if self.stack && !self.pops_first {
            let _ = writeln!(
                t,
                "rest{n}:\n  %none{n}: i1 = icmp eq %top{n}, 0\n  br %none{n}, {leave}, take{n}\ntake{n}:\n  \
                 %down{n}: i32 = add %top{n}, -1\n  %down.wide{n}: i64 = zext %down{n}\n  \
                 %from.slot{n}: ptr = getelementptr {node_ty}, %stack, %down.wide{n}\n  \
                 %next{n}: {node_ty} = load %from.slot{n}, align 4\n  br head{n}(%next{n}, %down{n}, %w{n})"
            );
        }
    }

    fn program(self) -> Program {
        let text = self.text();
        let module = warpline_ir::text::parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let kernel = module.function("kernel").expect("a kernel");
        let nodes = ParamRole::Buffer { elem: Type::Int(32), len: 256, written: false };
        Program {
            module,
            kernel,
            roles: vec![ParamRole::Index, ParamRole::Varying, ParamRole::Uniform, nodes],
        }
    }
}

#[test]
fn lanes_that_walk_together_or_wait_find_what_each_finds_alone() {
    let count = std::env::var("WARPLINE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(250u64);
    let first = std::env::var("WARPLINE_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1u64);
    let (mut agreed, mut coherent) = (0, 0);
    for seed in first..first + count {
        let mut rng = SplitMix64::new(seed);
        let walk = Walk::random(&mut rng);
        let width = *rng.pick(&[2, 3, 4, 8, 16]);
        let mask = (rng.below(3) == 0).then(|| LaneSet(rng.next_u64() & LaneSet::first(width).0));
        let coherence = *rng.pick(&[Coherence::On, Coherence::Auto]);
        let form = Form { coherence, ..Form::random(&mut rng) };
        let program = walk.program();
        match compare_all(
            &program,
            &Inputs::random(&program, width, seed),
            &Setup { mask, form, fuel: 3_000_000 },
        ) {
            Outcome::Agree(report) => {
                agreed += 1;
                coherent += u64::from(report.coherent > 0);
            }
            Outcome::Skipped(_) => {}
            other => panic!(
                "seed {seed}, {walk:?}, width {width}, {form:?}, {mask:?}: {other:?}\n{}",
                program.text()
            ),
        }
    }
    println!("{agreed} of {count} agree, {coherent} with bodies made twice");
    assert!(agreed * 2 > count && coherent * 3 > agreed, "vacuous: {agreed} of {count}, {coherent}");
}
