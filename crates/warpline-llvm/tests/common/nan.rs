//! Runs in which a NaN was computed.

use warpline_interp::{Cell, Event, Observer, State};
use warpline_ir::{FloatKind, Module as Ir, Scalar};

/// Whether a NaN was computed: its bits are nobody's promise.
pub struct SawNan<'m> {
    ir: &'m Ir,
    /// Whether there was one.
    pub saw: bool,
}

impl<'m> SawNan<'m> {
    /// Watches runs of the module's functions.
    pub fn new(ir: &'m Ir) -> Self {
        SawNan { ir, saw: false }
    }
}

impl Observer for SawNan<'_> {
    fn executed(&mut self, event: &Event<'_>) {
        let Some(id) = event.function().filter(|_| !self.saw) else { return };
        let f = &self.ir.functions[id];
        let data = &f.insts[event.inst];
        for &v in data.results.iter().chain(&data.args) {
            if let Some(Scalar::Float(kind)) = f.ty(v).elem() {
                let nan = |c: &Cell| c.state == State::Defined && is_nan(kind, c.bits);
                self.saw |= event.lanes.iter().any(|lane| event.value(v, lane).iter().any(nan));
            }
        }
    }
}

/// Whether these are the bits of a NaN.
pub fn is_nan(kind: FloatKind, bits: u128) -> bool {
    match kind {
        FloatKind::Half => bits & 0x7fff > 0x7c00,
        FloatKind::BFloat => bits & 0x7fff > 0x7f80,
        FloatKind::Float => f32::from_bits(bits as u32).is_nan(),
        FloatKind::Double => f64::from_bits(bits as u64).is_nan(),
        // Nothing is computed with these.
        FloatKind::X86Fp80 | FloatKind::Fp128 | FloatKind::PpcFp128 => false,
    }
}
