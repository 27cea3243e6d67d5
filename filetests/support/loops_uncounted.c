//@ group Loops as the unit
//@ construct loops whose end depends on what they compute
//@ happens refused
//@ args buffer:404=zero
//@ range 0..1
//@ result 4
//@ loop
//@ refused the number of iterations is not known when the loop begins
int kernel(const char *text) {
    int n = 0;
    while (text[n] != 0) n++;
    return n;
}
