//@ group Memory
//@ construct fields of structures that only some lanes load: `p[i].x < a && p[i].y < b`
//@ happens wide accesses and shuffles where all lanes have loaded another field; one lane's under its mask
//@ args index, buffer:816=random, buffer:204=random
//@ range 0..50
struct box { int x, y, w, h; };
void kernel(unsigned i, const struct box *p, int *out) {
  out[i] = p[i].x < 0 && p[i].w < p[i].x && p[i].y < 99 && p[i].h > p[i].y;
}
