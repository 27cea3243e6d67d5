//! Random loops and kernels whose iterations or lanes meet in memory.
//!
//! Accesses are planted at distances of up to 70 elements, of several sizes, through two pointers, under conditions,
//! in inner loops, in calls, and at indices that come from memory.

mod counters;

use std::fmt::Write as _;

use crate::rng::SplitMix64;

/// A loop or kernel in text form: the function `f`.
pub struct Source {
    rng: SplitMix64,
    /// The module.
    pub text: String,
    count: u32,
    /// The kinds of statements that it has.
    pub kinds: Vec<&'static str>,
    /// Whether all accesses are at constant distances from one pointer, with this step in elements of one size.
    pub decided: bool,
    step: i64,
}

/// What is to be found in memory that nothing stores to.
pub const FIELDS: [i64; 4] = [17, -3, 40, 8];

/// What accesses to memory are made through.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Pointers {
    /// Pointers of which nothing is promised.
    Plain,
    /// Pointers to objects of their own.
    NoAlias,
}

impl Source {
    fn new(seed: u64) -> Source {
        let mut rng = SplitMix64::new(seed);
        let decided = rng.chance(1, 2);
        let step = *rng.pick(&[1, 1, 1, 2, -1, 0]);
        Source { rng, text: String::new(), count: 0, kinds: Vec::new(), decided, step }
    }

    /// `f(n, p, q, s)`: a loop over `i` from 0 to `n`, whose header is the second block. [Fields](FIELDS) are at `s`.
    pub fn of_loop(seed: u64) -> Source {
        let mut source = Source::new(seed);
        let kind = if source.rng.chance(1, 4) { "i32" } else { "i64" };
        source.text = format!(
            "func @f(%n: {kind}, %p: ptr, %q: ptr, %s: ptr noalias) {{\nentry:\n  br loop(0)\nloop:\n"
        );
        if kind == "i32" {
            source.line("%t: i32 = phi");
            source.line("%i: i64 = sext %t");
            source.line("%more: i1 = icmp slt %t, %n");
        } else {
            source.line("%i: i64 = phi");
            let end = if source.rng.chance(1, 4) { source.field() } else { "%n".to_owned() };
            source.line(&format!("%more: i1 = icmp slt %i, {end}"));
        }
        source.line("br %more, body, end");
        source.block("body");
        source.statements();
        let (old, new) = if kind == "i32" { ("%t", "%after") } else { ("%i", "%after") };
        source.line(&format!("{new}: {kind} = add nsw {old}, 1"));
        source.line(&format!("br loop({new})"));
        source.block("end");
        source.finished()
    }

    /// A byte of memory before anything runs, given a random one: where indices are looked up, all words are small
    /// numbers.
    pub fn byte(&self, at: usize, random: u8) -> u8 {
        match (self.kinds.contains(&"indexed"), at % 4) {
            (false, _) => random,
            (true, 0) => random & 31,
            (true, _) => 0,
        }
    }

