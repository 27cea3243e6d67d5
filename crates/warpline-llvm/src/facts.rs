//! What the uniformity analysis wants to know of a function besides its IR: how it is launched, and details of
//! instructions that the IR carries without looking into them.

use std::sync::Arc;

use crate::ffi::types::*;
use warpline_dataflow::clients::interprocedural::ModuleConstants;
use warpline_ir::{FuncId, Inst, Op};
use warpline_uniformity::arguments::Arguments;
use warpline_uniformity::facts::{Facts, Note, WorkGroup};
use warpline_uniformity::shape::ArgShape;
use warpline_uniformity::summary::{Input, Summaries};
use warpline_uniformity::{Options, Target};

use crate::ffi::load::functions;
use crate::import::Imported;
use crate::module::{FUNCTION_INDEX, Module, value_name};
use crate::opcodes::REPLACEABLE;
use crate::parameters::{integer, node_operands, string};
use crate::simplify::attribute_kind;

/// The target whose rules a module asks for by its triple: that of a GPU, else SIMD lanes.
pub fn target_of_triple(triple: &str) -> Target {
    let architecture = triple.split('-').next().unwrap_or_default();
    if architecture == "amdgcn" {
        Target::Amdgcn
    } else if architecture.starts_with("nvptx") {
        Target::Nvptx
    } else if architecture.starts_with("spir") {
        Target::Spirv
    } else {
        Target::Simd
    }
}

impl Imported {
    /// What the analysis is to be asked about a function by default: the target's rules, parameters by calling
    /// convention, the facts that attributes and metadata state.
    pub fn analysis_options(&self, id: FuncId, target: Target, summaries: Option<Arc<Summaries>>) -> Options {
        let Input { args, facts, .. } = self.summary_input(id, target);
        Options { args, target, facts, summaries, ..Options::default() }
    }

    /// Summaries of the module's functions; see [`warpline_uniformity::summary`].
    pub fn summaries(&self, target: Target) -> Arc<Summaries> {
        Arc::new(Summaries::compute(&self.ir, target, |id| self.summary_input(id, target)))
    }

    /// What parameters are at all calls, of functions of which all calls are known; see
    /// [`warpline_uniformity::arguments`].
    pub fn arguments(&self, target: Target, summaries: &Arc<Summaries>) -> Arguments {
        let closed = self.closed_symbols();
        let is_closed = |id: FuncId| {
            let symbol = self.ir.symbol(&self.ir.functions[id].name);
            symbol.is_some_and(|symbol| closed.contains(&symbol))
        };
        Arguments::compute(&self.ir, target, |id| self.summary_input(id, target), is_closed, summaries)
    }

    /// What the module's functions are called with and return, as far as it is constant.
    pub fn module_constants(&self) -> ModuleConstants {
        let is_replaceable = |id| self.linkage(id).is_some_and(|linkage| REPLACEABLE.contains(&linkage));
        let closed = self.closed_symbols();
        let is_closed = |id: FuncId| {
            let symbol = self.ir.symbol(&self.ir.functions[id].name);
            symbol.is_some_and(|symbol| closed.contains(&symbol))
        };
        ModuleConstants::compute(&self.ir, is_closed, is_replaceable)
    }

    /// LLVM's number for the linkage of a function.
    fn linkage(&self, id: FuncId) -> Option<u32> {
        let function = self.bridge.module().named(&self.ir.functions[id].name)?;
        // SAFETY: a live function.
        Some(unsafe { functions().LLVMGetLinkage(function) })
    }

    fn summary_input(&self, id: FuncId, target: Target) -> Input {
        let func = &self.ir.functions[id];
        let module = self.bridge.module();
        let shape = |u| if u { ArgShape::Uniform } else { ArgShape::Varying };
        let args = module.uniform_parameters(&func.name, target).into_iter().map(shape).collect();
        let replaceable = self.linkage(id).is_some_and(|linkage| REPLACEABLE.contains(&linkage));
        Input { args, facts: Arc::new(self.facts(id, target)), replaceable }
    }

    /// What is known of a function beyond its IR.
    pub fn facts(&self, id: FuncId, target: Target) -> Facts {
        let func = &self.ir.functions[id];
        let mut facts = match self.bridge.module().named(&func.name) {
            Some(function) if target != Target::Simd => launch(self.bridge.module(), function, target),
            _ => Facts::default(),
        };
        let carried = |inst: &Inst| {
            let data = &func.insts[*inst];
            matches!(data.op, Op::Opaque(_) | Op::OpaqueTerm(_) | Op::Call(_)) && !data.results.is_empty()
        };
        let mut insts: Vec<Inst> =
            func.layout.iter().flat_map(|&b| func.block_insts(b)).filter(carried).collect();
        insts.sort_unstable();
        for inst in insts {
            let original = func.insts[inst].origin.expand().and_then(|o| self.bridge.original(o));
            if let Some(note) = original.and_then(note) {
                facts.note(inst, note);
            }
        }
        facts
    }
}

/// How a function is launched.
fn launch(module: &Module, function: LLVMValueRef, target: Target) -> Facts {
    let work_group = required_work_group(module, function);
    let mut facts = Facts::default();
    facts.one_lane = work_group == Some([1, 1, 1]);
    facts.work_group = work_group.map(|size| WorkGroup {
        size,
        whole: string_attribute(function, "uniform-work-group-size").as_deref() == Some("true"),
    });
    if target == Target::Amdgcn {
        let flat = string_attribute(function, "amdgpu-flat-work-group-size").unwrap_or_default();
        facts.one_lane |= flat.split(',').nth(1).is_some_and(|most| most.trim() == "1");
        let cpu = string_attribute(function, "target-cpu").unwrap_or_default();
        let features = string_attribute(function, "target-features").unwrap_or_default();
        facts.wave_size = Some(wave_size(&features));
        facts.private_addresses_differ =
            cpu.starts_with("gfx125") || has_feature(&features, "+globally-addressable-scratch");
    }
    facts
}

