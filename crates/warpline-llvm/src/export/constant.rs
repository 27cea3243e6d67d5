//! Constants and symbols.

use crate::ffi::types::*;
use warpline_ir::{self as ir, AggregateType, Constant, Effects, Symbol, SymbolKind, Type};

use crate::ffi::load::functions;
use crate::module::c_string;
use crate::tables::Bridge;

/// `memory(none)`.
const NO_MEMORY: u64 = 0;

impl Bridge {
    /// A constant of the IR as one of LLVM, or the reason why there is none.
    pub(super) fn export_constant(
        &mut self,
        ir: &ir::Module,
        constant: &Constant,
    ) -> Result<LLVMValueRef, String> {
        let f = functions();
        let ty = self.typed(ir, constant.ty())?;
        // SAFETY: types and constants of a live context; counts describe their arrays.
        unsafe {
            Ok(match constant {
                Constant::Int { value, .. } => {
                    let words = [*value as u64, (*value >> 64) as u64];
                    f.LLVMConstIntOfArbitraryPrecision(ty, 2, words.as_ptr())
                }
                Constant::WideInt { words, .. } => {
                    f.LLVMConstIntOfArbitraryPrecision(ty, words.len() as u32, words.as_ptr())
                }
                Constant::Float { kind, bits } => {
                    let integer = f.LLVMIntTypeInContext(self.module.context(), kind.bits());
                    let words = [*bits as u64, (*bits >> 64) as u64];
                    f.LLVMConstBitCast(f.LLVMConstIntOfArbitraryPrecision(integer, 2, words.as_ptr()), ty)
                }
                Constant::Null(_) | Constant::Zero(_) => f.LLVMConstNull(ty),
                Constant::Undef(_) => f.LLVMGetUndef(ty),
                Constant::Poison(_) => f.LLVMGetPoison(ty),
                Constant::Address { symbol, offset, origin, .. } => {
                    if let Some(original) = origin.and_then(|origin| self.original(origin)) {
                        return Ok(original);
                    }
                    let symbol = self.export_symbol(ir, *symbol)?;
                    if *offset == 0 {
                        return Ok(symbol);
                    }
                    let byte = f.LLVMIntTypeInContext(self.module.context(), 8);
                    let index = f.LLVMIntTypeInContext(self.module.context(), 64);
                    let mut offset = f.LLVMConstInt(index, *offset as u64, 1);
                    f.LLVMConstGEP2(byte, symbol, &raw mut offset, 1)
                }
                Constant::Composite { ty: composite, elems } => {
                    let mut elems = elems
                        .iter()
                        .map(|elem| self.export_constant(ir, elem))
                        .collect::<Result<Vec<_>, _>>()?;
                    let count = elems.len();
                    match composite {
                        Type::Vector(_) => f.LLVMConstVector(elems.as_mut_ptr(), count as u32),
                        Type::Aggregate(aggregate) => match ir.types.get(*aggregate) {
                            AggregateType::Array { elem, .. } => {
                                let elem = self.typed(ir, *elem)?;
                                f.LLVMConstArray2(elem, elems.as_mut_ptr(), count as u64)
                            }
                            AggregateType::Struct { name: Some(_), .. } => {
                                f.LLVMConstNamedStruct(ty, elems.as_mut_ptr(), count as u32)
                            }
                            AggregateType::Struct { packed, .. } => f.LLVMConstStructInContext(
                                self.module.context(),
                                elems.as_mut_ptr(),
                                count as u32,
                                i32::from(*packed),
                            ),
                        },
                        _ => return Err("a composite constant is neither vector nor aggregate".to_owned()),
                    }
                }
                Constant::Opaque { origin, .. } => {
                    self.original(*origin).ok_or("a carried constant did not come from this module")?
                }
            })
        }
    }

    fn typed(&self, ir: &ir::Module, ty: Type) -> Result<LLVMTypeRef, String> {
        self.export_type(ty, &ir.types)
            .ok_or_else(|| "the type of a constant did not come from this module".to_owned())
    }

    /// The global behind a symbol; a function that is not there is declared.
    pub(super) fn export_symbol(&mut self, ir: &ir::Module, symbol: Symbol) -> Result<LLVMValueRef, String> {
        let data = &ir.symbols[symbol];
        if let Some(original) = data.origin.and_then(|origin| self.original(origin)) {
            return Ok(original);
        }
        if let Some(named) = self.module.named(&data.name) {
            return Ok(named);
        }
        let name = c_string(&data.name);
        // SAFETY: a live module, a terminated name.
        let global = unsafe { functions().LLVMGetNamedGlobal(self.module.raw(), name.as_ptr()) };
        if !global.is_null() {
            return Ok(global);
        }
        let SymbolKind::Function { params, ret, variadic } = &data.kind else {
            return Err(format!("there is no global `{}`", data.name));
        };
        let ty = self.function_type(ir, params, *ret, *variadic)?;
        self.declare(&data.name, ty, data.effects)
    }

    /// A function type.
    pub(crate) fn function_type(
        &self,
        ir: &ir::Module,
        params: &[Type],
        ret: Type,
        variadic: bool,
    ) -> Result<LLVMTypeRef, String> {
        let mut params = params.iter().map(|&ty| self.typed(ir, ty)).collect::<Result<Vec<_>, _>>()?;
        let ret = self.typed(ir, ret)?;
        // SAFETY: types of a live context; the count describes the array.
        Ok(unsafe {
            functions().LLVMFunctionType(ret, params.as_mut_ptr(), params.len() as u32, i32::from(variadic))
        })
    }

    /// Declares a function. LLVM itself knows the attributes of its intrinsics; others get what their effect record
    /// says.
    pub(super) fn declare(
        &self,
        name: &str,
        ty: LLVMTypeRef,
        effects: Effects,
    ) -> Result<LLVMValueRef, String> {
        let f = functions();
        let c_name = c_string(name);
        // SAFETY: a live module, a function type, a terminated name.
        unsafe {
            let function = f.LLVMAddFunction(self.module.raw(), c_name.as_ptr(), ty);
            if name.starts_with("llvm.") {
                if f.LLVMGetIntrinsicID(function) == 0 {
                    f.LLVMDeleteFunction(function);
                    return Err(format!("this LLVM has no intrinsic `{name}`"));
                }
                return Ok(function);
            }
            if !effects.intersects(Effects::UNWINDS) {
                self.module.add_attribute(function, "nounwind", 0);
            }
            if !effects.intersects(Effects::DIVERGES | Effects::NO_RETURN) {
                self.module.add_attribute(function, "willreturn", 0);
            }
            if !effects.intersects(Effects::READS | Effects::WRITES) {
                self.module.add_attribute(function, "memory", NO_MEMORY);
            }
            Ok(function)
        }
    }
}