    /// `f(n, p, q, s)`: a loop that copies bytes between elements in order and bent ones, and nothing else.
    pub fn of_copy(seed: u64) -> Source {
        let mut source = Source::new(seed);
        source.decided = false;
        source.text =
            "func @f(%n: i64, %p: ptr, %q: ptr, %s: ptr noalias) {\nentry:\n  br loop(0)\nloop:\n".to_owned();
        source.line("%i: i64 = phi");
        source.line("%more: i1 = icmp slt %i, %n");
        source.line("br %more, body, end");
        source.block("body");
        let inner = source.rng.chance(1, 3);
        if inner {
            let bound = *source.rng.pick(&["3", "%i"]);
            source.line("br head(0)");
            source.block("head");
            source.line("%j: i64 = phi");
            source.line(&format!("%c: i1 = icmp slt %j, {bound}"));
            source.line("br %c, round, out");
            source.block("round");
            source.line("%k: i64 = add nsw %i, %j");
        }
        let index = if inner { "%k" } else { "%i" };
        let bent = if !inner && source.rng.chance(1, 3) {
            source.kinds.push("indexed");
            let (table, from) = (*source.rng.pick(&["%p", "%q"]), *source.rng.pick(&[-300, 0, 4]));
            source.line(&format!("%place: ptr = getelementptr i32, {table}, i64 {from}"));
            source.line("%word: ptr = getelementptr i32, %place, %i");
            source.line("%small: i32 = load %word, align 4");
            source.line("%index: i64 = sext %small");
            "%index".to_owned()
        } else if inner && source.rng.chance(1, 3) {
            source.line("%width: i64 = and %n, 15");
            let (slow, fast) = if source.rng.chance(1, 2) { ("%i", "%j") } else { ("%j", "%i") };
            source.line(&format!("%row: i64 = mul nsw {slow}, %width"));
            source.line(&format!("%both: i64 = add nsw %row, {fast}"));
            "%both".to_owned()
        } else {
            source.bent(index)
        };
        source.line(&format!("%bent: ptr = getelementptr i8, %q, {bent}"));
        match source.rng.below(4) {
            0 => source.line("%even: ptr = getelementptr i8, %bent, i64 2"),
            1 => source.line("%even: ptr = getelementptr i8, %bent, i64 0"),
            // Indices stay small where only their low bytes are written.
            _ if source.kinds.contains(&"indexed") => source.line("%even: ptr = getelementptr i32, %p, %i"),
            _ => source.line("%even: ptr = getelementptr i8, %p, %i"),
        }
        let (from, to) = if source.rng.chance(1, 2) { ("%bent", "%even") } else { ("%even", "%bent") };
        let x = source.load(8, from);
        let next = source.next(&x);
        source.store(8, &next, to);
        if inner {
            source.line("%next: i64 = add nsw %j, 1");
            source.line("br head(%next)");
            source.block("out");
        }
        source.line("%after: i64 = add nsw %i, 1");
        source.line("br loop(%after)");
        source.block("end");
        source.finished()
    }

    /// `f(n, p, q, s)`: a loop over `i` in which another one walks over rows or columns of arrays: the accesses are at
    /// `(x + …)·length + y + …` elements, of which one index is `i` and the other one, `j`, counts.
    pub fn of_rows(seed: u64) -> Source {
        Source::of_nest(seed, Source::in_rows)
    }

    /// `f(n, p, q, s)`: as [`of_rows`](Source::of_rows), over parts of elements that are no powers of two of bytes.
    pub fn of_elements(seed: u64) -> Source {
        Source::of_nest(seed, |source, _, length| source.in_elements(length))
    }

    fn of_nest(seed: u64, mut address: impl FnMut(&mut Source, u32, &str) -> String) -> Source {
        let mut source = Source::new(seed);
        source.decided = false;
        source.text = "func @f(%n: i64, %p: ptr, %q: ptr, %s: ptr noalias) {\nentry:\n".to_owned();
        let mut length = || match source.rng.below(4) {
            0 => {
                let length = source.fresh("length");
                source.line(&format!("{length}: i64 = and %n, 31"));
                length
            }
            1 => source.field(),
            _ => source.rng.pick(&[1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 32, 64, 75]).to_string(),
        };
        let lengths = [length(), length()];
        // No more columns than a row has, as far as the first length goes.
        let end = if source.rng.chance(1, 3) { lengths[0].clone() } else { "%n".to_owned() };
        source.line("br loop(0)");
        source.block("loop");
        source.line("%i: i64 = phi");
        source.line(&format!("%more: i1 = icmp slt %i, {end}"));
        source.line("br %more, body, end");
        source.block("body");
        let (from, bound) = (source.rng.below(3), *source.rng.pick(&["2", "3", "5", "8", "%i"]));
        source.line(&format!("br head({from}, %i)"));
        source.block("head");
        source.line("%j: i64 = phi");
        source.line("%sum: i64 = phi");
        source.line(&format!("%c: i1 = icmp slt %j, {bound}"));
        source.line("br %c, round, out");
        source.block("round");
        let mut value = "%sum".to_owned();
        for n in 0..2 + source.rng.below(3) {
            let bits = *source.rng.pick(&[32, 32, 32, 16, 64]);
            let length = &lengths[usize::from(source.rng.chance(1, 8))];
            let address = address(&mut source, bits, length);
            if n == 0 || source.rng.chance(1, 2) {
                let (x, sum) = (source.load(bits, &address), source.fresh("v"));
                source.line(&format!("{sum}: i64 = add {value}, {x}"));
                value = sum;
            } else {
                value = source.next(&value);
                source.store(bits, &value, &address);
            }
        }
        if source.rng.chance(1, 5) {
            let length = &lengths[0];
            source.record(&value, |source, bits| address(source, bits, length));
        }
        source.line("%next: i64 = add nsw %j, 1");
        source.line(&format!("br head(%next, {value})"));
        source.block("out");
        source.line("%after: i64 = add nsw %i, 1");
        source.line("br loop(%after)");
        source.block("end");
        source.finished()
    }

