//! What must hold of every table, whatever the figures are.

use super::*;

fn machines() -> impl Iterator<Item = Machine> {
    cpus::all().iter().map(Machine::of)
}

/// Numbers of lanes whose vectors have at least 128 bits.
fn lanes(element: Element) -> impl Iterator<Item = Lanes> {
    let least = 128 / element.bits();
    (0..6).map(move |k| Lanes::fixed(least << k))
}

#[test]
fn every_table_has_what_all_formulas_ask_for() {
    for machine in machines() {
        let cpu = machine.cpu.table.cpu();
        for element in Element::ALL {
            let everywhere = [
                Op::Add,
                Op::Multiply,
                Op::Divide,
                Op::Compare,
                Op::Load,
                Op::Store,
                Op::MaskedLoad,
                Op::MaskedStore,
                Op::Gather,
                Op::Scatter,
                Op::Replicate,
                Op::ReplicatedStore,
                Op::Shuffle,
                Op::Interleave,
                Op::Any,
            ];
            let floats: &[Op] = if element.is_float() {
                &[Op::SquareRoot, Op::FusedMultiply, Op::Convert, Op::Remainder, Op::Mathematics]
            } else {
                &[]
            };
            for &op in everywhere.iter().chain(floats) {
                for n in lanes(element) {
                    let cost = machine.cost(op, element, n);
                    assert!(cost.is_some_and(|c| c.throughput > 0.0), "{cpu}: {op:?} {element:?} {n:?}");
                }
            }
            for op in [Op::Add, Op::Multiply, Op::Divide, Op::Compare, Op::Load, Op::Store] {
                assert!(machine.cost(op, element, Lanes::ONE).is_some(), "{cpu}: scalar {op:?} {element:?}");
            }
        }
        assert!(machine.cost(Op::Call, Element::I64, Lanes::ONE).is_some(), "{cpu}");
    }
}

#[test]
fn wider_vectors_are_never_cheaper_than_half_as_wide_ones() {
    for machine in machines() {
        for element in Element::ALL {
            for &op in Op::ALL {
                let costs: Vec<f64> = lanes(element)
                    .filter_map(|n| machine.cost(op, element, n))
                    .map(|cost| cost.throughput)
                    .collect();
                let grows = costs.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9);
                assert!(grows, "{}: {op:?} {element:?}: {costs:?}", machine.cpu.table.cpu());
            }
        }
    }
}

#[test]
fn gathers_and_scatters_are_never_cheaper_than_contiguous_accesses() {
    for machine in machines() {
        for element in Element::ALL {
            for n in lanes(element) {
                for (anywhere, neighbours) in [
                    (Op::Gather, Op::Load),
                    (Op::Scatter, Op::Store),
                    (Op::Replicate, Op::Load),
                    (Op::ReplicatedStore, Op::Store),
                    (Op::Interleave, Op::Load),
                ] {
                    let cost = |op| machine.cost(op, element, n).map_or(0.0, |cost| cost.throughput);
                    let cpu = machine.cpu.table.cpu();
                    assert!(cost(anywhere) >= cost(neighbours), "{cpu}: {anywhere:?} {element:?} {n:?}");
                }
            }
        }
    }
}

#[test]
fn figures_of_the_reference_are_the_calibrated_ones() {
    let machine = Machine::of(cpus::nearest("znver3", true, 256));
    let rates = machine.rates();
    assert_eq!((rates.vector, rates.stores, rates.all, machine.pace()), (4.0, 1.0, 5.0, 1.6));
    assert_eq!(machine.scalar_pace(false), 1.0);
    assert_eq!((machine.misprediction(), machine.window()), (15.0, 320.0));
    assert_eq!(machine.operations(Op::Divide, Element::F32), 8.0);
    assert_eq!(machine.latency(Op::Add, Element::F32), 4.0);
    assert_eq!(machine.lane_operations(Op::Gather, Element::F32), 1.2 * 2.5);
}

#[test]
fn rates_are_those_of_tables_and_cores() {
    let of = |name, bits| Machine::of(cpus::nearest(name, true, bits));
    let [zen4, zen5] = [of("znver4", 512), of("znver5", 512)];
    // Registers of 512 bits take two turns on Zen 4.
    assert!(zen5.rates().vector > 1.5 * zen4.rates().vector);
    assert!(zen5.scalar_rates().all > zen4.scalar_rates().all);
    assert!(zen5.scalar_rates().loads > of("haswell", 256).scalar_rates().loads);
    for machine in machines() {
        for rates in [machine.rates(), machine.scalar_rates()] {
            let all = [rates.vector, rates.scalar, rates.loads, rates.stores, rates.all];
            assert!(
                all.iter().all(|rate| (0.5..=8.0).contains(rate)),
                "{}: {rates:?}",
                machine.cpu.table.cpu()
            );
        }
    }
}

#[test]
fn figures_of_other_machines_are_finite_and_follow_their_tables() {
    for machine in machines() {
        let cpu = machine.cpu.table.cpu();
        for element in Element::ALL {
            for &op in Op::ALL {
                for figure in [
                    machine.operations(op, element),
                    machine.lane_operations(op, element),
                    machine.scalar_operations(op, element),
                    machine.latency(op, element),
                ] {
                    assert!((0.1..=400.0).contains(&figure), "{cpu}: {op:?} {element:?}: {figure}");
                }
            }
        }
    }
    let of = |name, bits| Machine::of(cpus::nearest(name, true, bits));
    // A divider of 128 bits takes two turns for a register of 256.
    let divide =
        |machine: &Machine| machine.cost(Op::Divide, Element::F32, Lanes::fixed(8)).map(|c| c.throughput);
    assert!(divide(&of("haswell", 256)) > divide(&of("znver3", 256)));
    // Masked stores are short programs on Zen 3 and instructions on others.
    let store = |machine: &Machine| machine.operations(Op::MaskedStore, Element::F32);
    assert!(store(&of("haswell", 256)) < store(&of("znver3", 256)) / 4.0);
}

#[test]
fn what_there_is_no_instruction_for_is_done_for_one_lane_after_the_other() {
    let with = Machine::of(cpus::nearest("haswell", true, 256));
    let without = Machine { gathers: Gathers::Nothing, ..with };
    let n = Lanes::fixed(8);
    assert!(with.has(Op::Gather, Element::F32) && !with.has(Op::Gather, Element::I16));
    assert!(!without.has(Op::Gather, Element::F32));
    assert_eq!(without.cost(Op::Gather, Element::F32, n), without.cost(Op::Replicate, Element::F32, n));
    assert_ne!(with.cost(Op::Gather, Element::F32, n), without.cost(Op::Gather, Element::F32, n));
}

#[test]
fn gathers_of_64_bits_are_compared_with_gathers() {
    let zen5 = Machine::of(cpus::nearest("znver5", true, 512));
    // The reference loads such elements one by one, which takes less there.
    assert!(!super::reference(512).has(Op::Gather, Element::F64));
    assert!(zen5.lane_operations(Op::Gather, Element::F64) <= 1.2 * 2.5);
    assert!(zen5.latency(Op::Gather, Element::F64) <= 1.6 * 24.0);
}
