//! Molecules for the three loops of generalized Born energies.

use super::molecule::{KINDS, Molecule};
use crate::{Argument, Inputs, Kernel, Random, Size, Values};

/// Radii are smaller by this for dielectric purposes, in Å, as in the kernels.
const OFFSET: f64 = 0.09;
/// By how much lists go beyond the cutoff, so that they need not be made anew when atoms have moved a little, in Å.
const SKIN: f64 = 1.0;
/// Atoms that are at most so far apart count as bonded, in Å.
const BONDED: f64 = 2.2;
/// The energy of two elementary charges 1 Å apart, in kcal/mol.
const COULOMB: f64 = 332.06;
/// The data sets: molecules, and molecules that move in a fourth dimension.
const DATA: &[&str] = &["three dimensions", "four dimensions"];

/// Effective radii.
pub const NAB_1: Kernel = Kernel {
    name: "nab-1",
    about: "effective Born radii: a biased cascade of divergent branches",
    file: "nab_1.rs",
    source: include_str!("../../nab_1.rs"),
    c: include_str!("../../nab_1.c"),
    by_hand: None,
    function: "nab_1",
    args: None,
    data: DATA,
    make: make_1,
};

/// Energies of pairs.
pub const NAB_2: Kernel = Kernel {
    name: "nab-2",
    about: "energies of pairs of atoms: exp and sqrt, gathers and scatters",
    file: "nab_2.rs",
    source: include_str!("../../nab_2.rs"),
    c: include_str!("../../nab_2.c"),
    by_hand: None,
    function: "nab_2",
    args: None,
    data: DATA,
    make: make_2,
};

/// Derivatives of effective radii.
pub const NAB_3: Kernel = Kernel {
    name: "nab-3",
    about: "forces through effective Born radii: a biased cascade, gathers and scatters",
    file: "nab_3.rs",
    source: include_str!("../../nab_3.rs"),
    c: include_str!("../../nab_3.c"),
    by_hand: None,
    function: "nab_3",
    args: None,
    data: DATA,
    make: make_3,
};

/// How far pairs count, in Å.
fn cutoff(size: Size) -> f64 {
    size.pick(7.0, 15.0, 15.0)
}

/// Numbers for each atom.
fn per_atom(values: Vec<f64>) -> Argument {
    Argument::Array(Values::F64(values))
}

/// The greatest scaled radius.
fn largest(molecule: &Molecule) -> f64 {
    let scaled = molecule.radii().into_iter().zip(molecule.scales()).map(|(r, s)| s * (r - OFFSET));
    scaled.fold(0.0, f64::max)
}

/// Atoms, and for each all that are near it.
fn make_1(data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let molecule = Molecule::new(size.pick(160, 3000, 20_000), &mut random);
    let (cutoff, largest) = (cutoff(size), largest(&molecule));
    let [first, pairs] = molecule.lists(|distance, _| distance <= cutoff + largest).arguments();
    let arguments = vec![
        Argument::Int(molecule.len() as i64),
        Argument::Int(3 + data as i64),
        molecule.coordinates(data == 1, &mut random),
        per_atom(molecule.radii()),
        per_atom(molecule.scales()),
        first,
        pairs,
        Argument::Float(cutoff),
        Argument::Float(largest),
        per_atom(vec![0.0; molecule.len()]),
    ];
    Inputs { range: (0, 1), arguments }
}

/// Atoms with charges, and for each all that come after it and are near it, or a little farther.
fn make_2(data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let molecule = Molecule::new(size.pick(160, 3000, 20_000), &mut random);
    let cutoff = cutoff(size);
    let count = molecule.len();
    let charges = (0..count).map(|_| random.between(-0.6, 0.6) * COULOMB.sqrt()).collect();
    let [repulsion, attraction] = lennard_jones(&molecule);
    let [first, pairs] = molecule.lists(|distance, after| after && distance <= cutoff + SKIN).arguments();
    let [first_bonded, bonded] = molecule.lists(|distance, after| after && distance <= BONDED).arguments();
    let arguments = vec![
        Argument::Int(count as i64),
        Argument::Int(3 + data as i64),
        molecule.coordinates(data == 1, &mut random),
        per_atom(charges),
        per_atom(effective_radii(&molecule)),
        Argument::Array(Values::I32(molecule.elements.iter().map(|e| *e as i32).collect())),
        Argument::Int(KINDS as i64),
        repulsion,
        attraction,
        first,
        pairs,
        first_bonded,
        bonded,
        Argument::Array(Values::I32(vec![-1; count])),
        Argument::Float(cutoff),
        Argument::Float(78.5),
        Argument::Float(0.1),
        per_atom(vec![0.0; 3]),
        per_atom(vec![0.0; (3 + data) * count]),
        per_atom(vec![0.0; count]),
    ];
    Inputs { range: (0, 1), arguments }
}

/// Atoms with weights, and for each all that are near it.
fn make_3(data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let Inputs { range, mut arguments } = make_1(data, size, seed);
    let Argument::Int(count) = arguments[0] else {
        unreachable!("the first argument is the number of atoms")
    };
    let weights = (0..count).map(|_| 5.0 * random.normal()).collect();
    arguments.insert(5, per_atom(weights));
    arguments.pop();
    arguments.push(per_atom(vec![0.0; (3 + data) * count as usize]));
    Inputs { range, arguments }
}

/// What pairs of elements repel and attract each other by: wells of 0.1 kcal/mol where spheres touch.
fn lennard_jones(molecule: &Molecule) -> [Argument; 2] {
    let mut radii = [0.0; KINDS];
    for (element, radius) in molecule.elements.iter().zip(molecule.radii()) {
        radii[*element] = radius;
    }
    let sixth = |k: usize| (radii[k / KINDS] + radii[k % KINDS]).powi(6);
    let table = |f: &dyn Fn(f64) -> f64| per_atom((0..KINDS * KINDS).map(|k| f(sixth(k))).collect());
    [table(&|s| 0.1 * s * s), table(&|s| 0.2 * s)]
}

/// Radii as effective radii are: a little more than the atom's at the surface, several times as much in the middle.
fn effective_radii(molecule: &Molecule) -> Vec<f64> {
    let depth = |place: &[f64; 3]| 1.0 - place.iter().map(|x| x * x).sum::<f64>().sqrt() / molecule.extent;
    molecule.places.iter().zip(molecule.radii()).map(|(p, r)| r * (1.2 + 3.0 * depth(p).max(0.0))).collect()
}
