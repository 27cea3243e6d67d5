//! The loops that operations are measured by, in LLVM's IR: what LLVM makes of them is what vector code costs.
//!
//! A loop executes an operation so many times. Either each execution takes what the one before left (with one chain
//! this shows the latency, with several the throughput), or all are independent. Values go through empty pieces of
//! assembly, so that LLVM neither moves nor removes what is measured.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use warpline_target::{Element, Op};

/// How many executions an iteration has where throughput is measured.
const MANY: usize = 10;

/// An instruction set, as far as rows differ.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Set {
    /// Bits of a register.
    pub bits: u32,
    /// Whether there are instructions that gather.
    pub gathers: bool,
    /// Whether there are masks of their own.
    pub masks: bool,
    /// Whether it is of x86.
    pub x86: bool,
}

/// A row of a table: an operation on vectors of so many bits, or of one element.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Row {
    pub op: Op,
    pub element: Element,
    /// Bits of the vector; none for scalar code.
    pub bits: Option<u32>,
}

/// A loop that a row is measured by.
pub(super) struct Loop {
    /// The name of its function, which takes data, memory and how often to go round.
    pub name: String,
    pub row: Row,
    pub shows: Shows,
    pub text: String,
    /// What the function declares.
    pub declarations: String,
    /// How many executions of the operation an iteration has.
    pub times: usize,
}

/// What a loop shows.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Shows {
    Throughput,
    Latency,
}

/// The loops for a table.
pub(super) fn loops(set: Set, asked: impl Fn(Op) -> bool) -> Vec<Loop> {
    let mut loops = Vec::new();
    for op in Op::ALL.iter().copied().filter(|&op| asked(op)) {
        for element in Element::ALL {
            let sizes = [128, 256, 512].into_iter().filter(|&bits| bits <= set.bits).map(Some);
            for bits in std::iter::once(None).chain(sizes) {
                let row = Row { op, element, bits };
                loops.extend([Shows::Throughput, Shows::Latency].iter().filter_map(|&s| row.as_loop(set, s)));
            }
        }
    }
    loops
}

/// The module of some loops for a CPU.
pub(super) fn module(loops: &[Loop], triple: &str, cpu: &str, features: &str, set: Set) -> String {
    let functions: String = loops.iter().map(|one| one.text.as_str()).collect();
    let declared: BTreeSet<&str> = loops.iter().map(|one| one.declarations.as_str()).collect();
    let declarations: String = declared.into_iter().collect();
    let wide = format!("\"prefer-vector-width\"=\"{0}\" \"min-legal-vector-width\"=\"{0}\"", set.bits);
    format!(
        "target triple = \"{triple}\"\n{functions}{declarations}attributes #0 = {{ nounwind \"target-cpu\"=\"{cpu}\" \
         \"target-features\"=\"{features}\" {wide} }}\n"
    )
}

/// What one execution of an operation is in IR.
struct Body {
    /// Its lines; `%r` is the result.
    lines: String,
    /// Whether the result is what the next execution takes.
    carried: bool,
    declarations: String,
}

impl Row {
    /// Its name, as assemblers take it.
    fn name(&self) -> String {
        let size = self.bits.map_or("scalar".to_owned(), |bits| bits.to_string());
        format!("{}_{}_{size}", self.op.name().replace('-', "_"), self.element.name())
    }

