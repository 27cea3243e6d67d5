//! Random functions with structs, unions, arrays in them and copies on the stack compute what they did after they have
//! been simplified, which takes such objects apart.
//!
//! `WARPLINE_PROGRAMS` is the number of functions, `WARPLINE_SEED` the first one's seed.

use warpline_llvm::{Emit, Jit, Llvm, Module, TargetMachine};
use warpline_testkit::rng::SplitMix64;

/// `%s` has arrays of numbers, of structs with arrays in them, and of arrays; `%w` a union.
const TYPES: &str = "%in = type { [2 x i32], i16, i8 }\n\
     %s = type { [3 x i32], i64, [4 x %in], [2 x [3 x i16]], i32 }\n\
     %u = type { [4 x i32] }\n%w = type { i32, %u, [3 x i8], i32 }\n\
     declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n\
     declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n\
     declare void @llvm.lifetime.start.p0(i64, ptr)\n";

/// The objects, and their sizes.
const OBJECTS: [(&str, &str, usize); 3] = [("%a", "%s", 88), ("%b", "%s", 88), ("%c", "%w", 28)];
/// Slots of eight bytes: numbers first, then a buffer, then what the objects hold in the end.
const INPUTS: usize = 8;
const BUFFER: usize = 11;
const SLOTS: usize = INPUTS + BUFFER + 3 * BUFFER;

/// A function in the making.
struct Text {
    rng: SplitMix64,
    lines: String,
    next: usize,
}

impl Text {
    fn value(&mut self, what: &str) -> String {
        let name = format!("%v{}", self.next);
        self.next += 1;
        self.lines += &format!("  {name} = {what}\n");
        name
    }

    fn run(&mut self, what: &str) {
        self.lines += &format!("  {what}\n");
    }

    /// An input, below a bound.
    fn below(&mut self, bound: usize) -> String {
        let k = self.rng.below(INPUTS);
        let p = self.value(&format!("getelementptr inbounds i64, ptr %args, i64 {k}"));
        let v = self.value(&format!("load i64, ptr {p}, align 8"));
        self.value(&format!("urem i64 {v}, {bound}"))
    }

    /// An index below a bound: a constant or not.
    fn index(&mut self, bound: usize) -> String {
        if self.rng.chance(1, 3) { self.rng.below(bound).to_string() } else { self.below(bound) }
    }

    /// The address of a number in an object, with its type.
    fn number(&mut self) -> (String, &'static str) {
        let s = *self.rng.pick(&["%a", "%b"]);
        let (place, ty) = match self.rng.below(12) {
            0 => (format!("%s, ptr {s}, i64 0, i32 0, i64 {}", self.index(3)), "i32"),
            1 => (format!("%s, ptr {s}, i64 0, i32 1"), "i64"),
            2 => (format!("%s, ptr {s}, i64 0, i32 2, i64 {}, i32 1", self.index(4)), "i16"),
            3 => {
                let (i, j) = (self.index(4), self.index(2));
                (format!("%s, ptr {s}, i64 0, i32 2, i64 {i}, i32 0, i64 {j}"), "i32")
            }
            4 if self.rng.chance(1, 3) => {
                // Through all rows by an index of the first one.
                let row = self.value(&format!("getelementptr inbounds %s, ptr {s}, i64 0, i32 3, i64 0"));
                (format!("[3 x i16], ptr {row}, i64 0, i64 {}", self.index(6)), "i16")
            }
            4 => {
                let (i, j) = (self.index(2), self.index(3));
                (format!("%s, ptr {s}, i64 0, i32 3, i64 {i}, i64 {j}"), "i16")
            }
            5 => {
                // As clang writes it, level by level.
                let i = self.index(4);
                let array = self.value(&format!("getelementptr inbounds %s, ptr {s}, i32 0, i32 2"));
                let element =
                    self.value(&format!("getelementptr inbounds [4 x %in], ptr {array}, i64 0, i64 {i}"));
                (format!("%in, ptr {element}, i32 0, i32 2"), "i8")
            }
            6 => ("%w, ptr %c, i64 0, i32 0".to_owned(), "i32"),
            7 => (format!("%w, ptr %c, i64 0, i32 1, i32 0, i64 {}", self.index(4)), "i32"),
            8 => {
                let union = self.value("getelementptr inbounds %w, ptr %c, i32 0, i32 1");
                (format!("[8 x i16], ptr {union}, i64 0, i64 {}", self.index(8)), "i16")
            }
            9 => (format!("%w, ptr %c, i64 0, i32 2, i64 {}", self.index(3)), "i8"),
            10 => (format!("i8, ptr %c, i64 {}", 4 * self.rng.below(6)), "i64"),
            _ if self.rng.chance(1, 4) => {
                // A sum of a pointer and a number, which may leave the array.
                let first = self.value(&format!("getelementptr inbounds %s, ptr {s}, i64 0, i32 0, i64 0"));
                (format!("i32, ptr {first}, i64 {}", self.below(5)), "i32")
            }
            _ => (format!("%s, ptr {s}, i64 0, i32 4"), "i32"),
        };
        (self.value(&format!("getelementptr inbounds {place}")), ty)
    }

    /// Some bytes of an object or of the buffer, from a multiple of four on.
    fn bytes(&mut self, length: usize) -> String {
        let (base, size) = match self.rng.below(4) {
            3 => ("%buffer", BUFFER * 8),
            k => (OBJECTS[k].0, OBJECTS[k].2),
        };
        let at = 4 * self.rng.below((size - length) / 4 + 1);
        self.value(&format!("getelementptr inbounds i8, ptr {base}, i64 {at}"))
    }

