//! Loops of simulations against plain programs.

mod inputs;
#[path = "../nab_1.rs"]
mod nab_1;
#[path = "../nab_2.rs"]
mod nab_2;
#[path = "../nab_3.rs"]
mod nab_3;
#[path = "../xs.rs"]
mod xs;
#[path = "../xsbench.rs"]
mod xsbench;

use inputs::{f64s, float, i32s, indices, int, small};
use warpline_kernels::Inputs;

/// Whether two numbers are that near each other, for their size.
fn near(a: f64, b: f64, by: f64) -> bool {
    (a - b).abs() <= by * (1.0 + b.abs())
}

#[test]
fn the_greatest_element_that_is_not_above_a_query_is_found() {
    let data = small("xs", 0);
    let (queries, sorted) = (f64s(&data, 0), f64s(&data, 1));
    let find = |query| unsafe { xs::xs(0, query, sorted.as_ptr(), sorted.len() as i32) };
    for i in indices(&data) {
        let query = queries[i as usize];
        let above = sorted.partition_point(|x| *x <= query) as i32;
        assert_eq!(find(query), i32::max(above - 1, 0), "for {query}");
    }
    assert_eq!((find(-1.0), find(sorted[7]), find(2.0)), (0, 7, sorted.len() as i32 - 1));
}

/// Macroscopic cross sections of a neutron, by a walk through the tables.
fn cross_sections(energy: f64, nuclides: &[(i32, f64)], tables: &[f64], points: usize) -> [f64; 5] {
    let mut sums = [0.0; 5];
    for (nuclide, density) in nuclides {
        let table: Vec<&[f64]> = tables.chunks(6).skip(*nuclide as usize * points).take(points).collect();
        let pair = table.windows(2).rfind(|pair| pair[0][0] <= energy).expect("tables begin with 0");
        let part = (energy - pair[0][0]) / (pair[1][0] - pair[0][0]);
        for (k, sum) in sums.iter_mut().enumerate() {
            *sum += density * (pair[0][k + 1] * (1.0 - part) + pair[1][k + 1] * part);
        }
    }
    sums
}

/// Runs `xsbench` on a data set and compares all that it writes.
fn cross_sections_are_interpolated(set: usize) {
    let data = small("xsbench", set);
    let (neutrons, contents) = (i32s(&data, 1), i32s(&data, 2));
    let (nuclides, densities, points) = (i32s(&data, 3), f64s(&data, 4), int(&data, 5));
    let (tables, energies) = (f64s(&data, 6), f64s(&data, 7));
    let mut out: [Vec<f64>; 5] = std::array::from_fn(|k| f64s(&data, 8 + k));
    let [a, b, c, d, e] = out.each_mut().map(|sums| sums.as_mut_ptr());
    unsafe {
        let (n, c1, c2) = (neutrons.as_ptr(), contents.as_ptr(), nuclides.as_ptr());
        let (t, of) = (tables.as_ptr(), energies.as_ptr());
        xsbench::xsbench(int(&data, 0), n, c1, c2, densities.as_ptr(), points, t, of, a, b, c, d, e);
    }
    let mut seen = 0;
    for m in 0..int(&data, 0) as usize {
        let part = contents[m] as usize..contents[m + 1] as usize;
        let within: Vec<_> = part.map(|k| (nuclides[k], densities[k])).collect();
        for i in neutrons[m] as usize..neutrons[m + 1] as usize {
            let expected = cross_sections(energies[i], &within, &tables, points as usize);
            for k in 0..5 {
                assert!(
                    near(out[k][i], expected[k], 1e-9),
                    "neutron {i}: {}, not {}",
                    out[k][i],
                    expected[k]
                );
            }
            seen += 1;
        }
    }
    assert_eq!(seen, energies.len());
}

#[test]
fn cross_sections_are_interpolated_for_random_energies() {
    cross_sections_are_interpolated(0);
}

#[test]
fn cross_sections_are_interpolated_for_sorted_energies() {
    cross_sections_are_interpolated(1);
}

