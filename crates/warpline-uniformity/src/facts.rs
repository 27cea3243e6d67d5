//! What is known of a function beyond its IR: how it is launched, and details of instructions that the IR carries.
//!
//! Who imports a function says so; without a word, nothing is assumed.

use warpline_ir::Inst;

/// The size of the work-groups in which a kernel runs.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct WorkGroup {
    /// Work-items in x, y and z.
    pub size: [u32; 3],
    /// Whether every work-group has this size: no partial one at the end of a range.
    pub whole: bool,
}

/// What is known of a function beyond its IR.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// Whether there is one lane only, so that all values are uniform.
    pub one_lane: bool,
    /// The number of lanes of a wave, a power of two, if known.
    pub wave_size: Option<u32>,
    /// The size of the work-groups, if it is prescribed.
    pub work_group: Option<WorkGroup>,
    /// Whether the flat address of private memory is another one in each lane, as with scratch memory that other
    /// lanes can address; else it is the same in all lanes and leads each lane to memory of its own.
    pub private_addresses_differ: bool,
    notes: Vec<(Inst, Note)>,
}

/// A detail of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// The constraints of inline assembly, in LLVM's notation.
    Assembly(Box<str>),
    /// The name of the register that is read.
    Register(Box<str>),
    /// A promise that the call is no source of divergence by itself.
    NoSource,
}

impl Facts {
    /// Notes a detail of an instruction. Instructions come in ascending order.
    pub fn note(&mut self, inst: Inst, note: Note) {
        debug_assert!(self.notes.last().is_none_or(|&(last, _)| last < inst));
        self.notes.push((inst, note));
    }

    /// The detail noted of an instruction.
    pub(crate) fn note_of(&self, inst: Inst) -> Option<&Note> {
        let found = self.notes.binary_search_by_key(&inst, |&(i, _)| i).ok()?;
        Some(&self.notes[found].1)
    }
}

/// The outputs that inline assembly returns, each with its constraint, such as `=v` or `={s0}`. Outputs in memory are
/// none.
pub(super) fn assembly_outputs(constraints: &str) -> impl Iterator<Item = &str> {
    split_constraints(constraints).filter_map(|c| c.strip_prefix('=')).filter(|c| !c.starts_with('*'))
}

/// The constraints; a comma inside braces belongs to a register's name.
fn split_constraints(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    })
}

/// Whether an output of inline assembly for an AMD GPU is in a scalar register, which is one for all lanes: of the
/// class `s` (or `r`, the same), or a special register that is not `vN` or `aN`.
pub(super) fn is_scalar_register(constraint: &str) -> bool {
    let constraint = constraint.trim_start_matches(['&', '%']);
    match constraint.strip_prefix('{') {
        Some(name) => is_scalar_register_name(name.trim_end_matches('}')),
        None => constraint == "s" || constraint == "r",
    }
}

/// Whether a physical register of an AMD GPU is one for all lanes.
pub(super) fn is_scalar_register_name(name: &str) -> bool {
    let numbered = |prefix: char| {
        name.strip_prefix(prefix).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit() || c == '['))
    };
    let special = ["vcc", "exec", "m0", "scc", "flat_scratch", "xnack_mask", "ttmp", "tba", "tma", "src_"];
    numbered('s') || special.iter().any(|s| name.starts_with(s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_of_assembly_are_told_from_inputs_and_memory() {
        let outputs: Vec<&str> = assembly_outputs("=v,=&s,=*m,={s[0:1]},v,{v1},~{memory}").collect();
        assert_eq!(outputs, ["v", "&s", "{s[0:1]}"]);
    }

    #[test]
    fn scalar_registers_are_told_from_those_of_each_lane() {
        for scalar in ["s", "&s", "r", "{s0}", "{s[0:3]}", "{vcc}", "{exec}", "{m0}"] {
            assert!(is_scalar_register(scalar), "{scalar}");
        }
        for own in ["v", "a", "{v0}", "{v[0:1]}", "{a5}", "VA", "^VA", "x"] {
            assert!(!is_scalar_register(own), "{own}");
        }
    }
}
