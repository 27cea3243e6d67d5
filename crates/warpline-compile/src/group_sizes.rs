//! The sizes of work-groups for which kernels with barriers have code of their own.
//!
//! Whoever runs a kernel says how many work-items its groups have, so drivers take any number. Where it is known, what
//! is computed from it is, too, and no loop over vectors has to ask how many work-items are left, which short groups
//! spend most of their time with. So drivers choose among several bodies when they begin.

use warpline_ir::Module;
use warpline_vectorize::Options as VectorizerOptions;
use warpline_vectorize::group_sizes::{self, GroupSize};
use warpline_vectorize::groups::Rules;
use warpline_vectorize::work_items::WorkItems;

use crate::groups::{Called, Regions};
use crate::kernel::Kernel;
use crate::options::VectorizeOptions;

/// The numbers of work-items in the dimension of lanes that programs use most: those that get code of their own first
/// come first.
const USUAL: [u32; 3] = [16, 64, 256];
/// The same in rows of groups that have several.
const USUAL_ROWS: [u32; 3] = [16, 8, 32];
/// So many instructions code for these sizes may have, all regions together, before it is vectorized: it takes as long
/// to compile as the code for any size.
const MOST_INSTRUCTIONS: usize = 300;

/// A kernel for groups of a size that is known, all of them whole.
pub(crate) struct OfOneSize {
    /// How many work-items groups have.
    pub(crate) size: GroupSize,
    pub(crate) items: WorkItems,
    pub(crate) regions: Regions,
}

impl OfOneSize {
    /// The name of what has this name for any size.
    pub(crate) fn named(&self, name: &str) -> String {
        format!("{name}.of{}", self.size.row)
    }
}

/// The sizes for which a kernel gets code of its own: the one that it demands, or usual ones, as far as they take
/// little time to compile. `regions` are those for any size.
pub(crate) fn of(
    options: &VectorizeOptions,
    kernel: &mut Kernel,
    items: &WorkItems,
    regions: &Regions,
    called: &Called,
) -> Vec<OfOneSize> {
    // What sub-groups do depends on how many lanes there are.
    if items.has_sub_groups || items.warps.is_some() {
        return Vec::new();
    }
    let sizes = match kernel.group {
        Some(group) => vec![group[items.lanes as usize]],
        None => {
            let usual = if items.has_rows() { USUAL_ROWS } else { USUAL };
            let each = instructions(&kernel.imported.ir, regions).max(1);
            log::debug!("{}: {each} instructions in regions", kernel.name);
            usual.into_iter().take(MOST_INSTRUCTIONS / each).collect()
        }
    };
    let mut all = Vec::new();
    for size in sizes.into_iter().filter(|&size| size > 0) {
        all.extend(of_size(options, kernel, items, size, called));
    }
    all
}

/// How many instructions regions have.
fn instructions(ir: &Module, regions: &Regions) -> usize {
    regions.cut.regions.iter().map(|region| ir.functions[region.func].inst_count()).sum()
}

/// The kernel for groups of a size; nothing if it cannot be cut so, which it can be for any size.
fn of_size(
    options: &VectorizeOptions,
    kernel: &mut Kernel,
    items: &WorkItems,
    row: u32,
    called: &Called,
) -> Option<OfOneSize> {
    let size = GroupSize::with_rows_of(row, items);
    let items = group_sizes::of_size(&mut kernel.imported.ir, items, size);
    let asked = kernel.vectorizer("auto".to_owned(), 1, false, &called.math, &called.bodies);
    let asked = VectorizerOptions { row: Some(row), ..asked };
    let rules = Rules { strict: options.kernel.strict_barriers, uniform: kernel.directives.uniform_barriers };
    let given = if kernel.chosen.is_none() { Some(kernel.width) } else { None };
    let vectors = kernel.vectors;
    let regions = Regions::of(&mut kernel.imported, Some(&items), rules, &asked, &vectors, given).ok()??;
    Some(OfOneSize { size, items, regions })
}