/// How much a sphere of radius `s` at distance `d` screens what has the radius `r`: the integral of 1/(4 π ρ^4) over
/// the part that is between the distances `r` and `cutoff`, which is one over spheres around the center, each
/// weighted by its part within (Simpson's rule).
fn screening(d: f64, r: f64, s: f64, cutoff: f64) -> f64 {
    const STEPS: u32 = 400;
    let whole = if s - d > r { 1.0 / r - 1.0 / (s - d) } else { 0.0 };
    let (from, to) = (f64::max(r, (d - s).abs()), f64::min(d + s, cutoff));
    if from >= to {
        return whole;
    }
    let within = |rho: f64| 0.5 * (1.0 - (rho * rho + d * d - s * s) / (2.0 * rho * d)) / (rho * rho);
    let step = (to - from) / f64::from(STEPS);
    let inner: f64 =
        (1..STEPS).map(|k| f64::from(2 + 2 * (k % 2)) * within(from + f64::from(k) * step)).sum();
    whole + step / 3.0 * (within(from) + inner + within(to))
}

/// Its derivative by the distance.
fn screening_slope(d: f64, r: f64, s: f64, cutoff: f64) -> f64 {
    const STEP: f64 = 1e-4;
    (screening(d + STEP, r, s, cutoff) - screening(d - STEP, r, s, cutoff)) / (2.0 * STEP)
}

/// What the first and the third loop run on.
struct Atoms {
    dim: usize,
    x: Vec<f64>,
    radius: Vec<f64>,
    scale: Vec<f64>,
    weight: Vec<f64>,
    first: Vec<i32>,
    pairs: Vec<i32>,
    cutoff: f64,
    largest: f64,
}

impl Atoms {
    /// A small molecule in three or four dimensions.
    fn molecule(dim: usize) -> Atoms {
        let data = small("nab-3", dim - 3);
        let [x, radius, scale, weight] = std::array::from_fn(|k| f64s(&data, 2 + k));
        let (first, pairs) = (i32s(&data, 6), i32s(&data, 7));
        let [cutoff, largest] = std::array::from_fn(|k| float(&data, 8 + k));
        Atoms { dim, x, radius, scale, weight, first, pairs, cutoff, largest }
    }

    /// Two atoms.
    fn two(distance: f64, radii: [f64; 2]) -> Atoms {
        Atoms {
            dim: 3,
            x: vec![0.0, 0.0, 0.0, 0.6 * distance, 0.0, -0.8 * distance],
            radius: radii.into(),
            scale: vec![0.8, 0.9],
            weight: vec![1.5, -2.0],
            first: vec![0, 1, 2],
            pairs: vec![1, 0],
            cutoff: 8.0,
            largest: 2.0,
        }
    }

    fn len(&self) -> usize {
        self.radius.len()
    }

    /// The vector from `j` to `i`, and its length.
    fn between(&self, i: usize, j: usize) -> (Vec<f64>, f64) {
        let at = |i: usize| &self.x[self.dim * i..][..self.dim];
        let difference: Vec<f64> = at(i).iter().zip(at(j)).map(|(a, b)| a - b).collect();
        let distance = difference.iter().map(|d| d * d).sum::<f64>().sqrt();
        (difference, distance)
    }

    /// The radius of `i` and the scaled one of `j`.
    fn spheres(&self, i: usize, j: usize) -> (f64, f64) {
        (self.radius[i] - 0.09, self.scale[j] * (self.radius[j] - 0.09))
    }

    /// The effective radii.
    fn effective(&self) -> Vec<f64> {
        let mut effective = vec![0.0; self.len()];
        let (x, r, s) = (self.x.as_ptr(), self.radius.as_ptr(), self.scale.as_ptr());
        let (first, pairs, to) = (self.first.as_ptr(), self.pairs.as_ptr(), effective.as_mut_ptr());
        let (count, dim) = (self.len() as i32, self.dim as i32);
        unsafe { nab_1::nab_1(count, dim, x, r, s, first, pairs, self.cutoff, self.largest, to) };
        effective
    }

    /// The derivatives by the coordinates.
    fn gradient(&self) -> Vec<f64> {
        let mut gradient = vec![0.0; self.x.len()];
        let (x, r, s, w) = (self.x.as_ptr(), self.radius.as_ptr(), self.scale.as_ptr(), self.weight.as_ptr());
        let (first, pairs, to) = (self.first.as_ptr(), self.pairs.as_ptr(), gradient.as_mut_ptr());
        let (count, dim) = (self.len() as i32, self.dim as i32);
        unsafe { nab_3::nab_3(count, dim, x, r, s, w, first, pairs, self.cutoff, self.largest, to) };
        gradient
    }