    /// An address in an array with rows of a length.
    fn in_rows(&mut self, bits: u32, length: &str) -> String {
        let columns = self.rng.chance(2, 3);
        let (row, column) = if columns { ("%j", "%i") } else { ("%i", "%j") };
        let (x, mut y) = (self.fresh("x"), self.fresh("y"));
        let (down, right) = (*self.rng.pick(&[0, 0, 1, -1, 2]), *self.rng.pick(&[0, 0, 0, 0, 1, -1, 4]));
        self.line(&format!("{x}: i64 = add nsw {row}, {down}"));
        match right {
            0 => y = column.to_owned(),
            _ => self.line(&format!("{y}: i64 = add nsw {column}, {right}")),
        }
        let (line, sum, at) = (self.fresh("r"), self.fresh("s"), self.fresh("g"));
        let (line_of, flags) = (self.fresh("n"), *self.rng.pick(&["nsw ", "nsw ", ""]));
        let pointer = self.pointer();
        if self.rng.chance(1, 4) {
            // With an index that is narrower.
            self.line(&format!("{line_of}: i32 = trunc {x}"));
            self.line(&format!("{line}w: i64 = sext {line_of}"));
            self.line(&format!("{line}: i64 = mul {flags}{line}w, {length}"));
        } else {
            self.line(&format!("{line}: i64 = mul {flags}{x}, {length}"));
        }
        if self.rng.chance(1, 3) {
            self.line(&format!("{sum}: ptr = getelementptr i{bits}, {pointer}, {line}"));
            self.line(&format!("{at}: ptr = getelementptr i{bits}, {sum}, {y}"));
        } else {
            self.line(&format!("{sum}: i64 = add {flags}{line}, {y}"));
            self.line(&format!("{at}: ptr = getelementptr inbounds i{bits}, {pointer}, {sum}"));
        }
        at
    }

    /// An address of a part of an element of an array, whose size goes by the length of the program.
    fn in_elements(&mut self, length: &str) -> String {
        let size = 3 + length.bytes().fold(0, |sum, b| sum + usize::from(b)) % 26;
        let field = self.rng.below(size);
        let (index, flags) = (self.fresh("x"), *self.rng.pick(&["nsw ", "nsw ", ""]));
        let counter = *self.rng.pick(&["%i", "%j"]);
        let mut inside = if self.rng.chance(4, 5) { " inbounds" } else { "" };
        match self.rng.below(6) {
            0 => self.line(&format!("{index}: i64 = add {flags}{counter}, 1")),
            1 => self.line(&format!("{index}: i64 = mul {flags}{counter}, 2")),
            2 => {
                let narrow = self.fresh("n");
                self.line(&format!("{narrow}: i32 = trunc {counter}"));
                self.line(&format!("{index}: i64 = sext {narrow}"));
            }
            // Times 7, this is the counter again: elements of 28 bytes are 4 bytes apart.
            3 if size % 7 == 0 => {
                inside = "";
                self.line(&format!("{index}: i64 = mul {counter}, 7905747460161236407"));
            }
            _ => self.line(&format!("{index}: i64 = add nsw {counter}, 0")),
        }
        let (element, at, pointer) = (self.fresh("e"), self.fresh("g"), self.pointer());
        self.line(&format!("{element}: ptr = getelementptr{inside} [{size} x i8], {pointer}, {index}"));
        self.line(&format!("{at}: ptr = getelementptr inbounds i8, {element}, i64 {field}"));
        at
    }

