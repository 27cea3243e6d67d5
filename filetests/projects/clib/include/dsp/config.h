#ifndef DSP_CONFIG_H
#define DSP_CONFIG_H

/* The build chooses the type of samples and the number of taps. */
#if defined(DSP_DOUBLE)
typedef double dsp_sample;
#elif defined(DSP_FLOAT)
typedef float dsp_sample;
#else
#error "define DSP_FLOAT or DSP_DOUBLE"
#endif

#ifndef DSP_TAPS
#error "define DSP_TAPS, the number of taps of filters"
#endif

#endif
