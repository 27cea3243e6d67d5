//! Typed ids of everything in the IR.

use cranelift_entity::entity_impl;
use warpline_analysis::Node;

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);
        entity_impl!($name, $prefix);
    };
}

entity! {
    /// A basic block of a function.
    Block, "b"
}
entity! {
    /// A control-flow edge of a function. Parallel edges have different ids.
    Edge, "e"
}
entity! {
    /// An instruction of a function.
    Inst, "i"
}
entity! {
    /// An SSA value of a function: a parameter, a result of an instruction, or a constant.
    Value, "v"
}
entity! {
    /// A variable of a function that is not (or not yet) in SSA form.
    Var, "x"
}
entity! {
    /// A function of a module.
    FuncId, "f"
}
entity! {
    /// A named thing of a module that code refers to: a function or a global variable, defined here or not.
    Symbol, "g"
}
entity! {
    /// A source location of a module.
    Loc, "loc"
}
entity! {
    /// A handle to what an instruction, constant or function was imported from. Only the LLVM bridge
    /// understands it.
    Origin, "o"
}
entity! {
    /// A type that memory is accessed as, for what the language says of accesses as different ones.
    AccessType, "t"
}

impl From<Block> for Node {
    /// Block *i* is node *i* of [`Function::graph`](super::Function::graph).
    fn from(b: Block) -> Node {
        Node(b.0)
    }
}

impl From<Node> for Block {
    fn from(n: Node) -> Block {
        Block(n.0)
    }
}