    /// `f(i, p, q, s)`: what the index `i` does.
    pub fn of_kernel(seed: u64, pointers: Pointers) -> Source {
        let mut source = Source::new(seed);
        let promise = if pointers == Pointers::NoAlias { " noalias" } else { "" };
        let kind = if source.rng.chance(1, 4) { "i32" } else { "i64" };
        source.text = match kind {
            "i32" => {
                format!(
                    "func @f(%t: i32, %p: ptr{promise}, %q: ptr{promise}, %s: ptr noalias) {{\nentry:\n  %i: \
                     i64 = sext %t\n"
                )
            }
            _ => {
                format!("func @f(%i: i64, %p: ptr{promise}, %q: ptr{promise}, %s: ptr noalias) {{\nentry:\n")
            }
        };
        source.statements();
        source.finished()
    }

    fn statements(&mut self) {
        let mut value = "%i".to_owned();
        for _ in 0..1 + self.rng.below(4) {
            value = self.statement(&value);
        }
    }

    fn finished(mut self) -> Source {
        self.line("ret");
        self.text.push_str("}\n");
        self.text.insert_str(0, DECLARED);
        self.text.push_str(HELPERS);
        self
    }

    fn fresh(&mut self, name: &str) -> String {
        self.count += 1;
        format!("%{name}{}", self.count)
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn block(&mut self, name: &str) {
        let _ = writeln!(self.text, "{name}:");
    }

    fn pointer(&mut self) -> &'static str {
        if self.decided || self.rng.chance(2, 3) { "%p" } else { "%q" }
    }

    fn bits(&mut self) -> u32 {
        if self.decided { 32 } else { *self.rng.pick(&[8, 16, 32, 32, 32, 64]) }
    }

    fn number(&mut self, most: i64) -> i64 {
        self.rng.below(2 * most as usize + 1) as i64 - most
    }

    /// The distance of an access: mostly short.
    fn distance(&mut self) -> i64 {
        let most = *self.rng.pick(&[1, 3, 8, 70]);
        self.number(most)
    }

    /// An address in the loop: `pointer + (step·i + distance)` elements.
    fn address(&mut self, bits: u32, index: &str) -> String {
        let step = if self.decided { self.step } else { *self.rng.pick(&[1, 1, 1, 1, 2, -1, 0]) };
        let (pointer, distance) = (self.pointer(), self.distance());
        let (scaled, sum, at) = (self.fresh("m"), self.fresh("s"), self.fresh("g"));
        let by = if !self.decided && self.rng.chance(1, 6) { self.field() } else { distance.to_string() };
        self.line(&format!("{scaled}: i64 = mul nsw {index}, {step}"));
        self.line(&format!("{sum}: i64 = add nsw {scaled}, {by}"));
        let index = if !self.decided && self.rng.chance(1, 6) { self.bent(&sum) } else { sum };
        self.line(&format!("{at}: ptr = getelementptr i{bits}, {pointer}, {index}"));
        at
    }

    /// An index that moves by no constant step, but lies between ends that follow from those of this one: halves,
    /// remainders, what is clamped.
    fn bent(&mut self, index: &str) -> String {
        self.kinds.push("bent");
        let bits = *self.rng.pick(&[32, 64]);
        let mut x = index.to_owned();
        if bits == 32 {
            x = self.fresh("n");
            self.line(&format!("{x}: i32 = trunc {index}"));
        }
        for _ in 0..1 + self.rng.below(3) {
            x = self.bend(&x, bits);
        }
        if bits == 64 {
            return x;
        }
        let (wide, extension) = (self.fresh("w"), *self.rng.pick(&["sext", "sext", "zext"]));
        self.line(&format!("{wide}: i64 = {extension} {x}"));
        wide
    }

