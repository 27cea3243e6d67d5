//! Objects on the stack that belong to one iteration of a loop.
//!
//! Compilers make one object for all iterations, at the function's entry, and mark where its lifetime begins. It
//! belongs to the iteration if nothing outside of the loop uses it but to compute addresses, which passes like to do
//! there once, and to mark its lifetime. Then W iterations at once need W of it.

use cranelift_entity::EntitySet;

use crate::objects::lifetime_marker;
use warpline_ir::{Block, CastOp, Function, Module, Op, Users, Value};

/// What is known of objects on the stack.
pub(super) struct Objects {
    /// The iteration's own objects, and addresses in them that are computed outside of the loop.
    pub(super) own: EntitySet<Value>,
    /// Objects of which the lifetime begins within the loop.
    pub(super) begun: EntitySet<Value>,
}

impl Objects {
    /// Finds the objects of a loop that has the blocks for which `is_inside` holds.
    pub(super) fn find(module: &Module, func: &Function, is_inside: impl Fn(Block) -> bool) -> Objects {
        let users = Users::of(func);
        let leaving = leaving(func, &is_inside);
        let mut objects = Objects { own: EntitySet::new(), begun: EntitySet::new() };
        for &b in func.layout.iter().filter(|&&b| !is_inside(b)) {
            for &i in &func.blocks[b].insts {
                let data = &func.insts[i];
                if matches!(data.op, Op::Alloca { .. }) && func.constant(data.args[0]).is_some() {
                    objects.look_at(module, func, data.results[0], (&users, &leaving), &is_inside);
                }
            }
        }
        objects
    }

    fn look_at(
        &mut self,
        module: &Module,
        func: &Function,
        object: Value,
        (users, leaving): (&Users, &EntitySet<Value>),
        is_inside: &impl Fn(Block) -> bool,
    ) {
        let mut addresses = vec![object];
        let mut seen: EntitySet<Value> = EntitySet::new();
        seen.insert(object);
        let (mut begins, mut is_own) = (false, !leaving.contains(object));
        let mut at = 0;
        while let Some(&v) = addresses.get(at) {
            at += 1;
            for &user in users.get(v) {
                let data = &func.insts[user];
                let inside = is_inside(data.block);
                let derived = match &data.op {
                    Op::Gep(_) => data.args[0] == v && !data.args[1..].contains(&v),
                    Op::Cast(CastOp::Bitcast | CastOp::AddrSpaceCast) => true,
                    Op::Phi | Op::Select => inside,
                    _ => false,
                };
                if derived {
                    let result = data.results[0];
                    is_own &= !leaving.contains(result);
                    if seen.insert(result) {
                        addresses.push(result);
                    }
                } else {
                    let marker = lifetime_marker(module, func, user);
                    begins |= inside && marker == Some(true);
                    is_own &= inside || marker.is_some();
                }
            }
        }
        if begins {
            self.begun.insert(object);
        }
        if is_own {
            let outside = |v: &Value| func.def_block(*v).is_some_and(|b| !is_inside(b));
            addresses.into_iter().filter(outside).for_each(|v| {
                self.own.insert(v);
            });
        }
    }
}

/// What is passed to φs along edges that are not inside.
fn leaving(func: &Function, is_inside: &impl Fn(Block) -> bool) -> EntitySet<Value> {
    let edges = func.layout.iter().flat_map(|&b| func.out_edges(b).iter().map(move |&e| (b, e)));
    let out = edges.filter(|&(b, e)| !is_inside(b) || !is_inside(func.edges[e].to));
    let mut values = EntitySet::new();
    values.extend(out.flat_map(|(_, e)| func.edges[e].args.iter().copied()));
    values
}
