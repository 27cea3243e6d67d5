//! Random programs on structures in memory, with pointers in them, globals, calls, recursion and declassification: for
//! what is said of secrets.

use std::fmt::Write as _;

use warpline_ir::text::parse_module;
use warpline_ir::{FuncId, Module};

use crate::rng::SplitMix64;

/// The size of the structure: `{ i32, [2 x { i32, i32 }], ptr, i32 }`.
pub const SIZE: i64 = 40;
/// Where its pointer lies.
pub const POINTER: i64 = 24;
/// Its other members, from the first byte to behind the last one.
pub const MEMBERS: [(i64, i64); 3] = [(0, 4), (4, 20), (32, 36)];
/// The members of the array's elements, in the first of them; the size of an element, and how many there are.
pub const OF_ELEMENTS: [(i64, i64); 2] = [(4, 8), (8, 12)];
/// See [`OF_ELEMENTS`].
pub const ELEMENT: i64 = 8;
/// See [`OF_ELEMENTS`].
pub const ELEMENTS: i64 = 2;

/// A program: `kernel(ctx, q, k, n)` with pointers to structures and two numbers.
pub struct SecretProgram {
    /// The module.
    pub module: Module,
    /// The kernel.
    pub kernel: FuncId,
    /// Its text.
    pub text: String,
}

/// The program of a seed.
///
/// # Panics
/// If the text is none, which is a defect here.
pub fn generate(seed: u64) -> SecretProgram {
    let mut text = "type %p = { i32, i32 }\ntype %s = { i32, [2 x %p], ptr, i32 }\nglobal @g: %s align 8\n\
                    declare @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1) [writes reads traps arg_memory_only]\n\
                    declare @warpline_declassify_i32(i32) -> i32\n\
                    declare @helper0(ptr, i32) -> i32 [reads writes unknown_result traps]\n\
                    declare @twin(ptr, i32) -> i32 [reads writes unknown_result traps]\n\
                    declare @helper1(ptr, i32, i32) -> i32 [reads writes unknown_result traps]\n\n\
                    func @warpline_declassify_i32(%x: i32) -> i32 {\nentry:\n  ret 7\n}\n\n"
        .to_owned();
    let mut rng = SplitMix64::new(seed ^ 0x5ec_2e7);
    let heads = [
        (0, "helper0(%ctx: ptr, %k: i32)"),
        (0, "twin(%ctx: ptr, %k: i32)"),
        (1, "helper1(%ctx: ptr, %k: i32, %d: i32)"),
    ];
    for (number, head) in heads {
        let mut body = Body::new(&mut rng, number);
        let _ = writeln!(text, "func @{head} -> i32 {{\nentry:");
        if body.rng.chance(1, 2) {
            body.local("%own");
            body.initialize("%own");
        }
        if number == 1 {
            body.line("%last: i1 = icmp eq %d, 0");
            body.line("br %last, done, more");
            body.out += "done:\n  ret %k\nmore:\n";
            body.line("%less: i32 = sub %d, 1");
        }
        let size = body.rng.between(2, 6);
        body.statements(size, 0);
        if number == 1 && body.rng.chance(2, 3) {
            let (p, v) = (body.structure(), body.number());
            body.line(&format!("%again: i32 = call @helper1({p}, {v}, %less)"));
            body.numbers.push("%again".into());
        }
        let result = body.number();
        body.line(&format!("ret {result}"));
        text += &body.out;
        text += "}\n\n";
    }
    let mut body = Body::new(&mut rng, 2);
    body.structures.push("%q".into());
    body.numbers.push("%n".into());
    let _ = writeln!(text, "func @kernel(%ctx: ptr, %q: ptr, %k: i32, %n: i32) -> i32 {{\nentry:");
    for local in ["%l0", "%l1"] {
        body.local(local);
    }
    // Nothing is read that was not written.
    for to in ["%l0", "%l1", "@g"] {
        body.initialize(to);
    }
    body.line("%which: ptr = alloca ptr, i32 1, align 8");
    body.line("store ptr @helper0, %which, align 8");
    let size = body.rng.between(4, 14);
    body.statements(size, 0);
    let result = body.number();
    body.line(&format!("ret {result}"));
    text += &body.out;
    text += "}\n";
    let module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let kernel = module.function("kernel").expect("it is there");
    SecretProgram { module, kernel, text }
}