    fn bend(&mut self, x: &str, bits: u32) -> String {
        let next = self.fresh("b");
        let (by, shift, some) = (1 + self.rng.below(9), self.rng.below(3), self.number(40));
        let mask = *self.rng.pick(&[1, 6, 7, 15, -4]);
        let line = match self.rng.below(14) {
            0 => format!("sdiv {x}, {by}"),
            1 => format!("udiv {x}, {by}"),
            2 => format!("srem {x}, {by}"),
            3 => format!("urem {x}, {by}"),
            4 => format!("ashr {x}, {shift}"),
            5 => format!("lshr {x}, {shift}"),
            6 => format!("and {x}, {mask}"),
            7 => format!("xor {x}, {by}"),
            8 => format!("or {x}, {by}"),
            9 => format!("add {x}, {some}"),
            10 => format!("sub {some}, {x}"),
            11 => {
                let less = self.fresh("c");
                self.line(&format!("{less}: i1 = icmp slt {x}, {some}"));
                format!("select {less}, {x}, {by}")
            }
            12 => format!("mul {x}, {}", 1 + by % 3),
            _ => {
                let name = *self.rng.pick(&["smin", "smax", "umin", "umax", "usub.sat"]);
                format!("call @llvm.{name}.i{bits}({x}, {some})")
            }
        };
        self.line(&format!("{next}: i{bits} = {line}"));
        next
    }

    /// A number in memory that nothing stores to.
    fn field(&mut self) -> String {
        self.kinds.push("field");
        let (at, x) = (self.fresh("g"), self.fresh("x"));
        let number = self.rng.below(FIELDS.len());
        self.line(&format!("{at}: ptr = getelementptr i64, %s, i64 {number}"));
        self.line(&format!("{x}: i64 = load {at}, align 8"));
        x
    }

    fn load(&mut self, bits: u32, address: &str) -> String {
        let (x, wide) = (self.fresh("x"), self.fresh("w"));
        self.line(&format!("{x}: i{bits} = load {address}, align 1"));
        if bits == 64 {
            return x;
        }
        self.line(&format!("{wide}: i64 = zext {x}"));
        wide
    }

    fn store(&mut self, bits: u32, value: &str, address: &str) {
        let narrow = self.fresh("n");
        if bits == 64 {
            self.line(&format!("store {value}, {address}, align 1"));
        } else {
            self.line(&format!("{narrow}: i{bits} = trunc {value}"));
            self.line(&format!("store {narrow}, {address}, align 1"));
        }
    }

    /// What is stored next, computed from the value so far.
    fn next(&mut self, value: &str) -> String {
        let (mixed, next) = (self.fresh("a"), self.fresh("v"));
        let by = 1 + self.rng.below(9);
        self.line(&format!("{mixed}: i64 = mul {value}, {by}"));
        self.line(&format!("{next}: i64 = add {mixed}, %i"));
        next
    }

    /// A statement; the value that the next one goes on with.
    fn statement(&mut self, value: &str) -> String {
        match if self.decided { *self.rng.pick(&[0, 3, 6, 11]) } else { self.rng.below(18) } {
            0..=2 => {
                self.kinds.push("load");
                let bits = self.bits();
                let fixed = !self.decided && self.rng.chance(1, 5);
                let at = if fixed { self.one_place(bits) } else { self.address(bits, "%i") };
                let x = self.load(bits, &at);
                let sum = self.fresh("v");
                self.line(&format!("{sum}: i64 = add {value}, {x}"));
                sum
            }
            3..=5 => {
                self.kinds.push("store");
                let bits = self.bits();
                let (at, next) = (self.address(bits, "%i"), self.next(value));
                self.store(bits, &next, &at);
                next
            }
            6 => self.arms(value),
            7 | 8 => self.inner_loop(value),
            9 => self.update(value),
            10 => {
                self.kinds.push("one place");
                let bits = self.bits();
                let at = self.one_place(bits);
                let next = self.next(value);
                self.store(bits, &next, &at);
                next
            }
            11 => self.copy(value),
            12 => self.table(value),
            13 => self.bulk(value),
            14 | 15 => self.indexed(value),
            16 => self.record(value, |source, bits| source.address(bits, "%i")),
            _ => self.call(value),
        }
    }

    /// An address that is the same in all iterations.
    fn one_place(&mut self, bits: u32) -> String {
        let (at, to, pointer) = (self.fresh("g"), self.number(3), self.pointer());
        self.line(&format!("{at}: ptr = getelementptr i{bits}, {pointer}, i64 {to}"));
        at
    }

