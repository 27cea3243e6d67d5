//! What the bridge remembers between import and export: which LLVM object stands behind each handle of the IR.

use std::collections::HashMap;
use std::ops::Range;

use crate::ffi::types::LLVMTypeKind as Kind;
use crate::ffi::types::*;
use warpline_ir::{
    AggregateType, Block, DataLayout, FloatKind, FuncId, Loc, Origin, OtherType, Scalar, Symbol, Type,
    TypeTable, VectorType,
};

use crate::debug_builder::DebugBuilder;
use crate::ffi::load::functions;
use crate::module::{Module, c_string, owned_string, take_message, users_of};

/// The LLVM side of an imported module. The handles ([`Origin`], [`Symbol`], [`Loc`] and the types of a type table)
/// of the [`warpline_ir::Module`] it was imported with have a meaning here and nowhere else.
pub struct Bridge {
    /// Before the module, since it must be dropped first.
    pub(crate) debug: Option<DebugBuilder>,
    pub(crate) module: Module,
    /// The module's layout, in which everything in it is computed.
    pub(crate) layout: DataLayout,
    pub(crate) origins: Vec<Option<LLVMValueRef>>,
    pub(crate) origin_of: HashMap<LLVMValueRef, Origin>,
    types: HashMap<LLVMTypeRef, Type>,
    aggregates: HashMap<Type, LLVMTypeRef>,
    others: HashMap<OtherType, LLVMTypeRef>,
    pub(crate) symbols: HashMap<LLVMValueRef, Symbol>,
    pub(crate) locations: HashMap<LLVMMetadataRef, Loc>,
    pub(crate) location_nodes: Vec<LLVMMetadataRef>,
    /// The subprograms of functions, by where these are declared.
    pub(crate) subprograms: HashMap<Loc, LLVMMetadataRef>,
    pub(crate) bodies: HashMap<FuncId, Body>,
}

/// The LLVM function behind an imported one.
pub(crate) struct Body {
    pub(crate) function: LLVMValueRef,
    pub(crate) blocks: HashMap<Block, LLVMBasicBlockRef>,
    /// The handles given out while it was imported: those of its instructions, and of constants that were new.
    pub(crate) origins: Range<usize>,
}

impl Bridge {
    /// An empty table for a module.
    pub(crate) fn new(module: Module) -> Self {
        Self {
            debug: None,
            layout: DataLayout::parse(&module.data_layout()),
            module,
            origins: Vec::new(),
            origin_of: HashMap::new(),
            types: HashMap::new(),
            aggregates: HashMap::new(),
            others: HashMap::new(),
            symbols: HashMap::new(),
            locations: HashMap::new(),
            location_nodes: Vec::new(),
            subprograms: HashMap::new(),
            bodies: HashMap::new(),
        }
    }

    /// The LLVM module, with everything that was exported into it.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Gives the LLVM module up; the handles of the IR lose their meaning.
    pub fn into_module(self) -> Module {
        let Self { debug, module, .. } = self;
        drop(debug);
        module
    }

    /// The handle for a global or constant, the same one whenever it is asked for.
    pub(crate) fn origin(&mut self, value: LLVMValueRef) -> Origin {
        if let Some(&known) = self.origin_of.get(&value) {
            return known;
        }
        let origin = self.new_origin(value);
        self.origin_of.insert(value, origin);
        origin
    }

    /// A new handle, for an instruction, of which each is met once.
    pub(crate) fn new_origin(&mut self, value: LLVMValueRef) -> Origin {
        self.origins.push(Some(value));
        Origin::from_u32((self.origins.len() - 1) as u32)
    }

    /// The value behind a handle, unless it has been deleted.
    pub(crate) fn original(&self, origin: Origin) -> Option<LLVMValueRef> {
        self.origins.get(origin.as_u32() as usize).copied().flatten()
    }

