// The half in the browser: the scene of `throng crowd`, a SkinnedMesh and a mixer for each character, and the clock.

import * as THREE from 'three';
import { MeshoptDecoder } from 'three/addons/libs/meshopt_decoder.module.js';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { clone } from 'three/addons/utils/SkeletonUtils.js';

/** The step of the animation in seconds, which is that of `throng bench`. */
const STEP = 1 / 60;

const json = async (path) => (await fetch(path)).json();

/** Adds the characters. Returns their mixers and skinned meshes. */
function addCharacters(scene, gltf, crowd) {
    const mixers = [], meshes = [];
    for (const instance of crowd.instances) {
        const placement = new THREE.Group();
        placement.matrixAutoUpdate = false;
        placement.matrix.fromArray(instance.world_from_model);
        const character = clone(gltf.scene);
        placement.add(character);
        scene.add(placement);
        // All are in view, so the test of each would only cost time.
        character.traverse((node) => { if (node.isMesh) { node.frustumCulled = false; meshes.push(node); } });
        if (instance.clip === null) continue;
        const mixer = new THREE.AnimationMixer(character);
        mixer.timeScale = crowd.speed;
        const action = mixer.clipAction(gltf.animations[instance.clip]).play();
        action.time = instance.start_seconds + crowd.time * crowd.speed;
        mixer.update(0);
        mixers.push(mixer);
    }
    return { mixers, meshes };
}

/** Adds the sun, the same light of the sky from everywhere, and the ground. */
function addSurroundings(scene, light, farthest, ground) {
    // three.js multiplies its lights by pi where it divides by pi in the material, so the numbers are irradiances.
    const sun = new THREE.DirectionalLight(new THREE.Color(...light.sun), 1);
    sun.position.fromArray(light.to_sun);
    scene.add(sun, new THREE.AmbientLight(new THREE.Color(...light.sky), 1));
    scene.background = new THREE.Color(...light.horizon);
    if (!ground) return;
    const material = new THREE.MeshStandardMaterial({ color: new THREE.Color(...light.ground_albedo), roughness: 1 });
    const quad = new THREE.Mesh(new THREE.PlaneGeometry(200 * farthest, 200 * farthest), material);
    quad.rotation.x = -Math.PI / 2;
    scene.add(quad);
}

async function measure() {
    const options = await json('/options.json');
    const crowd = await json('/crowd.json');
    const [width, height] = options.size.split('x').map(Number);
    const renderer = new THREE.WebGLRenderer({ antialias: options.msaa === '4', powerPreference: 'high-performance' });
    renderer.setSize(width, height, false);
    renderer.toneMapping = THREE.ACESFilmicToneMapping;
    const gl = renderer.getContext();
    const { world_from_view, vertical_fov_radians, near_metres } = crowd.camera;
    const eye = new THREE.Vector3(...world_from_view.slice(12, 15));
    const distance = ({ world_from_model }) => eye.distanceTo(new THREE.Vector3(...world_from_model.slice(12, 15)));
    const farthest = crowd.instances.reduce((most, instance) => Math.max(most, distance(instance)), 0);
    const address = `/model/${encodeURIComponent(options.model.split('/').pop())}`;
    const gltf = await new GLTFLoader().setMeshoptDecoder(MeshoptDecoder).loadAsync(address);
    const scene = new THREE.Scene();
    const { mixers, meshes } = addCharacters(scene, gltf, crowd);
    addSurroundings(scene, crowd.light, farthest, options.ground === 'on');
    const fov_degrees = THREE.MathUtils.radToDeg(vertical_fov_radians);
    const camera = new THREE.PerspectiveCamera(fov_degrees, width / height, near_metres, 1000 * farthest);
    camera.applyMatrix4(new THREE.Matrix4().fromArray(world_from_view));

    renderer.render(scene, camera);
    const picture = options.picture && renderer.domElement.toDataURL();

    // A read of one pixel waits until the GPU process has drawn everything before it. It comes after the next frame's
    // animation, so the GPU draws one frame while JavaScript animates the next.
    const pixel = new Uint8Array(4);
    const frame = () => {
        for (const mixer of mixers) mixer.update(STEP);
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
        const end = performance.now();
        renderer.render(scene, camera);
        return end;
    };
    const ends = [];
    while (ends.length <= Number(options.warmup) + Number(options.frames)) ends.push(frame());
    const frame_ms = ends.map((end, number) => end - ends[number - 1]).slice(Number(options.warmup) + 1);

    // The work must really have been done: the joints of all characters move from frame to frame.
    const bones = meshes.flatMap((mesh) => mesh.skeleton?.bones ?? []);
    const before = bones.map((bone) => bone.matrixWorld.elements.join());
    frame();
    const moved = bones.filter((bone, i) => bone.matrixWorld.elements.join() !== before[i]).length;
    const names = gl.getExtension('WEBGL_debug_renderer_info');
    return {
        program: `three.js r${THREE.REVISION}`, driver: 'WebGL 2',
        adapter: gl.getParameter(names.UNMASKED_RENDERER_WEBGL),
        instances: crowd.instances.length, meshes: meshes.length,
        meshes_in_view: renderer.info.render.calls - (options.ground === 'on' ? 1 : 0),
        joints: bones.length, joints_moved_in_a_frame: moved, triangles: renderer.info.render.triangles,
        median_ms: frame_ms.toSorted((a, b) => a - b)[Math.floor(frame_ms.length / 2)], frame_ms, picture,
    };
}

const report = await measure().catch((error) => ({ error: error.stack ?? String(error) }));
await fetch('/report', { method: 'POST', body: JSON.stringify(report) });