    /// What beats a value at one place takes its place, and something else is stored with it now and then.
    fn record(&mut self, value: &str, place: impl FnOnce(&mut Source, u32) -> String) -> String {
        self.kinds.push("record");
        let (n, bits) = (self.count, *self.rng.pick(&[8, 16, 32, 32, 64]));
        let ty = match bits {
            32 if self.rng.chance(1, 3) => "float".to_owned(),
            64 if self.rng.chance(1, 3) => "double".to_owned(),
            _ => format!("i{bits}"),
        };
        let (from, to) = (place(self, bits), self.one_place(bits));
        let (x, old, beats) = (self.fresh("x"), self.fresh("o"), self.fresh("c"));
        self.line(&format!("{x}: {ty} = load {from}, align 1"));
        self.line(&format!("{old}: {ty} = load {to}, align 1"));
        let (compare, preds) = match ty.starts_with('i') {
            false => ("fcmp", ["olt", "ole", "ogt", "oge", "ult", "uge"]),
            true => ("icmp", ["slt", "sle", "sgt", "sge", "ult", "uge"]),
        };
        let (a, b) = if self.rng.chance(1, 2) { (&x, &old) } else { (&old, &x) };
        let pred = *self.rng.pick(&preds);
        self.line(&format!("{beats}: i1 = {compare} {pred} {a}, {b}"));
        let (yes, no) = (format!("beats{n}"), format!("kept{n}"));
        let (yes, no) = if self.rng.chance(2, 3) { (&yes, &no) } else { (&no, &yes) };
        self.line(&format!("br {beats}, {yes}, {no}"));
        self.block(&format!("beats{n}"));
        self.line(&format!("store {x}, {to}, align 1"));
        if self.rng.chance(1, 3) {
            let (bits, next) = (self.bits(), self.next(value));
            let at = self.one_place(bits);
            self.store(bits, &next, &at);
        }
        self.line(&format!("br kept{n}"));
        self.block(&format!("kept{n}"));
        value.to_owned()
    }

    /// Stores in both arms of a branch.
    fn arms(&mut self, value: &str) -> String {
        self.kinds.push("arms");
        let n = self.count;
        let (low, odd) = (self.fresh("l"), self.fresh("c"));
        self.line(&format!("{low}: i64 = and {value}, 1"));
        self.line(&format!("{odd}: i1 = icmp eq {low}, 0"));
        self.line(&format!("br {odd}, yes{n}, no{n}"));
        for (arm, is_there) in [("yes", true), ("no", self.rng.chance(2, 3))] {
            self.block(&format!("{arm}{n}"));
            if is_there {
                let bits = self.bits();
                let (at, next) = (self.address(bits, "%i"), self.next(value));
                self.store(bits, &next, &at);
            }
            self.line(&format!("br joined{n}"));
        }
        self.block(&format!("joined{n}"));
        value.to_owned()
    }

    /// A loop within the loop, over rows, over what all iterations have in common, or over neighbours.
    fn inner_loop(&mut self, value: &str) -> String {
        self.kinds.push("inner loop");
        let n = self.count;
        let most = *self.rng.pick(&[2, 4, 5]);
        let bound = match self.rng.below(4) {
            0 => {
                let bound = self.fresh("k");
                self.line(&format!("{bound}: i64 = and {value}, 3"));
                bound
            }
            1 if !self.decided => self.field(),
            _ => most.to_string(),
        };
        self.line(&format!("br head{n}(0)"));
        self.block(&format!("head{n}"));
        let (j, more, next_j) = (self.fresh("j"), self.fresh("c"), self.fresh("j"));
        self.line(&format!("{j}: i64 = phi"));
        self.line(&format!("{more}: i1 = icmp slt {j}, {bound}"));
        self.line(&format!("br {more}, round{n}, out{n}"));
        self.block(&format!("round{n}"));
        let (row, index) = (self.fresh("r"), self.fresh("s"));
        let known = *self.rng.pick(&[0, 1, most, most, most + 1]);
        let stride = match self.rng.below(6) {
            0 => self.field(),
            1 => bound.clone(),
            _ => known.to_string(),
        };
        let (slow, fast) = if self.rng.chance(1, 4) { (&*j, "%i") } else { ("%i", &*j) };
        self.line(&format!("{row}: i64 = mul nsw {slow}, {stride}"));
        self.line(&format!("{index}: i64 = add nsw {row}, {fast}"));
        let (bits, pointer) = (self.bits(), self.pointer());
        let at = self.fresh("g");
        let index = if self.rng.chance(1, 4) { self.bent(&index) } else { index };
        let inbounds = *self.rng.pick(&["", "inbounds "]);
        self.line(&format!("{at}: ptr = getelementptr {inbounds}i{bits}, {pointer}, {index}"));
        let x = self.load(bits, &at);
        let sum = self.fresh("v");
        self.line(&format!("{sum}: i64 = add {value}, {x}"));
        if self.rng.chance(2, 3) {
            let to = match self.rng.below(6) {
                0..=2 => at,
                // A neighbour, or the same in another row.
                3 => {
                    let (near, by) = (self.fresh("g"), self.number(2));
                    self.line(&format!("{near}: ptr = getelementptr i{bits}, {at}, i64 {by}"));
                    near
                }
                _ => self.address(bits, &j),
            };
            let next = self.next(&sum);
            self.store(bits, &next, &to);
        }
        self.line(&format!("{next_j}: i64 = add nsw {j}, 1"));
        self.line(&format!("br head{n}({next_j})"));
        self.block(&format!("out{n}"));
        value.to_owned()
    }

