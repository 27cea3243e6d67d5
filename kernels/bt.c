/* bt.rs in C. Without warpline, define WARPLINE_SCALAR. */

#include <stdbool.h>
#include <stdint.h>
#include "warpline.h"

enum { STACK = 128 };

//@ args i=index, element=varying
//@ width 8

int32_t bt(int32_t i, float element, const float *labels, const int32_t *children) {
    (void)i;
    int32_t stack[STACK] = {0};
    int top = 1;
    int32_t wanted = 0;
    int32_t result = -1;
    while (top > 0) {
        int32_t node = stack[--top];
        float label = labels[node];
        int32_t left = children[2 * (intptr_t)node], right = children[2 * (intptr_t)node + 1];
        bool here = node == wanted;
        if (here & (label == element)) {
            result = node;
            break;
        }
        if (warpline_any(here & (element < label)) && left > 0) {
            stack[top++] = left;
        }
        if (warpline_any(here & (element > label)) && right > 0) {
            stack[top++] = right;
        }
        wanted = here ? (element < label ? left : right) : wanted;
    }
    return result;
}
