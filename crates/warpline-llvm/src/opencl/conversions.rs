//! `convert_*`: for the names that a module calls, definitions for operands of all types.
//!
//! Of the C language's conversions some are what OpenCL asks for: between integers they wrap, to integers they round
//! towards zero, to floating-point numbers to nearest. The others are made of them. Without `_sat`, numbers that do
//! not fit give what the CPU likes, as OpenCL leaves open.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// An arithmetic type.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Number {
    name: &'static str,
    bits: u32,
    signed: bool,
    float: bool,
    /// The names of the least and the greatest integer.
    limits: (&'static str, &'static str),
}

const fn int(name: &'static str, bits: u32, least: &'static str, most: &'static str) -> Number {
    Number { name, bits, signed: least.len() > 1, float: false, limits: (least, most) }
}

const fn float(name: &'static str, bits: u32) -> Number {
    Number { name, bits, signed: true, float: true, limits: ("", "") }
}

const NUMBERS: [Number; 11] = [
    int("char", 8, "CHAR_MIN", "CHAR_MAX"),
    int("uchar", 8, "0", "UCHAR_MAX"),
    int("short", 16, "SHRT_MIN", "SHRT_MAX"),
    int("ushort", 16, "0", "USHRT_MAX"),
    int("int", 32, "INT_MIN", "INT_MAX"),
    int("uint", 32, "0", "UINT_MAX"),
    int("long", 64, "LONG_MIN", "LONG_MAX"),
    int("ulong", 64, "0", "ULONG_MAX"),
    float("float", 32),
    float("double", 64),
    float("half", 16),
];

/// What is left of a name without the number of elements.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Conversion {
    to: Number,
    saturates: bool,
    rounding: Option<Rounding>,
}

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Rounding {
    Nearest,
    Zero,
    Up,
    Down,
}

impl Rounding {
    const ALL: [Rounding; 4] = [Rounding::Nearest, Rounding::Zero, Rounding::Up, Rounding::Down];

    /// How names end that say it.
    fn suffix(self) -> &'static str {
        match self {
            Rounding::Nearest => "_rte",
            Rounding::Zero => "_rtz",
            Rounding::Up => "_rtp",
            Rounding::Down => "_rtn",
        }
    }
}

/// The conversion and the number of elements that a name says.
fn read(name: &str) -> Option<(Conversion, usize)> {
    let rest = name.strip_prefix("convert_")?;
    let found = Rounding::ALL.into_iter().find_map(|mode| Some((rest.strip_suffix(mode.suffix())?, mode)));
    let (rest, rounding) = found.map_or((rest, None), |(rest, mode)| (rest, Some(mode)));
    let (rest, saturates) = rest.strip_suffix("_sat").map_or((rest, false), |rest| (rest, true));
    let of = |to: &Number| {
        let elements = match rest.strip_prefix(to.name)? {
            "" => 1,
            digits @ ("2" | "3" | "4" | "8" | "16") => digits.parse().ok()?,
            _ => return None,
        };
        (!to.float || !saturates).then_some((Conversion { to: *to, saturates, rounding }, elements))
    };
    NUMBERS.iter().find_map(of)
}

/// Whether a name is that of a conversion.
pub(super) fn is_conversion(name: &str) -> bool {
    read(name).is_some()
}

/// The definitions of the conversions among these names, from all types.
pub(super) fn source(names: &BTreeSet<String>) -> String {
    let mut all: BTreeMap<Conversion, BTreeSet<(usize, &str)>> = BTreeMap::new();
    for name in names {
        if let Some((conversion, elements)) = read(name) {
            all.entry(conversion).or_default().insert((elements, name));
        }
    }
    let mut text = String::new();
    for (number, (conversion, names)) in all.iter().enumerate() {
        for from in &NUMBERS {
            let body = conversion.body(from, number);
            let _ =
                writeln!(text, "_I {} _w_convert_{number}({} x) {{ {body} }}", conversion.to.name, from.name);
            for &(elements, name) in names {
                text.push_str(&conversion.function(name, elements, from, number));
            }
        }
    }
    text
}

impl Conversion {
    /// The builtin for so many elements, by the function for one.
    fn function(&self, name: &str, elements: usize, from: &Number, number: usize) -> String {
        let plain = self.is_plain(from);
        let (to, from) = (self.to.name, from.name);
        if elements == 1 {
            return format!("{to} _W {name}({from} x) {{ return _w_convert_{number}(x); }}\n");
        }
        let value = if plain {
            format!("__builtin_convertvector(x, {to}{elements})")
        } else {
            let parts: Vec<String> =
                (0..elements).map(|e| format!("_w_convert_{number}(x.s{e:x})")).collect();
            format!("({to}{elements})({})", parts.join(", "))
        };
        format!("{to}{elements} _W {name}({from}{elements} x) {{ return {value}; }}\n")
    }

