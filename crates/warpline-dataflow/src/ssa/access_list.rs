//! Which blocks read and write the chosen variables.

use cranelift_entity::SecondaryMap;
use warpline_analysis::{Node, phi_placement};

use warpline_ir::{Function, Inst, Op, Var};

/// Dense number of a chosen variable.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Slot(pub u32);

impl Slot {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The chosen variables.
pub(super) struct Slots<'a> {
    pub vars: &'a [Var],
    of: SecondaryMap<Var, Slot>,
}

impl<'a> Slots<'a> {
    pub(super) fn new(vars: &'a [Var]) -> Self {
        let mut of = SecondaryMap::with_default(Slot(u32::MAX));
        for (i, &v) in vars.iter().enumerate() {
            of[v] = Slot(i as u32);
        }
        Slots { vars, of }
    }

    /// The variable's number, if it is chosen.
    pub(super) fn of(&self, var: Var) -> Option<Slot> {
        Some(self.of[var]).filter(|s| s.0 != u32::MAX)
    }

    pub(super) fn len(&self) -> usize {
        self.vars.len()
    }
}

/// A block that writes a variable.
#[derive(Copy, Clone)]
pub(super) struct Write {
    pub slot: Slot,
    pub node: Node,
    /// The last write in the block.
    pub last: Inst,
}

/// The blocks that write variables, and those that read them before any write of their own.
pub(super) struct AccessList {
    pub writes: Vec<Write>,
    /// With the first read of the block.
    pub exposed: Vec<(Slot, Node, Inst)>,
    variables: usize,
    blocks: usize,
}

impl AccessList {
    /// One pass over the instructions of the blocks for which `counts` holds, in the order of the layout.
    pub(super) fn collect(func: &Function, counts: impl Fn(Node) -> bool, slots: &Slots) -> AccessList {
        let (variables, blocks) = (slots.len(), func.blocks.len());
        let mut list = AccessList { writes: Vec::new(), exposed: Vec::new(), variables, blocks };
        // By variable: its last write in the list, and the last block that was found to read it exposed.
        let mut last_write: Vec<usize> = vec![usize::MAX; slots.len()];
        let mut last_exposed: Vec<Node> = vec![Node(u32::MAX); slots.len()];
        for &b in &func.layout {
            let node = Node::from(b);
            if !counts(node) {
                continue;
            }
            for &i in &func.blocks[b].insts {
                let (x, is_read) = match func.insts[i].op {
                    Op::ReadVar(x) => (x, true),
                    Op::WriteVar(x) => (x, false),
                    _ => continue,
                };
                let Some(slot) = slots.of(x) else { continue };
                let s = slot.index();
                let here = list.writes.get_mut(last_write[s]).filter(|w| w.node == node);
                match here {
                    Some(write) if !is_read => write.last = i,
                    Some(_) => {}
                    None if !is_read => {
                        last_write[s] = list.writes.len();
                        list.writes.push(Write { slot, node, last: i });
                    }
                    None if last_exposed[s] != node => {
                        last_exposed[s] = node;
                        list.exposed.push((slot, node, i));
                    }
                    None => {}
                }
            }
        }
        list
    }

    /// How many variables are chosen.
    pub(super) fn variables(&self) -> usize {
        self.variables
    }

    /// The accesses as placement takes them. `on_entry` are the variables that count as written on entry, `needed`
    /// further places that read what a variable holds on arrival.
    pub(super) fn for_placement(
        &self,
        on_entry: impl IntoIterator<Item = usize>,
        needed: &[(Slot, Node)],
    ) -> phi_placement::Accesses {
        let definitions = self.writes.iter().map(|w| (w.slot.index(), w.node));
        let exposed = self.exposed.iter().map(|e| (e.0, e.1)).chain(needed.iter().copied());
        let exposed = exposed.map(|(s, node)| (s.index(), node));
        phi_placement::Accesses::new(self.blocks, self.variables, definitions, exposed, on_entry)
            .expect("the blocks and variables of a function are its own")
    }
}
