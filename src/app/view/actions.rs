//! The actions of keys.

use winit::window::Fullscreen;

use super::desk::Desk;
use super::picture;
use super::state::State;
use crate::app::aim::Shows;
use crate::cli::keys::Action;
use crate::crowd::ClipChoice;
use crate::extras::{DebugView, Equipped};

/// Does what a key asks for, in a window that is shown. `index` is that of a clip.
pub fn act(action: Action, index: usize, state: &mut State, desk: &mut Desk, renderer: &mut Equipped) {
    match action {
        Action::Close | Action::Quit => {}
        Action::Panel => desk.hud.contents.shows_panel ^= true,
        Action::Help => desk.hud.contents.shows_help ^= true,
        Action::Pause => state.toggle_pause(),
        Action::StepBack => state.clock.step(-1),
        Action::StepForward => state.clock.step(1),
        Action::PreviousClip => state.step_clip(-1),
        Action::NextClip => state.step_clip(1),
        Action::AllClips => state.choose_clip(ClipChoice::All),
        Action::Clip => state.choose_clip(ClipChoice::Index(index)),
        // A view that the device does not support is left out.
        Action::NextView => {
            for _ in DebugView::ALL {
                state.choose_view(state.scene.show.view.next());
                if renderer.try_show(&state.scene.crowd, &state.scene.show).is_ok() {
                    break;
                }
            }
            desk.hud.contents.announce(state.scene.show.view);
        }
        Action::Skeleton => state.scene.show.bones = !state.scene.show.bones,
        Action::Focus => {
            if !state.focus() {
                state.frame_crowd(Shows::Crowd);
            }
        }
        Action::FrameCrowd => state.frame_crowd(Shows::Front),
        Action::UndoMove => state.undo_move(),
        Action::ResetCamera => state.frame_crowd(Shows::Asked),
        Action::FullScreen => {
            let is_full = desk.window.fullscreen().is_some();
            desk.window.set_fullscreen((!is_full).then_some(Fullscreen::Borderless(None)));
        }
        Action::Picture => desk.say(picture::write(state, renderer, desk.size)),
        Action::Mesh => desk.say(picture::write_mesh(state, desk.size)),
        Action::CopyCommand => {
            let line = picture::command_line(state, desk.size);
            let line = line.inspect(|line| desk.hud.copy(line.clone()));
            desk.say(line);
        }
    }
    desk.hud.changed();
    desk.window.request_redraw();
}
