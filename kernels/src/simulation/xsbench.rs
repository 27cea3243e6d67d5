//! A reactor, in so far as neutrons look up cross sections: the model of Hoogenboom and Martin (A Proposal for a
//! Benchmark to Monitor the Performance of Detailed Monte Carlo Calculation of Power Densities in a Full Size Reactor
//! Core, 2009), as in XSBench, with random numbers for the tables.

use crate::{Argument, Inputs, Kernel, Random, Size, Values};

/// Numbers in a point of a table: the energy and five cross sections.
const FIELDS: usize = 6;
/// The nuclides of the materials other than fuel, in the order: cladding, cold and hot borated water, pressure
/// vessel, lower and upper radial reflector, bottom plate, bottom and top nozzle, top and bottom of fuel assemblies.
const NUCLIDES: [usize; 11] = [5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9];
/// How probable it is for a neutron to be in each of them; it is in the fuel if in none of them.
const PARTS: [f64; 11] = [0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.013];

/// Macroscopic cross sections.
pub const KERNEL: Kernel = Kernel {
    name: "xsbench",
    about: "cross sections of materials: a divergent search in uniform loops, gathers",
    file: "xsbench.rs",
    source: include_str!("../../xsbench.rs"),
    c: include_str!("../../xsbench.c"),
    by_hand: None,
    function: "xsbench",
    args: None,
    data: &["random energies", "sorted energies"],
    make,
};

/// Neutrons of random energies, grouped by material, in the second data set sorted by energy in each.
///
/// The usual size is XSBench's small one. The paper has its largest, whose tables take 4 GB; here it is the large
/// one, of 193 MB, which has as many nuclides.
fn make(data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let (fuel, all) = size.pick((34, 68), (34, 68), (321, 355));
    let points = size.pick(200, 11_303, 11_303);
    let (contents, nuclides) = materials(fuel, all, &mut random);
    let densities = nuclides.iter().map(|_| random.unit()).collect();
    let tables = (0..all).flat_map(|_| table(points, &mut random)).collect();
    let (neutrons, energies) = neutrons(size.pick(512, 16_384, 524_288), data == 1, &mut random);
    let count = energies.len();
    let mut arguments = vec![
        Argument::Int(neutrons.len() as i64 - 1),
        Argument::Array(Values::I32(neutrons)),
        Argument::Array(Values::I32(contents)),
        Argument::Array(Values::I32(nuclides)),
        Argument::Array(Values::F64(densities)),
        Argument::Int(points as i64),
        Argument::Array(Values::F64(tables)),
        Argument::Array(Values::F64(energies)),
    ];
    arguments.extend([(); 5].map(|()| Argument::Array(Values::F64(vec![0.0; count]))));
    Inputs { range: (0, 1), arguments }
}

/// The nuclides in each material, and where they begin. The fuel has the first `fuel` of them, others have some of
/// the rest.
fn materials(fuel: usize, all: usize, random: &mut Random) -> (Vec<i32>, Vec<i32>) {
    let mut nuclides: Vec<i32> = (0..fuel as i32).collect();
    let mut contents = vec![0, nuclides.len() as i32];
    let mut others: Vec<i32> = (fuel as i32..all as i32).collect();
    for count in NUCLIDES {
        for k in 0..count {
            let left = others.len() - k;
            others.swap(k, k + random.below(left as u64) as usize);
        }
        nuclides.extend(&others[..count]);
        contents.push(nuclides.len() as i32);
    }
    (contents, nuclides)
}

/// A nuclide's table: random cross sections at random energies from 0 to 1, both of which are among them.
fn table(points: usize, random: &mut Random) -> Vec<f64> {
    let mut energies: Vec<f64> = (2..points).map(|_| random.unit()).collect();
    energies.extend([0.0, 1.0]);
    energies.sort_unstable_by(f64::total_cmp);
    let mut point = |energy| {
        let mut numbers = [(); FIELDS].map(|()| random.unit());
        numbers[0] = energy;
        numbers
    };
    energies.into_iter().flat_map(&mut point).collect()
}

/// Where the neutrons of each material begin, and their energies.
fn neutrons(count: usize, sorted: bool, random: &mut Random) -> (Vec<i32>, Vec<f64>) {
    let mut banks = vec![Vec::new(); PARTS.len() + 1];
    for _ in 0..count {
        let mut left = random.unit();
        let other = PARTS.iter().position(|part| {
            left -= part;
            left < 0.0
        });
        banks[other.map_or(0, |k| k + 1)].push(random.unit());
    }
    if sorted {
        banks.iter_mut().for_each(|bank| bank.sort_unstable_by(f64::total_cmp));
    }
    let mut starts = vec![0];
    starts.extend(banks.iter().scan(0, |sum, bank| {
        *sum += bank.len() as i32;
        Some(*sum)
    }));
    (starts, banks.concat())
}