    /// Memory is read, changed and written back, at an index that may come from memory or be the same for all.
    fn update(&mut self, value: &str) -> String {
        self.kinds.push("update");
        let bits = self.bits();
        let (key, index, at) = (self.fresh("k"), self.fresh("s"), self.fresh("g"));
        let mask = *self.rng.pick(&[0, 1, 7]);
        self.line(&format!("{key}: i64 = and {value}, {mask}"));
        let far = if self.rng.chance(1, 2) { -200 } else { 0 };
        self.line(&format!("{index}: i64 = add nsw {key}, {far}"));
        let pointer = self.pointer();
        self.line(&format!("{at}: ptr = getelementptr i{bits}, {pointer}, {index}"));
        let x = self.load(bits, &at);
        let (op, changed) = (*self.rng.pick(&["add", "xor", "sub", "mul"]), self.fresh("u"));
        self.line(&format!("{changed}: i64 = {op} {x}, {value}"));
        self.store(bits, &changed, &at);
        if self.rng.chance(1, 3) { x } else { value.to_owned() }
    }

    /// What is loaded goes elsewhere, at once.
    fn copy(&mut self, value: &str) -> String {
        self.kinds.push("copy");
        let bits = self.bits();
        let (from, to) = (self.address(bits, "%i"), self.address(bits, "%i"));
        let x = self.load(bits, &from);
        self.store(bits, &x, &to);
        value.to_owned()
    }

    /// An element of a table, at a place of which nothing is known but that the index is narrow, is looked up or
    /// replaced.
    fn table(&mut self, value: &str) -> String {
        self.kinds.push("table");
        let bits = self.bits();
        let (narrow, key, index, at) = (self.fresh("n"), self.fresh("k"), self.fresh("s"), self.fresh("g"));
        let width = *self.rng.pick(&[3, 5, 8]);
        self.line(&format!("{narrow}: i{width} = trunc {value}"));
        let extension = *self.rng.pick(&["zext", "sext"]);
        self.line(&format!("{key}: i64 = {extension} {narrow}"));
        let far = if self.rng.chance(1, 2) { -200 } else { 0 };
        self.line(&format!("{index}: i64 = add nsw {key}, {far}"));
        let pointer = self.pointer();
        self.line(&format!("{at}: ptr = getelementptr i{bits}, {pointer}, {index}"));
        if self.rng.chance(1, 3) {
            self.store(bits, value, &at);
            return value.to_owned();
        }
        let (x, sum) = (self.load(bits, &at), self.fresh("v"));
        self.line(&format!("{sum}: i64 = add {value}, {x}"));
        sum
    }

