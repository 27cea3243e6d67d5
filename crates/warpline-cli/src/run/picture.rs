//! Buffers as pictures.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::output::Outputs;
use crate::spec::Elem;

use super::data::{self, Data, Image};
use super::png;

/// A buffer that is to become a picture.
pub(super) struct Picture {
    name: String,
    /// Where it goes.
    pub path: PathBuf,
    width: u32,
    height: u32,
}

impl Picture {
    /// Reads `NAME=FILE.png,WIDTHxHEIGHT`.
    ///
    /// # Errors
    /// If it is malformed.
    pub(super) fn parse(text: &str) -> Result<Picture> {
        let parts = || {
            let (name, rest) = text.split_once('=')?;
            let (path, size) = rest.rsplit_once(',')?;
            let (w, h) = size.split_once('x')?;
            let size = |t: &str| t.parse().ok().filter(|n| (1..=1 << 15).contains(n));
            Some(Picture { name: name.to_owned(), path: path.into(), width: size(w)?, height: size(h)? })
        };
        parts().ok_or_else(|| Error::option("--png", format!("`{text}`: write NAME=FILE.png,WIDTHxHEIGHT")))
    }

    /// The number of the buffer.
    ///
    /// # Errors
    /// If there is none of the name, or it is too small.
    pub(super) fn buffer(&self, data: &Data) -> Result<usize> {
        let wrong = |message: String| Error::option("--png", message);
        let number = data.buffers.iter().position(|b| b.name == self.name).ok_or_else(|| {
            let names: Vec<&str> = data.buffers.iter().map(|b| b.name.as_str()).collect();
            wrong(format!("there is no buffer `{}`; there are {}", self.name, names.join(", ")))
        })?;
        let buffer = &data.buffers[number];
        let (have, want) =
            (buffer.initial.len() / buffer.elem.bytes(), self.width as usize * self.height as usize);
        if have < want {
            return Err(wrong(format!("`{}` has {have} elements for {want} pixels", self.name)));
        }
        Ok(number)
    }

    /// Writes the picture; the smallest value is black, the largest white.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn write(&self, data: &Data, image: &Image) -> Result<()> {
        let number = self.buffer(data)?;
        let (elem, bytes) = (data.buffers[number].elem, image.bytes(data, number));
        let value = |k| {
            let bits = data::element(bytes, elem, k);
            match elem {
                Elem::F32 => f64::from(f32::from_bits(bits as u32)),
                Elem::F64 => f64::from_bits(bits),
                Elem::Int(n) => (((bits << (64 - n)) as i64) >> (64 - n)) as f64,
                Elem::Bool => bits as f64,
            }
        };
        let values: Vec<f64> = (0..self.width as usize * self.height as usize).map(value).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let scale = if high > low { 255.0 / (high - low) } else { 0.0 };
        let pixels: Vec<u8> = values.iter().map(|v| ((v - low) * scale) as u8).collect();
        let mut outputs = Outputs::default();
        outputs.add(&self.path, &png::grey(&pixels, self.width, self.height))?;
        outputs.commit()
    }
}
