//! The actions of keys.

use winit::window::Fullscreen;

use super::desk::{Desk, Shown};
use super::picture;
use super::state::State;
use crate::app::aim::Shows;
use crate::cli::keys::Action;
use crate::crowd::ClipChoice;

/// Does what a key asks for, in a window that is shown. `index` is that of a clip.
pub fn act(action: Action, index: usize, state: &mut State, shown: &mut Shown, desk: &mut Desk) {
    match action {
        Action::Close => {}
        Action::Panel => desk.hud.toggle_panel(),
        Action::Help => desk.hud.toggle_help(),
        Action::Pause => state.toggle_pause(),
        Action::StepBack => state.clock.step(-1),
        Action::StepForward => state.clock.step(1),
        Action::PreviousClip => state.step_clip(-1),
        Action::NextClip => state.step_clip(1),
        Action::AllClips => state.choose_clip(ClipChoice::All),
        Action::Clip => state.choose_clip(ClipChoice::Index(index)),
        // A view that the device does not support is left out.
        Action::NextView => {
            state.show_next_view(|state| shown.renderer.try_show(&state.scene.crowd, &state.scene.show).is_ok())
        }
        Action::Skeleton => state.scene.show.bones = !state.scene.show.bones,
        Action::Focus => state.focus_or_frame(),
        Action::FrameCrowd => state.frame_crowd(Shows::Front),
        Action::UndoMove => state.undo_move(),
        Action::ResetCamera => state.frame_crowd(Shows::Asked),
        Action::FullScreen => {
            let is_full = shown.window.fullscreen().is_some();
            shown.window.set_fullscreen((!is_full).then_some(Fullscreen::Borderless(None)));
        }
        Action::Picture => {
            let written = picture::write(state, &shown.renderer, shown.image_size());
            desk.say(written.map(|path| format!("wrote {}", path.display())), shown);
        }
        Action::Mesh => {
            let written = picture::write_mesh(state, shown.image_size());
            desk.say(written, shown);
        }
        Action::CopyCommand => {
            let line = picture::command_line(state, shown.image_size());
            let line = line.inspect(|line| desk.hud.copy(line.clone()));
            desk.say(line, shown);
        }
    }
    desk.hud.changed();
    shown.window.request_redraw();
}
