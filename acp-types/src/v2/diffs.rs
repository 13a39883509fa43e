//! Changes to files.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v2/tool-calls#diffs)
use super::content::MediaType;
use super::session_setup::AbsolutePath;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum, open_union};

object! {
    /// A change to files.
    ///
    /// Spec: [`Diff`](https://agentclientprotocol.com/protocol/v2/schema#diff)
    pub struct Diff {
        /// What happened to each file.
        changes: Vec<DiffChange> = "changes" [skip_invalid_items] or "[]",
    }
    optional {
        /// The same, line by line.
        patch: DiffPatch = "patch" [default_on_error],
    }
    and "_meta"
}

object! {
    /// What happened to a file.
    ///
    /// Spec: [`DiffChange`](https://agentclientprotocol.com/protocol/v2/schema#diffchange)
    pub struct DiffChange {}
    optional {
        /// What it is afterwards; what it was, where it is deleted.
        file_type: DiffFileType = "fileType" [default_on_error],
        /// Its media type.
        mime_type: MediaType = "mimeType" [default_on_error],
    }
    rest {
        /// What happened to it.
        operation: DiffOperation,
    }
    and "_meta"
}

open_union! {
    /// What happened to a file.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema#diffchange)
    pub enum DiffOperation by "operation" {
        /// It is new.
        Add(DiffPathChange) = "add" [shared],
        /// It is gone.
        Delete(DiffPathChange) = "delete" [shared],
        /// It has other content.
        Modify(DiffPathChange) = "modify" [shared],
        /// It is elsewhere.
        Move(DiffPathPairChange) = "move" [shared],
        /// It is elsewhere as well.
        Copy(DiffPathPairChange) = "copy" [shared],
    }
}

object! {
    /// A file that stays where it is.
    ///
    /// Spec: [`DiffPathChange`](https://agentclientprotocol.com/protocol/v2/schema#diffpathchange)
    pub struct DiffPathChange {
        /// The file.
        path: AbsolutePath = "path",
    }
}

object! {
    /// A file that comes from elsewhere.
    ///
    /// Spec: [`DiffPathPairChange`](https://agentclientprotocol.com/protocol/v2/schema#diffpathpairchange)
    pub struct DiffPathPairChange {
        /// Where it was.
        old_path: AbsolutePath = "oldPath",
        /// Where it is.
        path: AbsolutePath = "path",
    }
}

open_enum! {
    /// What a file is.
    ///
    /// Spec: [`DiffFileType`](https://agentclientprotocol.com/protocol/v2/schema#difffiletype)
    pub enum DiffFileType {
        /// Text.
        Text = "text",
        /// Bytes.
        Binary = "binary",
        /// A folder.
        Directory = "directory",
        /// A link.
        Symlink = "symlink",
    }
}

object! {
    /// A change line by line.
    ///
    /// Spec: [`DiffPatch`](https://agentclientprotocol.com/protocol/v2/schema#diffpatch)
    pub struct DiffPatch {
        /// How it is written.
        format: DiffPatchFormat = "format",
        /// The change.
        text: String = "text",
    }
    and "_meta"
}

open_enum! {
    /// How a change is written.
    ///
    /// Spec: [`DiffPatchFormat`](https://agentclientprotocol.com/protocol/v2/schema#diffpatchformat)
    pub enum DiffPatchFormat {
        /// As Git does, with absolute paths and without `a/` and `b/`.
        GitPatch = "git_patch",
    }
}
