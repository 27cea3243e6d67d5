/* What kernels of the survey in OpenCL C use, as C. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <tgmath.h>
#define kernel static inline __attribute__((always_inline))
#define global
#define constant const
#define local
#define uchar unsigned char
#define ushort unsigned short
#define uint unsigned int
#define ulong unsigned long
#define get_global_id(d) id##d
#define get_global_size(d) size##d
#define min(a, b) ({ __typeof__(a) a_ = (a); __typeof__(a) b_ = (b); b_ < a_ ? b_ : a_; })
#define max(a, b) ({ __typeof__(a) a_ = (a); __typeof__(a) b_ = (b); a_ < b_ ? b_ : a_; })
#define clamp(x, low, high) min(max(x, low), high)
#define mad(a, b, c) ((a) * (b) + (c))
#define mix(a, b, t) ({ __typeof__(t) m_ = (a); m_ + ((b) - m_) * (t); })
#define convert_int(x) ((int)(x))
#define convert_float(x) ((float)(x))
#define convert_uchar(x) ((unsigned char)(x))
