//! Random kernels in OpenCL C that run over work-groups: barriers, local memory, and what work-items compute together.
//!
//! Work-items write their own elements of local memory, wait, read those of others, and wait, in loops and branches that
//! a group takes together, so no kernel has a race and each barrier is one that all reach. Parameters are those of
//! `filetests/groups/kernels.cl`. Kernels whose names begin with `plane` number work-items in three dimensions.

use std::fmt::Write as _;

use crate::rng::SplitMix64;

const WAIT: &str = "barrier(CLK_LOCAL_MEM_FENCE);\n";

/// What stands above all kernels of a file: arithmetic that wraps, since what is too large for an `int` means nothing in
/// C, and a function with barriers.
pub const HEAD: &str = "#define ADD(a, b) ((int)((uint)(a) + (uint)(b)))
#define SUB(a, b) ((int)((uint)(a) - (uint)(b)))
#define MUL(a, b) ((int)((uint)(a) * (uint)(b)))
int exchange(local int *tmp, int x, int l, int with) {
  tmp[l] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  int other = tmp[with];
  barrier(CLK_LOCAL_MEM_FENCE);
  return other;
}
";

/// A statement; bodies are those of its blocks, each behind the text before it.
#[derive(Clone, Debug)]
struct Statement {
    blocks: Vec<(String, Vec<Statement>)>,
    end: String,
}

impl Statement {
    fn plain(text: String) -> Self {
        Statement { blocks: Vec::new(), end: text }
    }
}

/// A random kernel, which [can be made smaller](Self::smaller).
#[derive(Clone, Debug)]
pub struct GroupKernel {
    name: String,
    is_plane: bool,
    first: String,
    statements: Vec<Statement>,
}

/// What a kernel may do.
#[derive(Copy, Clone, Debug)]
struct Allowed {
    /// What all work-items of a group compute together: not once some have returned.
    together: bool,
    /// Functions of sub-groups, whose size is that of a vector.
    sub_groups: bool,
    returns: bool,
}

struct Generator<'r> {
    rng: &'r mut SplitMix64,
    allowed: Allowed,
    /// How many names have been made.
    names: u32,
}

impl GroupKernel {
    /// The kernel of a seed, with functions of sub-groups if asked for.
    pub fn random(seed: u64, sub_groups: bool) -> Self {
        let mut rng = SplitMix64::new(seed);
        let is_plane = rng.chance(1, 3);
        let returns = rng.chance(1, 4);
        let early =
            if returns { format!("  if (g >= n - {}) return;\n", rng.below(9)) } else { String::new() };
        // Who has returned has no value to combine.
        let allowed = Allowed { together: !returns, sub_groups: sub_groups && !returns, returns };
        let mut generator = Generator { rng: &mut rng, allowed, names: 0 };
        let statements = generator.statements(3);
        let name = format!("{}k{seed}", if is_plane { "plane_" } else { "" });
        GroupKernel { name, is_plane, first: early, statements }
    }

    /// The name of the kernel.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kernel in OpenCL C, without [`HEAD`].
    pub fn text(&self) -> String {
        let numbers = if self.is_plane {
            "  int X = get_local_id(0), Y = get_local_id(1), Z = get_local_id(2), w = get_local_size(0);
  int h = get_local_size(1), l = (Z * h + Y) * w + X, size = w * h * get_local_size(2);
  int g = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);\n"
        } else {
            "  int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0), X = l, Y = 0;\n"
        };
        let mut out = format!(
            "kernel void {}(global const int *in, global int *out, int n, local int *tmp) {{
  local int bins[9];\n{numbers}  int x = in[g], y = l;
  long wide = (long)x * 1000003;
  uchar small = x ^ l;
  float f = (float)(x & 63);
  int own[4] = {{x, l, 3, x ^ l}};
  uint4 four = (uint4)(x, y, l, g);
  tmp[l] = x;
  for (int i = l; i < 9; i += size) bins[i] = i;\n",
            self.name
        );
        out += &self.first;
        out += WAIT;
        write(&mut out, &self.statements);
        out += "  out[g] = 31u * x + y + own[x & 3] + (int)(wide >> 9) + small * 7 + as_int(f) + four.x * 3 + four.y \
                + four.z * 5 + four.w + bins[l % 9];\n}\n";
        out
    }

    /// The kernel with one statement less, or a block in the place of what is around it: each way there is.
    pub fn smaller(&self) -> Vec<GroupKernel> {
        let mut all: Vec<GroupKernel> = without_one(&self.statements)
            .into_iter()
            .map(|statements| GroupKernel { statements, ..self.clone() })
            .collect();
        if !self.first.is_empty() {
            all.push(GroupKernel { first: String::new(), ..self.clone() });
        }
        all
    }
}

