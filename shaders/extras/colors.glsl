// Colours that are easy to tell apart, for the debug views and the skeleton. All colours here are linear, and bypass the
// tone curve (tone_map.frag).
#ifndef THRONG_COLORS
#define THRONG_COLORS

// Returns the linear colour of a colour as a display shows it, 0 to 1.
vec3 from_display(vec3 color) {
    return pow(color, vec3(2.2));
}

// Returns a fully saturated hue, 0 to 1 around the colour wheel, as a display shows it.
vec3 hue_color(float hue) {
    return clamp(abs(fract(hue + vec3(0.0, 2.0 / 3.0, 1.0 / 3.0)) * 6.0 - 3.0) - 1.0, 0.0, 1.0);
}

// Returns a colour for a number. Consecutive numbers have hues that are a golden angle apart, so that any few of them
// differ. Every third number is darker and every second one is paler.
vec3 number_color(uint number) {
    float hue = float(number * 2654435769u) / 4294967296.0;
    float strength = number % 2u == 0u ? 0.75 : 0.5;
    float brightness = number % 3u == 2u ? 0.7 : 0.95;
    return from_display(brightness * mix(vec3(1.0), hue_color(hue), strength));
}

#endif
