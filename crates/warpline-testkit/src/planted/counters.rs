//! Loops that load at what bits of their counters say, and at numbers that go around.

use super::Source;

impl Source {
    /// `f(n, p, q, s)`: a loop that loads at bent indices, some of them under conditions, and at a number that goes
    /// around, and stores in order. It counts from a small number, by a small step.
    pub fn of_lanes(seed: u64) -> Source {
        let mut source = Source::new(seed);
        source.decided = false;
        let (first, step) = (*source.rng.pick(&[0, 0, 0, 1, 2, 16]), *source.rng.pick(&[1, 1, 1, 2, 3, 4]));
        let start = *source.rng.pick(&["0", "5", "127", "128", "300", "%n", "-7"]);
        source.text = format!(
            "func @f(%n: i64, %p: ptr, %q: ptr, %s: ptr noalias) {{\nentry:\n  br loop({first}, {start})\nloop:\n"
        );
        source.line("%i: i64 = phi");
        source.line("%at: i64 = phi");
        source.line("%more: i1 = icmp slt %i, %n");
        source.line("br %more, body, end");
        source.block("body");
        let mut sum = "%i".to_owned();
        for _ in 0..1 + source.rng.below(4) {
            let (bits, at) = (source.bits(), source.fresh("g"));
            let index = if source.rng.chance(1, 4) { "%at".to_owned() } else { source.bent("%i") };
            source.line(&format!("{at}: ptr = getelementptr i{bits}, %p, {index}"));
            let x = match source.rng.chance(1, 4) {
                true => source.under_condition(bits, &at, &index),
                false => source.load(bits, &at),
            };
            let (bent, both, next) = (source.bent("%i"), source.fresh("o"), source.fresh("o"));
            source.line(&format!("{both}: i64 = xor {sum}, {x}"));
            source.line(&format!("{next}: i64 = add {both}, {bent}"));
            sum = next;
        }
        source.line("%to: ptr = getelementptr i64, %q, %i");
        source.store(64, &sum, "%to");
        source.line(&format!("%after: i64 = add nsw %i, {step}"));
        let around = source.around();
        source.line(&format!("br loop(%after, {around})"));
        source.block("end");
        source.finished()
    }

    /// The number after `at`, which goes around.
    fn around(&mut self) -> String {
        let by = *self.rng.pick(&[1, 1, 1, 3, -1]);
        self.line(&format!("%one: i64 = add %at, {by}"));
        let next = match self.rng.below(6) {
            0 | 1 => "and %one, 127",
            2 => "srem %one, 128",
            3 => "urem %one, 128",
            4 => {
                self.line("%last: i1 = icmp eq %one, 128");
                "select %last, 0, %one"
            }
            _ => {
                self.line("%last: i1 = icmp slt %at, 127");
                "select %last, %one, 0"
            }
        };
        self.line(&format!("%around: i64 = {next}"));
        "%around".to_owned()
    }

    /// What is loaded if the bits of an index say so; else the index.
    fn under_condition(&mut self, bits: u32, address: &str, index: &str) -> String {
        let names = ["then", "else", "bit", "odd", "x"].map(|name| self.fresh(name));
        let [then, join, bit, odd, x] = &names;
        self.line(&format!("{bit}: i64 = and {index}, 2"));
        self.line(&format!("{odd}: i1 = icmp eq {bit}, 0"));
        self.line(&format!("br {odd}, {}, {}({index})", &then[1..], &join[1..]));
        self.block(&then[1..]);
        let loaded = self.load(bits, address);
        self.line(&format!("br {}({loaded})", &join[1..]));
        self.block(&join[1..]);
        self.line(&format!("{x}: i64 = phi"));
        x.clone()
    }
}
