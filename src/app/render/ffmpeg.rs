//! Films through `ffmpeg`, a program that the user installs: it receives raw frames on its standard input.
//!
//! `ffmpeg` writes a temporary file. If it fails, that file is removed, and its last messages become the error.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use anyhow::{Context, Result, anyhow};

use crate::app::output::{Draft, cannot_write};
use crate::cli::Size;

/// A file format that `ffmpeg` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    /// H.264, which nearly everything plays. Never transparent.
    Mp4,
    /// VP9, transparent if wanted.
    Webm,
}

/// A film that is being encoded. Dropping it before [`Self::finish`] ends the encoder and removes its file.
pub(super) struct Encoder {
    child: Child,
    /// `None` once all frames are written.
    stdin: Option<ChildStdin>,
    /// Collects the last messages of the encoder.
    messages: Option<JoinHandle<String>>,
    draft: Draft,
}

/// Returns the first `ffmpeg` on the PATH.
///
/// # Errors
/// There is none.
pub(super) fn find(film: &str) -> Result<PathBuf> {
    let name = format!("ffmpeg{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH").unwrap_or_default();
    // An empty entry would stand for the working folder.
    let folders = std::env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty());
    folders.map(|folder| folder.join(&name)).find(|file| file.is_file()).ok_or_else(|| {
        anyhow!(
            "--out {film}: this format needs the program ffmpeg, and there is none on the PATH; install ffmpeg, or use \
             .apng or numbered images such as frame_%04d.png"
        )
    })
}

/// Converts RGB to the colours of films, and labels the frames so.
const COLORS: &str = "scale=in_range=full:out_range=tv:out_color_matrix=bt709:flags=accurate_rnd,\
                      setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709";

impl Encoder {
    /// Starts the encoder. With `transparent` the film keeps the alpha of its frames, if the format can.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(
        ffmpeg: &OsStr,
        (container, transparent): (Container, bool),
        size: Size,
        fps: f64,
        draft: Draft,
    ) -> Result<Self> {
        let mut command = Command::new(ffmpeg);
        command
            .args(["-hide_banner", "-loglevel", "error", "-nostdin", "-y", "-f", "rawvideo", "-pixel_format", "rgba"])
            .args(["-video_size", &format!("{}x{}", size.width, size.height), "-framerate", &fps.to_string()])
            .args(["-i", "pipe:0", "-an"])
            // Frames are full-range RGB. Without these options players would guess the matrix, and colours would shift.
            .args(["-vf", COLORS])
            .args(["-color_range", "tv", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"])
            .args(codec(container, transparent))
            .arg(file_url(draft.temporary().as_os_str()));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", ffmpeg.to_string_lossy()))?;
        let stdin = child.stdin.take();
        let messages = child.stderr.take().map(|stderr| std::thread::spawn(move || last_lines(stderr)));
        Ok(Self { child, stdin, messages, draft })
    }

    /// Appends a frame.
    ///
    /// # Errors
    /// The encoder has ended.
    pub fn add(&mut self, rgba: &[u8]) -> Result<()> {
        let written = self.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(rgba));
        if let Err(error) = written {
            // The encoder's own words say more than a closed pipe.
            self.wait()?;
            return Err(error).with_context(|| cannot_write(self.draft.path()));
        }
        Ok(())
    }

    /// Ends the film and gives it its name.
    ///
    /// # Errors
    /// The encoder fails, or the system refuses to rename its file.
    pub fn finish(mut self) -> Result<()> {
        self.wait()?;
        let draft = std::mem::take(&mut self.draft);
        draft.finish()
    }

    /// Closes the encoder's input and waits for its end.
    fn wait(&mut self) -> Result<()> {
        drop(self.stdin.take());
        let status = self.child.wait().with_context(|| cannot_write(self.draft.path()))?;
        let messages = self.messages.take().and_then(|messages| messages.join().ok()).unwrap_or_default();
        if status.success() {
            Ok(())
        } else {
            Err(failure(status, &messages)).with_context(|| cannot_write(self.draft.path()))
        }
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        // These calls do nothing to a process that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the options for the codec and the container. The names of temporary files say nothing about the format.
fn codec(container: Container, transparent: bool) -> Vec<&'static str> {
    match container {
        Container::Webm => {
            let pixels = if transparent { "yuva420p" } else { "yuv420p" };
            // A bit rate of 0 lets the quality (0 to 63, lower is better) decide.
            vec!["-c:v", "libvpx-vp9", "-pix_fmt", pixels, "-crf", "24", "-b:v", "0", "-row-mt", "1", "-f", "webm"]
        }
        Container::Mp4 => {
            // With its index at the front, a film starts before it is loaded.
            vec!["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"]
        }
    }
}

/// Returns the name of a file for `ffmpeg`, which takes `a:b` for a protocol and `-a` for an option.
fn file_url(path: &OsStr) -> OsString {
    let mut url = OsString::from("file:");
    url.push(path);
    url
}

/// Returns the last three lines of a stream. It keeps little of a long stream, and none of a line's excess.
fn last_lines(mut stream: impl Read) -> String {
    const LINES: usize = 3;
    const MOST_BYTES: usize = 2000;
    let mut tail = VecDeque::new();
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        tail.extend(&buffer[..count]);
        tail.drain(..tail.len().saturating_sub(MOST_BYTES));
    }
    let text = String::from_utf8_lossy(tail.make_contiguous()).into_owned();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join(" | ")
}

fn failure(status: ExitStatus, messages: &str) -> anyhow::Error {
    let messages = if messages.is_empty() { "it gave no reason" } else { messages };
    anyhow!("ffmpeg failed ({status}): {messages}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_the_messages_is_kept() {
        assert_eq!(last_lines(&b""[..]), "");
        assert_eq!(last_lines(&b"one\n\ntwo\r\n  three \nfour\n"[..]), "two | three | four");
        let long = vec![b'x'; 1_000_000];
        assert_eq!(last_lines(&long[..]).len(), 2000);
    }
}
