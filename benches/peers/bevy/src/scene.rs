//! The scene: characters, ground, sun and camera, as `throng crowd` describes them.

use bevy::camera::RenderTarget;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::mesh::skinning::SkinnedMesh;
use bevy::prelude::*;
use bevy::render::render_resource::{TextureFormat, TextureUsages};
use bevy::world_serialization::WorldInstanceReady;

use crate::crowd::{Crowd, Instance, Light};
use crate::options::Options;

/// Spawns the scene.
pub struct ScenePlugin {
    pub crowd: Crowd,
    pub options: Options,
}

/// The number of instances that have been spawned completely.
#[derive(Debug, Default, Resource)]
pub struct Ready(pub usize);

/// The image that the camera draws to.
#[derive(Debug, Resource)]
pub struct Picture(pub Handle<Image>);

/// The model: its scene, and its clips by index.
#[derive(Debug, Resource)]
struct Model {
    scene: Handle<WorldAsset>,
    graph: Handle<AnimationGraph>,
    nodes: Vec<AnimationNodeIndex>,
}

/// The clip of an instance, the time in it of the first frame, and its speed.
#[derive(Debug, Clone, Component)]
struct Start {
    clip: usize,
    seconds: f32,
    speed: f32,
}

impl Plugin for ScenePlugin {
    fn build(&self, app: &mut App) {
        let light = &self.crowd.light;
        let [red, green, blue] = light.horizon;
        app.insert_resource(ClearColor(Color::linear_rgb(red, green, blue)))
            .insert_resource(ambient(light))
            // As in `many_foxes`: every character moves.
            .insert_resource(StaticTransformOptimizations::Disabled)
            .insert_resource(self.crowd.clone())
            .insert_resource(Settings(self.options.clone()))
            .init_resource::<Ready>()
            .add_systems(Startup, (spawn_characters, spawn_ground_and_sun, spawn_camera));
    }
}

#[derive(Debug, Resource)]
struct Settings(Options);

fn spawn_characters(
    mut commands: Commands,
    crowd: Res<Crowd>,
    settings: Res<Settings>,
    assets: Res<AssetServer>,
    mut graphs: ResMut<Assets<AnimationGraph>>,
) {
    let model = settings.0.model_name();
    let clip_count = crowd.instances.iter().filter_map(|instance| instance.clip).max().map_or(0, |last| last + 1);
    let clips = (0..clip_count).map(|clip| assets.load(GltfAssetLabel::Animation(clip).from_asset(model.clone())));
    let mut graph = AnimationGraph::new();
    let nodes = graph.add_clips(clips, 1.0, graph.root).collect();
    let scene: Handle<WorldAsset> = assets.load(GltfAssetLabel::Scene(0).from_asset(model));
    commands.insert_resource(Model { scene: scene.clone(), graph: graphs.add(graph), nodes });

    for Instance { clip, start_seconds, world_from_model, .. } in &crowd.instances {
        let placement = Transform::from_matrix(Mat4::from_cols_array(world_from_model));
        let mut character = commands.spawn((WorldAssetRoot(scene.clone()), placement));
        if let Some(clip) = *clip {
            let seconds = (start_seconds + crowd.time * crowd.speed) as f32;
            character.insert(Start { clip, seconds, speed: crowd.speed as f32 });
        }
        character.observe(start_clip);
    }
}

/// Starts the clip of a character whose nodes have been spawned.
fn start_clip(
    ready: On<WorldInstanceReady>,
    model: Res<Model>,
    starts: Query<&Start>,
    children: Query<&Children>,
    mut players: Query<&mut AnimationPlayer>,
    mut count: ResMut<Ready>,
    mut commands: Commands,
) {
    count.0 += 1;
    let Ok(Start { clip, seconds, speed }) = starts.get(ready.entity) else { return };
    for node in children.iter_descendants(ready.entity) {
        if let Ok(mut player) = players.get_mut(node) {
            player.play(model.nodes[*clip]).repeat().set_speed(*speed).seek_to(*seconds);
            commands.entity(node).insert(AnimationGraphHandle(model.graph.clone()));
        }
    }
}

