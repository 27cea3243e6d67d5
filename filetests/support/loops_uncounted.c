//@ group Loops as the unit
//@ construct loops whose end depends on what they compute
//@ happens refused
//@ args uniform=1000
//@ range 0..1
//@ result 4
//@ loop
//@ refused the number of iterations is not known when the loop begins
unsigned kernel(unsigned x) {
    unsigned n = 0;
    while (n * n < x) n++;
    return n;
}