    fn copy(&mut self, to: &str, from: &str, length: usize) {
        self.run(&format!(
            "call void @llvm.memcpy.p0.p0.i64(ptr align 2 {to}, ptr {from}, i64 {length}, i1 false)"
        ));
    }

    fn step(&mut self) {
        match self.rng.below(8) {
            0..3 => {
                let (to, ty) = self.number();
                let what = self.below(1 << 30);
                let cut = if ty == "i64" { what } else { self.value(&format!("trunc i64 {what} to {ty}")) };
                self.run(&format!("store {ty} {cut}, ptr {to}, align 1"));
            }
            3..6 => {
                let (from, ty) = self.number();
                let (to, other) = self.number();
                let got = self.value(&format!("load {ty}, ptr {from}, align 1"));
                if ty == other {
                    self.run(&format!("store {ty} {got}, ptr {to}, align 1"));
                }
            }
            6 if self.rng.chance(1, 2) => {
                let (i, j) = (self.index(4), self.index(4));
                let to = self.value(&format!("getelementptr inbounds %s, ptr %a, i64 0, i32 2, i64 {i}"));
                let from = self.value(&format!("getelementptr inbounds %s, ptr %b, i64 0, i32 2, i64 {j}"));
                self.copy(&to, &from, 12);
            }
            6 if self.rng.chance(1, 2) => self.copy("%b", "%a", 88),
            6 => {
                let length = 4 * self.rng.between(1, 7);
                let to = self.bytes(length);
                let byte = self.rng.below(256);
                self.run(&format!(
                    "call void @llvm.memset.p0.i64(ptr {to}, i8 {byte}, i64 {length}, i1 false)"
                ));
            }
            _ => {
                let length = 4 * self.rng.between(1, 7);
                let (to, from) = (self.bytes(length), self.bytes(length));
                // Both may be in one object, as long as they do not meet.
                let held = self.value("alloca [28 x i8], align 4");
                self.copy(&held, &from, length);
                self.copy(&to, &held, length);
            }
        }
    }
}

fn function(seed: u64, name: &str) -> String {
    let mut text = Text { rng: SplitMix64::new(seed), lines: String::new(), next: 0 };
    for (object, ty, size) in OBJECTS {
        text.run(&format!("{object} = alloca {ty}, align 8"));
        text.run(&format!("call void @llvm.lifetime.start.p0(i64 {size}, ptr {object})"));
        let byte = text.rng.below(256);
        text.run(&format!("call void @llvm.memset.p0.i64(ptr {object}, i8 {byte}, i64 {size}, i1 false)"));
    }
    text.run(&format!("%buffer = getelementptr i64, ptr %args, i64 {INPUTS}"));
    for block in 0..text.rng.between(1, 4) {
        let odd = text.below(2);
        let odd = text.value(&format!("icmp eq i64 {odd}, 0"));
        text.run(&format!("br i1 {odd}, label %then{block}, label %next{block}"));
        text.lines += &format!("then{block}:\n");
        (0..text.rng.between(1, 4)).for_each(|_| text.step());
        text.run(&format!("br label %next{block}"));
        text.lines += &format!("next{block}:\n");
        (0..text.rng.between(0, 3)).for_each(|_| text.step());
    }
    for (k, (object, _, size)) in OBJECTS.into_iter().enumerate() {
        let to = text.value(&format!("getelementptr i64, ptr %args, i64 {}", INPUTS + BUFFER * (k + 1)));
        text.copy(&to, object, size);
    }
    format!("define void @{name}(ptr %args) {{\nentry:\n{}  ret void\n}}\n", text.lines)
}

#[test]
fn structs_that_are_taken_apart_hold_what_they_held() {
    if let Err(error) = Llvm::get() {
        return eprintln!("skipped: {error}");
    }
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |n| n.parse().unwrap());
    let (first, count) = (number("WARPLINE_SEED", 1), number("WARPLINE_PROGRAMS", 100));
    let machine = TargetMachine::native().unwrap();
    let jit = Jit::new().unwrap();
    let mut apart = 0;
    for seed in first..first + count {
        let [old, new] = ["old", "new"].map(|name| format!("{name}{seed}"));
        let mut was = Module::parse(format!("{TYPES}{}", function(seed, &old)).as_bytes(), "old").unwrap();
        was.set_target(&machine).unwrap();
        let text = format!("{TYPES}{}", function(seed, &new));
        let mut is = Module::parse(text.as_bytes(), "new").unwrap();
        is.set_target(&machine).unwrap();
        is.verify().unwrap();
        is.simplify().unwrap();
        apart += u64::from(is.to_text().contains(".part"));
        for module in [&was, &is] {
            jit.add_object(&machine.emit(module, Emit::Object).unwrap(), "part").unwrap();
        }
        let mut rng = SplitMix64::new(!seed);
        for _ in 0..4 {
            let mut expected: Vec<u64> = (0..SLOTS).map(|_| rng.next_u64()).collect();
            let mut found = expected.clone();
            jit.function(&old).unwrap().call(&mut expected);
            jit.function(&new).unwrap().call(&mut found);
            assert_eq!(found, expected, "seed {seed}:\n{text}\n{}", is.to_text());
        }
    }
    println!("{apart} of {count} functions had objects that were taken apart");
    assert!(
        count < 50 || apart * 4 > count,
        "only {apart} of {count} functions had objects that were taken apart"
    );
}