fn write(out: &mut String, statements: &[Statement]) {
    for s in statements {
        for (text, body) in &s.blocks {
            *out += text;
            write(out, body);
        }
        *out += &s.end;
    }
}

fn without_one(statements: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all = Vec::new();
    for (k, s) in statements.iter().enumerate() {
        let with = |new: Vec<Statement>| [&statements[..k], &new, &statements[k + 1..]].concat();
        all.push(with(Vec::new()));
        for (b, (_, body)) in s.blocks.iter().enumerate() {
            for smaller in without_one(body) {
                let mut new = s.clone();
                new.blocks[b].1 = smaller;
                all.push(with(vec![new]));
            }
        }
    }
    all
}

impl Generator<'_> {
    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound)
    }

    /// Statements before and behind which all work-items have waited.
    fn statements(&mut self, depth: u32) -> Vec<Statement> {
        (0..1 + self.below(3)).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: u32) -> Statement {
        if self.allowed.together && self.rng.chance(1, 5) {
            return Statement::plain(self.collective());
        }
        if self.allowed.sub_groups && self.rng.chance(1, 4) {
            return Statement::plain(self.of_sub_group());
        }
        match self.below(if depth > 0 { 14 } else { 9 }) {
            0..5 => Statement::plain(self.own()),
            5..9 => Statement::plain(self.shared()),
            _ => self.nested(depth - 1),
        }
    }

    /// What a work-item does by itself.
    fn own(&mut self) -> String {
        let k = self.below(7);
        match self.below(9) {
            0 => format!("x = ADD(MUL(x, {k}), y >> 1);\n"),
            1 => {
                format!(
                    "if ((x ^ l) & {}) {{ x = ADD(x, 5); own[y & 3] = ADD(own[y & 3], x); }} else y = SUB(y, 3);\n",
                    1 + self.below(3)
                )
            }
            2 => format!(
                "for (int k = 0; k < ((x & 3) + {}); k++) y = ADD(y, own[k & 3] ^ k);\n",
                self.below(3)
            ),
            3 => format!(
                "wide = (long)((ulong)wide * {} + (ulong)(long)x); small = (uchar)(small + (uint)(y >> {k}));\n",
                k + 3
            ),
            4 => format!("f = f * 0.5f; f = f + (float)(y & {});\n", (1 << k) - 1),
            5 => format!("four = four.yzwx + (uint4)(x, {k}, y, l); if (small & 1) four.x ^= y;\n"),
            6 => {
                format!("y = ADD(y, (int)get_global_id({}) * {k} + (int)get_num_groups({}));\n", k % 3, k % 2)
            }
            7 => format!(
                "if (f > {}.0f) {{ while ((y & 7) < {k}) y = ADD(y, 1 + (x & 1)); small ^= y; }}\n",
                k * 5
            ),
            _ if self.allowed.returns => {
                format!("if ((x & 63) == {} && l > {}) return;\n", self.below(64), k)
            }
            _ => format!(
                "switch (ADD(x, {k}) & 3) {{ case 0: y = ADD(y, 3); break; case 1: x ^= y; break; default: own[1] = y; }}\n"
            ),
        }
    }

    /// What work-items do with local memory; all have waited at its end.
    fn shared(&mut self) -> String {
        let k = self.below(9);
        match self.below(10) {
            0 | 1 => format!("y = ADD(y, tmp[(l + {k}) % size]);\n{WAIT}"),
            2 => format!("tmp[l] = ADD(x, y);\n{WAIT}y ^= tmp[size - 1 - l];\n{WAIT}"),
            3 => self.of_some(),
            4 => {
                let update = ["add", "sub", "xor", "or", "and", "min", "max"][self.below(7)];
                format!(
                    "atomic_{update}(&bins[x & 7], ADD(y, {k}));\n{WAIT}x = ADD(x, bins[(l + {k}) % 9]);\n{WAIT}"
                )
            }
            // The first work-item empties the queue, so it must not have returned.
            5 if self.allowed.together => format!(
                "if (l == 0) bins[8] = 0;\n{WAIT}if ((x & 7) >= {k} - 2) tmp[size + atomic_inc(&bins[8])] = x;\n{WAIT}\
                 {{ int sum = 0; for (int i = 0; i < bins[8]; i++) sum = ADD(sum, tmp[size + i] >> 1); y ^= sum; }}\n{WAIT}"
            ),
            6 if self.allowed.together => {
                let from = if k.is_multiple_of(2) { "get_group_id(0) * size" } else { "n - size" };
                let event = self.name("event");
                format!(
                    "event_t {event} = async_work_group_copy(tmp + 2 * size, in + ({from}), size, 0);\n\
                     wait_group_events(1, &{event});\ny = ADD(y, tmp[2 * size + (l + {k}) % size]);\n{WAIT}"
                )
            }
            7 => format!("x = exchange(tmp, ADD(x, {k}), l, (l + {k}) % size);\n"),
            8 => format!(
                "for (int i = l; i < {}; i += size) bins[i] = ADD(bins[i], i * {k});\n{WAIT}",
                self.below(10)
            ),
            _ => format!(
                "{{ int seen = 0; for (int i = 0; i < size; i++) seen += tmp[i] < x || tmp[i] == x && i < l; y = ADD(y, seen); }}\n{WAIT}"
            ),
        }
    }

    /// A statement that most work-items have nothing to do in.
    fn of_some(&mut self) -> String {
        let bound = ["size / 2", "tmp[0] & 7", "size - 3", "4", "size & 5", "n - size"][self.below(6)];
        let conditions = [
            "l < b",
            "l <= b",
            "b > l",
            "l + 2 < b",
            "l == 0",
            "!(l >= b)",
            "(uint)l < (uint)b",
            "X < b",
            "Y < b && l < b",
        ];
        let condition = conditions[self.below(9)].replace('b', "bound");
        format!(
            "{{ int bound = {bound};\n{WAIT}if ({condition}) tmp[l] = ADD(MUL(tmp[l], 3), l);\n{WAIT}}}\n"
        )
    }

    /// What all work-items of a group compute together.
    fn collective(&mut self) -> String {
        let k = self.below(9);
        match self.below(8) {
            0 => format!("y = ADD(y, work_group_reduce_add(x & {}));\n", k + 3),
            1 => format!("x ^= work_group_scan_inclusive_add(y & {});\n", k + 1),
            2 => format!("y = ADD(y, work_group_scan_exclusive_add(x >> {k}) & 1023);\n"),
            3 => format!("if (work_group_any((x & 63) == {k})) y = ADD(y, l); else x = SUB(x, {k});\n"),
            4 => format!("y = ADD(y, work_group_all(x > {k} - 990) * 3);\n"),
            5 => format!("y ^= work_group_scan_inclusive_max(ADD(x, l * {k}));\n"),
            6 => format!(
                "x = ADD(x, work_group_reduce_add(y >> {k}) ^ (int)work_group_reduce_max((uint)y));\n"
            ),
            _ => format!("y ^= work_group_reduce_min(SUB(x, l * {k}));\n"),
        }
    }

    /// What the work-items of a sub-group compute together.
    fn of_sub_group(&mut self) -> String {
        let k = self.below(9);
        match self.below(10) {
            0 => format!("y = ADD(y, sub_group_reduce_add(x & {}));\n", k + 3),
            1 => format!("x ^= sub_group_scan_inclusive_add(y & {});\n", k + 1),
            2 => format!("y = ADD(y, sub_group_scan_exclusive_add(x >> {k}) & 1023);\n"),
            3 => format!("if (sub_group_any((x & 63) == {k})) y = ADD(y, l); else x = SUB(x, {k});\n"),
            4 => format!("y = ADD(y, sub_group_all(x > {k} - 990) * 3);\n"),
            5 => format!("y ^= sub_group_reduce_max(SUB(x, l * {k}));\n"),
            6 => "x = ADD(x, sub_group_broadcast(y, 0));\n".to_owned(),
            7 => format!("y = ADD(y, get_sub_group_id() * {k} + get_sub_group_local_id() * 3);\n"),
            8 => "x ^= get_num_sub_groups() * 5 + get_sub_group_size();\n".to_owned(),
            _ => {
                format!("tmp[l] = x;\n{WAIT}y = ADD(y, sub_group_reduce_min(tmp[(l + {k}) % size]));\n{WAIT}")
            }
        }
    }

    /// A loop or a branch that the group takes together.
    fn nested(&mut self, depth: u32) -> Statement {
        // Who returns from a loop leaves it in another iteration than the others do.
        let returns = std::mem::replace(&mut self.allowed.returns, false);
        let nested = self.taken_together(depth);
        self.allowed.returns = returns;
        nested
    }

    fn taken_together(&mut self, depth: u32) -> Statement {
        let inner = self.statements(depth);
        let k = self.name("k");
        match self.below(6) {
            0 => {
                let bound = if self.rng.chance(1, 2) { "(size & 3) + 1" } else { "2" };
                let head = format!("for (int {k} = 0; {k} < {bound}; {k}++) {{\n");
                Statement { blocks: vec![(head, inner)], end: format!("x = ADD(x, {k});\n}}\n") }
            }
            1 => {
                let condition = ["get_group_id(0) % 2 == 0", "n & 64", "size > 8", "get_num_groups(0) == 4"]
                    [self.below(4)];
                let other = if self.rng.chance(2, 3) { self.statements(depth) } else { Vec::new() };
                let blocks =
                    vec![(format!("if ({condition}) {{\n"), inner), ("} else {\n".to_owned(), other)];
                Statement { blocks, end: "}\n".to_owned() }
            }
            2 => {
                let head = format!("int {k} = tmp[0] & 3;\n{WAIT}while ({k}-- > 0) {{\n");
                Statement { blocks: vec![(head, inner)], end: format!("y = ADD(y, {k});\n}}\n") }
            }
            3 => {
                let head = format!("int {k} = 0, go{k};\ndo {{\n");
                let end = format!(
                    "tmp[l] = x;\n{WAIT}go{k} = tmp[0] & 3;\n{WAIT}}} while (++{k} < 4 && go{k} != 1);\n"
                );
                Statement { blocks: vec![(head, inner)], end }
            }
            4 => {
                let head = format!(
                    "for (int {k} = 0; {k} < 3; {k}++) {{\nif ((int)get_group_id(0) % 3 == {k}) continue;\n"
                );
                let end = format!("if ({k} == 1 && (n & 32)) break;\n}}\n");
                Statement { blocks: vec![(head, inner)], end }
            }
            _ => {
                let (second, third) = (self.statements(depth), self.statements(depth));
                let blocks = vec![
                    ("switch (get_group_id(0) % 3) {\ncase 0: {\n".to_owned(), inner),
                    ("} break;\ncase 1: {\n".to_owned(), second),
                    ("}\ndefault: {\n".to_owned(), third),
                ];
                Statement { blocks, end: "}\n}\n".to_owned() }
            }
        }
    }
}

/// A file of the kernels of these seeds.
pub fn file(kernels: &[GroupKernel]) -> String {
    let mut text = HEAD.to_owned();
    for kernel in kernels {
        let _ = writeln!(text, "{}", kernel.text());
    }
    text
}
