//! A molecule like a protein: atoms packed in a ball.

use crate::{Argument, Random, Values};

/// The distance between the places of atoms before they are moved at random, in Å: about 0.1 atoms in 1 Å^3, as in
/// proteins with hydrogen.
const SPACING: f64 = 2.15;
/// How far atoms are from their places in each coordinate, in Å.
const JITTER: f64 = 0.45;

/// What elements are like.
struct Element {
    /// The part of the atoms.
    part: f64,
    /// The radius in Å (Bondi: van der Waals Volumes and Radii, 1964).
    radius: f64,
    /// What radii are scaled by, where an atom screens others (Hawkins, Cramer, Truhlar, 1996).
    scale: f64,
}

/// Hydrogen, carbon, nitrogen, oxygen, sulphur, about as often as in proteins.
const ELEMENTS: [Element; 5] = [
    Element { part: 0.500, radius: 1.20, scale: 0.85 },
    Element { part: 0.315, radius: 1.70, scale: 0.72 },
    Element { part: 0.085, radius: 1.55, scale: 0.79 },
    Element { part: 0.095, radius: 1.50, scale: 0.85 },
    Element { part: 0.005, radius: 1.80, scale: 0.96 },
];
/// The number of elements.
pub const KINDS: usize = ELEMENTS.len();

/// Atoms, in an order in which neighbours are mostly near each other.
pub struct Molecule {
    /// Coordinates in Å.
    pub places: Vec<[f64; 3]>,
    /// Which element each is.
    pub elements: Vec<usize>,
    /// The radius of the ball that they are in.
    pub extent: f64,
}

/// For each atom some others: those of atom `i` are `atoms[first[i]..first[i + 1]]`.
pub struct Lists {
    pub first: Vec<i32>,
    pub atoms: Vec<i32>,
}

impl Molecule {
    /// A ball of that many atoms: the places of a cubic lattice that are nearest to its middle, along a Z-order curve
    /// (Morton: A Computer Oriented Geodetic Data Base, 1966), each moved a little.
    pub fn new(count: usize, random: &mut Random) -> Molecule {
        // A ball of that many unit cubes, with some to spare.
        let reach = (count as f64 * 0.24).cbrt().ceil() as i64 + 2;
        let side = 2 * reach + 1;
        let mut cells: Vec<[i64; 3]> = (0..side * side * side)
            .map(|k| [k % side - reach, k / side % side - reach, k / (side * side) - reach])
            .collect();
        let squared = |cell: &[i64; 3]| cell.iter().map(|c| c * c).sum::<i64>();
        cells.sort_by_key(squared);
        cells.truncate(count);
        let extent = (squared(cells.last().expect("there are atoms")) as f64).sqrt() * SPACING;
        cells.sort_by_key(|cell| morton(cell.map(|c| (c + reach) as u64)));
        let place = |cell: &[i64; 3]| cell.map(|c| c as f64 * SPACING + random.between(-JITTER, JITTER));
        let places = cells.iter().map(place).collect();
        let elements = cells.iter().map(|_| element(random.unit())).collect();
        Molecule { places, elements, extent }
    }

    /// The number of atoms.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Coordinates one after another, 3 for each atom, or 4 with small random numbers.
    pub fn coordinates(&self, four: bool, random: &mut Random) -> Argument {
        let mut fourth = || four.then(|| random.between(-0.3, 0.3));
        Argument::Array(Values::F64(
            self.places.iter().flat_map(|p| p.iter().copied().chain(fourth())).collect(),
        ))
    }

    /// The radii.
    pub fn radii(&self) -> Vec<f64> {
        self.elements.iter().map(|e| ELEMENTS[*e].radius).collect()
    }

    /// What radii are scaled by.
    pub fn scales(&self) -> Vec<f64> {
        self.elements.iter().map(|e| ELEMENTS[*e].scale).collect()
    }

    /// For each atom the others for which the distance and whether they come after it are as wanted.
    pub fn lists(&self, wanted: impl Fn(f64, bool) -> bool) -> Lists {
        let (mut first, mut atoms) = (vec![0], Vec::new());
        for (i, a) in self.places.iter().enumerate() {
            let near = self.places.iter().enumerate().filter(|(j, b)| {
                let squared: f64 = a.iter().zip(*b).map(|(a, b)| (a - b) * (a - b)).sum();
                *j != i && wanted(squared.sqrt(), *j > i)
            });
            atoms.extend(near.map(|(j, _)| j as i32));
            first.push(atoms.len() as i32);
        }
        Lists { first, atoms }
    }
}

impl Lists {
    /// As kernels take them.
    pub fn arguments(self) -> [Argument; 2] {
        [Argument::Array(Values::I32(self.first)), Argument::Array(Values::I32(self.atoms))]
    }
}

/// The bits of three numbers, interleaved.
fn morton(cell: [u64; 3]) -> u64 {
    (0..63).map(|bit| (cell[bit % 3] >> (bit / 3) & 1) << bit).sum()
}

/// Which element comes at a number in 0..1.
fn element(mut at: f64) -> usize {
    let before = |e: &Element| {
        at -= e.part;
        at < 0.0
    };
    ELEMENTS.iter().position(before).unwrap_or(0)
}