/// A number as an operand of which nothing else says the type.
fn typed(v: &str) -> String {
    if v.starts_with('%') { v.to_owned() } else { format!("i32 {v}") }
}

/// A function in the making.
struct Body<'a> {
    rng: &'a mut SplitMix64,
    /// Which function this is; it calls those before.
    number: usize,
    out: String,
    next: u32,
    numbers: Vec<String>,
    structures: Vec<String>,
}

impl Body<'_> {
    fn new(rng: &mut SplitMix64, number: usize) -> Body<'_> {
        let numbers = vec!["%k".into(), "3".into()];
        let structures = vec!["%ctx".into(), "@g".into()];
        Body { rng, number, out: String::new(), next: 0, numbers, structures }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "  {text}");
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    /// A number that is there: mostly a late one.
    fn number(&mut self) -> String {
        let n = self.numbers.len();
        let at = if self.rng.chance(1, 2) { n - 1 - self.rng.below(n.min(3)) } else { self.rng.below(n) };
        self.numbers[at].clone()
    }

    fn structure(&mut self) -> String {
        let at = self.rng.below(self.structures.len());
        self.structures[at].clone()
    }

    /// A condition on a variable.
    fn condition(&mut self) -> String {
        let (a, c) = (self.number(), self.fresh());
        let a = typed(&a);
        self.line(&format!("{c}: i1 = icmp ult {a}, 6"));
        c
    }

    /// The address of a member that is a number.
    fn member(&mut self) -> String {
        let (of, p) = (self.structure(), self.fresh());
        let path = match self.rng.below(4) {
            0 => "i32 0".to_owned(),
            1 => "i32 3".to_owned(),
            2 => format!("i32 1, i64 {}, i32 {}", self.rng.below(2), self.rng.below(2)),
            _ => {
                let (v, small, index) = (self.number(), self.fresh(), self.fresh());
                let v = typed(&v);
                self.line(&format!("{small}: i32 = and {v}, 1"));
                self.line(&format!("{index}: i64 = zext {small}"));
                format!("i32 1, {index}, i32 {}", self.rng.below(2))
            }
        };
        self.line(&format!("{p}: ptr = getelementptr inbounds %s, {of}, i64 0, {path}"));
        p
    }

    /// The address of a pointer in a structure.
    fn slot(&mut self) -> String {
        let (of, p) = (self.structure(), self.fresh());
        self.line(&format!("{p}: ptr = getelementptr inbounds %s, {of}, i64 0, i32 2"));
        p
    }

    /// A local structure.
    fn local(&mut self, name: &str) {
        self.line(&format!("{name}: ptr = alloca %s, i32 1, align 8"));
        self.structures.push(name.into());
    }

    /// Writes all members of a structure.
    fn initialize(&mut self, to: &str) {
        let v = self.number();
        for (member, at) in [
            ("i32 0", 0),
            ("i32 1, i64 0, i32 0", 1),
            ("i32 1, i64 0, i32 1", 2),
            ("i32 1, i64 1, i32 0", 3),
            ("i32 1, i64 1, i32 1", 4),
            ("i32 3", 5),
        ] {
            let v = if at % 2 == 0 { v.clone() } else { "5".into() };
            let p = self.fresh();
            self.line(&format!("{p}: ptr = getelementptr inbounds %s, {to}, i64 0, {member}"));
            self.line(&format!("store {}, {p}, align 4", typed(&v)));
        }
        let (p, target) =
            (self.fresh(), if self.number < 2 || self.rng.chance(1, 2) { "%ctx" } else { "%q" });
        self.line(&format!("{p}: ptr = getelementptr inbounds %s, {to}, i64 0, i32 2"));
        self.line(&format!("store {target}, {p}, align 8"));
    }

    /// A call to where a pointer leads, which may have been changed before.
    fn call_by_pointer(&mut self) {
        if self.rng.chance(1, 2) {
            let f = ["@helper0", "@twin"][self.rng.below(2)];
            self.line(&format!("store ptr {f}, %which, align 8"));
            return;
        }
        let (p, a, f, v) = (self.structure(), self.number(), self.fresh(), self.fresh());
        let p = if p.starts_with('@') { format!("ptr {p}") } else { p };
        self.line(&format!("{f}: ptr = load %which, align 8"));
        self.line(&format!("{v}: i32 = call {f}({p}, {}) [unknown]", typed(&a)));
        self.numbers.push(v);
    }

    fn statements(&mut self, count: usize, depth: u32) {
        for _ in 0..count {
            self.statement(depth);
        }
    }

    /// Statements of which nothing is seen behind them.
    fn scope(&mut self, depth: u32) {
        let (numbers, structures) = (self.numbers.len(), self.structures.len());
        let count = self.rng.between(1, 3);
        self.statements(count, depth + 1);
        self.numbers.truncate(numbers);
        self.structures.truncate(structures);
    }

    fn statement(&mut self, depth: u32) {
        match self.rng.below(if depth < 2 { 15 } else { 12 }) {
            0..=2 => {
                let (p, v) = (self.member(), self.fresh());
                self.line(&format!("{v}: i32 = load {p}, align 4"));
                self.numbers.push(v);
            }
            3 | 4 => {
                let (v, p) = (self.number(), self.member());
                self.line(&format!("store {}, {p}, align 4", typed(&v)));
            }
            5 => {
                let (p, v) = (self.slot(), self.fresh());
                self.line(&format!("{v}: ptr = load {p}, align 8"));
                self.structures.push(v);
            }
            6 => {
                let (v, p) = (self.structure(), self.slot());
                let v = if v.starts_with('%') { v } else { "%ctx".into() };
                self.line(&format!("store {v}, {p}, align 8"));
            }
            7 => {
                let (a, b, v) = (self.number(), self.number(), self.fresh());
                let op = ["add", "xor", "mul", "or"][self.rng.below(4)];
                self.line(&format!("{v}: i32 = {op} {}, {b}", typed(&a)));
                self.numbers.push(v);
            }
            8 => {
                let (a, b, odd, v) = (self.number(), self.number(), self.fresh(), self.fresh());
                self.line(&format!("{odd}: i32 = or {}, 1", typed(&a)));
                self.line(&format!("{v}: i32 = udiv {}, {odd}", typed(&b)));
                self.numbers.push(v);
            }
            9 => {
                let (c, a, b, v) = (self.condition(), self.number(), self.number(), self.fresh());
                self.line(&format!("{v}: i32 = select {c}, {}, {b}", typed(&a)));
                self.numbers.push(v);
            }
            10 => {
                let (to, from) = (self.structure(), self.structure());
                if to != from {
                    self.line(&format!("call @llvm.memcpy.p0.p0.i64({to}, {from}, i64 {SIZE}, false)"));
                }
            }
            11 => {
                let (a, v) = (self.number(), self.fresh());
                self.line(&format!("{v}: i32 = call @warpline_declassify_i32({})", typed(&a)));
                self.numbers.push(v);
            }
            12 if self.number == 2 && self.rng.chance(1, 2) => self.call_by_pointer(),
            12 if self.number > 0 => {
                let (p, a, v) = (self.structure(), self.number(), self.fresh());
                let call = match self.number == 2 && self.rng.chance(1, 2) {
                    true => {
                        format!("{v}: i32 = call @helper1({p}, {}, i32 {})", typed(&a), self.rng.below(4))
                    }
                    false => format!("{v}: i32 = call @helper0({p}, {})", typed(&a)),
                };
                self.line(&call);
                self.numbers.push(v);
            }
            12 | 13 => {
                let c = self.condition();
                let n = self.next;
                self.line(&format!("br {c}, then{n}, else{n}"));
                let _ = writeln!(self.out, "then{n}:");
                self.scope(depth);
                self.line(&format!("br join{n}"));
                let _ = writeln!(self.out, "else{n}:");
                if self.rng.chance(1, 2) {
                    self.scope(depth);
                }
                self.line(&format!("br join{n}"));
                let _ = writeln!(self.out, "join{n}:");
            }
            _ => {
                let (a, end) = (self.number(), self.fresh());
                self.line(&format!("{end}: i32 = and {}, 3", typed(&a)));
                let n = self.next;
                self.line(&format!("br loop{n}(0)"));
                let _ = writeln!(self.out, "loop{n}:\n  %i{n}: i32 = phi");
                self.line(&format!("%m{n}: i1 = icmp ult %i{n}, {end}"));
                self.line(&format!("br %m{n}, body{n}, out{n}"));
                let _ = writeln!(self.out, "body{n}:");
                self.numbers.push(format!("%i{n}"));
                self.scope(depth);
                self.numbers.pop();
                self.line(&format!("%s{n}: i32 = add %i{n}, 1"));
                self.line(&format!("br loop{n}(%s{n})"));
                let _ = writeln!(self.out, "out{n}:");
            }
        }
    }
}
