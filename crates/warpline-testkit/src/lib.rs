//! Random inputs and brute-force judges for the tests of warpline.
//!
//! An oracle follows a definition word for word and shares no code with what it judges. Every generator takes
//! its randomness from [`rng::SplitMix64`], so a printed seed brings a failure back.
//!
//! ```
//! use warpline_analysis::{DomTree, Graph};
//! use warpline_testkit::graph_oracles::Dominance;
//! use warpline_testkit::graphs;
//! use warpline_testkit::rng::SplitMix64;
//!
//! // Dominators of random graphs, against "every path passes it".
//! for seed in 0..50 {
//!     let graph = graphs::arbitrary(&mut SplitMix64::new(seed), 8);
//!     let (tree, oracle) = (DomTree::compute(&graph), Dominance::of(&graph));
//!     for n in graph.nodes().filter(|n| tree.is_reachable(*n)) {
//!         assert_eq!(tree.idom(n).map(|d| d.index()), oracle.idom(n.index()), "seed {seed}");
//!     }
//! }
//! ```

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

pub mod byte_programs;
pub mod census;
pub mod claims;
pub mod control_flow;
pub mod convergence;
pub mod dataflow_agreement;
pub mod dataflow_oracles;
pub mod dataflow_problems;
pub mod dataflow_programs;
pub mod differential;
pub mod disjoint;
pub mod environment;
pub mod filetests;
pub mod graph_oracles;
pub mod graphs;
pub mod group_kernels;
pub mod growing_kernels;
pub mod hierarchies;
pub mod linearized;
pub mod llvm_opinion;
pub mod lockstep;
pub mod loop_closed;
pub mod loop_pairs;
pub mod modules;
pub mod mutate;
pub mod number_programs;
pub mod pairs;
pub mod paths;
pub mod phi_oracles;
pub mod planted;
pub mod programs;
pub mod programs_run;
pub mod reference;
pub mod replay;
pub mod rng;
pub mod scaling;
pub mod scaling_ll;
pub mod secret_programs;
pub mod ssa_programs;
pub mod ssi_figure;
pub mod ssi_oracles;
pub mod stack_programs;
pub mod tagged;
pub mod theorems;
pub mod uniformity_checker;
pub mod variable_oracles;
pub mod variable_programs;
pub mod walks;
