/* Particles that bounce off the walls of a box. */
// survey: n i32 = 1000; p f32[6*n] in 0..1; dt f32 = 0.01

struct particle {
    float x, y, z, vx, vy, vz;
};

void particles_step(int n, struct particle *p, float dt) {
    //@ loop
    for (int i = 0; i < n; i++) {
        struct particle q = p[i];
        q.vz -= 0.1f * dt;
        q.x += q.vx * dt;
        q.y += q.vy * dt;
        q.z += q.vz * dt;
        if (q.x < 0 || q.x > 1)
            q.vx = -q.vx;
        if (q.y < 0 || q.y > 1)
            q.vy = -q.vy;
        if (q.z < 0 || q.z > 1)
            q.vz = -q.vz;
        p[i] = q;
    }
}