fn spawn_ground_and_sun(
    mut commands: Commands,
    crowd: Res<Crowd>,
    settings: Res<Settings>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let farthest = farthest_metres(&crowd);
    if settings.0.ground {
        let [red, green, blue] = crowd.light.ground_albedo;
        commands.spawn((
            Mesh3d(meshes.add(Plane3d::default().mesh().size(200.0 * farthest, 200.0 * farthest))),
            MeshMaterial3d(materials.add(StandardMaterial {
                base_color: Color::linear_rgb(red, green, blue),
                perceptual_roughness: 1.0,
                ..default()
            })),
        ));
    }
    let (color, irradiance) = color_and_strength(crowd.light.sun);
    commands.spawn((
        DirectionalLight {
            color,
            illuminance: irradiance / exposure(),
            shadow_maps_enabled: settings.0.shadows,
            ..default()
        },
        Transform::default().looking_to(-Vec3::from_array(crowd.light.to_sun), Vec3::Y),
        // As in `many_foxes`, four cascades cover the whole crowd.
        CascadeShadowConfigBuilder {
            first_cascade_far_bound: 0.3 * farthest,
            maximum_distance: 1.1 * farthest,
            ..default()
        }
        .build(),
    ));
}

fn spawn_camera(mut commands: Commands, crowd: Res<Crowd>, settings: Res<Settings>, mut images: ResMut<Assets<Image>>) {
    let Options { width, height, msaa, .. } = settings.0;
    let mut image = Image::new_target_texture(width, height, TextureFormat::Rgba8UnormSrgb, None);
    image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    let image = images.add(image);
    commands.spawn((
        Camera3d::default(),
        RenderTarget::Image(image.clone().into()),
        Projection::Perspective(PerspectiveProjection {
            fov: crowd.camera.vertical_fov_radians,
            near: crowd.camera.near_metres,
            // Depth has no far plane, but culling does.
            far: 1000.0 * farthest_metres(&crowd),
            ..default()
        }),
        Transform::from_matrix(Mat4::from_cols_array(&crowd.camera.world_from_view)),
        if msaa == 1 { Msaa::Off } else { Msaa::Sample4 },
    ));
    commands.insert_resource(Picture(image));
}

/// Returns the largest distance of an instance from the camera.
fn farthest_metres(crowd: &Crowd) -> f32 {
    let position = |matrix: &[f32; 16]| Mat4::from_cols_array(matrix).w_axis.truncate();
    let eye = position(&crowd.camera.world_from_view);
    crowd.instances.iter().map(|instance| position(&instance.world_from_model).distance(eye)).fold(0.0, f32::max)
}

/// Returns the light of the sky. Bevy's ambient light is a radiance that comes from everywhere.
fn ambient(light: &Light) -> GlobalAmbientLight {
    let (color, irradiance) = color_and_strength(light.sky);
    GlobalAmbientLight { color, brightness: irradiance / std::f32::consts::PI / exposure(), ..default() }
}

/// Returns the factor by which a camera with Bevy's default exposure multiplies light.
fn exposure() -> f32 {
    bevy::camera::Exposure::default().exposure()
}

/// Splits light into a colour whose largest channel is 1, and a factor.
fn color_and_strength(light: [f32; 3]) -> (Color, f32) {
    let strength = light.into_iter().fold(f32::MIN_POSITIVE, f32::max);
    let [red, green, blue] = light.map(|channel| channel / strength);
    (Color::linear_rgb(red, green, blue), strength)
}

/// Returns whether the model cannot be loaded. Bevy has reported the reason on standard error.
pub fn has_failed(world: &World) -> bool {
    let scene = world.get_resource::<Model>().map(|model| model.scene.id());
    scene.and_then(|scene| world.resource::<AssetServer>().get_load_state(scene)).is_some_and(|state| state.is_failed())
}

/// Returns the number of skinned meshes, and how many of them are in view.
pub fn mesh_counts(world: &mut World) -> (usize, usize) {
    let mut meshes = world.query_filtered::<&ViewVisibility, With<SkinnedMesh>>();
    (meshes.iter(world).count(), meshes.iter(world).filter(|visibility| visibility.get()).count())
}

/// Returns the placement of each joint in the world.
pub fn joints(world: &mut World) -> Vec<GlobalTransform> {
    let mut skins = world.query::<&SkinnedMesh>();
    let mut placements = world.query::<&GlobalTransform>();
    let joints = skins.iter(world).flat_map(|skin| &skin.joints);
    joints.filter_map(|&joint| placements.get(world, joint).ok().copied()).collect()
}
