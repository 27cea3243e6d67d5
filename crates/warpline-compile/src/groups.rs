//! Kernels with barriers: the W-lane forms of their regions, and the drivers that run them over work-groups.

use warpline_ir::FuncId;
use warpline_llvm::{FinalBodies, Imported};
use warpline_uniformity::shape::ArgShape;
use warpline_vectorize::driver::{self, Division, Extent, MadeVariants, OfSize, Tail};
use warpline_vectorize::group_sizes::GroupSize;
use warpline_vectorize::groups::{self, Cut, Region, Rules, Work};
use warpline_vectorize::warps::Warps;
use warpline_vectorize::width::{self, Estimate, Machine, Widths};
use warpline_vectorize::work_items::WorkItems;
use warpline_vectorize::{Options as VectorizerOptions, VectorizeError, Vectorized};

use crate::error::{Error, Result};
use crate::group_sizes;
use crate::kernel::Kernel;
use crate::math::VectorMath;
use crate::options::VectorizeOptions;

/// A kernel that was cut at its barriers.
#[derive(Clone, Debug)]
pub struct Regions {
    /// The regions.
    pub cut: Cut,
    /// How many lanes suit each.
    widths: Vec<Widths>,
}

impl Regions {
    /// Cuts a kernel, if it has barriers. `widths` says how many lanes suit a function with parameters of these
    /// shapes, unless that is given.
    ///
    /// # Errors
    /// The reason why it cannot be cut.
    pub(crate) fn of(
        imported: &mut Imported,
        items: Option<&WorkItems>,
        rules: Rules,
        asked: &VectorizerOptions<'_>,
        vectors: &Machine,
        given: Option<u32>,
    ) -> Result<Option<Regions>> {
        let Some(items) = items.filter(|items| items.runs_over_groups) else { return Ok(None) };
        let ir = &mut imported.ir;
        let made = ir.functions[items.func].name.clone();
        // Its user knows the kernel that it is a copy of.
        let name = made.strip_suffix(".items").unwrap_or(&made);
        let cut = groups::cut(ir, items, &asked.args, rules)
            .map_err(|e| Error::of_vectorizer(&e.named(name), ir))?;
        // Groups of several rows are tiles, mostly, and their rows seldom longer than a register of 32-bit elements.
        let most = if items.has_rows() { (vectors.register_bits / 32).max(1) } else { u32::MAX };
        let most = asked.row.map_or(most, |row| most.min(row.max(1).next_power_of_two()));
        let of = |args: &[ArgShape], func: FuncId, lanes: Option<u32>| {
            let asked = VectorizerOptions { args: args.to_vec(), name: asked.name.clone(), ..*asked };
            width::of_rows(ir, &ir.functions[func], &asked, vectors, (lanes, most))
        };
        let all = |lanes: Option<u32>| -> Vec<Widths> {
            cut.regions.iter().map(|r| of(&r.args, r.func, lanes)).collect()
        };
        let mut widths = all(given);
        if given.is_none() {
            // All regions have as many lanes as the one that takes longest of those that do not stay scalar.
            let alone = widths;
            let longest = Self::longest(&cut, &alone);
            let Widths { lanes, chosen, .. } = alone[longest];
            widths = all(Some(lanes));
            for (one, alone) in widths.iter_mut().zip(alone) {
                one.chosen = chosen;
                // What is no faster with as many lanes as suit it is no faster with others.
                if one.estimate.is_none() || stays_scalar(&alone) {
                    one.estimate = alone.estimate;
                }
            }
        }
        Ok(Some(Regions { cut, widths }))
    }

    /// The region that takes longest, as far as that is known.
    fn longest(cut: &Cut, widths: &[Widths]) -> usize {
        let cycles = |k: &usize| match (&widths[*k].estimate, cut.regions[*k].work) {
            (Some(_), Work::Lanes) if stays_scalar(&widths[*k]) => -0.5,
            (Some(estimate), Work::Lanes) => estimate.vector,
            (None, Work::Lanes) => 0.0,
            _ => -1.0,
        };
        (0..widths.len()).max_by(|a, b| cycles(a).total_cmp(&cycles(b))).unwrap_or(0)
    }

    /// How many lanes the region that takes longest has.
    pub(crate) fn widths(&self) -> Widths {
        self.widths[Self::longest(&self.cut, &self.widths)].clone()
    }

    /// What is to be known of the kernel.
    pub fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        self.cut.warnings.iter().map(|warning| match &warning.place {
            Some(place) => format!("{place}: {}", warning.text),
            None => warning.text.clone(),
        })
    }
}

