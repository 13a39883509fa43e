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
        /// The changes, by file.
        changes: Vec<DiffChange> = "changes" [skip_invalid_items] or "[]",
    }
    optional {
        /// The same changes as a patch.
        patch: DiffPatch = "patch" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A change to a file.
    ///
    /// Spec: [`DiffChange`](https://agentclientprotocol.com/protocol/v2/schema#diffchange)
    pub struct DiffChange {}
    optional {
        /// Type of the file after the change, or before a deletion.
        file_type: DiffFileType = "fileType" [default_on_error],
        /// Media type.
        mime_type: MediaType = "mimeType" [default_on_error],
    }
    rest {
        /// The operation.
        operation: DiffOperation,
    }
    and "_meta"
}

open_union! {
    /// A change to a file.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema#diffchange)
    pub enum DiffOperation by "operation" {
        /// The file was added.
        Add(DiffPathChange) = "add" [shared],
        /// The file was deleted.
        Delete(DiffPathChange) = "delete" [shared],
        /// The file was modified.
        Modify(DiffPathChange) = "modify" [shared],
        /// The file was moved.
        Move(DiffPathPairChange) = "move" [shared],
        /// The file was copied.
        Copy(DiffPathPairChange) = "copy" [shared],
    }
}

object! {
    /// A change without a new path.
    ///
    /// Spec: [`DiffPathChange`](https://agentclientprotocol.com/protocol/v2/schema#diffpathchange)
    pub struct DiffPathChange {
        /// The file.
        path: AbsolutePath = "path",
    }
}

object! {
    /// A change with an old and a new path.
    ///
    /// Spec: [`DiffPathPairChange`](https://agentclientprotocol.com/protocol/v2/schema#diffpathpairchange)
    pub struct DiffPathPairChange by name {
        /// Old path of the file.
        old_path: AbsolutePath = "oldPath",
        /// New path of the file.
        path: AbsolutePath = "path",
    }
}

open_enum! {
    /// The type of a file.
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
    /// A change as a patch.
    ///
    /// Spec: [`DiffPatch`](https://agentclientprotocol.com/protocol/v2/schema#diffpatch)
    pub struct DiffPatch {
        /// Format of the patch.
        format: DiffPatchFormat = "format",
        /// The change.
        text: String = "text",
    }
    and "_meta"
}

open_enum! {
    /// The format of a patch.
    ///
    /// Spec: [`DiffPatchFormat`](https://agentclientprotocol.com/protocol/v2/schema#diffpatchformat)
    pub enum DiffPatchFormat {
        /// Git's format, with absolute paths and without `a/` and `b/`.
        GitPatch = "git_patch",
    }
}
