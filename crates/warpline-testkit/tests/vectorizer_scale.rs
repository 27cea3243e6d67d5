//! Large kernels: nothing recurses, and nothing takes time out of proportion.

use std::time::Instant;

use warpline_ir::text::parse_module;
use warpline_testkit::growing_kernels::{SHAPES, args, kernel};
use warpline_uniformity::{Options as UniformityOptions, Uniformity};
use warpline_vectorize::{self as vectorize, Options, normalize};

/// Milliseconds for normal form, for the analysis, and for everything, those two included.
fn times(body: &str) -> (f64, f64, f64) {
    let text = kernel(body);
    let module = parse_module(&text).expect("the shapes are well-formed");
    let func = &module.functions[module.function("f").expect("f was parsed")];
    let ms = |t: Instant| t.elapsed().as_secs_f64() * 1e3;
    let start = Instant::now();
    let mut scalar = func.clone();
    normalize::normalize(&mut scalar).expect("the shapes are reducible");
    let normal = ms(start);
    let start = Instant::now();
    let options = UniformityOptions { args: args(), ..UniformityOptions::default() };
    let _ = Uniformity::compute(&module, &scalar, &options);
    let analysis = ms(start);
    let start = Instant::now();
    let options = Options::new(8, args(), "f8");
    vectorize::linearize_kernel(&module, func, &options).expect("the shapes can be linearized");
    (normal, analysis, ms(start))
}

/// Prints how long each shape takes. `WARPLINE_SIZES=2000,4000,8000 … --release -- --nocapture` shows how the times
/// grow.
#[test]
fn every_shape_of_a_thousand_blocks_is_linearized() {
    let sizes = std::env::var("WARPLINE_SIZES").unwrap_or_else(|_| "1000".into());
    for (name, body) in SHAPES {
        for n in sizes.split(',').map(|n| n.parse().expect("sizes are numbers")) {
            let (normal, analysis, all) = times(&body(n));
            println!(
                "{name:18} {n:6} blocks: normal form {normal:8.1} ms, analysis {analysis:8.1} ms, all {all:8.1} ms"
            );
        }
    }
}

/// How many operands the lane program has, those of φs included.
fn operands(body: &str) -> usize {
    let module = parse_module(&kernel(body)).expect("the shapes are well-formed");
    let func = &module.functions[module.function("f").expect("f was parsed")];
    let options = Options::new(8, args(), "f8");
    let linearized =
        vectorize::linearize_kernel(&module, func, &options).expect("the shapes can be linearized");
    let func = &linearized.program.func;
    let of_block = |b| {
        let insts = func.block_insts(b).map(|i| func.insts[i].args.len()).sum::<usize>();
        insts + func.out_edges(b).iter().map(|&e| func.edges[e].args.len()).sum::<usize>()
    };
    func.layout.iter().map(|&b| of_block(b)).sum()
}

#[test]
fn lane_programs_are_in_proportion_to_their_kernels() {
    for (name, body) in SHAPES {
        let (small, large) = (operands(&body(300)), operands(&body(1_200)));
        // Uniform jumps from many places into the chain, with a mask of its own for each node of it: these meet in φs.
        let known = name == "jumps ahead";
        let linear = large < 5 * small;
        assert_eq!(linear, !known, "{name}: {small} operands, then {large}");
    }
}

#[test]
fn wide_switches_and_long_ladders_are_in_proportion_and_come_to_an_end() {
    // A second each; minutes when masks were searched for block by block, or accesses compared by searches of their
    // own.
    for name in ["divergent switch", "mixed ladder"] {
        let (_, body) = SHAPES.into_iter().find(|(known, _)| *known == name).expect("a known shape");
        let (small, large) = (operands(&body(5_000)), operands(&body(20_000)));
        assert!(large < 5 * small, "{name}: {small} operands, then {large}");
    }
}