/// What was made of a kernel with barriers.
pub struct MadeOfRegions {
    /// What is said of the region that takes longest, and all warnings.
    pub made: Vectorized,
    /// The driver over all work-groups.
    pub driver: FuncId,
    /// Everything that was added to the module.
    pub new: Vec<FuncId>,
    /// Whether all regions run the scalar program.
    pub scalar: bool,
    /// How it was cut: for groups of any size, and for each that has code of its own.
    pub cuts: Vec<Cut>,
}

/// The names of what is made of a kernel with barriers.
#[derive(Copy, Clone)]
pub struct Names<'a> {
    /// Of a region's function for all lanes, with a suffix.
    pub lanes: &'a str,
    /// Of the driver over all work-items.
    pub ndrange: &'a str,
    /// Of the driver over some groups.
    pub groups: &'a str,
    /// Of the function that says how much workspace they need.
    pub workspace: &'a str,
}

/// Makes the forms of regions, and the drivers and the function for the workspace of these names.
///
/// # Errors
/// The reason why a region cannot be vectorized.
pub fn make(options: &VectorizeOptions, kernel: &mut Kernel, names: Names<'_>) -> Result<MadeOfRegions> {
    if options.mask || options.kernel.count_lanes.is_some() || options.reports.is_some() {
        let message = "a kernel with barriers has no function for all lanes with a mask, and its lanes cannot be \
                       counted; leave out `--mask`, `--count-lanes` and reports of panics";
        return Err(Error::Vectorize(format!("function `{}`: {message}", kernel.name)));
    }
    let (Some(regions), Some(items)) = (kernel.regions.clone(), kernel.items.clone()) else {
        return Err(Error::Internal(format!("`{}` was not cut", kernel.name)));
    };
    let called = Called {
        math: kernel.math_library(&options.kernel),
        bodies: kernel.imported.final_bodies(kernel.vectors.register_bits),
    };
    let sizes = group_sizes::of(options, kernel, &items, &regions, &called);
    let any = match sizes.is_empty() {
        true => names.groups.to_owned(),
        false => format!("{}.any", names.groups),
    };
    let mut rows = Rows::new(&called, kernel, &regions, None);
    let mut some = rows.driver(&items, Names { groups: &any, ..names })?;
    let Rows { mut new, reports, mut scalar, .. } = rows;
    let mut of_sizes = Vec::new();
    for one in &sizes {
        let [lanes, ndrange, groups] = [names.lanes, names.ndrange, names.groups].map(|name| one.named(name));
        let names = Names { lanes: &lanes, ndrange: &ndrange, groups: &groups, ..names };
        let mut rows = Rows::new(&called, kernel, &one.regions, Some(one.size));
        let made = rows.driver(&one.items, names);
        // A kernel for any size is there.
        let Ok(driver) = made else { continue };
        of_sizes.push(OfSize { size: one.size, driver });
        scalar &= rows.scalar;
        new.extend(rows.new);
    }
    let ir = &mut kernel.imported.ir;
    if !sizes.is_empty() {
        some = driver::groups_by_size(ir, &items, &of_sizes, some, names.groups);
        new.push(some);
    }
    let all = driver::all_groups(ir, &items, some, names.ndrange);
    let cuts = std::iter::once(regions.cut.clone());
    let cuts: Vec<Cut> = cuts.chain(sizes.into_iter().map(|one| one.regions.cut)).collect();
    let size = driver::workspace_size(ir, &items, &cuts, names.workspace);
    new.extend([all, size]);
    let longest = Regions::longest(&regions.cut, &regions.widths);
    let warnings = reports.iter().flat_map(|(_, made)| made.dependences.warnings.iter().cloned()).collect();
    let Some((_, made)) = reports.into_iter().find(|(number, _)| *number == longest) else {
        let reason =
            "nothing that it does depends on the work-item, or differs between the work-items of a group";
        return Err(Error::Vectorize(format!("function `{}`: {reason}", kernel.name)));
    };
    let mut made = made;
    made.dependences.warnings = warnings;
    Ok(MadeOfRegions { made, driver: all, new, scalar, cuts })
}

/// What is known of functions that a kernel calls.
pub(crate) struct Called {
    pub(crate) math: VectorMath,
    pub(crate) bodies: FinalBodies,
}

/// The regions of a kernel, as they are made.
struct Rows<'a> {
    called: &'a Called,
    kernel: &'a mut Kernel,
    regions: &'a Regions,
    /// The size of all groups, if that is known.
    size: Option<GroupSize>,
    new: Vec<FuncId>,
    /// What is said of those that have vectors.
    reports: Vec<(usize, Vectorized)>,
    scalar: bool,
}

