//! Words that begin less than a word apart, vectorized, against the scalar functions.

use warpline_interp::{Machine, Options as MachineOptions, Val};
use warpline_ir::text::{parse_module, print_module};
use warpline_ir::{FuncId, Module};
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::loops::{Unit, vectorize_loop};
use warpline_vectorize::{Masks, Options, declare_narrow_functions, width};

/// A loop that loads words at one step, changes them, and stores them at another one.
const COPY: &str = "module \"m\"

func @copy(%n: i64, %in: ptr noalias, %out: ptr noalias, %c: WORD) {
entry:
  br loop(0)
loop:
  %i: i64 = phi
  %more: i1 = icmp ult %i, %n
  br %more, body, end
body:
  %from: i64 = mul nuw nsw %i, LOADED
  %p: ptr = getelementptr i8, %in, %from
  %x: WORD = load %p, align 1
  %y: WORD = xor %x, %c
  %to: i64 = mul nuw nsw %i, STORED
  %q: ptr = getelementptr i8, %out, %to
  store %y, %q, align 1
  br next
next:
  %next: i64 = add nuw nsw %i, 1
  br loop(%next)
end:
  ret
}
";

/// How many words there are at most.
const WORDS: usize = 150;

/// All that is stored for so many words. Memory ends where the last word does.
fn run(module: &Module, func: FuncId, n: usize, [size, loaded, stored]: [usize; 3]) -> Vec<Option<u8>> {
    let options = MachineOptions { fuel: 1 << 24, ..MachineOptions::default() };
    let mut machine = Machine::with_options(module, options);
    let mut rng = SplitMix64::new(n as u64);
    let bytes = |step: usize| if n == 0 { 0 } else { (n - 1) * step + size };
    let input: Vec<u8> = (0..bytes(loaded)).map(|_| rng.next_u64() as u8).collect();
    let output = vec![0xaa; bytes(stored)];
    let mut place = |bytes: &[u8]| machine.memory.allocate_bytes(bytes, 16).expect("there is room");
    let [input, output] = [&input, &output].map(|bytes| place(bytes));
    let code = machine.prepare_id(func);
    let arguments = [
        Val::int(n as u128),
        Val::ptr(input),
        Val::ptr(output),
        Val::int(0x80_00_00_00_0f_f0_00_ff & (u128::MAX >> (128 - 8 * size))),
    ];
    machine.run_scalar(&code, &arguments).expect("it runs");
    machine.memory.read(output, bytes(stored) as u64).expect("it is there")
}

#[test]
fn words_that_overlap_are_loaded_and_stored_as_lanes_one_after_the_other_do() {
    let mut wide = 0;
    let mut steps = Vec::new();
    for size in [2, 4, 8] {
        for step in 1..size {
            steps.extend([[size, step, size], [size, size, step], [size, step, step]]);
        }
    }
    for &[size, loaded, stored] in &steps {
        let word = format!("i{}", 8 * size);
        let numbers = [("LOADED", loaded.to_string()), ("STORED", stored.to_string()), ("WORD", word)];
        let text = numbers.iter().fold(COPY.to_owned(), |text, (name, with)| text.replace(name, with));
        let machines = [(128, Masks::Nothing), (256, Masks::Wide), (512, Masks::Everything)];
        for (lanes, (register_bits, masks)) in
            [8, 16, 32].into_iter().flat_map(|lanes| machines.map(|machine| (lanes, machine)))
        {
            let what = format!("{size} bytes, {loaded} to {stored}, {lanes} lanes of {register_bits} bits");
            let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
            declare_narrow_functions(&mut module);
            let scalar = module.function("copy").expect("it is there");
            let mut copy = module.functions[scalar].clone();
            copy.name = "vectors".into();
            let header = copy.layout[1];
            let copy = module.functions.push(copy);
            let machine =
                width::Machine { register_bits, masks, byte_shuffles: true, ..width::Machine::default() };
            let options = Options { machine, ..Options::new(lanes, Vec::new(), "lanes") };
            vectorize_loop(&mut module, copy, &Unit::new(header, lanes), &options)
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            wide += usize::from(print_module(&module).contains("x i8>"));
            for n in [0, 1, 7, 8, 31, 32, 33, 64, WORDS] {
                let [expected, found] = [scalar, copy].map(|f| run(&module, f, n, [size, loaded, stored]));
                assert_eq!(expected, found, "{what}, {n} words");
            }
        }
    }
    assert!(wide > steps.len() * 7, "{wide} of {} loops are made of wide accesses", steps.len() * 9);
}
