//! What paper 5 prints in its Tables 3 to 5, to be held beside ours.

/// A program of Tables 3 and 4.
pub(super) struct Program {
    /// Its name in SPEC CPU2017.
    pub name: &'static str,
    /// φ_RD, φ_DF, φ_RDE, φ_DFE.
    pub phis: [usize; 4],
    /// %φ-sup and %φ-supE.
    pub superfluous: [f64; 2],
    /// P_2, P_5 and P_5M: procedures for which reaching definitions take at most two times as long as dominance
    /// frontiers, at most five times, and longer.
    pub procedures: [usize; 3],
}

/// Tables 3 and 4.
pub(super) const PROGRAMS: [Program; 7] = [
    Program {
        name: "544.nab_r",
        phis: [26960, 44600, 2400, 7400],
        superfluous: [65.43, 51.47],
        procedures: [3594, 2279, 667],
    },
    Program {
        name: "557.xz_r",
        phis: [820, 1300, 150, 320],
        superfluous: [58.53, 46.27],
        procedures: [3365, 242, 13],
    },
    Program {
        name: "505.perlbench_r",
        phis: [124_210, 220_340, 19370, 46830],
        superfluous: [77.39, 65.50],
        procedures: [9469, 5211, 3478],
    },
    Program {
        name: "502.gcc_r",
        phis: [430_910, 807_190, 65530, 191_290],
        superfluous: [87.32, 68.56],
        procedures: [116_257, 45567, 16446],
    },
    Program {
        name: "505.mcf_r",
        phis: [3090, 4730, 250, 710],
        superfluous: [53.07, 41.55],
        procedures: [143, 183, 74],
    },
    Program {
        name: "525.x264_r",
        phis: [23750, 40030, 3050, 7500],
        superfluous: [68.55, 57.15],
        procedures: [10911, 2617, 962],
    },
    Program {
        name: "538.imagick_r",
        phis: [38320, 67750, 10730, 31590],
        superfluous: [76.80, 31.06],
        procedures: [18583, 5958, 1319],
    },
];

/// The averages in Table 3: %φ-sup and %φ-supE.
pub(super) const SUPERFLUOUS: [f64; 2] = [69.59, 51.65];
/// The averages in Table 4: %P_2, %P_5 and %P_5M, of the procedures of all programs together.
pub(super) const SHARES: [f64; 3] = [65.63, 25.09, 9.28];

/// A file of Table 5, all of Perl.
pub(super) struct File {
    /// Its name without the suffix.
    pub name: &'static str,
    /// nCFG and nVars.
    pub size: [usize; 2],
    /// T_RD and T_DF in seconds, of 30 executions.
    pub seconds: [f64; 2],
    /// φ_RD and φ_DF.
    pub phis: [usize; 2],
}

const fn file(name: &'static str, size: [usize; 2], seconds: [f64; 2], phis: [usize; 2]) -> File {
    File { name, size, seconds, phis }
}

/// Table 5.
pub(super) const FILES: [File; 28] = [
    file("scope", [669, 241], [0.166, 0.034], [114, 182]),
    file("Opcode", [372, 236], [0.035, 0.024], [77, 180]),
    file("pp_sort", [612, 228], [0.160, 0.037], [278, 483]),
    file("vutil", [621, 89], [0.088, 0.036], [152, 219]),
    file("perly", [454, 36], [0.931, 0.028], [113, 130]),
    file("pad", [689, 236], [0.128, 0.040], [177, 341]),
    file("util", [1426, 402], [0.097, 0.070], [202, 370]),
    file("pp_sys", [2212, 575], [0.249, 0.118], [310, 607]),
    file("doop", [781, 189], [0.168, 0.049], [245, 413]),
    file("pp", [5470, 1048], [0.972, 0.326], [835, 1500]),
    file("numeric", [737, 125], [0.084, 0.041], [168, 203]),
    file("universal", [696, 284], [0.058, 0.039], [79, 152]),
    file("pp_hot", [2623, 456], [0.692, 0.165], [500, 846]),
    file("utf8", [2018, 444], [0.384, 0.126], [427, 708]),
    file("op", [6793, 1303], [2.122, 0.401], [1156, 2268]),
    file("pp_pack", [2707, 270], [8.300, 0.191], [956, 1442]),
    file("hv", [1388, 416], [0.292, 0.075], [284, 566]),
    file("pp_ctl", [3100, 748], [0.834, 0.202], [629, 1113]),
    file("perl", [1385, 673], [0.550, 0.086], [522, 679]),
    file("doio", [1018, 223], [0.238, 0.061], [173, 299]),
    file("sv", [5927, 1147], [3.344, 0.381], [1419, 2330]),
    file("mg", [1623, 393], [0.315, 0.091], [219, 459]),
    file("mro_core", [891, 152], [0.316, 0.053], [188, 393]),
    file("gv", [2500, 477], [1.031, 0.248], [378, 730]),
    file("regcomp", [8633, 1094], [27.073, 2.792], [2184, 3562]),
    file("toke", [5922, 757], [33.284, 0.477], [1574, 2810]),
    file("regexec", [4959, 445], [13.405, 0.494], [1307, 2096]),
    file("dump", [1482, 274], [1.525, 0.110], [176, 474]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures are copied by hand; the paper's own percentages say whether rightly.
    #[test]
    fn the_papers_percentages_follow_from_its_counts() {
        for p in &PROGRAMS {
            let [rd, df, rde, dfe] = p.phis.map(|n| n as f64);
            let computed = [df / rd, (df - dfe) / (rd - rde)].map(|quotient| (quotient - 1.0) * 100.0);
            for (computed, printed) in computed.iter().zip(p.superfluous) {
                assert!((computed - printed).abs() < 0.02, "{}: {computed} and {printed}", p.name);
            }
        }
        let mean = |of: &dyn Fn(&Program) -> f64| PROGRAMS.iter().map(of).sum::<f64>() / 7.0;
        for (i, printed) in SUPERFLUOUS.into_iter().enumerate() {
            assert!((mean(&|p| p.superfluous[i]) - printed).abs() < 0.01);
        }
        let all: usize = PROGRAMS.iter().flat_map(|p| p.procedures).sum();
        for (i, printed) in SHARES.into_iter().enumerate() {
            let share = PROGRAMS.iter().map(|p| p.procedures[i]).sum::<usize>() as f64 / all as f64;
            assert!((share * 100.0 - printed).abs() < 0.01, "%P number {i}");
        }
    }
}