impl<'a> Rows<'a> {
    fn new(
        called: &'a Called,
        kernel: &'a mut Kernel,
        regions: &'a Regions,
        size: Option<GroupSize>,
    ) -> Rows<'a> {
        Rows { called, kernel, regions, size, new: Vec::new(), reports: Vec::new(), scalar: true }
    }

    /// Makes the forms of all regions, and the driver over some groups of this name.
    fn driver(&mut self, items: &WorkItems, names: Names<'_>) -> Result<FuncId> {
        let regions = self.regions;
        let rows: Vec<Option<FuncId>> =
            (0..regions.cut.regions.len()).map(|number| self.make(number, names)).collect::<Result<_>>()?;
        let warp = items.warps.map(|_| self.kernel.width);
        let ir = &mut self.kernel.imported.ir;
        let made = driver::groups_of_regions(ir, items, &regions.cut, &rows, (warp, self.size), names.groups);
        let some = made.map_err(|error| refusal(self.kernel, &error))?;
        self.new.push(some);
        Ok(some)
    }

    /// Makes the forms of a region and its driver over a row of work-items, if it has one.
    fn make(&mut self, number: usize, Names { lanes, ndrange, .. }: Names<'_>) -> Result<Option<FuncId>> {
        let regions = self.regions;
        let region = &regions.cut.regions[number];
        let name = format!("{ndrange}.row{number}");
        match region.work {
            Work::Nothing => return Ok(None),
            Work::Once => {
                self.new.push(region.func);
                return Ok(None);
            }
            Work::Each => return self.scalar(region, &name).map(Some),
            Work::Lanes => self.new.extend(region.bound),
        }
        let extent = self.extent(region);
        let (kernel, Called { math, bodies }) = (&mut *self.kernel, self.called);
        let Widths { lanes: width, epilogue, tail, least, ref chosen, .. } = regions.widths[number];
        let asked = kernel.vectorizer(format!("{lanes}.region{number}"), width, false, math, bodies);
        let row = self.size.map_or(asked.row, |size| Some(size.row));
        let asked = VectorizerOptions { args: region.args.clone(), row, ..asked };
        let division = match kernel.items.as_ref().and_then(|items| items.warps) {
            // The last warp of a row has fewer lanes, which are in step all the same.
            Some(Warps::Asked(_)) => Division::into_groups_of(asked.width),
            // Nothing is left over.
            _ if matches!(extent, Extent::Exactly(count) if count.is_multiple_of(width)) => {
                Division { epilogue: width, tail: Tail::Scalar, prologue: 0, least: 0 }
            }
            _ => Division { epilogue, tail, prologue: 0, least },
        };
        let made = MadeVariants::make(&mut kernel.imported.ir, region.func, &asked, division)
            .map_err(|e| refusal(kernel, &e))?;
        self.reports.push((number, made.full.clone()));
        if chosen.is_some() && stays_scalar(&regions.widths[number]) {
            return self.scalar(region, &name).map(Some);
        }
        self.scalar = false;
        let ir = &mut kernel.imported.ir;
        let row = driver::vector_over(ir, region.func, &made.variants(), &region.args, extent, &name)
            .map_err(|e| refusal(kernel, &e))?;
        if made.least > 0 || made.tail() == Tail::Scalar {
            self.new.push(region.func);
        }
        self.new.extend(made.functions().chain([row]));
        Ok(Some(row))
    }

    /// A region as a scalar program.
    fn scalar(&mut self, region: &Region, name: &str) -> Result<FuncId> {
        let (extent, ir) = (self.extent(region), &mut self.kernel.imported.ir);
        let made = driver::scalar_over(ir, region.func, &region.args, extent, name);
        let made = made.map_err(|e| refusal(self.kernel, &e))?;
        self.new.extend([region.func, made]);
        Ok(made)
    }

    /// Over which ranges a region is run. Drivers for groups of a certain size are only called where no index wraps.
    fn extent(&self, region: &Region) -> Extent {
        match self.size {
            None => Extent::Any,
            Some(_) if region.bound.is_some() => Extent::WithoutWrap,
            Some(size) => Extent::Exactly(size.row),
        }
    }
}

/// Whether a region is expected to take no longer as a scalar program.
fn stays_scalar(widths: &Widths) -> bool {
    widths.estimate.as_ref().is_some_and(Estimate::scalar_wins)
}

/// A refusal of a region as one of the kernel.
fn refusal(kernel: &Kernel, error: &VectorizeError) -> Error {
    let of_region = error.problem().function.starts_with(&format!("{}.", kernel.function().name));
    let error = if of_region { error.clone().named(&kernel.function().name) } else { error.clone() };
    kernel.refusal(&error)
}
