//@ group Loops as the unit
//@ construct columns through which an inner loop goes (`a[j][i] = a[j - 1][i] + …`)
//@ happens vector code: whatever rows iterations are in, their columns never meet
//@ args buffer:8192=small, buffer:8192=small, uniform=60, uniform=25
//@ range 0..1
//@ loop
void kernel(int (*a)[64], const int (*b)[64], int n, int rows) {
    for (int i = 0; i < n; i++)
        for (int j = 1; j < rows; j++)
            a[j][i] = a[j - 1][i] + b[j][i];
}
