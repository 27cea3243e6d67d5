//! What a file of the survey describes: types, arrays and their contents, languages, and what is vectorized.

/// The type of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Elem {
    /// Its name in Rust and in headers of files.
    pub name: &'static str,
    /// Its name in C.
    pub c: &'static str,
}

impl Elem {
    const ALL: [Elem; 10] = [
        Elem { name: "i8", c: "int8_t" },
        Elem { name: "u8", c: "uint8_t" },
        Elem { name: "i16", c: "int16_t" },
        Elem { name: "u16", c: "uint16_t" },
        Elem { name: "i32", c: "int32_t" },
        Elem { name: "u32", c: "uint32_t" },
        Elem { name: "i64", c: "int64_t" },
        Elem { name: "u64", c: "uint64_t" },
        Elem { name: "f32", c: "float" },
        Elem { name: "f64", c: "double" },
    ];

    pub(super) fn parse(name: &str) -> Option<Elem> {
        Elem::ALL.into_iter().find(|e| e.name == name)
    }

    /// Whether it is a floating-point type.
    pub(super) fn is_float(self) -> bool {
        self.name.starts_with('f')
    }
}

/// What an array holds at first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Content {
    Zero,
    Random,
    Bits,
    In(String, String),
    Sorted(String, String),
    Permutation,
    Index,
}

/// A parameter, or a number beside them.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A number with its values; one that is no parameter has no type.
    Number {
        name: String,
        elem: Option<Elem>,
        values: Vec<String>,
    },
    Array {
        name: String,
        elem: Elem,
        length: String,
        content: Content,
        slice: bool,
    },
}

impl Item {
    pub(super) fn name(&self) -> &str {
        match self {
            Item::Number { name, .. } | Item::Array { name, .. } => name,
        }
    }
}

/// In which language a function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Language {
    C,
    Rust,
    OpenCl,
}

impl Language {
    pub(super) fn name(self) -> &'static str {
        match self {
            Language::C => "C",
            Language::Rust => "Rust",
            Language::OpenCl => "OpenCL C",
        }
    }
}

/// What is vectorized.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Loops with marks, in place.
    Loop,
    /// A kernel over indices from 0 to this.
    Range(String),
    /// An OpenCL kernel over so many work-items.
    NdRange(String, String),
}