    /// Lets the handles of all constants that are made of a value stand for nothing.
    pub(crate) fn forget_users(&mut self, value: LLVMValueRef) {
        for user in users_of(value) {
            // SAFETY: a user of a live value, which is asked what it is.
            if unsafe { functions().LLVMIsConstant(user) } != 0 {
                if let Some(origin) = self.origin_of.remove(&user) {
                    self.origins[origin.as_u32() as usize] = None;
                }
                self.forget_users(user);
            }
        }
    }

    /// A type of LLVM as one of the IR.
    pub(crate) fn import_type(&mut self, ty: LLVMTypeRef, table: &mut TypeTable) -> Type {
        if let Some(&known) = self.types.get(&ty) {
            return known;
        }
        let imported = self.import_new_type(ty, table);
        self.types.insert(ty, imported);
        match imported {
            Type::Aggregate(_) => {
                self.aggregates.insert(imported, ty);
            }
            Type::Other(other) => {
                self.others.insert(other, ty);
            }
            _ => {}
        }
        imported
    }

    fn import_new_type(&mut self, ty: LLVMTypeRef, table: &mut TypeTable) -> Type {
        let f = functions();
        // SAFETY: a live type; each question is asked of the kind of type it is for.
        unsafe {
            let kind = f.LLVMGetTypeKind(ty);
            if let Some(float) = float_kind(kind) {
                return Type::Float(float);
            }
            if kind == Kind::LLVMVoidTypeKind as u32 {
                return Type::Void;
            } else if kind == Kind::LLVMIntegerTypeKind as u32 {
                return Type::Int(f.LLVMGetIntTypeWidth(ty));
            } else if kind == Kind::LLVMPointerTypeKind as u32 {
                return Type::Ptr(f.LLVMGetPointerAddressSpace(ty));
            } else if kind == Kind::LLVMVectorTypeKind as u32
                || kind == Kind::LLVMScalableVectorTypeKind as u32
            {
                let element = self.import_type(f.LLVMGetElementType(ty), table);
                if let Some(elem) = element.scalar() {
                    let scalable = kind == Kind::LLVMScalableVectorTypeKind as u32;
                    return Type::Vector(VectorType { elem, lanes: f.LLVMGetVectorSize(ty), scalable });
                }
            } else if kind == Kind::LLVMArrayTypeKind as u32 {
                let elem = self.import_type(f.LLVMGetElementType(ty), table);
                return table.array(elem, f.LLVMGetArrayLength2(ty));
            } else if kind == Kind::LLVMStructTypeKind as u32 {
                let name = f.LLVMGetStructName(ty);
                let name = (!name.is_null()).then(|| owned_string(name).into());
                let fields = (f.LLVMIsOpaqueStruct(ty) == 0).then(|| {
                    (0..f.LLVMCountStructElementTypes(ty))
                        .map(|i| self.import_type(f.LLVMStructGetTypeAtIndex(ty, i), table))
                        .collect()
                });
                let packed = f.LLVMIsPackedStruct(ty) != 0;
                return table.aggregate(AggregateType::Struct { name, fields, packed });
            }
            table.other(&take_message(f.LLVMPrintTypeToString(ty)))
        }
    }

