#ifndef DSP_INTERNAL_H
#define DSP_INTERNAL_H

#include "dsp/dsp.h"

#define DSP_MIN(a, b) ((a) < (b) ? (a) : (b))
#define DSP_MAX(a, b) ((a) > (b) ? (a) : (b))

static inline dsp_sample dsp_clip(dsp_sample x, dsp_sample low, dsp_sample high) {
    return DSP_MIN(DSP_MAX(x, low), high);
}

#endif
