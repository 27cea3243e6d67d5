//! What the attribute of a kernel says of how code is made of it, in the words of the command line.

use warpline_vectorize::{Boscc, Coherence};

use crate::options::KernelOptions;
use crate::spec::Width;

/// What is asked for one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The number of lanes.
    pub width: Option<Width>,
    /// Where branches skip code without an active lane.
    pub boscc: Option<Boscc>,
    /// For which loops code is made for iterations in which lanes agree.
    pub coherence: Option<Coherence>,
    /// The largest error of vector math functions.
    pub math_ulp: Option<u32>,
}

impl Asked {
    /// Reads options and their values.
    ///
    /// # Errors
    /// A sentence about one that is wrong.
    pub fn read(options: &[(String, String)]) -> Result<Asked, String> {
        let mut asked = Asked::default();
        for (name, value) in options {
            match name.as_str() {
                "width" => asked.width = Some(value.parse()?),
                "boscc" => {
                    asked.boscc = Some(choice(
                        name,
                        value,
                        [("off", Boscc::Off), ("on", Boscc::On), ("auto", Boscc::Auto)],
                    )?);
                }
                "coherence" => {
                    let all = [("off", Coherence::Off), ("on", Coherence::On), ("auto", Coherence::Auto)];
                    asked.coherence = Some(choice(name, value, all)?);
                }
                "math_ulp" => {
                    let wrong = |_| format!("math_ulp {value}: write a number");
                    asked.math_ulp = Some(value.parse().map_err(wrong)?);
                }
                _ => return Err(format!("there is no option `{name}`")),
            }
        }
        Ok(asked)
    }

    /// The options of a kernel for which this is asked.
    pub fn apply(&self, options: KernelOptions) -> KernelOptions {
        KernelOptions {
            width: self.width.or(options.width),
            boscc: self.boscc.or(options.boscc),
            coherence: self.coherence.unwrap_or(options.coherence),
            math_ulp: self.math_ulp.unwrap_or(options.math_ulp),
            ..options
        }
    }
}

/// One of several words; `true` and `false` are `on` and `off`.
fn choice<T: Copy>(name: &str, value: &str, all: [(&str, T); 3]) -> Result<T, String> {
    let meant = match value {
        "true" => "on",
        "false" => "off",
        other => other,
    };
    let found = all.iter().find(|(word, _)| *word == meant);
    found.map(|&(_, choice)| choice).ok_or_else(|| format!("{name} {value}: use off, on or auto"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_command_line() {
        let read = |name: &str, value: &str| Asked::read(&[(name.to_owned(), value.to_owned())]);
        assert_eq!(read("width", "16").unwrap().width, Some(Width::Lanes(16)));
        assert_eq!(read("boscc", "false").unwrap().boscc, Some(Boscc::Off));
        assert_eq!(read("coherence", "on").unwrap().coherence, Some(Coherence::On));
        assert_eq!(read("math_ulp", "1").unwrap().math_ulp, Some(1));
        assert!(
            read("width", "65").is_err() && read("boscc", "maybe").is_err() && read("math_ulp", "x").is_err()
        );
    }
}
