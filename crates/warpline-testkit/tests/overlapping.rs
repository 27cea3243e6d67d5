//! Words that begin less than a word apart, vectorized, against the scalar functions.

use warpline_testkit::loop_pairs::{Given, LoopPair};
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::{Masks, Options, width};

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

/// What is stored for so many words, by both. Memory ends where the last word does.
fn run(pair: &LoopPair, n: usize, [size, loaded, stored]: [usize; 3]) -> [Vec<Option<u8>>; 2] {
    let mut rng = SplitMix64::new(n as u64);
    let bytes = |step: usize| if n == 0 { 0 } else { (n - 1) * step + size };
    let input: Vec<u8> = (0..bytes(loaded)).map(|_| rng.next_u64() as u8).collect();
    pair.run(&[
        Given::Number(n as u128),
        Given::Bytes(&input),
        Given::Output(bytes(stored)),
        Given::Number(0x80_00_00_00_0f_f0_00_ff & (u128::MAX >> (128 - 8 * size))),
    ])
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
            let machine =
                width::Machine { register_bits, masks, byte_shuffles: true, ..width::Machine::default() };
            let options = Options { machine, ..Options::new(lanes, Vec::new(), "lanes") };
            let pair = LoopPair::make(&text, "copy", &options).unwrap_or_else(|e| panic!("{what}: {e}"));
            wide += usize::from(pair.text().contains("x i8>"));
            for n in [0, 1, 7, 8, 31, 32, 33, 64, WORDS] {
                let [expected, found] = run(&pair, n, [size, loaded, stored]);
                assert_eq!(expected, found, "{what}, {n} words");
            }
        }
    }
    assert!(wide > steps.len() * 7, "{wide} of {} loops are made of wide accesses", steps.len() * 9);
}