    /// Compares effective radii with integrals over all other atoms. Each of the kernel's series may be a little off.
    fn check_effective(&self, tolerance: f64) {
        for (i, found) in self.effective().into_iter().enumerate() {
            let others = (0..self.len()).filter(|j| *j != i).map(|j| {
                let (r, s) = self.spheres(i, j);
                screening(self.between(i, j).1, r, s, self.cutoff)
            });
            let r = self.radius[i] - 0.09;
            let psi = r * others.sum::<f64>();
            let screened = (psi - 0.8 * psi.powi(2) + 4.85 * psi.powi(3)).tanh();
            let expected = 1.0 / (1.0 / r - screened / self.radius[i]);
            assert!(near(found, expected, tolerance), "atom {i}: {found}, not {expected}");
        }
    }

    /// Compares derivatives with those of the integrals.
    fn check_gradient(&self, tolerance: f64) {
        let mut expected = vec![0.0; self.x.len()];
        for i in 0..self.len() {
            for j in (0..self.len()).filter(|j| *j != i) {
                let ((r, s), (difference, d)) = (self.spheres(i, j), self.between(i, j));
                let slope = self.weight[i] * screening_slope(d, r, s, self.cutoff);
                for (k, difference) in difference.iter().enumerate() {
                    expected[self.dim * i + k] += slope * difference / d;
                    expected[self.dim * j + k] -= slope * difference / d;
                }
            }
        }
        for (k, (found, expected)) in self.gradient().into_iter().zip(expected).enumerate() {
            assert!(near(found, expected, tolerance), "coordinate {k}: {found}, not {expected}");
        }
    }
}

#[test]
fn effective_radii_are_integrals_over_the_other_atoms() {
    Atoms::molecule(3).check_effective(1e-6);
    Atoms::molecule(4).check_effective(1e-6);
}

#[test]
fn forces_through_radii_are_derivatives_of_the_integrals() {
    Atoms::molecule(3).check_gradient(1e-5);
    Atoms::molecule(4).check_gradient(1e-5);
}

#[test]
fn two_spheres_screen_each_other_however_they_lie() {
    // From within each other to beyond the cutoff.
    for k in 1..100 {
        let distance = 0.1005 * f64::from(k);
        for radii in [[1.2, 1.7], [2.4, 1.2], [1.5, 2.4]] {
            let atoms = Atoms::two(distance, radii);
            atoms.check_effective(1e-8);
            atoms.check_gradient(3e-7);
        }
    }
}

#[test]
fn most_pairs_of_a_molecule_are_far_apart_and_all_usual_cases_occur() {
    let atoms = Atoms::molecule(3);
    let mut cases = [0; 6];
    for i in 0..atoms.len() {
        for j in &atoms.pairs[atoms.first[i] as usize..atoms.first[i + 1] as usize] {
            let ((r, s), d) = (atoms.spheres(i, *j as usize), atoms.between(i, *j as usize).1);
            let bounds = [atoms.cutoff + s, atoms.cutoff - s, 4.0 * s, r + s, (r - s).abs(), 0.0];
            cases[bounds.iter().position(|bound| d > *bound).expect("distances are positive")] += 1;
        }
    }
    assert!(cases[..5].iter().all(|count| *count > 0) && cases[5] == 0, "{cases:?}");
    assert!(cases[1] + cases[2] > 3 * (cases[3] + cases[4]), "{cases:?}");
}

/// What the second loop runs on.
struct Pairs {
    data: Inputs,
    dim: usize,
    x: Vec<f64>,
    charge: Vec<f64>,
    effective: Vec<f64>,
    types: Vec<usize>,
    repulsion: Vec<f64>,
    attraction: Vec<f64>,
}

impl Pairs {
    /// A small molecule in three or four dimensions.
    fn molecule(dim: usize) -> Pairs {
        let data = small("nab-2", dim - 3);
        let [x, charge, effective] = std::array::from_fn(|k| f64s(&data, 2 + k));
        let types = i32s(&data, 5).into_iter().map(|t| t as usize).collect();
        let (repulsion, attraction) = (f64s(&data, 7), f64s(&data, 8));
        Pairs { data, dim, x, charge, effective, types, repulsion, attraction }
    }

