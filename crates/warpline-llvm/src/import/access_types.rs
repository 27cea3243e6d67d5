//! The types that loads and stores are made as, by their metadata `tbaa`.

use std::collections::HashMap;

use crate::ffi::types::*;
use warpline_ir::{AccessType, AccessTypes, Origin};

use crate::parameters::{attached, is_node, node_operands, string};

/// So many types are followed upwards; a longer way is none of a compiler's.
const MAX_DEPTH: usize = 64;

/// Finds types, each once.
#[derive(Default, Debug)]
pub(super) struct Finder {
    known: HashMap<LLVMValueRef, AccessType>,
}

impl Finder {
    /// Notes the type of an access.
    pub(super) fn note(
        &mut self,
        context: LLVMContextRef,
        access: LLVMValueRef,
        origin: Origin,
        types: &mut AccessTypes,
    ) {
        let Some(tag) = attached(context, access, "tbaa") else { return };
        if let Some(ty) = accessed_type(tag).and_then(|node| self.find(node, types)) {
            types.set(origin, ty);
        }
    }

    /// A type node, with all above it. `None` if it is not of the form that is known here.
    fn find(&mut self, node: LLVMValueRef, types: &mut AccessTypes) -> Option<AccessType> {
        let mut new = Vec::new();
        let mut at = node;
        let mut parent = loop {
            if let Some(&ty) = self.known.get(&at) {
                break Some(ty);
            }
            if new.len() == MAX_DEPTH {
                return None;
            }
            new.push(at);
            match parent_of(at)? {
                Some(up) => at = up,
                None => break None,
            }
        };
        for &node in new.iter().rev() {
            let ty = types.add(parent);
            self.known.insert(node, ty);
            parent = Some(ty);
        }
        parent
    }
}

/// The type of a tag: `(base type, accessed type, offset …)`.
fn accessed_type(tag: LLVMValueRef) -> Option<LLVMValueRef> {
    let operands = node_operands(tag);
    let &accessed = operands.get(1)?;
    (operands.len() >= 3 && is_node(operands[0]) && is_node(accessed)).then_some(accessed)
}

/// The type above a type; of a root, none. The forms are `(name)` and `(name, parent)` with an offset of 0; a
/// structure of several members is none of them.
#[expect(clippy::option_option, reason = "a root is something else than what is not known")]
fn parent_of(node: LLVMValueRef) -> Option<Option<LLVMValueRef>> {
    let operands = node_operands(node);
    operands.first().and_then(|&o| string(o))?;
    match operands[1..] {
        [] => Some(None),
        [parent] | [parent, _] => is_node(parent).then_some(Some(parent)),
        _ => None,
    }
}
