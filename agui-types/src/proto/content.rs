//! Parts of content, and their sources.
use super::field::{DecodeError, EncodeError, Field, closed, missing};
use super::value::Value;
use crate::content::{
    AudioPart, ContentPart, DataSource, DocumentPart, FileSource, ImagePart, PartSource, TextPart,
    UrlSource, VideoPart,
};
use alloc::string::String;
use jsonrpc_core::wire::Extra;

message! {
    WireTextPart is TextPart {
        text: String [string, tag = "1"],
        id: Option<String> [string, optional, tag = "2"],
        metadata: Option<Value> [message, optional, tag = "3"],
    }
}

message! {
    WireImagePart is ImagePart {
        source: Option<WireSource> [message, optional, tag = "1"],
        metadata: Option<Value> [message, optional, tag = "2"],
        id: Option<String> [string, optional, tag = "3"],
    }
}

message! {
    WireAudioPart is AudioPart {
        source: Option<WireSource> [message, optional, tag = "1"],
        metadata: Option<Value> [message, optional, tag = "2"],
        id: Option<String> [string, optional, tag = "3"],
    }
}

message! {
    WireVideoPart is VideoPart {
        source: Option<WireSource> [message, optional, tag = "1"],
        metadata: Option<Value> [message, optional, tag = "2"],
        id: Option<String> [string, optional, tag = "3"],
    }
}

message! {
    WireDocumentPart is DocumentPart {
        source: Option<WireSource> [message, optional, tag = "1"],
        metadata: Option<Value> [message, optional, tag = "2"],
        id: Option<String> [string, optional, tag = "3"],
    }
}

message! {
    WireDataSource is DataSource {
        value: String [string, tag = "1"],
        mime_type: String [string, tag = "2"],
    }
}

message! {
    WireUrlSource is UrlSource {
        value: String [string, tag = "1"],
        mime_type: Option<String> [string, optional, tag = "2"],
    }
}

message! {
    WireFileSource is FileSource {
        value: String [string, tag = "1"],
        provider: Option<String> [string, optional, tag = "2"],
        mime_type: Option<String> [string, optional, tag = "3"],
    }
}

/// Declares a message that holds one of several others, each in its own field.
macro_rules! choice {
    ($Wire:ident of $Kind:ident = $kind:tt is $Type:ident {
        $( $Variant:ident($Payload:ty) = [$($attr:tt)*], )*
    } tags = $tags:tt) => {
        #[derive(Clone, PartialEq, prost::Message)]
        pub(super) struct $Wire {
            #[prost(oneof = $kind, tags = $tags)]
            kind: Option<$Kind>,
        }

        #[derive(Clone, PartialEq, prost::Oneof)]
        enum $Kind {
            $( #[prost($($attr)*)] $Variant($Payload), )*
        }

        impl Field<$Wire> for $Type {
            fn to_wire(&self) -> Result<$Wire, EncodeError> {
                let kind = match self {
                    $( Self::$Variant(value) => $Kind::$Variant(Field::<$Payload>::to_wire(value)?), )*
                    #[allow(unreachable_patterns, reason = "reached where a type has retired variants")]
                    other => return Err(EncodeError::Unknown(other.tag().into())),
                };
                Ok($Wire { kind: Some(kind) })
            }

            fn from_wire(wire: $Wire) -> Result<Self, DecodeError> {
                match wire.kind {
                    $( Some($Kind::$Variant(value)) => Field::<$Payload>::from_wire(value).map(Self::$Variant), )*
                    None => Err(missing(stringify!($Type))),
                }
            }
        }
    };
}

choice! {
    WirePart of WirePartKind = "WirePartKind" is ContentPart {
        Text(WireTextPart) = [message, tag = "1"],
        Image(WireImagePart) = [message, tag = "2"],
        Audio(WireAudioPart) = [message, tag = "3"],
        Video(WireVideoPart) = [message, tag = "4"],
        Document(WireDocumentPart) = [message, tag = "5"],
    } tags = "1, 2, 3, 4, 5"
}

choice! {
    WireSource of WireSourceKind = "WireSourceKind" is PartSource {
        Data(WireDataSource) = [message, tag = "1"],
        Url(WireUrlSource) = [message, tag = "2"],
        File(WireFileSource) = [message, tag = "3"],
    } tags = "1, 2, 3"
}

impl Field<Option<WireSource>> for PartSource {
    fn to_wire(&self) -> Result<Option<WireSource>, EncodeError> {
        Field::<WireSource>::to_wire(self).map(Some)
    }

    fn from_wire(wire: Option<WireSource>) -> Result<Self, DecodeError> {
        Field::<WireSource>::from_wire(wire.unwrap_or_default())
    }
}
