// Kernels of an image library, in namespaces and as instances of a template, in a file that uses exceptions and
// run-time types elsewhere.

#include "pixel.hpp"

namespace img {

int width_of(const Image *image) {
    if (auto *grey = dynamic_cast<const Grey *>(image)) return grey->w;
    try {
        return Grey(image->width()).width();
    } catch (const std::exception &error) {
        return -static_cast<int>(std::string(error.what()).size());
    }
}

/// Brightness and contrast of one pixel.
template <typename T>
void adjust(int i, float gain, float bias, const T *__restrict in, T *__restrict out) {
    float x = static_cast<float>(in[i]) * gain + bias;
    out[i] = static_cast<T>(detail::clamp(x, 0.0f, detail::Limits<T>::max));
}

template void adjust<std::uint8_t>(int, float, float, const std::uint8_t *, std::uint8_t *);
template void adjust<std::uint16_t>(int, float, float, const std::uint16_t *, std::uint16_t *);

namespace filters {

/// One pixel above a threshold, which may be one of two.
void threshold(int i, std::uint8_t low, std::uint8_t high, const std::uint8_t *__restrict in,
               std::uint8_t *__restrict out) {
    std::uint8_t x = in[i];
    out[i] = x >= high ? 255 : (x >= low ? 128 : 0);
}

}  // namespace filters
}  // namespace img
