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
use crate::module::{Module, called_function, further, instructions_of, is, users_of, value_name};
use crate::parameters::{attached, integer, is_node, node_operands, string};
use crate::simplify::{attribute_kind, has_body};
use crate::unroll::constant;

/// Copies of more bytes stay as they are.
const MOST_BYTES: i64 = 128;
/// So do those that would become more loads.
const MOST_PIECES: usize = 16;
/// What is carried over from a copy to its pieces.
const KEPT: [&str; 2] = ["alias.scope", "noalias"];
const EMPTY: *const c_char = c"".as_ptr();

impl Module {
    /// Takes copies and fills of small structures apart.
    pub(crate) fn split_small_copies(&self) {
        let insts = self.functions().filter(|&function| has_body(function)).flat_map(instructions_of);
        let is_small = |inst| bulk_bytes(inst).filter(|bytes| (1..=MOST_BYTES).contains(bytes));
        let calls: Vec<(LLVMValueRef, u64)> =
            insts.filter_map(|inst| Some((inst, is_small(inst)?.cast_unsigned()))).collect();
        if calls.is_empty() {
            return;
        }
        let f = functions();
        // SAFETY: the context of this live module; the builder is used for live instructions of it, and disposed of.
        unsafe {
            let builder = f.LLVMCreateBuilderInContext(self.context());
            let split = Split { context: self.context(), builder };
            for (call, bytes) in calls {
                split.call(call, bytes);
            }
            f.LLVMDisposeBuilder(builder);
        }
    }
}

/// How many bytes a call of `memcpy`, `memmove` or `memset`, as LLVM has them, accesses, if that is constant and it is
/// not volatile.
pub(crate) fn bulk_bytes(inst: LLVMValueRef) -> Option<i64> {
    let name = value_name(called_function(inst)?);
    let starts = ["llvm.memcpy.p", "llvm.memmove.p", "llvm.memset.p"];
    starts.iter().any(|start| name.starts_with(start)).then_some(())?;
    // SAFETY: a live call of such a function: an address, what is written, how many bytes, and whether all is observed.
    let [bytes, volatile] = [2, 3].map(|k| constant(unsafe { functions().LLVMGetOperand(inst, k) }));
    bytes.filter(|&bytes| bytes >= 0 && volatile == Some(0))
}

/// Whether a copy or a fill is a copy.
///
/// # Safety
/// A live call of such a function.
pub(crate) unsafe fn is_copy(call: LLVMValueRef) -> bool {
    let f = functions();
    // SAFETY: as the caller promises, it has a second operand.
    unsafe {
        f.LLVMGetTypeKind(f.LLVMTypeOf(f.LLVMGetOperand(call, 1))) == LLVMTypeKind::LLVMPointerTypeKind as u32
    }
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
    /// Takes a call apart, which accesses so many bytes.
    ///
    /// # Safety
    /// A live call of `memcpy`, `memmove` or `memset`.
    unsafe fn call(&self, call: LLVMValueRef, bytes: u64) {
        let f = functions();
        // SAFETY: as the caller promises; both addresses, or the address and the byte, are operands.
        unsafe {
            let [to, what] = [0, 1].map(|k| f.LLVMGetOperand(call, k));
            let (is_copy, fill) = (is_copy(call), constant(what));
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
                Some(byte) => {
                    let ones = 0x0101_0101_0101_0101 >> (64 - 8 * piece.bytes);
                    f.LLVMConstInt(piece.ty, (byte.cast_unsigned() & 0xff) * ones, 0)
                }
                None => {
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

    /// Where a piece of an object is.
    ///
    /// # Safety
    /// It is live.
    unsafe fn address(&self, start: LLVMValueRef, at: u64) -> LLVMValueRef {
        // SAFETY: as the caller promises; both belong together.
        unsafe { further(self.context, self.builder, start, at.cast_signed()) }
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
        while is(at, LLVMGetElementPtr) {
            at = functions().LLVMGetOperand(at, 0);
        }
        is(at, LLVMAlloca) && has_variable_address(at)
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
            if !is(user, LLVMGetElementPtr) {
                return is(user, LLVMPHI) || is(user, LLVMSelect);
            }
            let mut indices = 1..f.LLVMGetNumOperands(user) as u32;
            indices.any(|k| constant(f.LLVMGetOperand(user, k)).is_none()) || has_variable_address(user)
        }
    })
}
