// mandelbrot.rs for ISPC.

#define WIDTH 512
#define LIMIT 256

export void KERNEL(uniform int begin, uniform int end, uniform float left, uniform float top, uniform float step_x,
                   uniform float step_y, uniform int result[]) {
    foreach (i = begin ... end) {
        int x = i & (WIDTH - 1), y = i / WIDTH;
        float cx = left + (float)x * step_x, cy = top + (float)y * step_y;
        float zx = 0, zy = 0;
        int n;
        for (n = 0; n < LIMIT; n++) {
            float xx = zx * zx, yy = zy * zy;
            if (xx + yy > 4.0f)
                break;
            zy = 2.0f * zx * zy + cy;
            zx = xx - yy + cx;
        }
        result[i - begin] = n;
    }
}
