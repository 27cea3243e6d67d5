#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace img {

/// Something with rows, which is known by its run-time type.
struct Image {
    virtual ~Image() = default;
    virtual int width() const = 0;
};

struct Grey : Image {
    explicit Grey(int width) : w(width) {
        if (width <= 0) throw std::invalid_argument("width " + std::to_string(width));
    }
    int width() const override { return w; }
    int w;
};

namespace detail {

template <typename T>
constexpr T clamp(T x, T low, T high) {
    return x < low ? low : (high < x ? high : x);
}

template <typename T>
struct Limits;
template <>
struct Limits<std::uint8_t> {
    static constexpr float max = 255.0f;
};
template <>
struct Limits<std::uint16_t> {
    static constexpr float max = 65535.0f;
};

}  // namespace detail
}  // namespace img
