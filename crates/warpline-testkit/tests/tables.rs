//! Loads from small tables of bytes, vectorized, against the scalar functions: every byte of every size of table.

use warpline_testkit::loop_pairs::{Given, LoopPair};
use warpline_testkit::rng::SplitMix64;
use warpline_vectorize::{Options, width};

/// A loop that looks each byte of one array up in a table and stores what it finds in another.
const LOOKUP: &str = "module \"m\"

CONSTANT
func @lookup(%n: i64, %in: ptr noalias, %out: ptr noalias, %pTABLE) {
entry:
  br loop(0)
loop:
  %i: i64 = phi
  %more: i1 = icmp ult %i, %n
  br %more, body, end
body:
  %p: ptr = getelementptr i8, %in, %i
  %x: i8 = load %p, align 1
  %q: ptr = getelementptr i8, %out, %i
INDEX
  %a: ptr = getelementptr i8, ROOT, %k
BEFORE
  %y: i8 = load %a, align 1
  store %y, %q, align 1
AFTER
next:
  %next: i64 = add nuw nsw %i, 1
  br loop(%next)
end:
  ret
}
";

/// How many bytes there are to be looked up.
const BYTES: usize = 300;

/// A function, and which bytes it may look up.
struct Case {
    what: String,
    text: String,
    /// What the bytes are at least, and at most.
    range: (usize, usize),
}

/// The function with a table of so many bytes; the table is a constant, or the caller promises that it is there.
fn case(
    what: String,
    bytes: Option<&[u8]>,
    index: &str,
    under_condition: bool,
    range: (usize, usize),
) -> Case {
    let constant = bytes.map_or(String::new(), |bytes| {
        let digits: String = bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
        format!("constant @table: [{} x i8] align 1 = \"{digits}\"\n", bytes.len())
    });
    let (before, after) = match under_condition {
        true => {
            ("  %odd: i8 = and %x, 1\n  %is: i1 = icmp eq %odd, 1\n  br %is, then, next\nthen:", "  br next")
        }
        false => ("", "  br next"),
    };
    let text = LOOKUP
        .replace("CONSTANT", &constant)
        .replace("%pTABLE", "%t: ptr dereferenceable 256")
        .replace("INDEX", index)
        .replace("ROOT", if bytes.is_some() { "@table" } else { "%t" })
        .replace("BEFORE", before)
        .replace("AFTER", after);
    Case { what, text, range }
}

fn cases() -> Vec<Case> {
    let mut rng = SplitMix64::new(7);
    let mut bytes = |n: usize| -> Vec<u8> { (0..n).map(|_| rng.next_u64() as u8).collect() };
    let mut cases = Vec::new();
    for n in [1, 10, 15, 16, 17, 32, 33, 64, 65, 100, 128, 130, 240, 255, 256] {
        for masked in [false, true] {
            let what = format!("{n} bytes, masked: {masked}");
            cases.push(case(what, Some(&bytes(n)), "  %k: i64 = zext %x", masked, (0, n - 1)));
        }
    }
    let minus = "  %z: i64 = zext %x\n  %k: i64 = add nsw %z, -40";
    cases.push(case("an index behind zero".into(), Some(&bytes(70)), minus, false, (40, 109)));
    for (bits, index) in [
        (15, "  %l: i8 = and %x, 15\n  %k: i64 = zext %l"),
        (4, "  %l: i8 = lshr %x, 4\n  %k: i64 = zext %l"),
        (63, "  %z: i32 = zext %x\n  %l: i32 = and %z, 63\n  %k: i64 = sext %l"),
    ] {
        cases.push(case(format!("bits {bits}"), Some(&bytes(64)), index, false, (0, 255)));
        cases.push(case(format!("bits {bits}, a parameter"), None, index, true, (0, 255)));
    }
    for masked in [false, true] {
        cases.push(case("a parameter".into(), None, "  %k: i64 = zext %x", masked, (0, 255)));
    }
    cases
}

/// Asserts that the same is stored for bytes that go through a range, and a random table.
#[track_caller]
fn assert_equal(pair: &LoopPair, n: usize, (low, high): (usize, usize), what: &str) {
    let mut rng = SplitMix64::new(n as u64);
    let input: Vec<u8> = (0..BYTES).map(|k| (low + (k + n) % (high - low + 1)) as u8).collect();
    let table: Vec<u8> = (0..256).map(|_| rng.next_u64() as u8).collect();
    let given = [Given::Number(n as u128), Given::Bytes(&input), Given::Output(BYTES), Given::Bytes(&table)];
    let [expected, found] = pair.run(&given);
    assert_eq!(expected, found, "{what}");
}

#[test]
fn tables_are_the_scalar_functions_for_every_byte() {
    let mut asked = 0;
    let cases = cases();
    for Case { what, text, range } in &cases {
        for (lanes, byte_sums) in [(8, 256), (16, 128), (16, 256), (32, 128), (32, 256), (64, 256)] {
            let machine = width::Machine { byte_sums, byte_shuffles: true, ..width::Machine::default() };
            let options = Options { machine, ..Options::new(lanes, Vec::new(), "lanes") };
            let pair = LoopPair::make(text, "lookup", &options).unwrap_or_else(|e| panic!("{what}: {e}"));
            asked += usize::from(pair.text().contains("pshuf.b"));
            for n in [0, 1, 31, 64, 256, BYTES] {
                let what = format!("{what}, {lanes} lanes, {byte_sums} bits, {n} bytes");
                assert_equal(&pair, n, *range, &what);
            }
        }
    }
    assert!(asked > cases.len() * 4, "{asked} loops of {} look up by shuffles", cases.len() * 6);
}