fn has_feature(features: &str, wanted: &str) -> bool {
    features.split(',').any(|f| f.trim() == wanted)
}

/// The lanes of a wave: 64, unless the features say 32, as clang writes them for every CPU. Too large a number does
/// no harm: what is one for 64 lanes in a row is for each half of them.
fn wave_size(features: &str) -> u32 {
    if has_feature(features, "+wavefrontsize32") && !has_feature(features, "+wavefrontsize64") {
        32
    } else {
        64
    }
}

/// The size that `reqd_work_group_size` prescribes.
fn required_work_group(module: &Module, function: LLVMValueRef) -> Option<[u32; 3]> {
    let node = attached_to_function(module, function, "reqd_work_group_size")?;
    let sizes: Vec<u32> = node_operands(node)
        .into_iter()
        .filter_map(integer)
        .map(|size| u32::try_from(size).unwrap_or(u32::MAX))
        .collect();
    <[u32; 3]>::try_from(sizes).ok()
}

/// The metadata node of a kind that a function carries.
pub(crate) fn attached_to_function(
    module: &Module,
    function: LLVMValueRef,
    kind: &str,
) -> Option<LLVMValueRef> {
    let f = functions();
    // SAFETY: a live function; pointer and length describe the name; the list is freed.
    unsafe {
        let kind = f.LLVMGetMDKindIDInContext(module.context(), kind.as_ptr().cast(), kind.len() as u32);
        let mut count = 0;
        let entries = f.LLVMGlobalCopyAllMetadata(function, &raw mut count);
        let found =
            (0..count as u32).find(|&i| f.LLVMValueMetadataEntriesGetKind(entries, i) == kind).map(|i| {
                f.LLVMMetadataAsValue(module.context(), f.LLVMValueMetadataEntriesGetMetadata(entries, i))
            });
        f.LLVMDisposeValueMetadataEntries(entries);
        found
    }
}

/// The value of an attribute `"key"="value"` of a function.
fn string_attribute(function: LLVMValueRef, key: &str) -> Option<String> {
    let f = functions();
    // SAFETY: a live function; pointers and lengths describe the key and LLVM's value, which is copied.
    unsafe {
        let attribute =
            f.LLVMGetStringAttributeAtIndex(function, FUNCTION_INDEX, key.as_ptr().cast(), key.len() as u32);
        if attribute.is_null() {
            return None;
        }
        let mut length = 0;
        let start = f.LLVMGetStringAttributeValue(attribute, &raw mut length).cast::<u8>();
        Some(String::from_utf8_lossy(std::slice::from_raw_parts(start, length as usize)).into_owned())
    }
}

/// What there is to note of a call.
fn note(inst: LLVMValueRef) -> Option<Note> {
    let f = functions();
    // SAFETY: a live instruction; callees and attributes are asked of calls, details of assembly of assembly, and
    // pointer and length describe its constraints. The operand of a register's intrinsic is a node with the
    // register's name.
    unsafe {
        let is_call = !f.LLVMIsACallInst(inst).is_null()
            || !f.LLVMIsAInvokeInst(inst).is_null()
            || !f.LLVMIsACallBrInst(inst).is_null();
        if !is_call {
            return None;
        }
        let callee = f.LLVMGetCalledValue(inst);
        if !f.LLVMIsAInlineAsm(callee).is_null() {
            let mut length = 0;
            let start = f.LLVMGetInlineAsmConstraintString(callee, &raw mut length).cast::<u8>();
            let text = String::from_utf8_lossy(std::slice::from_raw_parts(start, length)).into_owned();
            return Some(Note::Assembly(text.into()));
        }
        let named = !f.LLVMIsAFunction(callee).is_null();
        if named && is_register_intrinsic(&value_name(callee)) {
            let name = node_operands(f.LLVMGetOperand(inst, 0)).first().copied().and_then(string)?;
            return Some(Note::Register(name.into()));
        }
        // LLVM 22 does not know the attribute yet; its number is then 0.
        let kind = attribute_kind("nodivergencesource");
        let promised = kind != 0
            && (!f.LLVMGetCallSiteEnumAttribute(inst, FUNCTION_INDEX, kind).is_null()
                || (named && !f.LLVMGetEnumAttributeAtIndex(callee, FUNCTION_INDEX, kind).is_null()));
        promised.then_some(Note::NoSource)
    }
}

fn is_register_intrinsic(name: &str) -> bool {
    name.starts_with("llvm.read_register.") || name.starts_with("llvm.read_volatile_register.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_are_as_large_as_the_features_say() {
        assert_eq!(wave_size(""), 64);
        assert_eq!(wave_size("+dpp,+wavefrontsize32"), 32);
        assert_eq!(wave_size("+wavefrontsize64"), 64);
    }

    #[test]
    fn triples_of_gpus_ask_for_their_rules() {
        assert_eq!(target_of_triple("amdgcn-amd-amdhsa"), Target::Amdgcn);
        assert_eq!(target_of_triple("nvptx64-nvidia-cuda"), Target::Nvptx);
        assert_eq!(target_of_triple("spir64"), Target::Spirv);
        assert_eq!(target_of_triple("spirv64-unknown-unknown"), Target::Spirv);
        assert_eq!(target_of_triple("x86_64-unknown-linux-gnu"), Target::Simd);
        assert_eq!(target_of_triple(""), Target::Simd);
    }
}
