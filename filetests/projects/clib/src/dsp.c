/* Two kernels and a loop of a library for signals: they include its headers and want its definitions. */

#include "internal.h"

//@ args i=index
//@ range 0..1000
//@ bind in=f32[1016]=random
//@ bind taps=f32[16]=random
//@ bind out=f32[1000]=zero
void dsp_fir(int i, const dsp_sample *restrict in, const dsp_sample *restrict taps, dsp_sample *restrict out) {
    dsp_sample sum = 0;
    for (int k = 0; k < DSP_TAPS; k++) {
        sum += taps[k] * in[i + k];
    }
    out[i] = sum;
}

//@ args i=index
//@ range 0..1000
//@ bind gain=f32[4]=0..1
//@ bind in=f32[1000]=random
//@ bind out=f32[1000]=zero
void dsp_amplify(int i, const struct dsp_gain *gain, const dsp_sample *restrict in, dsp_sample *restrict out) {
    dsp_sample x = in[i] < 0 ? in[i] * gain->low : in[i] * gain->high;
    out[i] = gain->overflow == DSP_CLIP ? dsp_clip(x, -1, 1) : x;
}

/* The order of the sum is the program's, unless the compiler is told that it does not matter. */
dsp_sample dsp_energy(size_t n, const dsp_sample *in) {
    dsp_sample sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += in[i] * in[i];
    }
    return sum;
}
