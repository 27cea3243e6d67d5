/* bt_gather.rs in C. */

#include <stdint.h>

//@ args i=index, element=varying

int32_t bt_gather(int32_t i, float element, const float *labels, const int32_t *children) {
    (void)i;
    int32_t node = 0;
    for (;;) {
        float label = labels[node];
        if (label == element) {
            return node;
        }
        node = children[2 * node + (label < element)];
        if (node == 0) {
            return -1;
        }
    }
}
