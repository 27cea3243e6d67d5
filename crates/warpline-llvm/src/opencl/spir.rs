//! Modules for SPIR and SPIR-V, made ones for a CPU.
//!
//! Their triples name no machine: they are what clang writes of OpenCL C for whoever compiles on. On a CPU all address
//! spaces are one. LLVM's C API cannot change types, so that is done to the module's text.

use warpline_ir::DataLayout;

use crate::error::{Error, Result};
use crate::module::Module;
use crate::target::{Cpu, TargetMachine};

/// Address spaces that SPIR gives a meaning: private, global, constant, local, generic, global of the device, global of
/// the host.
const SPACES: std::ops::RangeInclusive<u32> = 0..=6;

impl Module {
    /// Whether the module is for SPIR or SPIR-V.
    pub(crate) fn is_for_spir(&self) -> bool {
        let triple = self.triple();
        let architecture = triple.split('-').next().unwrap_or_default();
        architecture.starts_with("spir")
    }

    /// Checks that [`Module::for_cpu`] can serve a module for SPIR.
    ///
    /// # Errors
    /// [`Error::Spir`].
    pub(crate) fn check_spir(&self) -> Result<()> {
        let triple = self.triple();
        let refuse =
            |reason| Err(Error::Spir { input: self.name().to_owned(), stated: triple.clone(), reason });
        match triple.split('-').next().unwrap_or_default() {
            "spir" | "spirv32" => refuse(
                "its pointers and `size_t` have 32 bits, which a CPU with pointers of 64 bits cannot keep: compile it \
                 for spir64",
            ),
            "spir64" | "spirv64" => Ok(()),
            _ => refuse("it is for shaders, without pointers to memory: compile OpenCL C for spir64"),
        }
    }

    /// A module for SPIR as one for a target (`None`: this machine).
    ///
    /// # Errors
    /// [`Error::Spir`] for what the target has nothing like; those of parsing and of finding the target.
    pub(crate) fn for_cpu(self, triple: Option<&str>) -> Result<Module> {
        let refuse = |reason| Error::Spir { input: self.name().to_owned(), stated: self.triple(), reason };
        let machine = TargetMachine::new(triple.unwrap_or_default(), &Cpu::named(""))?;
        let text = in_one_space(&self.to_text())
            .ok_or_else(|| refuse("it has pointers to an address space that OpenCL does not know"))?;
        let mut module = Module::parse(text.as_bytes(), self.name())?;
        module.set_target(&machine)?;
        let layout = DataLayout::parse(&module.data_layout());
        // Numbers and vectors have the same places on all targets with this.
        if layout.pointer_bits(0) != 64 || layout.big_endian() {
            return Err(refuse("the target's pointers or its order of bytes are others than SPIR's"));
        }
        module.verify()?;
        Ok(module)
    }
}

/// LLVM's text without address spaces, triple and data layout; `None` if an address space is none of OpenCL's.
fn in_one_space(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n').filter(|line| !line.starts_with("target ")) {
        let mut rest = line;
        // Strings and quoted names have no quotes in them: LLVM writes those as `\22`.
        while let Some((before, quoted)) = rest.split_once('"') {
            let (inside, after) = quoted.split_once('"').unwrap_or((quoted, ""));
            without_spaces(before, &mut out)?;
            out.extend(["\"", inside, "\""]);
            rest = after;
        }
        without_spaces(rest, &mut out)?;
    }
    Some(out)
}

/// Appends text without quotes, less its address spaces. A cast to another one becomes one that does nothing.
fn without_spaces(text: &str, out: &mut String) -> Option<()> {
    let mut parts = text.split(" addrspace(");
    out.push_str(&parts.next().unwrap_or_default().replace("addrspacecast", "bitcast"));
    for part in parts {
        let (space, after) = part.split_once(')')?;
        space.parse().ok().filter(|space: &u32| SPACES.contains(space))?;
        out.push_str(&after.replace("addrspacecast", "bitcast"));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_spaces_go_and_what_is_quoted_stays() {
        let text = "target triple = \"spir64\"\n@a = addrspace(2) constant [16 x i8] c\" addrspace(1)\\22xxx\"\n\
                    %1 = addrspacecast ptr addrspace(1) %0 to ptr addrspace(4)\n";
        let found = in_one_space(text).unwrap();
        assert_eq!(found, "@a = constant [16 x i8] c\" addrspace(1)\\22xxx\"\n%1 = bitcast ptr %0 to ptr\n");
        assert!(in_one_space("ptr addrspace(9) %0").is_none());
    }
}