    /// The energies, by all pairs and their formulas.
    fn energies(&self) -> [f64; 3] {
        let [cutoff, solvent, salt] = std::array::from_fn(|k| float(&self.data, 14 + k));
        let (first, bonded) = (i32s(&self.data, 11), i32s(&self.data, 12));
        let mut sums = [0.0; 3];
        for i in 0..self.types.len() {
            let bonds = &bonded[first[i] as usize..first[i + 1] as usize];
            for j in i + 1..self.types.len() {
                let difference = |k: usize| self.x[self.dim * i + k] - self.x[self.dim * j + k];
                let squared = (0..self.dim).map(|k| difference(k).powi(2)).sum::<f64>();
                if squared > cutoff * cutoff {
                    continue;
                }
                let product = self.charge[i] * self.charge[j];
                let radii = self.effective[i] * self.effective[j];
                let f = (squared + radii * (-squared / (4.0 * radii)).exp()).sqrt();
                sums[0] -= product / f * (1.0 - (-salt * f).exp() / solvent);
                if !bonds.contains(&(j as i32)) {
                    let kind = self.types[i] * 5 + self.types[j];
                    sums[1] += product / squared.sqrt();
                    sums[2] +=
                        self.repulsion[kind] / squared.powi(6) - self.attraction[kind] / squared.powi(3);
                }
            }
        }
        sums
    }

    /// What the loop finds: energies, derivatives by coordinates, derivatives by effective radii.
    fn run(&self) -> [Vec<f64>; 3] {
        let data = &self.data;
        let [mut energies, mut gradient, mut slopes] = std::array::from_fn(|k| f64s(data, 17 + k));
        let lists: [Vec<i32>; 5] = std::array::from_fn(|k| i32s(data, 9 + k));
        let [first, pairs, first_bonded, bonded, mut marks] = lists;
        let types = i32s(data, 5);
        let [cutoff, solvent, salt] = std::array::from_fn(|k| float(data, 14 + k));
        unsafe {
            nab_2::nab_2(
                int(data, 0),
                int(data, 1),
                self.x.as_ptr(),
                self.charge.as_ptr(),
                self.effective.as_ptr(),
                types.as_ptr(),
                int(data, 6),
                self.repulsion.as_ptr(),
                self.attraction.as_ptr(),
                first.as_ptr(),
                pairs.as_ptr(),
                first_bonded.as_ptr(),
                bonded.as_ptr(),
                marks.as_mut_ptr(),
                cutoff,
                solvent,
                salt,
                energies.as_mut_ptr(),
                gradient.as_mut_ptr(),
                slopes.as_mut_ptr(),
            );
        }
        [energies, gradient, slopes]
    }

    /// Compares all that is found, derivatives for every seventh number with differences.
    fn check(mut self) {
        const STEP: f64 = 1e-5;
        let [energies, gradient, slopes] = self.run();
        for (found, expected) in energies.iter().zip(self.energies()) {
            assert!(near(*found, expected, 1e-10), "energies {energies:?}, not {:?}", self.energies());
        }
        for k in (0..self.x.len()).step_by(7) {
            let sides = [STEP, -2.0 * STEP].map(|step| {
                self.x[k] += step;
                self.energies().iter().sum::<f64>()
            });
            self.x[k] += STEP;
            let expected = (sides[0] - sides[1]) / (2.0 * STEP);
            assert!(near(gradient[k], expected, 1e-4), "coordinate {k}: {}, not {expected}", gradient[k]);
        }
        for i in (0..slopes.len()).step_by(7) {
            let sides = [STEP, -2.0 * STEP].map(|step| {
                self.effective[i] += step;
                self.energies()[0]
            });
            self.effective[i] += STEP;
            let expected = (sides[0] - sides[1]) / (2.0 * STEP);
            assert!(near(slopes[i], expected, 1e-4), "radius {i}: {}, not {expected}", slopes[i]);
        }
    }
}

#[test]
fn forces_between_pairs_are_derivatives_of_their_energies() {
    Pairs::molecule(3).check();
}

#[test]
fn forces_between_pairs_in_four_dimensions_are_derivatives_of_their_energies() {
    Pairs::molecule(4).check();
}