    /// A type of the IR as one of LLVM; `None` for a carried type that did not come from this module.
    pub(crate) fn export_type(&self, ty: Type, table: &TypeTable) -> Option<LLVMTypeRef> {
        let f = functions();
        let context = self.module.context();
        // SAFETY: the context is live, and so is every type made in it.
        unsafe {
            Some(match ty {
                Type::Void => f.LLVMVoidTypeInContext(context),
                Type::Int(bits) => f.LLVMIntTypeInContext(context, bits),
                Type::Float(FloatKind::Half) => f.LLVMHalfTypeInContext(context),
                Type::Float(FloatKind::BFloat) => f.LLVMBFloatTypeInContext(context),
                Type::Float(FloatKind::Float) => f.LLVMFloatTypeInContext(context),
                Type::Float(FloatKind::Double) => f.LLVMDoubleTypeInContext(context),
                Type::Float(FloatKind::X86Fp80) => f.LLVMX86FP80TypeInContext(context),
                Type::Float(FloatKind::Fp128) => f.LLVMFP128TypeInContext(context),
                Type::Float(FloatKind::PpcFp128) => f.LLVMPPCFP128TypeInContext(context),
                Type::Ptr(space) => f.LLVMPointerTypeInContext(context, space),
                Type::Vector(VectorType { elem, lanes, scalable }) => {
                    let element = self.export_type(scalar_type(elem), table)?;
                    if scalable {
                        f.LLVMScalableVectorType(element, lanes)
                    } else {
                        f.LLVMVectorType(element, lanes)
                    }
                }
                Type::Aggregate(_) if self.aggregates.contains_key(&ty) => self.aggregates[&ty],
                Type::Aggregate(aggregate) => match table.get(aggregate) {
                    AggregateType::Array { elem, len } => {
                        f.LLVMArrayType2(self.export_type(*elem, table)?, *len)
                    }
                    AggregateType::Struct { name: None, fields: Some(fields), packed } => {
                        let mut fields = self.export_types(fields, table)?;
                        f.LLVMStructTypeInContext(
                            context,
                            fields.as_mut_ptr(),
                            fields.len() as u32,
                            i32::from(*packed),
                        )
                    }
                    AggregateType::Struct { name, fields, packed } => {
                        let name = c_string(name.as_deref().unwrap_or_default());
                        let known = f.LLVMGetTypeByName2(context, name.as_ptr());
                        if !known.is_null() {
                            return Some(known);
                        }
                        let named = f.LLVMStructCreateNamed(context, name.as_ptr());
                        if let Some(fields) = fields {
                            let mut fields = self.export_types(fields, table)?;
                            f.LLVMStructSetBody(
                                named,
                                fields.as_mut_ptr(),
                                fields.len() as u32,
                                i32::from(*packed),
                            );
                        }
                        named
                    }
                },
                Type::Other(other) => *self.others.get(&other)?,
            })
        }
    }

    /// Serves the types of another table from now on. Those that only LLVM knows are found by their text.
    pub(crate) fn serve_types(&mut self, old: &TypeTable, new: &TypeTable) {
        self.types.clear();
        self.aggregates.clear();
        self.symbols.clear();
        let known = std::mem::take(&mut self.others);
        let by_text: HashMap<&str, LLVMTypeRef> =
            known.iter().map(|(&other, &llvm)| (old.other_text(other), llvm)).collect();
        self.others = new.others().filter_map(|(other, text)| Some((other, *by_text.get(text)?))).collect();
    }

    /// Several types at once.
    pub(crate) fn export_types(&self, types: &[Type], table: &TypeTable) -> Option<Vec<LLVMTypeRef>> {
        types.iter().map(|&ty| self.export_type(ty, table)).collect()
    }
}

impl std::fmt::Debug for Bridge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bridge").field("module", &self.module).finish_non_exhaustive()
    }
}

fn float_kind(kind: u32) -> Option<FloatKind> {
    const KINDS: [(Kind, FloatKind); 7] = [
        (Kind::LLVMHalfTypeKind, FloatKind::Half),
        (Kind::LLVMBFloatTypeKind, FloatKind::BFloat),
        (Kind::LLVMFloatTypeKind, FloatKind::Float),
        (Kind::LLVMDoubleTypeKind, FloatKind::Double),
        (Kind::LLVMX86_FP80TypeKind, FloatKind::X86Fp80),
        (Kind::LLVMFP128TypeKind, FloatKind::Fp128),
        (Kind::LLVMPPC_FP128TypeKind, FloatKind::PpcFp128),
    ];
    KINDS.iter().find(|(llvm, _)| *llvm as u32 == kind).map(|&(_, ours)| ours)
}

/// A vector element as a type.
fn scalar_type(scalar: Scalar) -> Type {
    scalar.into()
}
