//! Which blocks write and read variables, in the form that φ placement asks for.

use warpline_analysis::phi_placement::Accesses;

use super::access_list::{AccessList, Slots};
use warpline_ir::{Function, Var};

/// The accesses of a function to all of its variables. Number *i* is the variable with index *i*, node *i* of the
/// function's [`graph`](Function::graph) the block with index *i*; no variable holds a value on entry.
pub fn accesses_of(func: &Function) -> Accesses {
    let vars: Vec<Var> = func.vars.keys().collect();
    accesses_to(func, &vars, |_| false)
}

/// The accesses of a function to some of its variables, each at most once in the list; number *i* is the *i*-th of
/// them. `on_entry` says which count as holding a value when control enters. One pass over the instructions of the
/// layout.
pub fn accesses_to(func: &Function, vars: &[Var], on_entry: impl Fn(Var) -> bool) -> Accesses {
    let held = (0..).zip(vars).filter(|&(_, &x)| on_entry(x)).map(|(i, _)| i);
    AccessList::collect(func, |_| true, &Slots::new(vars)).for_placement(held, &[])
}

#[cfg(test)]
mod tests {
    use warpline_analysis::Node;

    use super::*;
    use warpline_ir::text::parse_module;

    const LOOP: &str = "func @f(%c: i1) -> i32 {
  var $x: i32
  var $y: i32
entry:
  write $x, 1
  write $y, 2
  br loop
loop:
  %a: i32 = read $x
  write $x, %a
  %b: i32 = read $x
  write $x, %b
  br %c, loop, out
out:
  %d: i32 = read $y
  %e: i32 = read $y
  ret %d
}
";

    #[test]
    fn a_block_counts_once_and_reads_behind_a_write_do_not_count() {
        let module = parse_module(LOOP).unwrap();
        let func = module.functions.values().next().unwrap();
        let [entry, looped, out] = [0, 1, 2].map(Node);
        let all = accesses_of(func);
        assert_eq!((all.definitions(0), all.exposed(0)), (&[entry, looped][..], &[looped][..]));
        assert_eq!((all.definitions(1), all.exposed(1)), (&[entry][..], &[out][..]));
        assert!(!all.is_defined_on_entry(0) && !all.is_defined_on_entry(1));
    }

    #[test]
    fn variables_are_numbered_as_listed_and_others_are_left_out() {
        let module = parse_module(LOOP).unwrap();
        let func = module.functions.values().next().unwrap();
        let vars: Vec<Var> = func.vars.keys().collect();
        let one = accesses_to(func, &vars[1..], |x| x == vars[1]);
        assert_eq!(one.variables(), 1);
        assert_eq!((one.definitions(0), one.exposed(0)), (&[Node(0)][..], &[Node(2)][..]));
        assert!(one.is_defined_on_entry(0));
    }
}
