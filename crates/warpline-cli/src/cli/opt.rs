//! Options of `warpline opt`.

use std::path::PathBuf;

use clap::Args;

use super::{BosccMode, CoherenceMode, LinearizeMode};

/// Options of `opt`.
#[derive(Args)]
pub struct OptOptions {
    /// .wl, or `-` for standard input
    #[arg(required_unless_present = "list")]
    pub input: Option<PathBuf>,
    /// The passes, in order; `@PASS` for all that lead there and that one
    #[arg(short, long, value_name = "PASS,...", value_delimiter = ',')]
    pub passes: Vec<String>,
    /// Print all passes, in the order in which `vectorize` runs them
    #[arg(long)]
    pub list: bool,
    /// The output; by default standard output
    #[arg(short, long, value_name = "OUT.wl")]
    pub output: Option<PathBuf>,
    /// Only this function; all others stay as they are
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Shapes of the parameters: uniform, varying, index, stride(N); by name=shape or by position. Those not
    /// mentioned are varying
    #[arg(long, value_name = "LIST", default_value = "")]
    pub args: String,
    /// The number of lanes
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub width: u32,
    /// Which branches are folded
    #[arg(long, value_enum, default_value_t)]
    pub linearize: LinearizeMode,
    /// Where branches skip code without an active lane, besides where they must
    #[arg(long, value_enum, default_value_t)]
    pub boscc: BosccMode,
    /// For which loops code is made for iterations in which lanes agree
    #[arg(long, value_enum, default_value_t)]
    pub coherence: CoherenceMode,
}
