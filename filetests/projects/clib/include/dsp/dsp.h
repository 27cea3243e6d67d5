#ifndef DSP_DSP_H
#define DSP_DSP_H

#include <stddef.h>

#include "dsp/config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What becomes of samples out of range. */
enum dsp_overflow { DSP_WRAP, DSP_CLIP };

struct dsp_gain {
    dsp_sample low, high;
    enum dsp_overflow overflow;
};

/* One sample of a finite impulse response filter. */
void dsp_fir(int i, const dsp_sample *restrict in, const dsp_sample *restrict taps, dsp_sample *restrict out);

/* One sample with a gain. */
void dsp_amplify(int i, const struct dsp_gain *gain, const dsp_sample *restrict in, dsp_sample *restrict out);

/* The energy of all samples. */
dsp_sample dsp_energy(size_t n, const dsp_sample *in);

#ifdef __cplusplus
}
#endif

#endif