    /// The loop that shows something of it, if there is one.
    pub(super) fn as_loop(&self, set: Set, shows: Shows) -> Option<Loop> {
        let carried = self.body(set, 0)?.carried;
        let (times, kind) = match (shows, carried) {
            (Shows::Latency, false) => return None,
            (Shows::Latency, true) => (1, "latency"),
            (Shows::Throughput, _) => (MANY, "throughput"),
        };
        let name = format!("{}_{kind}", self.name());
        let (ty, class) = (self.ty(), self.class(set));
        let (mut phis, mut lines, mut start, mut end, mut declarations) =
            (String::new(), String::new(), String::new(), String::new(), String::new());
        // Integers in general registers are hidden from what LLVM knows of sums.
        let hidden = !carried || class == "r";
        for k in 0..times {
            let body = self.body(set, k)?;
            let bytes = 64 * (k + 1);
            let _ = writeln!(
                start,
                "  %p{k} = getelementptr i8, ptr %data, i64 {bytes}\n  %s{k} = load volatile {ty}, ptr %p{k}, align 1"
            );
            let (input, left) = (
                format!("%{}{k}", if hidden { "o" } else { "a" }),
                format!("%{}{k}", if carried { "r" } else { "o" }),
            );
            let _ = writeln!(phis, "  %a{k} = phi {ty} [ %s{k}, %entry ], [ {left}, %loop ]");
            if hidden {
                let _ =
                    writeln!(lines, "  %o{k} = call {ty} asm sideeffect \"\", \"={class},0\"({ty} %a{k})");
            }
            let own = body.lines.replace("%A", &input).replace("%#", &format!("%x{k}_"));
            lines.push_str(&own.replace("%r", &format!("%r{k}")));
            if carried {
                let _ = writeln!(end, "  call void asm sideeffect \"\", \"{class}\"({ty} %r{k})");
            }
            declarations = body.declarations;
        }
        let text = format!(
            "define void @\"{name}\"(ptr %data, ptr %memory, i64 %n) #0 {{
entry:
  %b = load volatile {ty}, ptr %data, align 1
  %pd = getelementptr i8, ptr %data, i64 1024
  %d = load volatile {ty}, ptr %pd, align 1
{start}  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{phis}{lines}  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
{end}  ret void
}}
"
        );
        Some(Loop { name, row: *self, shows, text, declarations, times })
    }

    fn lanes(&self) -> u32 {
        self.bits.map_or(1, |bits| bits / self.element.bits())
    }

    /// The type that is computed with, as IR has it.
    fn ty(&self) -> String {
        match self.op {
            // Indices.
            Op::Gather | Op::Scatter | Op::Replicate | Op::ReplicatedStore => {
                self.vector(index(self.element))
            }
            _ => self.vector(self.element),
        }
    }

    fn vector(&self, element: Element) -> String {
        let name = ir_name(element);
        if self.bits.is_some() { format!("<{} x {name}>", self.lanes()) } else { name.to_owned() }
    }

    /// The letter for the registers that hold such values.
    fn class(&self, set: Set) -> &'static str {
        match () {
            () if !set.x86 && (self.bits.is_some() || self.element.is_float()) => "w",
            () if self.bits == Some(512) => "v",
            () if self.bits.is_some() || self.element.is_float() => "x",
            () => "r",
        }
    }

    /// The name of such vectors in names of intrinsics.
    fn mangled(&self) -> String {
        match self.bits {
            Some(_) => format!("v{}{}", self.lanes(), self.element.name()),
            None => self.element.name().to_owned(),
        }
    }

    /// The body of the `k`-th execution. `%A` is what it takes, `%b` and `%d` are constant, names with `%#` are its
    /// own.
    fn body(&self, set: Set, k: usize) -> Option<Body> {
        let Row { op, element, bits } = *self;
        let lanes = self.lanes();
        let vector = bits.is_some();
        match op {
            Op::Load | Op::Store => Some(self.neighbours(k)),
            Op::MaskedLoad | Op::MaskedStore if vector && set.serves(element) => Some(self.masked(set, k)),
            Op::Interleave if vector => Some(self.interleaved(set, k)),
            Op::Gather if vector && set.gathers && element.bits() >= 32 => Some(self.gather(set)),
            Op::Scatter if vector && set.masks && element.bits() >= 32 => Some(self.scatter()),
            Op::Replicate if vector && element.bits() >= 32 => Some(self.replicated_load(set)),
            Op::ReplicatedStore if vector && element.bits() >= 32 => Some(self.replicated_store()),
            Op::Any if vector => Some(Body::free(format!(
                "{}  %#i = bitcast <{lanes} x i1> %#m to i{lanes}
  %#c = icmp ne i{lanes} %#i, 0
  %#e = zext i1 %#c to i32
  call void asm sideeffect \"\", \"r\"(i32 %#e)\n",
                self.mask()
            ))),
            _ => self.arithmetic(set),
        }
    }

    /// Operations whose results are what the next execution takes.
    fn arithmetic(&self, set: Set) -> Option<Body> {
        let Row { op, element, bits } = *self;
        let (ty, lanes, float, class) = (self.ty(), self.lanes(), element.is_float(), self.class(set));
        let function = |name: &str, more: &str| {
            let symbol = format!("@llvm.{name}.{}", self.mangled());
            let types = vec![ty.as_str(); 1 + more.matches('%').count()].join(", ");
            let declarations = format!("declare {ty} {symbol}({types})\n");
            Body { declarations, ..Body::carried(format!("%r = call {ty} {symbol}({ty} %A{more})")) }
        };
        let line = match op {
            Op::Add => format!("%r = {} {ty} %A, %b", if float { "fadd" } else { "add" }),
            Op::Multiply => format!("%r = {} {ty} %A, %b", if float { "fmul" } else { "mul" }),
            Op::Divide if float => format!("%r = fdiv {ty} %b, %A"),
            // No vectors of integers are divided by instructions.
            Op::Divide if bits.is_none() => format!("%r = sdiv {ty} %b, %A"),
            Op::FusedMultiply if float && (set.bits >= 256 || !set.x86) => {
                return Some(function("fma", &format!(", {ty} %b, {ty} %d")));
            }
            Op::SquareRoot if float => return Some(function("sqrt", "")),
            Op::Compare => {
                let compare = if float { "fcmp olt" } else { "icmp slt" };
                let bools = if bits.is_some() { format!("<{lanes} x i1>") } else { "i1".to_owned() };
                format!("%#c = {compare} {ty} %A, %b\n  %r = select {bools} %#c, {ty} %d, {ty} %A")
            }
            Op::Convert if float => {
                let int = self.vector(Element::I32);
                format!("%#c = fptosi {ty} %A to {int}\n  %r = sitofp {int} %#c to {ty}")
            }
            Op::Widen if !float && bits.is_some_and(|bits| bits >= 256) && element != Element::I8 => {
                // There and back, with what LLVM does not know between.
                let half = self.vector(Element::int(element.bits() / 2));
                format!(
                    "%#n = trunc {ty} %A to {half}
  %#o = call {half} asm sideeffect \"\", \"={class},0\"({half} %#n)
  %r = sext {half} %#o to {ty}"
                )
            }
            Op::Shuffle if bits.is_some() => {
                let order: Vec<String> = (0..lanes).rev().map(|lane| format!("i32 {lane}")).collect();
                format!("%r = shufflevector {ty} %A, {ty} poison, <{lanes} x i32> <{}>", order.join(", "))
            }
            _ => return None,
        };
        Some(Body::carried(line))
    }

    /// A mask: the lanes in which what is taken is negative.
    fn mask(&self) -> String {
        let ints = self.vector(same_size(self.element));
        let ty = self.ty();
        format!("  %#w = bitcast {ty} %A to {ints}\n  %#m = icmp slt {ints} %#w, zeroinitializer\n")
    }

    /// A load or store of neighbours.
    fn neighbours(&self, k: usize) -> Body {
        let (ty, align) = (self.ty(), self.element.bits() / 8);
        Body::free(match self.op {
            Op::Load => format!("{}  %r = load volatile {ty}, ptr %#p, align {align}\n", place(k)),
            _ => format!("{}  store volatile {ty} %A, ptr %#p, align {align}\n", place(k)),
        })
    }

    /// The same under a mask.
    fn masked(&self, set: Set, k: usize) -> Body {
        let (ty, lanes, align, class) = (self.ty(), self.lanes(), self.element.bits() / 8, self.class(set));
        let (begin, bools) = (place(k) + &self.mask(), format!("<{lanes} x i1>"));
        let (symbol, lines, declarations);
        if self.op == Op::MaskedLoad {
            symbol = format!("@llvm.masked.load.{}.p0", self.mangled());
            declarations = format!("declare {ty} {symbol}(ptr, i32, {bools}, {ty})\n");
            lines = format!(
                "  %#v = call {ty} {symbol}(ptr %#p, i32 {align}, {bools} %#m, {ty} zeroinitializer)
  call void asm sideeffect \"\", \"{class}\"({ty} %#v)\n"
            );
        } else {
            symbol = format!("@llvm.masked.store.{}.p0", self.mangled());
            declarations = format!("declare void {symbol}({ty}, ptr, i32, {bools})\n");
            lines = format!("  call void {symbol}({ty} %A, ptr %#p, i32 {align}, {bools} %#m)\n");
        }
        Body { declarations, ..Body::free(begin + &lines) }
    }

    /// Two registers of neighbours, and of them every other element.
    fn interleaved(&self, set: Set, k: usize) -> Body {
        let (ty, lanes, align, class) = (self.ty(), self.lanes(), self.element.bits() / 8, self.class(set));
        let wide = format!("<{} x {}>", 2 * lanes, ir_name(self.element));
        let every = |first: u32| {
            let lanes: Vec<String> = (0..lanes).map(|lane| format!("i32 {}", 2 * lane + first)).collect();
            lanes.join(", ")
        };
        Body::free(format!(
            "{}  %#w = load {wide}, ptr %#p, align {align}
  %#e = shufflevector {wide} %#w, {wide} poison, <{lanes} x i32> <{}>
  %#f = shufflevector {wide} %#w, {wide} poison, <{lanes} x i32> <{}>
  call void asm sideeffect \"\", \"{class},{class}\"({ty} %#e, {ty} %#f)\n",
            place(k),
            every(0),
            every(1)
        ))
    }

    /// Addresses of elements at indices.
    fn addresses(&self) -> String {
        format!("  %#p = getelementptr {}, ptr %memory, {} %A\n", ir_name(self.element), self.ty())
    }

    /// An instruction of AVX2, or what LLVM has for AVX-512; what is loaded is the next index.
    fn gather(&self, set: Set) -> Body {
        let Row { element, bits, .. } = *self;
        let (ty, lanes, loaded) = (self.ty(), self.lanes(), self.vector(element));
        let bytes = element.bits() / 8;
        let next = match element.is_float() {
            true => format!("  %r = bitcast {loaded} %#v to {ty}\n"),
            false => format!("  %r = add {ty} %#v, zeroinitializer\n"),
        };
        let (begin, symbol, arguments, types);
        if set.masks {
            begin = self.addresses();
            symbol = format!("@llvm.masked.gather.{}.v{lanes}p0", self.mangled());
            types = format!("<{lanes} x ptr>, i32, <{lanes} x i1>, {loaded}");
            arguments = format!(
                "<{lanes} x ptr> %#p, i32 {bytes}, <{lanes} x i1> splat (i1 true), {loaded} zeroinitializer"
            );
        } else {
            let (index, letters) = match element {
                Element::F32 => ("d", "ps"),
                Element::F64 => ("q", "pd"),
                Element::I32 => ("d", "d"),
                _ => ("q", "q"),
            };
            let size = if bits == Some(256) { ".256" } else { "" };
            let all = format!("splat (i{} -1)", element.bits());
            let mask = match element.is_float() {
                true => format!("bitcast ({} {all} to {loaded})", self.vector(same_size(element))),
                false => all,
            };
            begin = String::new();
            symbol = format!("@llvm.x86.avx2.gather.{index}.{letters}{size}");
            types = format!("{loaded}, ptr, {ty}, {loaded}, i8");
            arguments =
                format!("{loaded} zeroinitializer, ptr %memory, {ty} %A, {loaded} {mask}, i8 {bytes}");
        }
        Body {
            lines: format!("{begin}  %#v = call {loaded} {symbol}({arguments})\n{next}"),
            carried: true,
            declarations: format!("declare {loaded} {symbol}({types})\n"),
        }
    }

    /// What LLVM has for AVX-512.
    fn scatter(&self) -> Body {
        let (lanes, stored, bytes) = (self.lanes(), self.vector(self.element), self.element.bits() / 8);
        let symbol = format!("@llvm.masked.scatter.{}.v{lanes}p0", self.mangled());
        let lines = format!(
            "{}  call void {symbol}({stored} zeroinitializer, <{lanes} x ptr> %#p, i32 {bytes}, \
             <{lanes} x i1> splat (i1 true))\n",
            self.addresses()
        );
        let declarations = format!("declare void {symbol}({stored}, <{lanes} x ptr>, i32, <{lanes} x i1>)\n");
        Body { declarations, ..Body::free(lines) }
    }

    /// A load for each lane, whose results are put together.
    fn replicated_load(&self, set: Set) -> Body {
        let (lanes, loaded, name, class) =
            (self.lanes(), self.vector(self.element), ir_name(self.element), self.class(set));
        let mut lines = self.addresses();
        for lane in 0..lanes {
            let before = if lane == 0 { "poison".to_owned() } else { format!("%#v{}", lane - 1) };
            let _ = writeln!(
                lines,
                "  %#a{lane} = extractelement <{lanes} x ptr> %#p, i32 {lane}
  %#l{lane} = load {name}, ptr %#a{lane}
  %#v{lane} = insertelement {loaded} {before}, {name} %#l{lane}, i32 {lane}"
            );
        }
        let _ = writeln!(lines, "  call void asm sideeffect \"\", \"{class}\"({loaded} %#v{})", lanes - 1);
        Body::free(lines)
    }

    /// A store for each lane.
    fn replicated_store(&self) -> Body {
        let (lanes, stored, name) = (self.lanes(), self.vector(self.element), ir_name(self.element));
        let mut lines = self.addresses() + &format!("  %#w = bitcast {} %A to {stored}\n", self.ty());
        for lane in 0..lanes {
            let _ = writeln!(
                lines,
                "  %#a{lane} = extractelement <{lanes} x ptr> %#p, i32 {lane}
  %#l{lane} = extractelement {stored} %#w, i32 {lane}
  store {name} %#l{lane}, ptr %#a{lane}"
            );
        }
        Body::free(lines)
    }
}

impl Body {
    /// One whose result is what the next execution takes.
    fn carried(line: String) -> Body {
        Body { lines: format!("  {line}\n"), carried: true, declarations: String::new() }
    }

    /// One that depends on none before.
    fn free(lines: String) -> Body {
        Body { lines, carried: false, declarations: String::new() }
    }
}

/// The place in memory that the `k`-th execution accesses.
fn place(k: usize) -> String {
    format!("  %#p = getelementptr i8, ptr %memory, i64 {}\n", 128 * k)
}

impl Set {
    /// Whether neighbours of such elements are accessed under masks.
    fn serves(self, element: Element) -> bool {
        self.masks || self.bits >= 256 && element.bits() >= 32
    }
}

/// Integers that select elements: of the same size, and at least of 32 bits.
fn index(element: Element) -> Element {
    if element.bits() == 64 { Element::I64 } else { Element::I32 }
}

/// Integers of the same size.
fn same_size(element: Element) -> Element {
    Element::int(element.bits())
}

fn ir_name(element: Element) -> &'static str {
    match element {
        Element::F32 => "float",
        Element::F64 => "double",
        other => other.name(),
    }
}
