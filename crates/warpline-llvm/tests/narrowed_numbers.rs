//! Arithmetic of 64 bits on numbers of work-items that ends in 32 bits is what it was, once it is narrow.
//!
//! Functions of random operations are simplified, run, and compared with what the operations are by definition.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use warpline_llvm::worker::{CodegenOptions, Output, codegen_in_process};
use warpline_llvm::{Cpu, Jit, Llvm, Module};
use warpline_testkit::environment;
use warpline_testkit::rng::SplitMix64;

/// What work-items are called.
const NUMBERS: [u64; 10] = [
    0,
    1,
    6,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x3_8000_0005,
    0x1234_5678_9abc_def0,
    u64::MAX - 3,
];
/// What the functions' parameter is, for each of them.
const PARAMETERS: [u64; 10] =
    [7, 0, 0x1_0000_0001, u64::MAX - 6, 3, 1 << 32, 64, 0xdead_beef_0000_0010, 1, 1 << 63];

/// The number that is asked for.
static NUMBER: AtomicU64 = AtomicU64::new(0);

extern "C" fn number(_dimension: u32) -> u64 {
    NUMBER.load(Ordering::Relaxed)
}

extern "C" fn narrow_number(_dimension: u32) -> u32 {
    NUMBER.load(Ordering::Relaxed) as u32
}

/// A value of a function: its name, and what it is in each run.
#[derive(Clone)]
struct Known {
    name: String,
    is: Vec<u64>,
}

fn constant(c: u64) -> Known {
    Known { name: c.cast_signed().to_string(), is: vec![c; NUMBERS.len()] }
}

/// A function of random arithmetic that stores the last values, and what these are.
struct Random {
    rng: SplitMix64,
    text: String,
    values: Vec<Known>,
}

impl Random {
    fn function(rng: SplitMix64, name: &str) -> (String, Vec<Vec<u64>>) {
        let mut this = Random { rng, text: String::new(), values: Vec::new() };
        _ = writeln!(this.text, "define void @{name}(ptr %out, i64 %p) {{");
        this.text += "  %id = call i64 @_Z13get_global_idj(i32 0)\n";
        let id = Known { name: "%id".into(), is: NUMBERS.to_vec() };
        this.values = vec![id.clone(), Known { name: "%p".into(), is: PARAMETERS.to_vec() }];
        let up = this.shift("shl", &id, 32);
        this.values.extend([id, up]);
        for _ in 0..10 {
            this.operation();
        }
        let mut ends = Vec::new();
        for k in 0..4 {
            let end = this.end();
            _ = writeln!(this.text, "  %at{k} = getelementptr i64, ptr %out, i64 {k}");
            _ = writeln!(this.text, "  store i64 {}, ptr %at{k}", end.name);
            ends.push(end.is);
        }
        this.text += "  ret void\n}\n";
        (this.text, ends)
    }

    /// A value of an operation.
    fn made(&mut self, text: &str, is: Vec<u64>) -> Known {
        let name = format!("%v{}", self.text.lines().count());
        _ = writeln!(self.text, "  {name} = {text}");
        Known { name, is }
    }

    fn shift(&mut self, op: &str, x: &Known, by: u32) -> Known {
        let is = x.is.iter().map(|&x| match op {
            "shl" => x << by,
            "lshr" => x >> by,
            _ => (x.cast_signed() >> by).cast_unsigned(),
        });
        let is: Vec<u64> = is.collect();
        let loses_nothing = op != "shl" && x.is.iter().zip(&is).all(|(x, y)| y << by == *x);
        let exact = if loses_nothing && self.rng.chance(1, 2) { "exact " } else { "" };
        self.made(&format!("{op} {exact}i64 {}, {by}", x.name), is)
    }

    fn operand(&mut self) -> Known {
        let values = self.values.len();
        // Most are of the number.
        match self.rng.below(8) {
            0 => constant(*self.rng.pick(&[1, 2, 3, 5, 12, u64::MAX, 1 << 33])),
            1 => constant(*self.rng.pick(&[1u64 << 32, 3 << 32, u64::MAX << 32, 0xffff_fffe_0000_0000])),
            2 => self.values[self.rng.below(2)].clone(),
            _ => self.values[self.rng.between(2, values - 1)].clone(),
        }
    }

    fn operation(&mut self) {
        let (a, b) = (self.operand(), self.operand());
        let new = match self.rng.below(10) {
            0 => {
                let by = *self.rng.pick(&[1, 2, 30, 32, 32, 33, 48]);
                self.shift("shl", &a, by)
            }
            1 => {
                let by = *self.rng.pick(&[1, 2, 31]);
                self.shift("lshr", &a, by)
            }
            2 => self.end(),
            _ => {
                let op = *self.rng.pick(&["add", "add", "sub", "mul", "and", "or", "xor"]);
                self.binary(op, &a, &b)
            }
        };
        self.values.push(new);
    }

