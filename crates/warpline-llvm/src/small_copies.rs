//! Copies and fills of small structures, field by field.
//!
//! `old[i] = p[i]` and `T t = a[i]; a[i] = a[j]; a[j] = t;` are calls of `llvm.memcpy` in what front ends write, unless
//! a structure is as large as a register. Of what such a call accesses nothing is known but how many bytes: lanes would
//! call it one after the other, and variables that are copied to stay in memory. So those of constant size become loads
//! and stores, which are groups of neighbours to the vectorizer. clang says where the fields are, and of which type
//! (`tbaa.struct`: what lies between is not copied); otherwise pieces are as large as the alignment allows.

use std::ffi::c_char;

use crate::ffi::load::functions;
use crate::ffi::types::LLVMOpcode::{LLVMAlloca, LLVMGetElementPtr, LLVMPHI, LLVMSelect};
use crate::ffi::types::*;
use crate::module::{Module, called_function, instructions_of, opcode, users_of, value_name};
use crate::parameters::{attached, integer, is_node, node_operands, string};
use crate::simplify::{attribute_kind, has_body};

/// Copies of more bytes stay as they are.
const MOST_BYTES: u64 = 128;
/// So do those that would become more loads.
const MOST_PIECES: usize = 16;
/// What an address is in the middle of an object.
const IN_BOUNDS: u32 = 1;
/// What is carried over from a copy to its pieces.
const KEPT: [&str; 2] = ["alias.scope", "noalias"];
const EMPTY: *const c_char = c"".as_ptr();

impl Module {
    /// Takes copies and fills of small structures apart.
    pub(crate) fn split_small_copies(&self) {
        let calls: Vec<LLVMValueRef> = self
            .functions()
            .filter(|&function| has_body(function))
            .flat_map(instructions_of)
            .filter(|&inst| is_bulk(inst))
            .collect();
        if calls.is_empty() {
            return;
        }
        let f = functions();
        // SAFETY: the context of this live module; the builder is used for live instructions of it, and disposed of.
        unsafe {
            let builder = f.LLVMCreateBuilderInContext(self.context());
            let split = Split { context: self.context(), builder };
            for call in calls {
                split.call(call);
            }
            f.LLVMDisposeBuilder(builder);
        }
    }
}

/// Whether an instruction calls `memcpy`, `memmove` or `memset` as LLVM has them.
fn is_bulk(inst: LLVMValueRef) -> bool {
    let starts = ["llvm.memcpy.p", "llvm.memmove.p", "llvm.memset.p"];
    called_function(inst).is_some_and(|callee| {
        let name = value_name(callee);
        starts.iter().any(|start| name.starts_with(start))
    })
}

/// A part of what is copied.
struct Piece {
    /// Where it begins, in bytes.
    at: u64,
    bytes: u64,
    ty: LLVMTypeRef,
    /// Its type for the analysis of aliases.
    tag: Option<LLVMValueRef>,
}

struct Split {
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
}

