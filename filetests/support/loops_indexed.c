//@ group Loops as the unit
//@ construct gathers and scatters (`a[i] = b[idx[i]]`), pointers that may overlap
//@ happens the least and the greatest index are found before the loop; what lies between is checked against what is written
//@ args buffer:400=zero, buffer:400=random, buffer:400=small, uniform=100
//@ range 0..1
//@ loop
void kernel(int *a, const int *b, const int *idx, int n) {
    for (int i = 0; i < n; i++)
        a[i] = b[idx[i]];
}