    /// An element at an index that lies in memory is looked up, replaced or updated. Memory is full of small numbers
    /// where there is such a statement.
    fn indexed(&mut self, value: &str) -> String {
        self.kinds.push("indexed");
        let (from, place, key) = (self.pointer(), self.fresh("g"), self.fresh("k"));
        let (sum, distance) = (self.fresh("s"), *self.rng.pick(&[-400, -300, 0, 1, 300]));
        self.line(&format!("{sum}: i64 = add nsw %i, {distance}"));
        self.line(&format!("{place}: ptr = getelementptr i32, {from}, {sum}"));
        self.line(&format!("{key}: i32 = load {place}, align 4"));
        let wide = self.fresh("w");
        let extension = *self.rng.pick(&["sext", "sext", "sext", "zext"]);
        self.line(&format!("{wide}: i64 = {extension} {key}"));
        let index = if self.rng.chance(1, 4) { self.bent(&wide) } else { wide };
        let (bits, pointer, at) = (self.bits(), self.pointer(), self.fresh("g"));
        self.line(&format!("{at}: ptr = getelementptr i{bits}, {pointer}, {index}"));
        if self.rng.chance(1, 3) {
            // Small, so that indices stay indices where this writes to them.
            let small = self.fresh("n");
            self.line(&format!("{small}: i64 = and {value}, 31"));
            self.store(bits, &small, &at);
            return value.to_owned();
        }
        let (x, sum) = (self.load(bits, &at), self.fresh("v"));
        self.line(&format!("{sum}: i64 = add {value}, {x}"));
        if self.rng.chance(1, 3) {
            let small = self.fresh("n");
            self.line(&format!("{small}: i64 = and {sum}, 31"));
            self.store(bits, &small, &at);
        }
        sum
    }

    /// A few bytes are copied or filled.
    fn bulk(&mut self, value: &str) -> String {
        self.kinds.push("bulk");
        let bytes = *self.rng.pick(&[1, 4, 8, 12, 40]);
        let to = self.address(64, "%i");
        if self.rng.chance(1, 2) {
            let narrow = self.fresh("n");
            self.line(&format!("{narrow}: i8 = trunc {value}"));
            self.line(&format!("call @llvm.memset.p0.i64({to}, {narrow}, {bytes}, false)"));
        } else {
            let from = self.address(64, "%i");
            self.line(&format!("call @llvm.memmove.p0.p0.i64({to}, {from}, {bytes}, false)"));
        }
        value.to_owned()
    }

    /// A function reads or writes an element.
    fn call(&mut self, value: &str) -> String {
        self.kinds.push("call");
        let at = self.address(32, "%i");
        let callee = *self.rng.pick(&["load", "store", "update"]);
        if callee != "load" {
            self.line(&format!("call @{callee}({at}, {value})"));
            return value.to_owned();
        }
        let (x, sum) = (self.fresh("x"), self.fresh("v"));
        self.line(&format!("{x}: i64 = call @load({at})"));
        self.line(&format!("{sum}: i64 = add {value}, {x}"));
        sum
    }
}

/// What [`HELPERS`] and other functions that are called are declared as.
const DECLARED: &str = "
declare @llvm.memset.p0.i64(ptr, i8, i64, i1) [writes arg_memory_only]
declare @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1) [reads writes arg_memory_only]
declare @llvm.smin.i32(i32, i32) -> i32
declare @llvm.smin.i64(i64, i64) -> i64
declare @llvm.smax.i32(i32, i32) -> i32
declare @llvm.smax.i64(i64, i64) -> i64
declare @llvm.umin.i32(i32, i32) -> i32
declare @llvm.umin.i64(i64, i64) -> i64
declare @llvm.umax.i32(i32, i32) -> i32
declare @llvm.umax.i64(i64, i64) -> i64
declare @llvm.usub.sat.i32(i32, i32) -> i32
declare @llvm.usub.sat.i64(i64, i64) -> i64
declare @load(ptr) -> i64 [unknown]
declare @store(ptr, i64) [unknown]
declare @update(ptr, i64) [unknown]

";

/// What calls are made of.
const HELPERS: &str = "
func @load(%a: ptr) -> i64 {
entry:
  %x: i32 = load %a, align 1
  %w: i64 = zext %x
  ret %w
}

func @store(%a: ptr, %v: i64) {
entry:
  %x: i32 = trunc %v
  store %x, %a, align 1
  ret
}

func @update(%a: ptr, %v: i64) {
entry:
  %x: i32 = load %a, align 1
  %w: i64 = zext %x
  %s: i64 = add %w, %v
  %n: i32 = trunc %s
  store %n, %a, align 1
  ret
}
";