    /// Whether the language's conversion is meant. From 64 bits to `half` takes two steps.
    fn is_plain(&self, from: &Number) -> bool {
        let twice = self.to.bits == 16 && self.to.float && from.bits == 64;
        !self.saturates && self.rounding.is_none() && !twice
    }

    /// The statements that convert `x`.
    fn body(&self, from: &Number, number: usize) -> String {
        let to = self.to.name;
        if to == from.name {
            return "return x;".to_owned();
        }
        if from.bits == 16 && from.float {
            // As a `float` it is the same number, whose conversion stands above.
            return format!("return _w_convert_{number}((float)x);");
        }
        if self.to.bits == 16 && self.to.float {
            // Integers that a `float` rounds are far beyond the greatest half.
            let of = if from.float { "x" } else { "(float)x" };
            return format!("return _w_half{}({of});", self.rounding.map_or("_rte", Rounding::suffix));
        }
        match (from.float, self.to.float) {
            (false, false) => self.between_integers(from),
            (true, false) => self.yielding_integers(from),
            (false, true) => self.of_integers(from),
            (true, true) if from.bits > self.to.bits => self.narrowed().to_owned(),
            (true, true) => format!("return ({to})x;"),
        }
    }

    fn between_integers(&self, from: &Number) -> String {
        let (to, (least, most)) = (self.to, self.to.limits);
        let mut value = format!("({})x", to.name);
        let signed_bits = |n: &Number| if n.signed { n.bits - 1 } else { n.bits };
        if self.saturates && signed_bits(from) > signed_bits(&to) {
            value = format!("x > ({})({most}) ? ({})({most}) : {value}", from.name, to.name);
        }
        if self.saturates && from.signed && (!to.signed || from.bits > to.bits) {
            value = format!("x < ({})({least}) ? ({})({least}) : {value}", from.name, to.name);
        }
        format!("return {value};")
    }

    fn yielding_integers(&self, from: &Number) -> String {
        let (to, from) = (self.to, from.name);
        let whole = match self.rounding {
            None | Some(Rounding::Zero) => "trunc",
            Some(Rounding::Nearest) => "rint",
            Some(Rounding::Up) => "ceil",
            Some(Rounding::Down) => "floor",
        };
        if !self.saturates {
            return match whole {
                "trunc" => format!("return ({})x;", to.name),
                _ => format!("return ({})__builtin_elementwise_{whole}(x);", to.name),
            };
        }
        let (name, (least, most)) = (to.name, to.limits);
        let beyond = if to.signed { to.bits - 1 } else { to.bits };
        let below = if to.signed { format!("-0x1p{beyond}f") } else { "0.0f".to_owned() };
        format!(
            "{from} w = __builtin_elementwise_{whole}(x); \
             if (w != w) return 0; \
             if (w < ({from}){below}) return ({name})({least}); \
             if (w >= ({from})0x1p{beyond}f) return ({name})({most}); \
             return ({name})w;"
        )
    }

    /// What of an integer a floating-point number has no room for is cut off, and one unit of what is left added where
    /// that is the way to go.
    fn of_integers(&self, from: &Number) -> String {
        let to = self.to.name;
        let room = if self.to.bits == 32 { 24 } else { 53 };
        let up = match self.rounding {
            Some(Rounding::Zero) => "false",
            Some(Rounding::Up) => "!negative",
            Some(Rounding::Down) => "negative",
            None | Some(Rounding::Nearest) => return format!("return ({to})x;"),
        };
        if from.bits <= room {
            return format!("return ({to})x;");
        }
        let (unsigned, zeros) = if from.bits == 32 { ("uint", "clz") } else { ("ulong", "clzl") };
        let negative = if from.signed { "x < 0" } else { "false" };
        format!(
            "bool negative = {negative}; \
             {unsigned} size = negative ? -({unsigned})x : ({unsigned})x; \
             int extra = {bits} - __builtin_{zeros}(size | 1) - {room}; \
             {unsigned} unit = ({unsigned})1 << (extra > 0 ? extra : 0), low = size & (unit - 1); \
             {to} kept = ({to})(size - low); \
             if (low != 0 && {up}) kept += ({to})unit; \
             return negative ? -kept : kept;",
            bits = from.bits,
        )
    }

    /// From `double` to `float`: what went the wrong way is taken a step back.
    fn narrowed(&self) -> &'static str {
        match self.rounding {
            None | Some(Rounding::Nearest) => "return (float)x;",
            Some(Rounding::Zero) => {
                "float f = (float)x; \
                 bool beyond = __builtin_elementwise_abs((double)f) > __builtin_elementwise_abs(x); \
                 return beyond ? as_float(as_int(f) - 1) : f;"
            }
            Some(Rounding::Up) => {
                "float f = (float)x; int b = as_int(f); \
                 return (double)f < x ? as_float(b < 0 ? b - 1 : b + 1) : f;"
            }
            Some(Rounding::Down) => {
                "float f = (float)x; int b = as_int(f); \
                 return (double)f > x ? as_float(b < 0 ? b + 1 : b - 1) : f;"
            }
        }
    }
}