impl Split {
    /// Takes a call apart, if it is of few bytes.
    ///
    /// # Safety
    /// A live call of `memcpy`, `memmove` or `memset`.
    unsafe fn call(&self, call: LLVMValueRef) {
        let f = functions();
        // SAFETY: as the caller promises: an address, what is written, how many bytes, and whether all is observed.
        unsafe {
            let [to, what, bytes, volatile] = [0, 1, 2, 3].map(|k| f.LLVMGetOperand(call, k));
            let constant = |v| (!f.LLVMIsAConstantInt(v).is_null()).then(|| f.LLVMConstIntGetZExtValue(v));
            let (Some(bytes @ 1..=MOST_BYTES), Some(0)) = (constant(bytes), constant(volatile)) else {
                return;
            };
            let is_copy = kind_of(what) == LLVMTypeKind::LLVMPointerTypeKind as u32;
            let fill = constant(what).map(|byte| byte & 0xff);
            let objects = if is_copy { vec![to, what] } else { vec![to] };
            if !is_copy && fill.is_none() || objects.iter().any(|&at| is_indexed(at)) {
                return;
            }
            let align = (0..objects.len() as u32).map(|k| alignment(call, k)).min().unwrap_or(1);
            let fields = if is_copy { self.fields(call, bytes) } else { None };
            let Some(pieces) = fields.or_else(|| self.aligned(bytes, align)) else { return };
            f.LLVMPositionBuilderBefore(self.builder, call);
            let of = |piece: &Piece| match fill {
                // The byte, as often as there is room for it.
                Some(byte) if !is_copy => {
                    f.LLVMConstInt(piece.ty, byte.wrapping_mul(0x0101_0101_0101_0101), 0)
                }
                _ => {
                    let address = self.address(what, piece.at);
                    let value = f.LLVMBuildLoad2(self.builder, piece.ty, address, EMPTY);
                    self.describe(call, piece, value, alignment(call, 1));
                    value
                }
            };
            let values: Vec<LLVMValueRef> = pieces.iter().map(of).collect();
            for (piece, value) in pieces.iter().zip(values) {
                let store = f.LLVMBuildStore(self.builder, value, self.address(to, piece.at));
                self.describe(call, piece, store, alignment(call, 0));
            }
            f.LLVMInstructionEraseFromParent(call);
        }
    }

    /// The fields that `tbaa.struct` names, if each is a number or an address.
    ///
    /// # Safety
    /// A live call.
    unsafe fn fields(&self, call: LLVMValueRef, bytes: u64) -> Option<Vec<Piece>> {
        let operands = node_operands(attached(self.context, call, "tbaa.struct")?);
        let (fields, []) = operands.as_chunks::<3>() else { return None };
        let mut pieces: Vec<Piece> = Vec::new();
        for &[at, size, tag] in fields {
            let (at, size) = (integer(at)?, integer(size)?);
            let begins = pieces.last().map_or(0, |last| last.at + last.bytes);
            if !matches!(size, 1 | 2 | 4 | 8) || at < begins || at + size > bytes || !is_node(tag) {
                return None;
            }
            let ty = self.type_of(tag, size);
            pieces.push(Piece { at, bytes: size, ty, tag: Some(tag) });
        }
        (1..=MOST_PIECES).contains(&pieces.len()).then_some(pieces)
    }

