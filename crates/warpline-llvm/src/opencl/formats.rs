//! Formats of OpenCL C's `printf`: conversions of vectors taken apart into conversions of numbers.
//!
//! `%2.2v4hlf` prints four elements as `%2.2f` does, with commas between them. The C library knows no such conversion.

/// A conversion of a format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Conversion {
    /// Of one number, pointer or string.
    One,
    /// Of a vector.
    Vector(VectorConversion),
}

/// A conversion of a vector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct VectorConversion {
    /// `%` with flags, width and precision.
    start: String,
    /// The number of elements.
    pub elements: u32,
    /// The size of an element in bits, if the conversion says it.
    pub bits: Option<u32>,
    /// The letter at its end.
    letter: char,
}

/// A format in parts: text as it is, with conversions behind it that each take an argument.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Format {
    parts: Vec<(String, Conversion)>,
    end: String,
}

/// The type of elements.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Element {
    /// Numbers that have a sign or have none.
    Integer { signed: bool },
    /// Floating-point numbers.
    Float,
}

impl VectorConversion {
    pub(super) fn element(&self) -> Element {
        match self.letter {
            'd' | 'i' => Element::Integer { signed: true },
            'o' | 'u' | 'x' | 'X' => Element::Integer { signed: false },
            _ => Element::Float,
        }
    }

    /// The conversions of the elements, which have so many bits.
    fn apart(&self, bits: u32) -> String {
        let length = match (self.element(), bits) {
            (Element::Integer { .. }, 8) => "hh",
            (Element::Integer { .. }, 16) => "h",
            (Element::Integer { .. }, 64) => "l",
            _ => "",
        };
        let one = format!("{}{length}{}", self.start, self.letter);
        vec![one; self.elements as usize].join(",")
    }
}

impl Format {
    /// Reads a format; `None` if it has a conversion of vectors that OpenCL C does not have, or one whose width or
    /// precision is an argument.
    pub(super) fn read(text: &str) -> Option<Format> {
        let mut format = Format::default();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('%') {
            format.end.push_str(before);
            if let Some(behind) = behind.strip_prefix('%') {
                format.end.push_str("%%");
                rest = behind;
                continue;
            }
            let (conversion, length) = conversion(behind)?;
            if matches!(conversion, Conversion::One) {
                // What it is says the text itself.
                format.end.push('%');
                format.end.push_str(&behind[..length]);
            }
            format.parts.push((std::mem::take(&mut format.end), conversion));
            rest = &behind[length..];
        }
        format.end.push_str(rest);
        Some(format)
    }

    /// Its conversions.
    pub(super) fn conversions(&self) -> impl Iterator<Item = &Conversion> {
        self.parts.iter().map(|(_, conversion)| conversion)
    }

    /// Whether it has conversions of vectors.
    pub(super) fn has_vectors(&self) -> bool {
        self.conversions().any(|conversion| *conversion != Conversion::One)
    }

    /// The format for elements one by one; `bits` are the sizes of elements, vector by vector.
    pub(super) fn apart(&self, bits: &[u32]) -> String {
        let mut bits = bits.iter();
        let mut text = String::new();
        for (before, conversion) in &self.parts {
            text.push_str(before);
            if let Conversion::Vector(vector) = conversion {
                text.push_str(&vector.apart(bits.next().copied().unwrap_or_default()));
            }
        }
        text + &self.end
    }
}

/// The conversion behind a `%`, and the length of its text.
fn conversion(text: &str) -> Option<(Conversion, usize)> {
    let until = |from: usize, is_in: &str| {
        from + text[from..].find(|c: char| !is_in.contains(c)).unwrap_or(text.len() - from)
    };
    let size_at = until(0, "-+ #0");
    let size_end = until(size_at, "0123456789.*");
    let (start, rest) = text.split_at(size_end);
    let Some(vector) = rest.strip_prefix('v') else {
        let letter_at = until(size_end, "hljztL");
        let letter = text[letter_at..].chars().next()?;
        return (!start.contains('*')).then(|| (Conversion::One, letter_at + letter.len_utf8()));
    };
    let digits = vector.len() - vector.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let elements: u32 = vector[..digits].parse().ok()?;
    let rest = &vector[digits..];
    let lengths = [("hh", 8), ("hl", 32), ("h", 16), ("l", 64)];
    let found = lengths.into_iter().find(|(length, _)| rest.starts_with(length));
    let (rest, bits) = found.map_or((rest, None), |(length, bits)| (&rest[length.len()..], Some(bits)));
    let letter = rest.chars().next().filter(|letter| "diouxXaAeEfFgG".contains(*letter))?;
    let is_known = matches!(elements, 2 | 3 | 4 | 8 | 16) && !start.contains('*');
    let vector = VectorConversion { start: format!("%{start}"), elements, bits, letter };
    is_known.then(|| (Conversion::Vector(vector), text.len() - rest.len() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(text: &str, bits: &[u32]) -> Option<String> {
        Format::read(text).map(|format| format.apart(bits))
    }

    #[test]
    fn vectors_become_numbers_with_commas_between_them() {
        assert_eq!(apart("a %2.2v4hlf;\n", &[32]).unwrap(), "a %2.2f,%2.2f,%2.2f,%2.2f;\n");
        assert_eq!(apart("%#v2hhx%%%s%v3ld", &[8, 64]).unwrap(), "%#hhx,%#hhx%%%s%ld,%ld,%ld");
        assert_eq!(apart("%d %-5v2hi|%v2hlu", &[16, 32]).unwrap(), "%d %-5hi,%-5hi|%u,%u");
        assert_eq!(apart("%5.1f %c %% %lu %", &[]), None);
        assert_eq!(apart("%5.1f %c %% %lu é", &[]).unwrap(), "%5.1f %c %% %lu é");
    }

    #[test]
    fn what_opencl_does_not_have_is_no_format() {
        for text in ["%v5f", "%vf", "%v4s", "%v4", "%*v4hlf", "%v4.2f", "%v99999999999f"] {
            assert_eq!(Format::read(text), None, "{text}");
        }
        let format = Format::read("%v8lf").unwrap();
        let Some(Conversion::Vector(vector)) = format.conversions().next() else { panic!("{format:?}") };
        assert_eq!((vector.elements, vector.bits, vector.element()), (8, Some(64), Element::Float));
    }
}