    /// An operation, with what can be said of it if it never wraps.
    fn binary(&mut self, op: &str, a: &Known, b: &Known) -> Known {
        let pairs = || a.is.iter().copied().zip(b.is.iter().copied());
        let is = pairs().map(|(x, y)| match op {
            "add" => x.wrapping_add(y),
            "sub" => x.wrapping_sub(y),
            "mul" => x.wrapping_mul(y),
            "and" => x & y,
            "or" => x | y,
            _ => x ^ y,
        });
        let is: Vec<u64> = is.collect();
        let stays = |(x, y): (u64, u64)| {
            let (x, y) = (x.cast_signed(), y.cast_signed());
            match op {
                "add" => x.checked_add(y).is_some(),
                "sub" => x.checked_sub(y).is_some(),
                "mul" => x.checked_mul(y).is_some(),
                _ => false,
            }
        };
        let flag = if pairs().all(stays) && self.rng.chance(1, 2) { "nsw " } else { "" };
        self.made(&format!("{op} {flag}i64 {}, {}", a.name, b.name), is)
    }

    /// What ends in 32 bits.
    fn end(&mut self) -> Known {
        let values = self.values.len();
        let x = self.values[self.rng.between(2, values - 1)].clone();
        match self.rng.below(5) {
            0 => {
                let is = x.is.iter().map(|&x| i64::from(x as i32).cast_unsigned()).collect();
                let narrow = self.made(&format!("trunc i64 {} to i32", x.name), Vec::new());
                self.made(&format!("sext i32 {} to i64", narrow.name), is)
            }
            1 => {
                const LOWER: u64 = 0xffff_ffff;
                let mask =
                    *self.rng.pick(&[LOWER, LOWER, LOWER << 2, LOWER >> 1, 255, 0x7fff_fff8, LOWER << 31]);
                self.binary("and", &x, &constant(mask))
            }
            _ => {
                let up = if self.rng.chance(2, 3) { self.shift("shl", &x, 32) } else { x };
                let op = *self.rng.pick(&["ashr", "lshr"]);
                let by = *self.rng.pick(&[32, 32, 30, 31, 33, 48, 1]);
                self.shift(op, &up, by)
            }
        }
    }
}

#[test]
fn random_arithmetic_on_numbers_is_what_it_is_by_definition() {
    if Llvm::get().is_err() {
        eprintln!("skipped: no LLVM");
        return;
    }
    let count = environment::number("WARPLINE_PROGRAMS", 400);
    let first = environment::number("WARPLINE_SEED", 1);
    let (mut text, mut expected) = (String::from("declare i64 @_Z13get_global_idj(i32)\n"), Vec::new());
    for k in 0..count {
        let (function, ends) = Random::function(SplitMix64::new(first + k), &format!("f{k}"));
        text += &function;
        expected.push((function, ends));
    }
    let mut module = Module::parse(text.as_bytes(), "random.ll").unwrap();
    module.simplify().unwrap();
    let calls = module.to_text().matches("call i32 @_Z13get_global_idj.i32(i32 0)").count();
    assert!(calls as u64 > count / 2, "{calls} of {count} functions take the number in 32 bits");
    let options = CodegenOptions::new(Cpu::native().unwrap(), Output::Object);
    let object = codegen_in_process(&module.to_bitcode(), "random.ll", &options).unwrap();
    let jit = Jit::new().unwrap();
    jit.define("_Z13get_global_idj", number as *const () as usize).unwrap();
    jit.define("_Z13get_global_idj.i32", narrow_number as *const () as usize).unwrap();
    jit.add_object(&object, "random.o").unwrap();
    for (k, (function, ends)) in expected.iter().enumerate() {
        let address = jit.address(&format!("f{k}")).unwrap();
        for (at, (&of_item, &parameter)) in NUMBERS.iter().zip(&PARAMETERS).enumerate() {
            NUMBER.store(of_item, Ordering::Relaxed);
            let mut out = [0u64; 4];
            // SAFETY: the function takes these two and writes four numbers.
            unsafe {
                let run: extern "C" fn(*mut u64, u64) = std::mem::transmute(address);
                run(out.as_mut_ptr(), parameter);
            }
            let wanted: Vec<u64> = ends.iter().map(|is| is[at]).collect();
            let seed = first + k as u64;
            assert_eq!(out.as_slice(), wanted, "seed {seed}, number {of_item:#x}\n{function}");
        }
    }
}