    /// Integers that are as large as an alignment allows.
    fn aligned(&self, bytes: u64, align: u64) -> Option<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < bytes {
            let left = 1 << (bytes - at).ilog2();
            let size = align.clamp(1, 8).min(left);
            pieces.push(Piece { at, bytes: size, ty: self.int(size), tag: None });
            at += size;
        }
        (pieces.len() <= MOST_PIECES).then_some(pieces)
    }

    /// The type of a field: that of a floating-point number or an address if its tag says so, since what an address
    /// is of is lost in an integer.
    fn type_of(&self, tag: LLVMValueRef, bytes: u64) -> LLVMTypeRef {
        let f = functions();
        let accessed = node_operands(tag).get(1).copied().filter(|&node| is_node(node));
        let name = accessed.and_then(|node| node_operands(node).first().and_then(|&name| string(name)));
        // SAFETY: a live context.
        unsafe {
            match (name.as_deref(), bytes) {
                (Some("float"), 4) => f.LLVMFloatTypeInContext(self.context),
                (Some("double"), 8) => f.LLVMDoubleTypeInContext(self.context),
                (Some(name), 8) if is_pointer(name) => f.LLVMPointerTypeInContext(self.context, 0),
                _ => self.int(bytes),
            }
        }
    }

    /// Says what is known of the access of a piece.
    ///
    /// # Safety
    /// A live call, and a load or store of a piece of it.
    unsafe fn describe(&self, call: LLVMValueRef, piece: &Piece, access: LLVMValueRef, align: u64) {
        let f = functions();
        let kind = |name: &str| {
            // SAFETY: a live context; the name has its length beside it.
            unsafe { f.LLVMGetMDKindIDInContext(self.context, name.as_ptr().cast(), name.len() as u32) }
        };
        // SAFETY: as the caller promises.
        unsafe {
            let of_place = if piece.at == 0 { align } else { align.min(1 << piece.at.trailing_zeros()) };
            f.LLVMSetAlignment(access, of_place as u32);
            if let Some(tag) = piece.tag {
                f.LLVMSetMetadata(access, kind("tbaa"), tag);
            }
            for name in KEPT {
                if let Some(node) = attached(self.context, call, name) {
                    f.LLVMSetMetadata(access, kind(name), node);
                }
            }
        }
    }

    /// An address some bytes further.
    ///
    /// # Safety
    /// It is live.
    unsafe fn address(&self, start: LLVMValueRef, bytes: u64) -> LLVMValueRef {
        if bytes == 0 {
            return start;
        }
        let f = functions();
        // SAFETY: as the caller promises.
        unsafe {
            let mut bytes = f.LLVMConstInt(self.int(8), bytes, 0);
            f.LLVMBuildGEPWithNoWrapFlags(
                self.builder,
                self.int(1),
                start,
                &raw mut bytes,
                1,
                EMPTY,
                IN_BOUNDS,
            )
        }
    }

    /// Integers of so many bytes.
    fn int(&self, bytes: u64) -> LLVMTypeRef {
        // SAFETY: a live context.
        unsafe { functions().LLVMIntTypeInContext(self.context, 8 * bytes as u32) }
    }
}

/// Whether clang calls the type of addresses so: `any pointer`, or with how many stars and what they lead to, `p1 int`.
fn is_pointer(name: &str) -> bool {
    name == "any pointer"
        || name.strip_prefix('p').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn kind_of(value: LLVMValueRef) -> u32 {
    // SAFETY: a live value.
    unsafe { functions().LLVMGetTypeKind(functions().LLVMTypeOf(value)) }
}

/// The alignment that a call promises of its operand.
///
/// # Safety
/// A live call.
unsafe fn alignment(call: LLVMValueRef, operand: u32) -> u64 {
    let f = functions();
    // SAFETY: as the caller promises; parameters count from 1, and the attribute has a number.
    unsafe {
        let attribute = f.LLVMGetCallSiteEnumAttribute(call, operand + 1, attribute_kind("align"));
        if attribute.is_null() { 1 } else { f.LLVMGetEnumAttributeValue(attribute) }
    }
}

/// Whether an address is in a variable of which elements are taken by number: such arrays are laid out for all lanes by
/// what is accessed in them, and copied as a whole.
///
/// # Safety
/// It is live.
unsafe fn is_indexed(address: LLVMValueRef) -> bool {
    let mut at = address;
    // SAFETY: as the caller promises; an address computation has a base.
    unsafe {
        while opcode(at) == Some(LLVMGetElementPtr as u32) {
            at = functions().LLVMGetOperand(at, 0);
        }
        opcode(at) == Some(LLVMAlloca as u32) && has_variable_address(at)
    }
}

/// Whether anything is at a place in a variable that is computed.
///
/// # Safety
/// A live value.
unsafe fn has_variable_address(value: LLVMValueRef) -> bool {
    let f = functions();
    users_of(value).into_iter().any(|user| {
        // SAFETY: a live user, which is asked for its operands.
        unsafe {
            match opcode(user) {
                Some(op) if op == LLVMGetElementPtr as u32 => {
                    let indices = 1..f.LLVMGetNumOperands(user) as u32;
                    indices.into_iter().any(|k| f.LLVMIsAConstantInt(f.LLVMGetOperand(user, k)).is_null())
                        || has_variable_address(user)
                }
                Some(op) => op == LLVMPHI as u32 || op == LLVMSelect as u32,
                None => false,
            }
        }
    })
}
