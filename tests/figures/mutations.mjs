// Mistakes in the figures. Each is a text of a file that is there once, and what takes its place. A check must find it.

export const MUTATIONS = [
    { what: "the product the other way round", file: "math.js", right: "product(of(parent), own)", wrong: "product(own, of(parent))" },
    { what: "the first joint for all inverse binds", file: "math.js", right: "product(first, second[joint])", wrong: "product(first, second[0])" },
    { what: "an angle instead of half of it", file: "math.js", right: "(degrees * Math.PI) / 360", wrong: "(degrees * Math.PI) / 180" },
    { what: "nlerp at the wrong speed", file: "math.js", right: "Math.sin(t * angle) / Math.sin(angle)", wrong: "t" },
    { what: "the in-tangent of the wrong key", file: "math.js", right: "part(key + 1, 0)", wrong: "part(key, 0)" },
    { what: "a mirrored normal points inwards", file: "math.js", right: ", n), signOf(m));", wrong: ", n), 1);" },
    { what: "the weights of the file", file: "math.js", right: "weight / sum]", wrong: "weight]" },
    { what: "dual quaternions by the longer way", file: "math.js", right: "agreement < 0", wrong: "agreement > 0" },
    { what: "the translation of dual quaternions is halved", file: "math.js", right: "2 / (size * size)", wrong: "1 / (size * size)" },
    { what: "a key is passed one key early", file: "math.js", right: "while (times[key] > time)", wrong: "while (times[key] >= time && key > 0)" },
    { what: "a barrier holds every access back", file: "math.js", right: "if (!waiting.includes(second.stage)) return false;", wrong: "" },
    { what: "the wait of the CPU is for all frames", file: "math.js", right: "if (first.frame > ofFrame) continue;", wrong: "" },
    { what: "a switch turns the wrong way", file: "math.js", right: "right.interval ? interval : 1", wrong: "right.interval ? 1 : interval" },
    { what: "the weights of the grid's lesson", file: "models.js", right: "[[0, 1 - row / 4], [1, row / 4]]", wrong: "[[0, row / 4], [1, 1 - row / 4]]" },
    { what: "the upper half has another sum of weights", file: "strip.js", right: "? 0.8 : 1", wrong: "? 0.9 : 1" },
    { what: "a barrier with the wrong stage", file: "frames.js", right: "2       COMPUTE         ->      VERTEX", wrong: "2       COMPUTE         ->      FRAGMENT" },
    { what: "the tube's weights end too early", file: "wrapper.js", right: "/ 0.8, 0)", wrong: "/ 0.7, 0)" },
    { what: "an address in joints instead of matrices", file: "vertex.js", right: "record.palette_offset + joint,", wrong: "record.palette_offset," },
];
