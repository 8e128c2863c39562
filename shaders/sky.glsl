// The sky and the ground below it, as light from all directions. src/view/sky.rs chooses the colours from the direction of
// the sun. The sun itself is a separate light, so its disc is not part of the sky.
#ifndef THRONG_SKY
#define THRONG_SKY

// Radiance, linear RGB. w is unused.
struct SkyData {
    vec4 zenith;
    vec4 horizon;
    vec4 glow; // around the sun
    vec4 ground; // as seen from above
    vec4 to_sun; // unit vector
};

// x^8 in three multiplications.
float eighth_power(float x) {
    float x2 = x * x;
    float x4 = x2 * x2;
    return x4 * x4;
}

// Returns the radiance of the sky in a direction of unit length. Below the horizon the sky is as at the horizon. The
// powers integrate in closed form: Sky::irradiance_on_ground (src/view/sky.rs).
vec3 sky_radiance(SkyData sky, vec3 direction) {
    float haze = eighth_power(1.0 - clamp(direction.y, 0.0, 1.0));
    float cosine = dot(direction, sky.to_sun.xyz);
    float towards_sun = 0.5 + 0.5 * cosine;
    float wide_glow = 0.8 * towards_sun * towards_sun, narrow_glow = 0.5 * eighth_power(max(cosine, 0.0));
    // The horizon has one colour on all sides, into which the ground fades.
    return mix(sky.zenith.rgb + wide_glow * sky.glow.rgb, sky.horizon.rgb, haze) + narrow_glow * sky.glow.rgb;
}

// Returns the radiance that arrives at a character from a direction of unit length: sky above, and ground below that
// fades into the horizon within a few degrees. The vertical plane through the sun mirrors it; the tables of environment.glsl
// rely on that.
vec3 surroundings(SkyData sky, vec3 direction) {
    const float HALF_FADED = 0.04; // the sine of the angle below the horizon at which ground and horizon are equally strong
    float below = max(-direction.y, 0.0);
    return mix(sky_radiance(sky, direction), sky.ground.rgb, below / (below + HALF_FADED));
}

#endif
